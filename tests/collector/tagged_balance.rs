//! Tagged packets of which no sink tells become visible, and those that one tells of a little later never do.

use hostint::collector::Coverage;
use hostint::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use hostint::model::{
    Arrival, Body, Flags, HwId, NodeId, Observation, Report, SubjectTotals, Summary,
    SummarySubject, Volume,
};

const SECOND: u64 = 1_000_000_000;
const SOURCE: NodeId = NodeId(7);
const SINK: NodeId = NodeId(2);
const UNTRACKED: u8 = 14;

/// What happens at a time, in seconds.
#[derive(Clone, Copy)]
enum Event {
    /// The source has tagged so many packets in all.
    Tagged(u64),
    /// The same, without the node of a sink.
    TaggedToNone(u64),
    /// The sink measured so many more.
    Measured(u64),
    /// The sink stripped so many in all, and could not measure them.
    Untracked(u64),
}
use Event::*;

struct Lab {
    coverage: Coverage,
}

impl Lab {
    fn start(started_s: u64) -> Self {
        let mut coverage = Coverage::default();
        coverage.start_at(started_s * SECOND);
        Self { coverage }
    }

    fn tell(&mut self, at_s: u64, class: Option<&str>, event: Event) {
        let (node, other, reason, packets) = match event {
            Tagged(packets) => (
                SOURCE,
                PairEnd::ToSink(Some(SINK)),
                MissedReason::TAGGED,
                packets,
            ),
            TaggedToNone(packets) => (SOURCE, PairEnd::ToSink(None), MissedReason::TAGGED, packets),
            Untracked(packets) => (
                SINK,
                PairEnd::FromSource(SOURCE),
                MissedReason::Sink(UNTRACKED),
                packets,
            ),
            Measured(packets) => return self.measure(at_s, class, packets),
        };
        let report = CoverageReport {
            node,
            period_s: 10,
            epoch_ns: 1_000 * SECOND,
            missed: vec![MissedPackets {
                other,
                class: class.map(str::to_owned),
                by_reason: [(reason, Volume::of(packets, 100 * packets))].into(),
            }],
        };
        let arrival = Arrival {
            exporter: ([192, 0, 2, 1], 5000).into(),
            received_ns: at_s * SECOND,
        };
        self.coverage.missed(&report, arrival);
    }

    fn measure(&mut self, at_s: u64, class: Option<&str>, packets: u64) {
        let summary = Summary {
            time_s: at_s as u32,
            period_ns: 10 * SECOND,
            source_node: SOURCE,
            sink_node: SINK,
            subject: SummarySubject::Group {
                class: class.map(str::to_owned),
            },
            totals: SubjectTotals::default(),
        };
        let report = Report {
            sequence: 0,
            observation: Observation {
                hw_id: HwId::default(),
                flags: Flags::default(),
                clock: None,
                body: Body::Summary(Box::new(summary)),
            },
        };
        // One more was lost, whose bytes nobody knows.
        let added = hostint::model::Measured {
            packets: packets.saturating_sub(1),
            bytes: 100 * packets.saturating_sub(1),
            lost: packets.min(1),
            ..hostint::model::Measured::default()
        };
        self.coverage.measured(&report, &added, at_s * SECOND);
    }

    /// Tagged packets of which no sink told, of all rows.
    fn untold(&self) -> u64 {
        let rows = self.coverage.rows(10);
        let untold = rows.iter().filter_map(|row| row.missed.get("no_sink_told"));
        untold.sum()
    }
}

#[test]
fn only_packets_that_no_sink_tells_of_in_time_are_shown() {
    struct Case {
        name: &'static str,
        /// The collector runs since then.
        started_s: u64,
        /// Each second from 1000 on.
        events: fn(u64) -> Vec<Event>,
        seconds: u64,
        expected: std::ops::RangeInclusive<u64>,
    }
    let cases = [
        Case {
            name: "ends that tell at different times, at a changing rate, agree",
            started_s: 500,
            events: |s| match s % 10 {
                3 => vec![Tagged(100 * s * s)],
                8 => vec![Measured(100 * (s * s - s.saturating_sub(10).pow(2)))],
                _ => vec![],
            },
            seconds: 900,
            expected: 0..=0,
        },
        Case {
            name: "a sink that never tells: all but the packets of the last two minutes",
            started_s: 500,
            events: |s| match s % 10 {
                3 => vec![Tagged(10 * s)],
                _ => vec![],
            },
            seconds: 900,
            expected: 7_600..=8_400,
        },
        Case {
            name: "one packet in ten comes to nothing",
            started_s: 500,
            events: |s| match s % 10 {
                3 => vec![Tagged(10 * s)],
                8 if s > 10 => vec![Measured(90)],
                _ => vec![],
            },
            seconds: 900,
            expected: 700..=890,
        },
        Case {
            name: "a sink that tells five minutes late told",
            started_s: 500,
            events: |s| match (s % 10, s) {
                (3, _) => vec![Tagged(10 * s)],
                (8, ..300 | 601..) => vec![Measured(100)],
                (8, 598) => vec![Measured(3_000)],
                _ => vec![],
            },
            seconds: 900,
            expected: 0..=0,
        },
        Case {
            name: "during these five minutes it did not",
            started_s: 500,
            events: |s| match (s % 10, s) {
                (3, _) => vec![Tagged(10 * s)],
                (8, ..300) => vec![Measured(100)],
                _ => vec![],
            },
            seconds: 560,
            expected: 1_300..=2_700,
        },
        Case {
            name: "packets that the sink could not measure have their own reason",
            started_s: 500,
            events: |s| match s % 10 {
                3 => vec![Tagged(10 * s)],
                8 => vec![Untracked(10 * s)],
                _ => vec![],
            },
            seconds: 900,
            expected: 0..=0,
        },
        Case {
            name: "where no sink is known, none can tell",
            started_s: 500,
            events: |s| vec![TaggedToNone(10 * s)],
            seconds: 900,
            expected: 0..=0,
        },
        Case {
            name: "what one end told before the collector began says nothing",
            started_s: 1_000,
            events: |s| match s {
                5 => vec![Tagged(4_000)],
                15.. if s % 10 == 5 => vec![Tagged(4_000 + 10 * s), Measured(100)],
                _ => vec![],
            },
            seconds: 900,
            expected: 0..=0,
        },
        Case {
            name: "of a sink that never tells, all are shown in this case, too",
            started_s: 1_000,
            events: |s| match s % 10 {
                3 => vec![Tagged(10 * s)],
                _ => vec![],
            },
            seconds: 900,
            expected: 7_600..=8_400,
        },
        Case {
            name: "and what comes to nothing afterwards is shown",
            started_s: 1_000,
            events: |s| match s {
                5 => vec![Tagged(4_000)],
                15..500 if s % 10 == 5 => vec![Tagged(4_000 + 10 * s), Measured(100)],
                500.. if s % 10 == 5 => vec![Tagged(4_000 + 10 * s)],
                _ => vec![],
            },
            seconds: 900,
            expected: 2_600..=4_000,
        },
    ];
    for case in cases {
        let mut lab = Lab::start(case.started_s);
        for second in 0..case.seconds {
            for event in (case.events)(second) {
                lab.tell(1_000 + second, Some("storage"), event);
            }
        }
        let untold = lab.untold();
        assert!(case.expected.contains(&untold), "{}: {untold}", case.name);
    }
}

#[test]
fn a_sink_that_knows_no_classes_tells_of_the_packets_of_all() {
    let mut lab = Lab::start(500);
    for second in (0..900).step_by(10) {
        lab.tell(1_000 + second, Some("storage"), Tagged(6 * second));
        lab.tell(1_000 + second, Some("web"), Tagged(4 * second));
        lab.tell(1_005 + second, None, Measured(100));
    }
    assert_eq!(lab.untold(), 0);
    for second in (900..1_800).step_by(10) {
        lab.tell(1_000 + second, Some("storage"), Tagged(6 * second));
        lab.tell(1_000 + second, Some("web"), Tagged(4 * second));
    }
    let rows = lab.coverage.rows(10);
    let untold = |class: &str| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.class.as_deref() == Some(class));
        row.map_or(0, |row| {
            row.missed.get("no_sink_told").copied().unwrap_or(0)
        })
    };
    let sum = untold("storage") + untold("web");
    assert!((7_500..=9_000).contains(&sum), "{rows:?}");
    for row in &rows {
        let untold = row.missed.get("no_sink_told").copied().unwrap_or(0);
        assert!(untold <= row.tagged.unwrap_or(0), "{row:?}");
    }
}

#[test]
fn the_history_gets_what_no_sink_told_and_takes_it_back() {
    let mut lab = Lab::start(500);
    let mut sums = std::collections::BTreeMap::new();
    let mut take = |lab: &mut Lab| {
        for one in lab.coverage.take_growth(10) {
            *sums.entry(one.reason).or_insert(0) += one.packets;
        }
        sums.clone()
    };
    for second in (0..400).step_by(10) {
        lab.tell(1_000 + second, None, Tagged(10 * second));
    }
    let before = take(&mut lab);
    assert_eq!(before[&Some("tagged")], 3_900);
    assert!(before[&Some("no_sink_told")] > 2_000, "{before:?}");
    let row = lab.coverage.rows(1).remove(0);
    let bytes = (row.tagged_bytes, row.missed_bytes["no_sink_told"]);
    assert_eq!(
        bytes,
        (Some(390_000), None),
        "which packets those are is not known"
    );
    lab.tell(1_400, None, Measured(3_900));
    let after = take(&mut lab);
    assert_eq!((after[&None], after[&Some("no_sink_told")]), (3_900, 0));
    let row = lab.coverage.rows(1).remove(0);
    let measured = (row.measured, row.measured_bytes);
    assert_eq!(
        measured,
        (Some(3_900), Some(389_900)),
        "the lost one's bytes are in none"
    );
}
