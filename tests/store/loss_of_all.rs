//! What the flows that a budget left to be measured tell of the loss of all.

use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::coverage::CoverageGrowth;
use hostint::model::*;
use hostint::store::*;
use hostint_testing::report_samples;

use crate::disk::*;

/// Flows of a pair and class, of which each has lost this, and packets of others.
struct Told<'a> {
    sink: u32,
    class: &'static str,
    lost: &'a [u64],
    /// By reason, `None` for those that were measured.
    packets: &'a [(Option<&'static str>, i64)],
}

const PACKETS_OF_A_FLOW: u64 = 100;

fn measured(lost: &[u64]) -> Measured {
    let mut measured = Measured {
        summaries: 1,
        packets: PACKETS_OF_A_FLOW * lost.len() as u64 - lost.iter().sum::<u64>(),
        lost: lost.iter().sum(),
        ..Measured::default()
    };
    for lost in lost {
        let squares = FlowSquares::of_flow(*lost, PACKETS_OF_A_FLOW);
        measured.squares.add(squares);
    }
    measured
}

fn keep(keeper: &mut StoreKeeper, told: &Told<'_>, now_ns: u64) {
    let class = Some(told.class.to_owned());
    let report = report_samples::of_body(Body::Summary(Box::new(Summary {
        time_s: (now_ns / SECOND) as u32,
        period_ns: 10 * SECOND,
        source_node: NodeId(1),
        sink_node: NodeId(told.sink),
        subject: SummarySubject::Group {
            class: class.clone(),
        },
        totals: SubjectTotals::default(),
    })));
    let arrival = Arrival {
        exporter: "192.0.2.2:32766".parse().unwrap(),
        received_ns: now_ns,
    };
    let measured = measured(told.lost);
    keeper.keep(
        &report,
        0,
        Some(arrival),
        class.as_deref(),
        Some(&measured),
        b"{}",
    );
    let grown = told.packets.iter().map(|(reason, packets)| CoverageGrowth {
        source: NodeId(1),
        sink: Some(NodeId(told.sink)),
        class: class.clone(),
        reason: *reason,
        packets: *packets,
        bytes: None,
    });
    keeper.add_coverage(grown.collect());
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap().as_nanos()).unwrap()
}

#[test]
fn pairs_and_classes_have_it_if_flows_were_left_out() {
    let disk = Disk::new();
    let now = now_ns();
    let lost = [2, 1, 1, 1, 0, 0, 0, 0, 0, 0];
    let store = disk.open();
    let mut keeper = store.keeper();
    for told in [
        Told {
            sink: 2,
            class: "web",
            lost: &lost,
            packets: &[
                (None, 1000),
                (Some("budget"), 2000),
                (Some("not_sampled"), 1000),
            ],
        },
        Told {
            sink: 3,
            class: "all",
            lost: &lost,
            packets: &[(None, 1000), (Some("too_long"), 3000)],
        },
        Told {
            sink: 4,
            class: "mixed",
            lost: &lost,
            packets: &[(None, 1000), (Some("budget"), 9000)],
        },
        // Without a report of the sink's, what the source told counts.
        Told {
            sink: 5,
            class: "mixed",
            lost: &[],
            packets: &[(Some("tagged"), 1000), (Some("budget"), 1000)],
        },
    ] {
        keep(&mut keeper, &told, now);
    }
    drop((keeper, store));
    let hour = Span {
        since_ns: now - HOUR,
        until_ns: now + HOUR,
    };
    let mut reader = disk.reader();
    let of_all = |measured_ppm, are_alike| {
        let measured = measured(&lost);
        let counts = (measured.missing(), measured.sent());
        let share = f64::from(measured_ppm) / 1e6;
        let told = LossOfAll::new(share, counts, measured.squares, are_alike);
        assert_eq!(told.least_ppb.is_some(), are_alike);
        Some(told)
    };
    let pairs = reader.pairs(hour).unwrap();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|pair| (pair.sink.0, pair.loss_of_all))
        .collect();
    let expected = [
        (2, of_all(250_000, true)),
        (3, None),
        (4, of_all(100_000, true)),
    ];
    assert_eq!(pairs[..3], expected);
    for (sink, expected) in expected {
        let pair = reader.pair(NodeId(1), NodeId(sink), hour).unwrap();
        assert_eq!(pair.unwrap().loss_of_all, expected, "1 to {sink}");
    }
    let classes = reader.classes(hour).unwrap();
    let classes: Vec<_> = classes
        .iter()
        .map(|class| (class.class.as_str(), class.loss_of_all))
        .collect();
    // Its pairs have not the same share.
    let mixed = of_all(166_667, false);
    assert_eq!(
        classes,
        [
            ("all", None),
            ("mixed", mixed),
            ("web", of_all(250_000, true))
        ]
    );
    let earlier = Span {
        since_ns: now - 3 * HOUR,
        until_ns: now - 2 * HOUR,
    };
    assert_eq!(reader.pairs(earlier).unwrap(), []);
}
