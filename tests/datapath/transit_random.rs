//! Random packets come back from the sink as they were sent, with any number of hops between, and every checksum is right
//! on every link.

use std::net::{Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::{lease_way, sink_counter, source_lease, transit_counter};
use hostint_testing::generate::{plain, taggable};
use hostint_testing::int_block::Block;
use hostint_testing::model::{Encapsulation, UDP, layout};
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::programs::source::{Options as SourceOptions, Source};
use hostint_testing::programs::transit::{Hop, with_int_md};
use hostint_testing::random::{Random, env_number};
use hostint_testing::transit_cases::assert_pushed;

/// A plain run has this many of each encapsulation.
const FRAMES: u64 = 10_000;
/// Every way is proved.
const ALL: u32 = 63 | lease_way::WAY_UDP_INT_MD.0;
const MOST: u8 = 8;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn what_the_sink_takes_out_is_what_source_and_hops_put_in() {
        let threads = [
            (Encapsulation::OverTcpUdp, false),
            (Encapsulation::ExtensionUdp, false),
            (Encapsulation::VxlanGpe, false),
            (Encapsulation::VxlanGpe, true),
            (Encapsulation::IntMd, false),
            (Encapsulation::IntMd, true),
        ]
        .map(|(encapsulation, without_queue)| {
            std::thread::spawn(move || round_trips(encapsulation, without_queue))
        });
        for thread in threads {
            thread.join().expect("packets come back unchanged");
        }
    }

    fn round_trips(encapsulation: Encapsulation, without_queue: bool) {
        let (_, seed) = Random::from_env();
        let mut source = Source::load_watching_nothing(&SourceOptions {
            encapsulation,
            max_hops: MOST.into(),
            without_queue,
            flows: 4_096,
            ..SourceOptions::default()
        });
        // No lease lets TCP go in INT-MD, where static destinations get a budget, too.
        if encapsulation == Encapsulation::IntMd && !without_queue {
            source.watch(Ipv4Addr::UNSPECIFIED, 0);
            source.watch(Ipv6Addr::UNSPECIFIED, 0);
        } else {
            source.watch_leased(Ipv4Addr::UNSPECIFIED, 0);
            source.watch_leased(Ipv6Addr::UNSPECIFIED, 0);
        }
        source.model.budget = Some(MOST);
        let sink = Sink::load_sized(
            &settings(),
            Sizes {
                flows: 4_096,
                tc: true,
                ..Sizes::default()
            },
        );
        let hop = Hop::load(&with_int_md());
        let mut tagged = 0;
        for number in 0..env_number("HOSTINT_TEST_FRAMES", FRAMES) {
            let mut random = Random::seeded(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let frame = taggable(&mut random, encapsulation).bytes();
            let sentence = format!("{encapsulation:?}, seed {seed}, frame {number}");
            // Without room for eight hops it stays untagged.
            let Ok(key) = source.model.look(&frame) else {
                continue;
            };
            source.write_lease(
                &key,
                &source_lease {
                    until_ns: u64::MAX,
                    proved_ns: 1,
                    ways: ALL,
                    has_answer: 1,
                    stack: 1 + MOST,
                    items: 1,
                    ..source_lease::default()
                },
            );
            // Without an entry that has a queue, the lease is needed, and lets no TCP go in INT-MD.
            let is_md = encapsulation == Encapsulation::IntMd;
            if is_md && without_queue && layout::find(&frame).is_ok_and(|at| at.protocol != UDP) {
                continue;
            }
            let mut wire = source.run(&frame).bytes;
            if wire == frame {
                // A flow of TCP whose begin was not seen with the lease.
                continue;
            }
            tagged += 1;
            for node in 0..random.below(1 + usize::from(MOST)) as u32 {
                hop.set_node(1_000 + node);
                if !random.one_in(4) {
                    hop.arrive(&wire);
                }
                let sentence = format!("{sentence}, hop {node}");
                let ran = hop.leave(&wire);
                assert_pushed(&ran, &wire, encapsulation, &sentence);
                wire = ran.bytes;
            }
            let restored = match random.one_in(2) {
                true => sink.run(&wire).bytes,
                false => sink.run_tc(&wire).bytes,
            };
            assert!(restored == frame, "{sentence}: came back changed");
        }
        let stripped = sink.count(sink_counter::COUNT_SINK_RECEIVED);
        assert_eq!(stripped, tagged, "{encapsulation:?}: all were stripped");
        assert!(tagged > FRAMES / 10, "{encapsulation:?}: {tagged} tagged");
        println!("{encapsulation:?}: {tagged} packets");
    }

    /// Sources of 0.1.0 and of Host-INT leave no budget.
    #[test]
    fn hops_change_nothing_behind_other_sources() {
        let (_, seed) = Random::from_env();
        let sink = Sink::load(&settings());
        let hop = Hop::load(&with_int_md());
        let mut stripped = 0;
        for number in 0..env_number("HOSTINT_TEST_FRAMES", FRAMES) {
            let mut random = Random::seeded(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            // A sink of Host-INT's packets clears the mark, which was not in use.
            let dscp = random.u8() >> 2 & !1;
            let frame = plain(&mut random).dscp(dscp);
            let sequence = 1 + random.u32() % 1_000;
            let (source, tagged) = match random.below(4) {
                0 => (
                    "Host-INT",
                    frame.clone().tagged(Block::host_int().sequence(sequence)),
                ),
                1 => (
                    "Host-INT, extension",
                    frame.clone().extended(Block::host_int().sequence(sequence)),
                ),
                2 => (
                    "0.1.0",
                    frame.clone().tagged(Block::hostint().sequence(sequence)),
                ),
                _ => (
                    "0.1.0, extension",
                    frame
                        .clone()
                        .extended(Block::hostint_extension().sequence(sequence)),
                ),
            };
            let wire = tagged.bytes();
            let sentence = format!("{source}, seed {seed}, frame {number}");
            for node in 0..random.below(4) as u32 {
                hop.set_node(1_000 + node);
                for ran in [hop.arrive(&wire), hop.leave(&wire)] {
                    assert!(ran.bytes == wire, "{sentence}: hop {node} changed it");
                }
            }
            assert!(
                sink.run(&wire).bytes == frame.bytes(),
                "{sentence}: came back changed"
            );
            stripped += 1;
        }
        let told = sink.count(sink_counter::COUNT_SINK_RECEIVED);
        assert_eq!(told, stripped, "all were stripped");
        let pushed = hop.counters()[transit_counter::COUNT_TRANSIT_PUSHED.0 as usize];
        assert_eq!(pushed, (0, 0), "no hop pushed");
        println!("{stripped} packets of other sources");
    }
}
