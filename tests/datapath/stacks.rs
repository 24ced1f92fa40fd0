//! The sink takes out the entries of transit hops with the rest of INT, tells which hops a reported packet took, and
//! leaves longer stacks alone.

use hostint::datapath::abi::{event_reason, path_event, sink_counter, sink_flow_flag};
use hostint::datapath::sink::events;
use hostint::model::{Body, Hop, HopQueue, NodeId, PathSample, Report, SinkEvent};
use hostint::report::Builder;
use hostint::wire::report;
use hostint_testing::checksum::be16;
use hostint_testing::frame::{Frame, INT_MD_MARK};
use hostint_testing::int_block::Block;
use hostint_testing::model::sink::Seen;
use hostint_testing::model::transit::{Entry, push};
use hostint_testing::model::{Encapsulation, gpe, int_md, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::Ran;
use hostint_testing::programs::sink::{Event, Sink, Sizes, XDP_PASS, model_of, settings};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::report_samples;
use hostint_testing::sink_cases::{Case, Outcome, check_all, extension, int};

/// Entries of transit hops that a sink reads.
const MOST: usize = 8;

/// The hop with this node id.
fn entry(node: u32) -> Entry {
    Entry {
        node,
        ingress_port: node as u16 * 3,
        egress_port: node as u16 * 5,
        queue: 7,
        ingress_ns: 0xfedc_ba98_0000_0000 + u64::from(node) * 1_000_000,
        latency_ns: 1_234 + node,
    }
}

/// What a report says of it; in VXLAN-GPE with entries of five words the hop's latency is unknown, and INT v0.5 has no
/// queue.
fn hop(node: u32, form: Form) -> Hop {
    let entry = entry(node);
    let ingress_ts = entry.ingress_ns as u32;
    let latency = if form == Form::Gpe {
        0
    } else {
        entry.latency_ns
    };
    let knows_queue = matches!(form, Form::Gpe | Form::GpeWithLatency | Form::IntMd);
    Hop {
        node: NodeId(node),
        ingress_port: entry.ingress_port,
        egress_port: entry.egress_port,
        ingress_ts,
        egress_ts: ingress_ts + latency,
        queue: knows_queue.then_some(HopQueue::Occupancy(entry.queue)),
    }
}

/// A form of INT, and what it is named in failures.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    OverTcpUdp,
    HostInt,
    ExtensionUdp,
    Gpe,
    GpeWithLatency,
    GpeWithoutQueue,
    IntMd,
    IntMdWithoutQueue,
}

const FORMS: [Form; 8] = [
    Form::OverTcpUdp,
    Form::HostInt,
    Form::ExtensionUdp,
    Form::Gpe,
    Form::GpeWithLatency,
    Form::GpeWithoutQueue,
    Form::IntMd,
    Form::IntMdWithoutQueue,
];

impl Form {
    fn encapsulation(self) -> Encapsulation {
        match self {
            Self::OverTcpUdp | Self::HostInt => Encapsulation::OverTcpUdp,
            Self::ExtensionUdp => Encapsulation::ExtensionUdp,
            Self::Gpe | Self::GpeWithLatency | Self::GpeWithoutQueue => Encapsulation::VxlanGpe,
            Self::IntMd | Self::IntMdWithoutQueue => Encapsulation::IntMd,
        }
    }

    fn tagged(self, frame: &Frame, sequence: u32) -> Vec<u8> {
        let frame = frame.clone();
        let budget = (self != Self::Gpe).then_some(MOST as u8);
        let without_queue = matches!(self, Self::GpeWithoutQueue | Self::IntMdWithoutQueue);
        match self {
            Self::OverTcpUdp => frame.tagged(int().sequence(sequence)).bytes(),
            Self::HostInt => frame.tagged(Block::host_int().sequence(sequence)).bytes(),
            Self::ExtensionUdp => frame.extended(extension().sequence(sequence)).bytes(),
            Self::IntMd | Self::IntMdWithoutQueue => {
                let own = int_md::Own {
                    budget: MOST as u8,
                    without_queue,
                    sequence,
                    ..int_md::Own::single()
                };
                own.insert(&frame.bytes(), INT_MD_MARK)
            }
            Self::Gpe | Self::GpeWithLatency | Self::GpeWithoutQueue => {
                let frame = frame.bytes();
                let at = layout::find(&frame).expect("TCP or UDP");
                let block = gpe::Block {
                    budget,
                    without_queue,
                    sequence,
                    ..gpe::Block::single(at.v6)
                };
                gpe::wrap(&frame, &at, 0xc123, &block)
            }
        }
    }

    /// The frame after hops with these node ids, in the order in which it met them.
    fn pushed(self, frame: &Frame, sequence: u32, nodes: &[u32]) -> Vec<u8> {
        nodes
            .iter()
            .fold(self.tagged(frame, sequence), |frame, node| {
                push(&frame, self.encapsulation(), &entry(*node))
            })
    }
}

/// Packets of every shape; Host-INT's over-tcp-udp does not keep the DSCP, so it is 0.
fn frames(form: Form) -> Vec<(&'static str, Frame)> {
    let mut frames = vec![
        ("UDP", udp()),
        ("an empty datagram", udp().payload(0)),
        ("an odd payload", udp().payload(63)),
        ("a long payload", udp().payload(1_401)),
        ("UDP without checksum", udp().without_udp_checksum()),
        ("TCP", tcp()),
        ("a bare ACK", tcp().payload(0)),
        ("TCP options", tcp().tcp_options(40).payload(501)),
        ("padding", tcp().payload(1).padding(17)),
        ("UDP over IPv6", udp6().payload(17)),
        ("TCP over IPv6", tcp6().tcp_options(12)),
    ];
    if form.encapsulation() != Encapsulation::VxlanGpe {
        frames.push(("IPv4 options", udp().ip_options(40)));
        frames.push((
            "IPv6 extension headers",
            tcp6().extension_header(0, 16).extension_header(60, 48),
        ));
    }
    frames
}

/// The one event with hops among these.
fn path_of(events: &[Event]) -> Option<path_event> {
    events.iter().find_map(|event| match event {
        Event::Path(path) => Some(*path),
        _ => None,
    })
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    fn stripped(sink: &Sink, wire: &[u8], frame: &Frame, sentence: &str) {
        let (xdp, tc) = (sink.run(wire), sink.run_tc(wire));
        let original = frame.bytes();
        for (hook, ran, passes) in [("XDP", xdp, XDP_PASS), ("TC", tc, TCX_NEXT)] {
            let expected = Ran {
                verdict: passes,
                bytes: original.clone(),
            };
            assert_eq!(ran, expected, "{sentence} at {hook}");
        }
    }

    #[test]
    fn any_number_of_hops_up_to_eight_is_stripped() {
        let own = settings();
        let model = model_of(&own);
        for atomics in [true, false] {
            let sizes = Sizes {
                atomics,
                tc: true,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(&own, sizes);
            for form in FORMS {
                for (name, frame) in frames(form) {
                    for hops in 0..=MOST as u32 {
                        let nodes = Vec::from_iter(100..100 + hops);
                        let wire = form.pushed(&frame, 1, &nodes);
                        let sentence = format!("{form:?}, {name}, {hops} hops");
                        sink.zero_counters();
                        stripped(&sink, &wire, &frame, &sentence);
                        assert_eq!(sink.count(count::COUNT_SINK_RECEIVED), 2, "{sentence}");
                        let Seen::Tagged(seen) = model.look(&wire) else {
                            panic!("{sentence}: the model does not take it for tagged");
                        };
                        assert_eq!(seen.restored, frame.bytes(), "{sentence}: the model");
                        assert_eq!(seen.pushed.len(), hops as usize, "{sentence}: the model");
                    }
                }
            }
        }
    }

    #[test]
    fn vlan_tags_stay_in_front() {
        let sink = Sink::load_both(&settings());
        for form in FORMS {
            for frame in [udp().vlan(5), tcp6().vlan(5).vlan(6)] {
                let wire = form.pushed(&frame, 1, &[1, 2, 3, 4, 5, 6, 7, 8]);
                assert_eq!(sink.run(&wire).bytes, frame.bytes(), "{form:?}");
            }
        }
    }

    #[test]
    fn a_report_tells_the_hops_newest_first() {
        for form in FORMS {
            for hops in 0..=MOST as u32 {
                let sink = Sink::load_both(&settings());
                let nodes = Vec::from_iter(1..=hops);
                sink.run(&form.pushed(&tcp(), 77, &nodes));
                let bytes = sink.event_bytes();
                let [bytes] = &bytes[..] else {
                    panic!("{form:?}, {hops} hops: one event");
                };
                let Some(SinkEvent::Latency(event)) = events::decode(bytes) else {
                    panic!("{form:?}, {hops} hops: a latency");
                };
                let expected: Vec<_> = nodes.iter().rev().map(|node| hop(*node, form)).collect();
                assert_eq!(event.transit, expected, "{form:?}");
                assert_eq!(event.source.node, NodeId(2), "{form:?}, {hops} hops");
                assert_eq!(event.source.egress_port, 13, "{form:?}, {hops} hops");
                assert_eq!(event.sequence, 77, "{form:?}, {hops} hops");
                assert!(event.reasons.new_flow && !event.reasons.path_change);
            }
        }
    }

    #[test]
    fn a_reported_path_has_the_times_that_hops_pushed() {
        let builder = Builder {
            sink_node: NodeId(9),
            node_id_word: true,
            packet_headers: true,
            host_int: false,
            clock: None,
        };
        for form in FORMS {
            let sink = Sink::load_both(&settings());
            sink.run(&form.pushed(&tcp(), 77, &[1, 2, 3]));
            let event = events::decode(&sink.event_bytes()[0]).expect("a latency");
            let observation = builder.build(&event, 1_700_000_000_000_000_000);
            let report = Report {
                sequence: 1,
                observation: observation.expect("it is reported"),
            };
            let datagram = report_samples::datagram(&report);
            let group = report::decode(&datagram).expect("what was sent");
            let Body::Latency(latency) = &group.reports[0].observation.body else {
                panic!("{form:?}: a latency report");
            };
            let sample = PathSample::of(latency, None, |_, _, _| None).expect("a path");
            let nodes: Vec<_> = sample.path.nodes().map(|node| node.0).collect();
            assert_eq!(nodes, [2, 1, 2, 3, 9], "{form:?}");
            let times = sample
                .segments
                .iter()
                .map(|time| Some(time.as_ref()?.stamped_ns));
            let hops: Vec<_> = times.skip(1).step_by(2).collect();
            let known = (form != Form::Gpe).then_some(());
            let expected = [1, 2, 3].map(|node| known.map(|()| i64::from(entry(node).latency_ns)));
            assert_eq!(hops, expected, "{form:?}");
        }
    }

    #[test]
    fn numbers_and_times_are_the_source_s() {
        for form in FORMS {
            let sink = Sink::load_both(&settings());
            for (sequence, hops) in [(1, 3), (2, 0), (4, 8), (3, 1)] {
                let nodes = Vec::from_iter(1..=hops);
                sink.run(&form.pushed(&udp(), sequence, &nodes));
            }
            let key = hostint_testing::packets::key(17);
            let flow = sink.flow(&key).expect("it is tracked");
            assert_eq!((flow.packets, flow.head), (4, 4), "{form:?}");
            assert_eq!((flow.reordered, flow.lost), (1, 0), "{form:?}");
            assert_eq!(flow.source_node, 2, "{form:?}");
            let flag = sink_flow_flag::FLOW_HAD_HOPS.0 as u8;
            let number = match form.encapsulation() {
                Encapsulation::OverTcpUdp => 1,
                Encapsulation::ExtensionUdp => 2,
                Encapsulation::VxlanGpe => 3,
                Encapsulation::IntMd => 6,
            };
            assert_eq!(flow.encapsulation, number | flag, "{form:?}");
        }
    }

    #[test]
    fn another_path_is_reported_once() {
        let sink = Sink::load_both(&settings());
        let new = event_reason::REASON_NEW_FLOW.0;
        let path = event_reason::REASON_PATH.0;
        let form = Form::OverTcpUdp;
        for (sequence, nodes, reasons, sentence) in [
            (1, &[1, 2][..], Some(new), "a new flow"),
            (2, &[1, 2], None, "the same path"),
            (3, &[2, 1], Some(path), "another order"),
            (4, &[2, 1], None, "the same path again"),
            (5, &[2, 1, 3], Some(path), "one hop more"),
            (6, &[], Some(path), "no hop at all"),
            (7, &[], None, "still none"),
            (8, &[9], Some(path), "a hop again"),
        ] {
            sink.run(&form.pushed(&tcp(), sequence, nodes));
            let events = sink.events();
            let told = events.iter().find_map(|event| match event {
                Event::Path(path) => Some(path.latency.reasons),
                Event::Latency(latency) => Some(latency.reasons),
                _ => None,
            });
            assert_eq!(told.map(u32::from), reasons, "{sentence}");
            assert_eq!(
                path_of(&events).map(|path| usize::from(path.hops)),
                reasons.and(Some(nodes.len()).filter(|hops| *hops > 0)),
                "{sentence}"
            );
        }
    }

    #[test]
    fn packets_on_two_paths_in_turn_are_reported_no_more_often_than_buckets_change() {
        let mut held = settings();
        held.bucket_hold_ns = 1_000_000_000;
        let sink = Sink::load(&held);
        for sequence in 1..=100 {
            sink.run(&Form::OverTcpUdp.pushed(&udp(), sequence, &[sequence & 1]));
        }
        assert_eq!(sink.events().len(), 1, "the new flow");
        sink.jump(1_100_000_000);
        for sequence in 101..=200 {
            sink.run(&Form::OverTcpUdp.pushed(&udp(), sequence, &[sequence & 1]));
        }
        assert_eq!(sink.events().len(), 1, "one change a second");
    }

    #[test]
    fn a_hop_that_had_no_budget_or_no_room_says_so_and_changes_nothing_else() {
        let case = |name, tagged: Frame| Case {
            name,
            frame: tagged.bytes(),
            outcome: Outcome::Stripped(tagged.untagged().bytes()),
        };
        check_all(vec![
            case("E over UDP", udp().tagged(int().byte(4, 1))),
            case("E over TCP", tcp6().tagged(int().byte(4, 1))),
            case("M over TCP", tcp().tagged(int().byte(5, 0x84))),
            case(
                "both in an extension",
                tcp().extended(extension().byte(4, 1).byte(5, 0x84)),
            ),
            case("one hop allowed, one used", tcp().tagged(int().byte(6, 1))),
            case("nine hops allowed", udp().tagged(int().byte(6, 9))),
            case("255 hops allowed", udp().tagged(int().byte(6, 255))),
        ]);
    }

    #[test]
    fn what_is_no_stack_of_eight_passes_untouched() {
        let nine = |form: Form| form.pushed(&udp(), 1, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let one = |form: Form| form.pushed(&udp(), 1, &[1]);
        let changed = |mut frame: Vec<u8>, at: usize, value: u8| {
            frame[at] = value;
            frame
        };
        let refused = |name, reason, frame| Case {
            name,
            frame,
            outcome: Outcome::Refused(reason),
        };
        // The IP header ends at 34, the UDP header at 42.
        check_all(vec![
            refused(
                "nine hops",
                count::COUNT_SINK_BAD_VERSION,
                nine(Form::OverTcpUdp),
            ),
            refused(
                "nine hops in an extension",
                count::COUNT_SINK_BAD_VERSION,
                nine(Form::ExtensionUdp),
            ),
            refused(
                "nine hops in VXLAN-GPE",
                count::COUNT_SINK_BAD_SHIM,
                nine(Form::Gpe),
            ),
            refused(
                "nine hops with latency",
                count::COUNT_SINK_BAD_SHIM,
                nine(Form::GpeWithLatency),
            ),
            refused(
                "nine hops without queues",
                count::COUNT_SINK_BAD_SHIM,
                nine(Form::GpeWithoutQueue),
            ),
            refused(
                "nine hops in INT-MD",
                count::COUNT_SINK_BAD_BITMAP,
                nine(Form::IntMd),
            ),
            refused(
                "nine hops in INT-MD without queues",
                count::COUNT_SINK_BAD_BITMAP,
                nine(Form::IntMdWithoutQueue),
            ),
            refused(
                "in INT-MD a queue in entries that have no room for it",
                count::COUNT_SINK_BAD_BITMAP,
                changed(one(Form::IntMdWithoutQueue), 42 + 8, 0xf8),
            ),
            refused(
                "in INT-MD entries with room for a queue that they do not have",
                count::COUNT_SINK_BAD_BITMAP,
                changed(one(Form::IntMd), 42 + 8, 0xe8),
            ),
            refused(
                "half an entry without a queue",
                count::COUNT_SINK_BAD_BITMAP,
                changed(one(Form::IntMdWithoutQueue), 42 + 1, 13),
            ),
            refused(
                "neither latency nor queue",
                count::COUNT_SINK_BAD_BITMAP,
                changed(one(Form::GpeWithoutQueue), 42 + 16, 0xc8),
            ),
            refused(
                "a length that counts another number of hops",
                count::COUNT_SINK_BAD_SHIM,
                changed(one(Form::OverTcpUdp), 42 + 7, 1),
            ),
            refused(
                "more hops than are allowed",
                count::COUNT_SINK_BAD_VERSION,
                changed(one(Form::OverTcpUdp), 42 + 6, 1),
            ),
            refused(
                "no hop, not even the source",
                count::COUNT_SINK_FOREIGN_MARK,
                changed(one(Form::OverTcpUdp), 42 + 7, 0),
            ),
            refused(
                "half an entry in VXLAN-GPE",
                count::COUNT_SINK_BAD_SHIM,
                changed(one(Form::Gpe), 42 + 9, 15),
            ),
            refused(
                "a latency that the bitmap does not ask for",
                count::COUNT_SINK_BAD_BITMAP,
                changed(one(Form::GpeWithLatency), 42 + 16, 0xd8),
            ),
            refused(
                "an entry of seven words",
                count::COUNT_SINK_BAD_VERSION,
                changed(one(Form::Gpe), 42 + 14, 7),
            ),
            refused(
                "the frame ends within a stack",
                count::COUNT_SINK_TRUNCATED,
                cut(&one(Form::OverTcpUdp), 42 + 44),
            ),
            refused(
                "the IP packet ends within a stack",
                count::COUNT_SINK_BAD_LENGTH,
                short_ip(one(Form::OverTcpUdp)),
            ),
        ]);
    }

    /// The frame's first bytes, with lengths that agree.
    fn cut(frame: &[u8], len: usize) -> Vec<u8> {
        let mut frame = frame[..len].to_vec();
        let ip_len = (len - 14) as u16;
        frame[16..18].copy_from_slice(&ip_len.to_be_bytes());
        frame[38..40].copy_from_slice(&(ip_len - 20).to_be_bytes());
        let header_sum = hostint_testing::checksum::sum(&frame[14..24])
            + hostint_testing::checksum::sum(&frame[26..34]);
        let check = hostint_testing::checksum::complement(header_sum);
        frame[24..26].copy_from_slice(&check.to_be_bytes());
        frame
    }

    /// The lengths of IP and UDP end within the stack, the frame does not.
    fn short_ip(frame: Vec<u8>) -> Vec<u8> {
        assert!(be16(&frame, 16) > 60);
        let whole = frame.len();
        let mut short = cut(&frame, 42 + 44);
        short.extend(&frame[42 + 44..whole]);
        short
    }
}
