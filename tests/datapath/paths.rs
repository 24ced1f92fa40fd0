//! The sink counts the times of all packets over transit hops, by path and segment.

use hostint::datapath::abi::sink_counter;
use hostint::model::{LatencyHistogram, LatencyResolution, NodeId, PathTotals, PlaceTotals};
use hostint_testing::frame::{Frame, INT_MD_MARK};
use hostint_testing::int_block::Block;
use hostint_testing::model::transit::{Entry, push};
use hostint_testing::model::{Encapsulation, gpe, int_md, layout};
use hostint_testing::packets::{tcp6, udp};
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::random::Random;
use hostint_testing::sink_cases::{extension, int};

const SINK: NodeId = NodeId(9);

/// A form of INT, and the items of INT v2.1 in a pushed entry; 0: INT v0.5.
const FORMS: [(Encapsulation, u16); 7] = [
    (Encapsulation::OverTcpUdp, 0),
    (Encapsulation::ExtensionUdp, 0),
    (Encapsulation::VxlanGpe, WITHOUT_LATENCY),
    (Encapsulation::VxlanGpe, USUAL),
    (Encapsulation::VxlanGpe, WITHOUT_QUEUE),
    (Encapsulation::IntMd, USUAL),
    (Encapsulation::IntMd, WITHOUT_QUEUE),
];

const USUAL: u16 = 0xf800;
const WITHOUT_QUEUE: u16 = 0xe800;
const WITHOUT_LATENCY: u16 = 0xd800;

/// A hop on the way of a packet: how long it took to get there, and how long the hop had it; `None`: it does not know.
#[derive(Clone, Copy)]
struct PassedHop {
    node: u32,
    link_ns: i32,
    stay_ns: Option<u32>,
}

fn tagged(
    frame: &Frame,
    (encapsulation, items): (Encapsulation, u16),
    sequence: u32,
    sent_ns: u64,
) -> Vec<u8> {
    let frame = frame.clone();
    let stamp = sent_ns as u32;
    let stamped = |block: Block| block.port(13).sequence(sequence).timestamp(stamp);
    match encapsulation {
        Encapsulation::OverTcpUdp => frame.tagged(stamped(int())).bytes(),
        Encapsulation::ExtensionUdp => frame.extended(stamped(extension())).bytes(),
        Encapsulation::IntMd => {
            let own = int_md::Own {
                budget: 8,
                without_queue: items == WITHOUT_QUEUE,
                sequence,
                timestamp: sent_ns,
                ..int_md::Own::single()
            };
            own.insert(&frame.bytes(), INT_MD_MARK)
        }
        Encapsulation::VxlanGpe => {
            let frame = frame.bytes();
            let at = layout::find(&frame).expect("TCP or UDP");
            let block = gpe::Block {
                budget: (items != WITHOUT_LATENCY).then_some(8),
                without_queue: items == WITHOUT_QUEUE,
                sequence,
                timestamp: sent_ns,
                ..gpe::Block::single(at.v6)
            };
            gpe::wrap(&frame, &at, 0xc123, &block)
        }
    }
}

/// The packet after these hops. What a hop that does not know its time says of the packet's departure is unknown, too.
fn pushed(
    frame: &Frame,
    form: (Encapsulation, u16),
    sequence: u32,
    sent_ns: u64,
    hops: &[PassedHop],
) -> Vec<u8> {
    let mut at_ns = sent_ns;
    let mut wire = tagged(frame, form, sequence, sent_ns);
    for hop in hops {
        at_ns = at_ns.wrapping_add_signed(hop.link_ns.into());
        let entry = Entry {
            node: hop.node,
            ingress_port: hop.node as u16 * 3,
            egress_port: hop.node as u16 * 5,
            queue: 7,
            ingress_ns: match (hop.stay_ns, form.1) {
                (None, 0) => u64::MAX,
                _ => at_ns,
            },
            latency_ns: match (hop.stay_ns, form.1) {
                (Some(stay_ns), _) => stay_ns,
                (None, 0) => 0,
                (None, _) => u32::MAX,
            },
        };
        wire = push(&wire, form.0, &entry);
        at_ns += u64::from(hop.stay_ns.unwrap_or(0));
    }
    wire
}

/// What a sink tells of these times.
fn told(times: &[i64]) -> LatencyHistogram {
    let mut latency = LatencyHistogram::default();
    for ns in times {
        latency.add(*ns);
    }
    latency.coarsened(LatencyResolution::Middle)
}

fn place(path: &PathTotals, place: u8) -> &PlaceTotals {
    let found = path.times.iter().find(|time| time.place == place);
    found.unwrap_or_else(|| panic!("place {place} of {path:?}"))
}

fn read(sink: &Sink) -> Vec<PathTotals> {
    let mut paths = sink.paths().news(SINK, sink.clock.now_ns()).unwrap();
    paths.sort_by_key(|path| path.path.clone());
    paths
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    fn sinks() -> [(&'static str, Sink); 2] {
        [("atomics", true), ("before 5.12", false)].map(|(name, atomics)| {
            let sizes = Sizes {
                atomics,
                ..Sizes::default()
            };
            (name, Sink::load_sized(&settings(), sizes))
        })
    }

    #[test]
    fn each_packet_counts_once_in_each_segment_and_their_sum_is_the_whole() {
        for form in FORMS {
            for (name, sink) in sinks() {
                let mut random = Random::seeded(19);
                let mut hops = [11, 12, 13].map(|node| PassedHop {
                    node,
                    link_ns: 0,
                    stay_ns: None,
                });
                let mut times: [Vec<i64>; 6] = Default::default();
                for sequence in 1..=300 {
                    for (at, hop) in hops.iter_mut().enumerate() {
                        hop.link_ns = 1_000 + random.below(50_000) as i32;
                        let stay_ns = 1 + random.below(1 << (5 + 5 * at)) as u32;
                        hop.stay_ns = (form.1 != WITHOUT_LATENCY).then_some(stay_ns);
                        times[2 * at].push(hop.link_ns.into());
                        times[2 * at + 1].push(stay_ns.into());
                    }
                    let sent_ns = sink.clock.now_ns() - 500_000_000;
                    sink.run(&pushed(&udp(), form, sequence, sent_ns, &hops));
                }
                let sentence = format!("{form:?}, {name}");
                let [path] = &read(&sink)[..] else {
                    panic!("{sentence}: one path");
                };
                let nodes: Vec<_> = path.path.nodes().map(|node| node.0).collect();
                assert_eq!(nodes, [2, 11, 12, 13, 9], "{sentence}");
                let [first, ..] = path.path.hops[..] else {
                    panic!("{sentence}: hops");
                };
                assert_eq!((first.ingress_port, first.egress_port), (33, 55));
                assert_eq!(path.path.source.port, 13, "{sentence}");
                let whole = &place(path, 0).latency;
                assert_eq!(whole.samples(), 300, "{sentence}");
                if form.1 == WITHOUT_LATENCY {
                    // Hops do not know how long they had it: the first link remains.
                    assert_eq!(place(path, 1).latency, told(&times[0]), "{sentence}");
                    assert_eq!(path.times.len(), 2, "{sentence}");
                    continue;
                }
                for (at, times) in (1..).zip(&times) {
                    assert_eq!(place(path, at).latency, told(times), "{sentence}, {at}");
                }
                let sum_ns = |at| place(path, at).latency.whole_sum_ns();
                assert_eq!((1..=7).map(sum_ns).sum::<i128>(), sum_ns(0), "{sentence}");
                assert_eq!(sink.count(sink_counter::COUNT_SINK_PATH_FULL), 0);
            }
        }
    }

    #[test]
    fn times_that_a_hop_does_not_know_are_counted_nowhere() {
        struct Case {
            name: &'static str,
            stays: [Option<u32>; 2],
            places: &'static [u8],
        }
        let cases = [
            Case {
                name: "all known",
                stays: [Some(5), Some(6)],
                places: &[0, 1, 2, 3, 4, 5],
            },
            Case {
                name: "the first hop missed the arrival",
                stays: [None, Some(6)],
                places: &[0, 4, 5],
            },
            Case {
                name: "the second hop missed the arrival",
                stays: [Some(5), None],
                places: &[0, 1, 2],
            },
            Case {
                name: "no time at all is no time",
                stays: [Some(0), Some(6)],
                places: &[0, 1, 4, 5],
            },
            Case {
                name: "a departure before the arrival",
                stays: [Some(0x8000_0000), Some(6)],
                places: &[0, 1, 4, 5],
            },
        ];
        for case in cases {
            let sink = Sink::load(&settings());
            let hops = [(11, case.stays[0]), (12, case.stays[1])];
            let hops = hops.map(|(node, stay_ns)| PassedHop {
                node,
                link_ns: 1_000,
                stay_ns,
            });
            let sent_ns = sink.clock.now_ns();
            sink.run(&pushed(&udp(), FORMS[0], 1, sent_ns, &hops));
            let [path] = &read(&sink)[..] else {
                panic!("{}: one path", case.name);
            };
            let places: Vec<_> = path.times.iter().map(|time| time.place).collect();
            assert_eq!(places, case.places, "{}", case.name);
        }
    }

    #[test]
    fn clocks_may_differ() {
        let sink = Sink::load(&settings());
        let mut links = Vec::new();
        for (sequence, link_ns) in (1..).zip([-7_000, -3, 0, 12, 90_000]) {
            let hop = PassedHop {
                node: 11,
                link_ns,
                stay_ns: Some(100),
            };
            let sent_ns = sink.clock.now_ns() - 1_000_000;
            sink.run(&pushed(&tcp6(), FORMS[3], sequence, sent_ns, &[hop]));
            links.push(i64::from(link_ns));
        }
        let [path] = &read(&sink)[..] else {
            panic!("one path");
        };
        let link = &place(path, 1).latency;
        assert_eq!(link.ends(), Some((-7_000, 90_000)));
        assert_eq!(link.whole_sum_ns(), i128::from(links.iter().sum::<i64>()));
        assert_eq!(link.samples(), 5);
    }

    #[test]
    fn paths_are_apart_and_only_changed_ones_are_told() {
        let sink = Sink::load(&settings());
        let hop = |node| PassedHop {
            node,
            link_ns: 1_000,
            stay_ns: Some(500),
        };
        let mut sequence = 0;
        let mut run = |nodes: &[u32]| {
            sequence += 1;
            let hops: Vec<_> = nodes.iter().map(|node| hop(*node)).collect();
            let sent_ns = sink.clock.now_ns();
            sink.run(&pushed(&udp(), FORMS[0], sequence, sent_ns, &hops));
        };
        let mut tables = sink.paths();
        let mut news = || {
            let now_ns = sink.clock.now_ns();
            let mut told: Vec<_> = (tables.news(SINK, now_ns).unwrap().iter())
                .map(|path| {
                    let nodes: Vec<_> = path.path.hops.iter().map(|hop| hop.node.0).collect();
                    (nodes, path.times[0].latency.samples())
                })
                .collect();
            told.sort();
            told
        };
        run(&[]);
        assert_eq!(news(), [], "packets without hops are on no path");
        run(&[1, 2]);
        run(&[1, 2]);
        run(&[2, 1]);
        assert_eq!(news(), [(vec![1, 2], 2), (vec![2, 1], 1)]);
        // One of these may be lost.
        assert_eq!(news(), [(vec![1, 2], 2), (vec![2, 1], 1)]);
        run(&[1, 2]);
        assert_eq!(news(), [(vec![1, 2], 3), (vec![2, 1], 1)]);
        assert_eq!(news(), [(vec![1, 2], 3)]);
        assert_eq!(news(), [(vec![1, 2], 3)]);
        assert_eq!(news(), []);
        sink.jump(700_000_000_000);
        run(&[2, 1]);
        assert_eq!(news(), [(vec![2, 1], 2)]);
        // The idle one was forgotten, and begins anew.
        run(&[1, 2]);
        assert_eq!(news(), [(vec![1, 2], 1), (vec![2, 1], 2)]);
    }

    #[test]
    fn a_status_has_the_times_of_all_packets_of_the_paths() {
        let sink = Sink::load_sized(&settings(), Sizes::default());
        let hop = |node, stay_ns| PassedHop {
            node,
            link_ns: 1_000,
            stay_ns,
        };
        let ways = [
            (3, vec![hop(1, Some(500)), hop(2, None)]),
            (1, vec![hop(2, Some(700))]),
        ];
        let mut sequence = 0;
        for (packets, hops) in &ways {
            for _ in 0..*packets {
                sequence += 1;
                let sent_ns = sink.clock.now_ns();
                sink.run(&pushed(&udp(), FORMS[0], sequence, sent_ns, hops));
            }
        }
        let found = sink.paths().status(SINK).unwrap();
        let told = read(&sink);
        assert_eq!(found.len(), told.len());
        for (path, (packets, hops)) in found.iter().zip(&ways) {
            let nodes: Vec<_> = path.hops.iter().map(|hop| hop.node.0).collect();
            let expected: Vec<_> = hops.iter().map(|hop| hop.node).collect();
            assert_eq!(nodes, expected, "paths with most packets come first");
            assert_eq!(path.segments.len(), path.path().segment_count());
            assert_eq!(path.whole.0.samples(), *packets);
            // The second hop of the first path does not know its time: nothing is known from there on.
            let known = hops.iter().take_while(|hop| hop.stay_ns.is_some());
            let known = known.count();
            let samples: Vec<_> = (path.segments.iter())
                .map(|times| times.0.samples())
                .collect();
            for (hop, passed) in hops.iter().enumerate().take(known) {
                assert_eq!(samples[2 * hop + 1], *packets, "{samples:?}");
                let figures = path.segments[2 * hop + 1].0.figures().unwrap();
                assert_eq!(Some(figures.mean_ns), passed.stay_ns.map(i64::from));
            }
            let same = told.iter().find(|one| one.path == path.path()).unwrap();
            for time in &same.times {
                let shown = match usize::from(time.place) {
                    0 => &path.whole,
                    place => &path.segments[place - 1],
                };
                let coarse = shown.0.clone().coarsened(LatencyResolution::Middle);
                assert_eq!(coarse, time.latency, "place {}", time.place);
            }
        }
    }

    #[test]
    fn paths_beyond_the_room_are_counted_and_stripped_all_the_same() {
        let sink = Sink::load(&settings());
        let frame = udp();
        let run = |sequence: u32, node: u32| {
            let hop = |node| PassedHop {
                node,
                link_ns: 1_000,
                stay_ns: Some(500),
            };
            let sent_ns = sink.clock.now_ns();
            let wire = pushed(&frame, FORMS[0], sequence, sent_ns, &[hop(node), hop(7)]);
            assert_eq!(sink.run(&wire).bytes, frame.bytes(), "node {node}");
        };
        // A path over two hops has six distributions, and there are 4096.
        for node in 1..=1_100 {
            run(node, node);
        }
        let full = sink.count(sink_counter::COUNT_SINK_PATH_FULL);
        assert!(full >= 1_100 - 1_024, "{full} times left out");
        let paths = read(&sink);
        assert_eq!(paths.len(), 683, "4096 distributions of 6 for each path");
        run(1_101, 1);
        let first = read(&sink).into_iter().find(|path| {
            let [hop, _] = path.path.hops[..] else {
                return false;
            };
            hop.node == NodeId(1)
        });
        let first = first.expect("the first path is known");
        assert_eq!(place(&first, 0).latency.samples(), 2);
    }
}
