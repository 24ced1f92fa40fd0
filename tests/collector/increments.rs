//! Totals become increments: every packet that a sink counted is counted once, whatever happens to summaries.

use hostint::collector::Increments;
use hostint::model::*;
use hostint_testing::report_samples::of_body as report;

const SECOND: u64 = 1_000_000_000;
/// The sink of all cases counts since this time, and the collector runs longer.
const EPOCH: u64 = 1000;
const START: u64 = 500;

/// A summary at this second: since when the sink counts, and its packets and missing ones so far.
#[derive(Clone, Copy)]
struct Told {
    at_s: u64,
    epoch_s: u64,
    packets: u64,
    lost: u64,
    recovered: u64,
}

const fn told(at_s: u64, epoch_s: u64, packets: u64) -> Told {
    Told {
        at_s,
        epoch_s,
        packets,
        lost: 0,
        recovered: 0,
    }
}

/// The latency of the n-th packet of a sink.
fn latency(n: u64) -> i64 {
    (5_000 + n * 37 % 20_000) as i64
}

fn totals(told: Told) -> SubjectTotals {
    let mut latency_of_all = LatencyHistogram::default();
    (0..told.packets).for_each(|n| latency_of_all.add(latency(n)));
    SubjectTotals {
        epoch_ns: told.epoch_s * SECOND,
        last_ns: told.at_s * SECOND,
        packets: told.packets,
        bytes: told.packets * 100,
        lost: told.lost,
        recovered: told.recovered,
        latency: latency_of_all,
        ..SubjectTotals::default()
    }
}

fn flow(port: u16) -> FlowKey {
    FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "192.0.2.2".parse().unwrap(),
        sport: port,
        dport: 443,
        protocol: 6,
        vlans: Vlans::NONE,
    }
}

fn group() -> SummarySubject {
    SummarySubject::Group {
        class: Some("web".to_owned()),
    }
}

fn summary(subject: SummarySubject, told: Told) -> Summary {
    Summary {
        time_s: told.at_s as u32,
        period_ns: 10 * SECOND,
        source_node: NodeId(1),
        sink_node: NodeId(2),
        subject,
        totals: totals(told),
    }
}

fn arrival(at_s: u64, host: u8) -> Option<Arrival> {
    Some(Arrival {
        exporter: ([192, 0, 2, host], 40_000).into(),
        received_ns: at_s * SECOND,
    })
}

fn running() -> Increments {
    let mut increments = Increments::default();
    increments.start_at(START * SECOND);
    increments
}

fn give(increments: &mut Increments, told: Told) -> Option<Measured> {
    let report = report(Body::Summary(Box::new(summary(group(), told))));
    increments.of(&report, arrival(told.at_s, 2))
}

#[test]
fn each_packet_is_counted_once() {
    struct Case {
        name: &'static str,
        told: Vec<Told>,
        packets: u64,
    }
    let cases = [
        Case {
            name: "totals that grow",
            told: vec![told(1010, EPOCH, 10), told(1020, EPOCH, 25)],
            packets: 25,
        },
        Case {
            name: "a summary that is lost costs no packet",
            told: vec![told(1010, EPOCH, 10), told(1040, EPOCH, 70)],
            packets: 70,
        },
        Case {
            name: "a summary that comes twice",
            told: vec![
                told(1010, EPOCH, 10),
                told(1010, EPOCH, 10),
                told(1020, EPOCH, 12),
            ],
            packets: 12,
        },
        Case {
            name: "a summary that comes late",
            told: vec![
                told(1010, EPOCH, 10),
                told(1030, EPOCH, 30),
                told(1020, EPOCH, 20),
                told(1040, EPOCH, 40),
            ],
            packets: 40,
        },
        Case {
            name: "a sink that begins anew",
            told: vec![
                told(1010, EPOCH, 10),
                told(1030, 1025, 4),
                told(1040, 1025, 6),
            ],
            packets: 16,
        },
        Case {
            name: "a late summary of before it began anew",
            told: vec![
                told(1010, EPOCH, 10),
                told(1030, 1025, 4),
                told(1020, EPOCH, 20),
                told(1040, 1025, 6),
            ],
            packets: 16,
        },
        Case {
            name: "a sink that counted before the collector started: only what came since",
            told: vec![told(1010, 100, 1000), told(1020, 100, 1007)],
            packets: 7,
        },
        Case {
            name: "a sink that turned to this collector later: only what came since",
            told: vec![told(2010, EPOCH, 1000), told(2020, EPOCH, 1007)],
            packets: 7,
        },
    ];
    for case in cases {
        let mut increments = running();
        let mut sum = Measured::default();
        for told in &case.told {
            if let Some(more) = give(&mut increments, *told) {
                assert_eq!(more.packets, more.latency.samples(), "{}", case.name);
                sum.merge(&more);
            }
        }
        let name = case.name;
        assert_eq!(sum.packets, case.packets, "{name}");
        assert_eq!(sum.bytes, case.packets * 100, "{name}: bytes");
        assert_eq!(sum.latency.samples(), case.packets, "{name}: latencies");
    }
}

#[test]
fn increments_add_up_to_the_distribution_of_the_sink() {
    let mut increments = running();
    let mut sum = Measured::default();
    let mut last = told(1010, EPOCH, 0);
    for n in 1..50_u64 {
        last = Told {
            lost: n / 3,
            recovered: n / 7,
            ..told(1000 + 10 * n, EPOCH, n * n)
        };
        sum.merge(&give(&mut increments, last).unwrap());
    }
    let sink = totals(last);
    let (mine, its) = (
        sum.latency.figures().unwrap(),
        sink.latency.figures().unwrap(),
    );
    assert_eq!(mine.samples, its.samples);
    assert_eq!(mine.mean_ns, its.mean_ns);
    assert_eq!(
        (mine.p50_ns, mine.p90_ns, mine.p99_ns),
        (its.p50_ns, its.p90_ns, its.p99_ns)
    );
    assert_eq!((mine.min_ns, mine.max_ns), (its.min_ns, its.max_ns));
    assert_eq!((sum.lost, sum.recovered), (last.lost, last.recovered));
}

#[test]
fn parts_are_joined_before_they_count() {
    struct Case {
        name: &'static str,
        order: &'static [usize],
        packets: Option<u64>,
        incomplete: u64,
    }
    let cases = [
        Case {
            name: "all parts in order",
            order: &[0, 1, 2],
            packets: Some(500),
            incomplete: 0,
        },
        Case {
            name: "one is lost",
            order: &[0, 2],
            packets: None,
            incomplete: 1,
        },
        Case {
            name: "the first is lost",
            order: &[1, 2],
            packets: None,
            incomplete: 0,
        },
        Case {
            name: "the first comes again",
            order: &[0, 0, 1, 2],
            packets: Some(500),
            incomplete: 1,
        },
    ];
    let whole = summary(group(), told(1010, EPOCH, 500));
    let slots = whole.totals.latency.numbered_slots();
    // The places of the parts' first slots, and their numbers.
    let places = [0, slots.len() / 3, slots.len() / 2, slots.len()];
    let cuts = [
        SlotRange::ALL.from,
        slots[places[1]].0,
        slots[places[2]].0,
        SlotRange::ALL.to,
    ];
    let parts: Vec<Summary> = (0..3)
        .map(|n| {
            let mut part = whole.clone();
            part.totals.latency = whole.totals.latency.part(places[n]..places[n + 1]);
            part.totals.slots = SlotRange {
                from: cuts[n],
                to: cuts[n + 1],
            };
            part
        })
        .collect();
    for case in cases {
        let mut increments = running();
        let mut sum = None;
        for part in case.order {
            let part = report(Body::Summary(Box::new(parts[*part].clone())));
            sum = sum.or(increments.of(&part, arrival(1010, 2)));
        }
        assert_eq!(
            sum.as_ref().map(|sum| sum.packets),
            case.packets,
            "{}",
            case.name
        );
        assert_eq!(
            increments.counts().incomplete,
            case.incomplete,
            "{}",
            case.name
        );
        // The next summary has all packets, those of the incomplete one too.
        let next = give(&mut increments, told(1020, EPOCH, 510)).unwrap();
        assert_eq!(
            next.packets,
            510 - case.packets.unwrap_or(0),
            "{}",
            case.name
        );
    }
}

#[test]
fn a_pair_is_fine_again_when_its_coarse_flow_is_gone() {
    let mut increments = running();
    // Packets in fine slots, and in powers of two, by second.
    let rounds = [
        (1010, 10, 0, LatencyResolution::Fine),
        (1020, 20, 5, LatencyResolution::Coarse),
        (1030, 30, 5, LatencyResolution::Fine),
        (1040, 40, 5, LatencyResolution::Fine),
    ];
    let (mut all, mut coarse_before) = (0, 0);
    for (at_s, fine, coarse, resolution) in rounds {
        let mut sum = give(&mut increments, told(at_s, EPOCH, fine)).unwrap();
        // Sinks tell totals that changed.
        if coarse != coarse_before {
            let mut one = summary(group(), told(at_s, EPOCH + 12, coarse));
            one.totals.latency = one.totals.latency.coarsened(LatencyResolution::Coarse);
            let report = report(Body::Summary(Box::new(one)));
            sum.merge(&increments.of(&report, arrival(at_s, 2)).unwrap());
            coarse_before = coarse;
        }
        all += sum.packets;
        assert_eq!(all, fine + coarse, "at {at_s}");
        assert_eq!(sum.latency.resolution(), resolution, "at {at_s}");
    }
}

#[test]
fn a_restart_loses_no_packet_and_counts_none_twice() {
    struct Case {
        name: &'static str,
        before: Vec<Told>,
        /// The bases that are kept, at most.
        kept: usize,
        after: Vec<Told>,
        /// Packets that the second run counts.
        packets: u64,
    }
    // The first run ends, and the second one begins, at this second.
    const RESTART: u64 = 1025;
    let cases = [
        Case {
            name: "the first summary after a restart has the packets since the last one before",
            before: vec![told(1010, EPOCH, 10), told(1020, EPOCH, 25)],
            kept: 10,
            after: vec![told(1030, EPOCH, 40), told(1040, EPOCH, 45)],
            packets: 20,
        },
        Case {
            name: "nothing came meanwhile",
            before: vec![told(1010, EPOCH, 10)],
            kept: 10,
            after: vec![told(1030, EPOCH, 10)],
            packets: 0,
        },
        Case {
            name: "a summary from before the restart comes late",
            before: vec![told(1010, EPOCH, 10), told(1020, EPOCH, 25)],
            kept: 10,
            after: vec![told(1015, EPOCH, 20), told(1030, EPOCH, 40)],
            packets: 15,
        },
        Case {
            name: "the sink began anew meanwhile",
            before: vec![told(1010, EPOCH, 10)],
            kept: 10,
            after: vec![told(1040, 1030, 7)],
            packets: 7,
        },
        Case {
            name: "what is not kept counts from its first summary on",
            before: vec![told(1010, EPOCH, 10)],
            kept: 0,
            after: vec![told(1030, EPOCH, 40), told(1040, EPOCH, 45)],
            packets: 5,
        },
    ];
    for case in cases {
        let mut increments = running();
        for told in &case.before {
            give(&mut increments, *told);
        }
        let kept = increments.bases(case.kept, RESTART * SECOND);
        let mut increments = Increments::default();
        increments.start_at((RESTART + 1) * SECOND);
        increments.resume(kept);
        let mut sum = Measured::default();
        for told in &case.after {
            sum.merge(&give(&mut increments, *told).unwrap_or_default());
        }
        assert_eq!(sum.packets, case.packets, "{}", case.name);
        let latencies = sum.latency.samples();
        assert_eq!(latencies, case.packets, "{}: latencies", case.name);
    }
}

#[test]
fn a_flow_that_began_while_no_collector_ran_counts_from_its_first_packet() {
    let mut increments = running();
    give(&mut increments, told(1010, EPOCH, 10));
    let kept = increments.bases(10, 1012 * SECOND);
    let mut increments = Increments::default();
    increments.start_at(1060 * SECOND);
    increments.resume(kept);
    let mut give = |port, epoch_s, packets| {
        let subject = SummarySubject::Flow {
            flow: flow(port),
            source_port: 0,
            sink_port: 0,
        };
        let one = summary(subject, told(1070, epoch_s, packets));
        let report = report(Body::Summary(Box::new(one)));
        let more = increments.of(&report, arrival(1070, 2));
        more.map(|more| more.packets)
    };
    assert_eq!(give(1, 1030, 6), Some(6), "it began between the runs");
    assert_eq!(give(2, EPOCH, 6), None, "it began earlier and was not told");
}

#[test]
fn subjects_of_different_sinks_are_not_mixed_up() {
    let mut increments = running();
    let mut give = |host: u8, node: u32, subject: SummarySubject, packets: u64| {
        let mut one = summary(subject, told(1010, EPOCH, packets));
        one.sink_node = NodeId(node);
        let report = report(Body::Summary(Box::new(one)));
        increments.of(&report, arrival(1010, host)).unwrap().packets
    };
    let of = |port| SummarySubject::Flow {
        flow: flow(port),
        source_port: 0,
        sink_port: 0,
    };
    assert_eq!(give(2, 2, group(), 10), 10);
    assert_eq!(give(2, 3, group(), 5), 5, "two nodes behind one address");
    assert_eq!(give(3, 2, group(), 4), 4, "two addresses of one node");
    assert_eq!(give(2, 2, of(1), 7), 7, "a flow beside its group");
    assert_eq!(give(2, 2, of(2), 6), 6, "another flow");
    assert_eq!(
        give(2, 2, SummarySubject::Group { class: None }, 3),
        3,
        "no class"
    );
    assert_eq!(give(2, 2, group(), 12), 2, "the first one again");
}

#[test]
fn memory_is_bounded_and_what_was_forgotten_is_not_counted_again() {
    let mut increments = Increments::new(10);
    increments.start_at(START * SECOND);
    let mut give = |port: u16, told: Told| {
        let subject = SummarySubject::Flow {
            flow: flow(port),
            source_port: 0,
            sink_port: 0,
        };
        let report = report(Body::Summary(Box::new(summary(subject, told))));
        increments
            .of(&report, arrival(told.at_s, 2))
            .map(|more| more.packets)
    };
    for port in 0..10 {
        assert_eq!(give(port, told(1010, EPOCH, 5)), Some(5), "flow {port}");
    }
    assert_eq!(give(10, told(1020, EPOCH, 5)), None, "there is no room");
    assert_eq!(
        give(0, told(1030, EPOCH, 9)),
        Some(4),
        "the known ones go on"
    );
    assert_eq!(give(0, told(1140, EPOCH, 9)), Some(0));
    assert_eq!(
        give(11, told(1160, 1155, 5)),
        Some(5),
        "quiet ones make room"
    );
    assert_eq!(
        give(3, told(1170, EPOCH, 8)),
        None,
        "a forgotten one only has a base"
    );
    assert_eq!(
        give(3, told(1180, EPOCH, 9)),
        Some(1),
        "and counts from there"
    );
    assert_eq!(increments.counts().no_room, 1);
}

#[test]
fn flows_that_come_and_go_are_forgotten_after_an_hour() {
    let mut increments = Increments::default();
    increments.start_at(START * SECOND);
    let mut give = |port: u16, told: Told| {
        let subject = SummarySubject::Flow {
            flow: flow(port),
            source_port: 0,
            sink_port: 0,
        };
        let report = report(Body::Summary(Box::new(summary(subject, told))));
        let added = increments.of(&report, arrival(told.at_s, 2));
        (added.map(|more| more.packets), increments.followed())
    };
    for port in 0..1000 {
        // One of them goes on, and each begins just before its first summary.
        let at_s = 1010 + 60 * u64::from(port);
        let begun = told(at_s, at_s - 5, 5);
        let (packets, followed) = give(port, begun);
        assert_eq!(packets, Some(5), "flow {port}");
        assert!(followed <= 63, "{followed} flows at {at_s} s");
        give(2000, told(at_s, EPOCH, 10 + u64::from(port)));
    }
    assert_eq!(
        give(2000, told(61_000, EPOCH, 1019)).0,
        Some(10),
        "it was never forgotten"
    );
}

#[test]
fn a_class_that_falls_silent_is_known_although_its_last_summary_is_lost() {
    struct Case {
        name: &'static str,
        /// The summaries of the class that are lost, the first being 0.
        lost: &'static [usize],
        packets: u64,
    }
    let cases = [
        Case {
            name: "none",
            lost: &[],
            packets: 30,
        },
        Case {
            name: "the last one with news",
            lost: &[1],
            packets: 30,
        },
        Case {
            name: "all of its life",
            lost: &[0, 1],
            packets: 30,
        },
        Case {
            name: "the repetitions",
            lost: &[2, 3],
            packets: 30,
        },
        Case {
            name: "the last one with news, and the first repetition",
            lost: &[1, 2],
            packets: 30,
        },
        Case {
            name: "all with news or later",
            lost: &[1, 2, 3],
            packets: 10,
        },
    ];
    let began_ns = EPOCH * SECOND;
    for case in cases {
        let mut tally = Tally::since(began_ns);
        tally.begin_counting();
        let mut increments = running();
        // Another class of the same sink has traffic all the time.
        give(&mut increments, told(EPOCH, EPOCH, 1));
        let (mut told, mut packets) = (0, 0);
        for (period, counted) in [10, 30, 30, 30, 30, 30].into_iter().enumerate() {
            let at_s = EPOCH + 10 * (period as u64 + 1);
            let mut slots = [0; FINE_SLOTS];
            slots[100] = counted as u32;
            let counts = FlowCounts {
                node: NodeId(1),
                packets: counted,
                bytes: 100 * counted,
                first_ns: began_ns + SECOND,
                last_ns: at_s * SECOND,
                slots: FlowSlots::fine(&slots),
                ..FlowCounts::default()
            };
            tally.look_between(flow(5000), counts);
            for (source_node, subject, totals) in tally.groups_to_report() {
                let is_lost = case.lost.contains(&told);
                told += 1;
                if is_lost {
                    continue;
                }
                let summary = Summary {
                    source_node,
                    totals,
                    ..summary(subject, super::increments::told(at_s, EPOCH, 0))
                };
                let report = report(Body::Summary(Box::new(summary)));
                let measured = increments.of(&report, arrival(at_s, 2)).unwrap();
                assert_eq!(
                    increments.is_repetition(&report, Some(&measured)),
                    measured.packets == 0,
                    "{}: {at_s}",
                    case.name
                );
                packets += measured.packets;
            }
        }
        assert_eq!(told, 4, "{}: two with news, two that repeat", case.name);
        assert_eq!(packets, case.packets, "{}", case.name);
    }
}

#[test]
fn a_flow_that_is_forgotten_is_news_only_if_a_summary_was_lost() {
    let subject = SummarySubject::Flow {
        flow: flow(1),
        source_port: 2,
        sink_port: 3,
    };
    let of_flow = |told| Body::Summary(Box::new(summary(subject.clone(), told)));
    let cases = [
        ("all were told", told(1020, EPOCH, 20), true),
        ("a summary was lost", told(1010, EPOCH, 10), false),
    ];
    for (name, last_heard, repeats) in cases {
        let mut increments = running();
        let mut give = |told: Told| {
            let report = report(of_flow(told));
            let measured = increments.of(&report, arrival(told.at_s, 2));
            increments.is_repetition(&report, measured.as_ref())
        };
        assert!(!give(told(1005, EPOCH, 5)), "{name}");
        assert!(!give(last_heard), "{name}");
        // The flow had no packets since, and its sink forgets it.
        assert_eq!(give(told(1140, EPOCH, 20)), repeats, "{name}");
    }
}
