//! What is usual for a pair is no alarm, and what is more than usual is one, unless it may be chance.

use hostint::model::*;
use hostint::verdict::VerdictEngine;

use super::limits::{lossy, slot};

const MS: i64 = 1_000_000;

/// Figures of this number of packets with this p99.
fn figures(packets: u64, lost: u64, p99_ns: i64, are_clocks_known: bool) -> Figures {
    let latency = LatencyFigures {
        samples: packets,
        min_ns: p99_ns / 2,
        mean_ns: p99_ns,
        p50_ns: Some(p99_ns),
        p90_ns: Some(p99_ns),
        p99_ns: Some(p99_ns),
        max_ns: p99_ns,
        jitter_ns: Some(0),
    };
    let corrected = are_clocks_known.then_some(CorrectedMean {
        packets,
        mean_ns: p99_ns,
        error_ns: 1_000,
        bound_ns: [0, p99_ns],
    });
    let measured = MeasuredFigures {
        summaries: 6,
        packets: packets - lost,
        bytes: 100 * packets,
        lost,
        recovered: 0,
        reordered: 0,
        duplicates: 0,
        latency: Some(latency),
        corrected,
        steps: 32,
    };
    Figures {
        measured: Some(measured),
        ..Figures::default()
    }
}

#[test]
fn figures_are_compared_with_what_is_usual_for_the_pair() {
    let mut engine = VerdictEngine::default();
    // Two of a hundred packets to node 1 are lost for so long that it is usual, and all packets take a millisecond.
    for number in 0..450 {
        engine.slot(&slot(number, lossy, &[]));
    }
    let usuals = engine.usuals();
    let of_reports = Figures {
        packets: 10_000,
        lost: 5_000,
        ..Figures::default()
    };
    // More is lost, and it is slower.
    let cases = [
        (
            "as ever",
            1,
            figures(10_000, 200, MS, true),
            Some((false, false)),
        ),
        (
            "much more is lost",
            1,
            figures(10_000, 1_000, MS, true),
            Some((true, false)),
        ),
        (
            "one packet more of few may be chance",
            1,
            figures(10, 2, MS, true),
            Some((false, false)),
        ),
        (
            "twice as much",
            1,
            figures(10_000, 400, MS, true),
            Some((false, false)),
        ),
        (
            "the same is more than usual elsewhere",
            2,
            figures(10_000, 400, MS, true),
            Some((true, false)),
        ),
        (
            "slower",
            1,
            figures(10_000, 200, 3 * MS, true),
            Some((false, true)),
        ),
        (
            "slower packets are few",
            1,
            figures(100, 2, 3 * MS, true),
            Some((false, false)),
        ),
        (
            "the clocks are not known",
            1,
            figures(10_000, 200, 3 * MS, false),
            Some((false, false)),
        ),
        ("reports favour slow packets", 1, of_reports, None),
    ];
    for (sentence, sink, figures, expected) in cases {
        let usual = &usuals[&(NodeId(3), NodeId(sink))];
        let found = usual.compare(&figures);
        let found = found.map(|beside| (beside.more_lost, beside.slower));
        assert_eq!(found, expected, "{sentence}: {usual:?}");
    }
}
