//! Latencies are corrected by what nodes tell of their clocks, or the clocks are said to be unknown.

use hostint::model::*;

use super::clock_nodes::{Collector, Node, ONE, SECOND, START, US, other};

#[test]
fn a_latency_is_told_without_the_difference_of_the_clocks() {
    for (name, ahead_ns) in [
        ("the clocks agree", 0),
        ("the sink's is behind", -250_000 * US),
        ("the sink's is ahead", 250_000 * US),
        ("by more than stamps have bits for", 9_000_000 * US),
        ("by hours, to the other side", -7_200_000_000 * US),
    ] {
        let other = other(ahead_ns);
        let mut collector = Collector::new();
        let t = collector.tell_both(&ONE, &other, 12);
        for (from, to) in [(&ONE, &other), (&other, &ONE)] {
            let took = 40_000;
            let found = collector.report(from, to, took, t, ClockSource::Tai);
            let found = found.unwrap_or_else(|| panic!("{name}: the clocks are known"));
            let [low, high] = found.bound_ns;
            let took = took as i64;
            assert!(
                (0..=took).contains(&low) && (took..2_000 * US).contains(&high),
                "{name}: {found:?}"
            );
            // Both directions are as quick.
            assert!(
                (found.latency_ns - took).abs() < 2 * US,
                "{name}: {found:?}"
            );
            assert!(found.error_ns < 15 * US as u64, "{name}: {found:?}");
        }
        let counts = collector.0.ledgers.clocks.counts();
        assert_eq!((counts.reporting, counts.known), (2, 2), "{name}");
        assert_eq!(counts.contradictions, 0, "{name}");
    }
}

#[test]
fn clocks_are_unknown_where_nothing_tells_about_them() {
    let other = other(250_000 * US);
    let mut collector = Collector::new();
    let unknown = |collector: &mut Collector, t, clock, name: &str| {
        let found = collector.report(&ONE, &other, 40_000, t, clock);
        assert_eq!(found, None, "{name}");
    };
    collector.1 = false;
    unknown(&mut collector, START, ClockSource::Tai, "nobody told");
    collector.1 = true;
    let t = collector.tell_both(&ONE, &other, 12);
    unknown(&mut collector, t, ClockSource::Nic, "the card stamped it");
    collector.1 = false;
    let later = t + 60 * SECOND;
    unknown(&mut collector, later, ClockSource::Tai, "long ago");
    let newest = t + SECOND;
    unknown(
        &mut collector,
        newest,
        ClockSource::Tai,
        "nobody told since",
    );
    collector.1 = true;
    let early = collector.report(&ONE, &other, 40_000, t, ClockSource::Tai);
    assert!(early.is_some(), "but it was known then");
    let set = Node {
        ahead_ns: other.ahead_ns - SECOND as i64,
        ..other
    };
    let found = collector.report(&ONE, &set, 40_000, t, ClockSource::Tai);
    assert_eq!(found, None, "no packet takes -1 s: the clock was set");
    let third = Node { id: 3, ..ONE };
    let found = collector.report(&third, &other, 40_000, t, ClockSource::Tai);
    assert_eq!(found, None, "another node");
}

#[test]
fn a_line_has_the_corrected_latency_or_says_that_clocks_are_unknown() {
    let mut record = Record {
        latency_ns: Some(Some(-70_000)),
        ..Record::default()
    };
    let mut keys = |corrected| {
        record = record.clone().with_clocks(LatencyClocks::from(corrected));
        let json = serde_json::to_value(&record).unwrap();
        let read: Record = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(read.clocks(), LatencyClocks::from(corrected));
        [
            "latency_corrected_ns",
            "latency_error_ns",
            "latency_bound_ns",
            "clock",
        ]
        .map(|key| json.get(key).map(ToString::to_string))
    };
    let null = Some("null".to_owned());
    let unknown = Some("\"unknown\"".to_owned());
    assert_eq!(keys(None), [None, None, null, unknown]);
    let corrected = CorrectedLatency {
        latency_ns: 6_140,
        error_ns: 2_000,
        bound_ns: [0, 120_000],
    };
    let expected = ["6140", "2000", "[0,120000]"].map(|text| Some(text.to_owned()));
    assert_eq!(keys(Some(corrected))[..3], expected);
    assert_eq!(keys(Some(corrected))[3], None);
    let without = Record::default().with_clocks(LatencyClocks::Unknown);
    assert_eq!(without.latency_bound_ns, None, "it tells no latency");
    let untold = Record {
        latency_ns: Some(Some(1)),
        ..Record::default()
    };
    assert_eq!(untold.clocks(), LatencyClocks::Unreported, "an older line");
    assert_eq!(
        untold.clone().with_clocks(LatencyClocks::Unreported),
        untold
    );
}

/// A summary at this time of packets from one node to the other in the last ten seconds, and what it adds.
fn summary(to: &Node, latencies: &[i64], t: u64) -> (Observation, Measured) {
    let mut latency = LatencyHistogram::default();
    latencies.iter().for_each(|ns| latency.add(*ns));
    let observation = Observation {
        hw_id: HwId::default(),
        flags: Flags::default(),
        clock: None,
        body: Body::Summary(Box::new(Summary {
            time_s: (to.clock(t) / SECOND) as u32,
            period_ns: 10 * SECOND,
            source_node: NodeId(ONE.id),
            sink_node: NodeId(to.id),
            subject: SummarySubject::Group { class: None },
            totals: SubjectTotals::default(),
        })),
    };
    let measured = Measured {
        summaries: 1,
        packets: latencies.len() as u64,
        latency,
        ..Measured::default()
    };
    (observation, measured)
}

#[test]
fn what_a_summary_adds_is_corrected_by_the_clocks_in_its_period() {
    for (name, ahead_ns) in [
        ("the clocks agree", 0),
        ("the sink's is behind", -250_000 * US),
        (
            "the sink's is ahead by more than stamps tell",
            9_000_000 * US,
        ),
    ] {
        let other = other(ahead_ns);
        let mut collector = Collector::new();
        let t = collector.tell_both(&ONE, &other, 16);
        let stamped = |took: i64| i64::from((took + ahead_ns) as i32);
        let took = [20 * US, 30 * US, 70 * US];
        let (observation, mut measured) = summary(&other, &took.map(stamped), t);
        let (clocks, received) = (&collector.0.ledgers.clocks, t - SECOND);
        clocks.correct_measured(&observation, &mut measured, received);
        let mean = measured.corrected.mean();
        let mean = mean.unwrap_or_else(|| panic!("{name}: the clocks are known"));
        let [low, high] = mean.bound_ns;
        assert_eq!(mean.packets, 3, "{name}");
        assert!((mean.mean_ns - 40 * US).abs() < 3 * US, "{name}: {mean:?}");
        assert!(
            (0..=40 * US).contains(&low) && (40 * US..5_000 * US).contains(&high),
            "{name}: {mean:?}"
        );
        let (nothing, mut none) = summary(&other, &[], t);
        clocks.correct_measured(&nothing, &mut none, received);
        assert_eq!(none.corrected, ClockSums::default(), "{name}: no packets");
        let (late, mut unknown) = summary(&other, &took.map(stamped), t + 60 * SECOND);
        clocks.correct_measured(&late, &mut unknown, received);
        assert_eq!(unknown.corrected.mean(), None, "{name}: long after");
        let set = took.map(|took| stamped(took - SECOND as i64));
        let (observation, mut set) = summary(&other, &set, t);
        clocks.correct_measured(&observation, &mut set, received);
        assert_eq!(set.corrected.mean(), None, "{name}: the clock was set");
    }
}

#[test]
fn what_a_card_stamped_is_not_corrected_in_summaries_either() {
    let other = other(0);
    let mut collector = Collector::new();
    let t = collector.tell_both(&ONE, &other, 16);
    let (observation, measured) = summary(&other, &[20 * US], t);
    let known = |collector: &Collector| {
        let mut measured = measured.clone();
        let clocks = &collector.0.ledgers.clocks;
        clocks.correct_measured(&observation, &mut measured, t - SECOND);
        measured.corrected.mean().is_some()
    };
    assert!(known(&collector), "the kernel stamps");
    let t = t + SECOND;
    let by_card = ClockEvidence {
        arrivals_by_card: true,
        ..other.evidence(&ONE, t)
    };
    collector.tell(&by_card, t);
    assert!(!known(&collector), "a card stamps");
}

#[test]
fn nodes_whose_stamps_contradict_each_other_are_named() {
    let other = other(250_000 * US);
    let mut collector = Collector::new();
    let t = collector.tell_both(&ONE, &other, 8);
    let mut lie = ONE.evidence(&other, t);
    lie.peers[0].exchanges[0].answered_ns -= SECOND / 2;
    collector.tell(&lie, t);
    for second in 1..4 {
        let t = t + second * SECOND;
        collector.tell(&ONE.evidence(&other, t), t);
        collector.tell(&other.evidence(&ONE, t), t);
    }
    let counts = collector.0.ledgers.clocks.counts();
    assert!(counts.contradictions > 0, "{counts:?}");
    let mut named = counts.contradicting.clone();
    named.sort_unstable();
    assert_eq!(named, [NodeId(1), NodeId(2)]);
    let t = t + 3 * SECOND;
    let found = collector.report(&ONE, &other, 40_000, t, ClockSource::Tai);
    assert_eq!(found, None, "their latencies are not corrected");
}

#[test]
fn a_clock_that_was_set_is_seen_in_its_ten_seconds_alone() {
    let other = other(0);
    let mut collector = Collector::new();
    let t = collector.tell_both(&ONE, &other, 8);
    collector.report(&ONE, &other, 40_000, t, ClockSource::Tai);
    let t = t + 2 * SECOND;
    let mut set = other.evidence(&ONE, t);
    set.readings[3].is_after_set = true;
    let cases = [
        ("not yet", other.evidence(&ONE, t - SECOND), false),
        ("set", set, true),
        ("not again", other.evidence(&ONE, t + SECOND), false),
    ];
    for (sentence, evidence, expected) in cases {
        collector.tell(&evidence, t);
        let ledgers = &mut collector.0.ledgers;
        let exporters = ledgers.exporters.health(usize::MAX, t);
        let (slot, _) = ledgers.take_slot(t, &exporters);
        let host = &slot.hosts[&NodeId(other.id)];
        assert_eq!(host.clock_set, expected, "{sentence}");
    }
}
