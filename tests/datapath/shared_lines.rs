//! What a packet of a known flow writes in memory that CPUs share: its flow's own record, and nothing else. A line that packets of
//! several CPUs write is one that they take from one another.

use std::collections::{BTreeMap, BTreeSet};

use hostint::datapath::abi::lease_way;
use hostint_testing::model::{Encapsulation, Key, layout};
use hostint_testing::packets::{tcp, udp};
use hostint_testing::programs::Content;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::programs::source::{Options, Source};
use hostint_testing::stream::{SEQUENCE_AT, packet};

/// Packets of a flow that is new; each of the first 32 is added to its pair and class at once.
const FIRST: u32 = 200;
/// What each of these writes: a look at a lease, for instance, and what a pair and class have, are written now and then.
const PACKETS: u32 = 3;

type Shared = BTreeMap<String, Content>;

/// The maps that each of some packets changes; `number` is the packet's.
fn written_by_each(read: impl Fn() -> Shared, run: impl Fn(u32)) -> BTreeSet<String> {
    (1..=FIRST).for_each(&run);
    let mut each: Option<BTreeSet<String>> = None;
    let mut before = read();
    for number in FIRST + 1..=FIRST + PACKETS {
        run(number);
        let now = read();
        let changed = now
            .iter()
            .filter(|(name, content)| before[*name] != **content);
        let changed: BTreeSet<String> = changed.map(|(name, _)| name.clone()).collect();
        each = Some(match each {
            Some(others) => others.intersection(&changed).cloned().collect(),
            None => changed,
        });
        before = now;
    }
    each.unwrap_or_default()
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn a_packet_that_arrives_writes_its_flows_record_alone() {
        let sink = Sink::load_sized(
            &settings(),
            Sizes {
                tc: true,
                ..Sizes::default()
            },
        );
        let numbered = |number: u32| {
            let mut frame = packet();
            frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
            frame
        };
        let untagged = udp().payload(18).bytes();
        for (name, expected, run) in [
            (
                "tagged, XDP",
                &["sink_flows"][..],
                &(|number| drop(sink.run(&numbered(number)))) as &dyn Fn(u32),
            ),
            ("tagged, TC", &["sink_flows"], &|number| {
                drop(sink.run_tc(&numbered(number)));
            }),
            ("untagged, XDP", &[], &|_| drop(sink.run(&untagged))),
            ("untagged, TC", &[], &|_| drop(sink.run_tc(&untagged))),
        ] {
            sink.forget_flows();
            let written = written_by_each(|| sink.shared(), run);
            assert!(written.iter().eq(expected), "{name}: {written:?}");
        }
    }

    #[test]
    fn a_packet_that_leaves_writes_its_flows_record_alone() {
        let load = |encapsulation| {
            Source::load(&Options {
                encapsulation,
                ..Options::default()
            })
        };
        let in_options = || {
            Source::load_asking(&Options {
                options: true,
                fixed_mtu: 1500,
                clock_stands: true,
                ..Options::default()
            })
        };
        for (name, source, frame, share, expected) in [
            (
                "over UDP",
                load(Encapsulation::OverTcpUdp),
                udp(),
                0,
                &["source_flows"][..],
            ),
            (
                "over TCP",
                load(Encapsulation::OverTcpUdp),
                tcp(),
                0,
                &["source_flows"],
            ),
            (
                "vxlan-gpe",
                load(Encapsulation::VxlanGpe),
                udp(),
                0,
                &["source_flows"],
            ),
            (
                "an option behind a datagram",
                in_options(),
                udp(),
                0,
                &["source_flows"],
            ),
            ("left out by the budget", in_options(), udp(), 16, &[]),
        ] {
            let frame = frame.payload(64).bytes();
            let at = layout::find(&frame).unwrap();
            let flow = Key::of(&frame, &at, &frame[at.l4..], at.protocol);
            source.set_lease(&flow, u64::MAX);
            source.set_ways(&flow, lease_way::WAY_UDP_OPTION.0);
            source.set_share(share);
            let run = |_| drop(source.run_lengthened(&frame));
            let written = written_by_each(|| source.shared(), run);
            assert!(written.iter().eq(expected), "{name}: {written:?}");
        }
    }
}
