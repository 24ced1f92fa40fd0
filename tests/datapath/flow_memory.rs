//! A burst of new flows finds all the memory that it needs.

use hostint::datapath::abi::sink_counter;
use hostint_testing::frame::Frame;
use hostint_testing::int_block::Block;
use hostint_testing::model::Encapsulation;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::programs::source::{Hook, Options, Source};

/// Flows that begin one after the other.
const FLOWS: u16 = 20_000;

fn frame(number: u16) -> Frame {
    Frame::ethernet().ipv4().udp().ports(1 + number, 5001)
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use libbpf_rs::MapCore;

    #[test]
    fn flows_that_begin_at_once_are_all_measured() {
        let sizes = Sizes {
            flows: 65_536,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        let tagged = |number| frame(number).tagged(Block::hostint().sequence(1)).bytes();
        let frames: Vec<_> = (0..FLOWS).map(tagged).collect();
        frames.iter().for_each(|frame| drop(sink.run(frame)));
        assert_eq!(sink.flows(), usize::from(FLOWS), "flows of the sink");
        assert_eq!(sink.count(sink_counter::COUNT_SINK_UNTRACKED), 0);
    }

    #[test]
    fn flows_that_begin_at_once_are_all_tagged() {
        for hook in [Hook::Tc, Hook::Xdp] {
            let source = Source::load(&Options {
                encapsulation: Encapsulation::ExtensionUdp,
                flows: 65_536,
                ..Options::default()
            });
            let frames: Vec<_> = (0..FLOWS).map(|number| frame(number).bytes()).collect();
            for frame in &frames {
                match hook {
                    Hook::Tc => source.run(frame),
                    Hook::Xdp => source.run_xdp(frame),
                };
            }
            // A packet of a flow without room goes out untagged, and leaves no record.
            let flows = source.flows_map().keys().count();
            assert_eq!(flows, usize::from(FLOWS), "flows of the source");
        }
    }
}
