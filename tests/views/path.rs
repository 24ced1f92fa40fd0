//! Paths as text: a waterfall whose rows say what is known of each segment, and what is not.

use hostint::model::*;
use hostint::views::history::View;
use hostint::views::hosts::KnownHosts;

const SPAN: Span = Span {
    since_ns: 1_700_000_000_000_000_000,
    until_ns: 1_700_000_600_000_000_000,
};

fn latency(samples: u64, p50_ns: i64, p99_ns: i64) -> LatencyFigures {
    LatencyFigures {
        samples,
        min_ns: p50_ns / 2,
        mean_ns: p50_ns,
        p50_ns: Some(p50_ns),
        p90_ns: Some(p50_ns),
        p99_ns: Some(p99_ns),
        max_ns: p99_ns,
        jitter_ns: Some(p99_ns - p50_ns),
    }
}

fn segment(
    kind: SegmentKind,
    from: (u32, u16),
    to: (u32, u16),
    times: SegmentTimes,
) -> SegmentFigures {
    let port = |(node, port)| NodePort {
        node: NodeId(node),
        port,
    };
    SegmentFigures {
        segment: Segment {
            kind,
            from: port(from),
            to: port(to),
        },
        times,
        share: times
            .latency
            .map(|latency| latency.mean_ns as f64 / 20_000.0),
    }
}

/// A path from node 1 over 28673 to node 2, whose last link has unknown clocks.
pub fn path(reports: u64) -> PathFigures {
    let corrected = |mean_ns| CorrectedMean {
        packets: reports,
        mean_ns,
        error_ns: 1_900,
        bound_ns: [mean_ns - 3_000, mean_ns + 4_000],
    };
    let known = SegmentTimes {
        reports,
        packets: None,
        latency: Some(latency(reports, 10_000, 12_000)),
        corrected: Some(corrected(10_000)),
    };
    let inside = SegmentTimes {
        reports,
        packets: None,
        latency: Some(latency(reports, 2_000, 60_000)),
        corrected: None,
    };
    let unknown = SegmentTimes {
        reports,
        packets: None,
        latency: None,
        corrected: None,
    };
    let hop = PathHop {
        node: NodeId(28673),
        ingress_port: 2,
        egress_port: 3,
    };
    let end = |node, port| NodePort {
        node: NodeId(node),
        port,
    };
    let mut path = PathFigures {
        path: Path {
            source: end(1, 7),
            hops: vec![hop],
            sink: end(2, 8),
        },
        first_ns: SPAN.since_ns,
        until_ns: SPAN.since_ns + 20_000_000_000,
        period_ns: 10_000_000_000,
        whole: SegmentTimes {
            reports,
            packets: None,
            latency: Some(latency(reports, 20_000, 80_000)),
            corrected: Some(corrected(20_000)),
        },
        unknown_mean_ns: None,
        segments: vec![
            segment(SegmentKind::Wire, (1, 7), (28673, 2), known),
            segment(SegmentKind::Hop, (28673, 2), (28673, 3), inside),
            segment(SegmentKind::Wire, (28673, 3), (2, 8), unknown),
        ],
        presence: vec![(SPAN.since_ns, reports)],
        tail: Some(TailShares {
            of_reports: reports,
            slowest: 2,
            excess_ns: 58_000,
            shares: vec![None, Some(0.97), None],
        }),
    };
    path.set_shares();
    path
}

/// The same path with nothing known.
pub fn unknown_path() -> PathFigures {
    let nothing = SegmentTimes {
        reports: 1,
        ..SegmentTimes::default()
    };
    let mut path = path(1);
    path.whole = nothing;
    for row in &mut path.segments {
        row.times = nothing;
    }
    path.tail = None;
    path.set_shares();
    path
}

fn told(view: &View) -> String {
    let seen = [HostSeen {
        node: Some(NodeId(28673)),
        address: [192, 0, 2, 1].into(),
        name: Some("leaf".to_owned()),
        name_contested: false,
        last_ns: 1,
        silent_after_ns: 1,
    }];
    view.text(SPAN, 120, &KnownHosts::new(&seen, None))
}

const PAIR: PathQuery = PathQuery::Pair {
    source: NodeId(1),
    sink: NodeId(2),
};

#[test]
fn a_waterfall_has_a_row_for_each_segment() {
    let text = told(&View::Paths(PAIR, vec![path(200)]));
    let expected = "\
1 path from 2023-11-14 22:13:20 to 2023-11-14 22:23:20 UTC

1 -> leaf (28673) -> 2  path 85d9e5835422fa09, 200 reports, 2023-11-14 22:13:20 to 2023-11-14 22:13:40 UTC
segment                                            mean      p50      p99  share
wire     1 port 7 -> leaf (28673) port 2  10.0 us ± 1.9  10.0 us  12.0 us    50%  █████─
hop      leaf (28673) port 2 -> 3                2.0 us   2.0 us  60.0 us    10%       █──────────────────────────────
wire     leaf (28673) port 3 -> 2 port 8              ?        ?        ?      ?
in all                                    20.0 us ± 1.9  20.0 us  80.0 us
segments marked ? take 8.0 us in all (mean): what the whole way takes longer than the others
the slowest 2 of 200 reports took 58.0 us more than the median: 97% of it in hop leaf (28673) port 2 -> 3
";
    let (head, legend) = text.split_at(text.find("\n\n█").unwrap_or(text.len()));
    assert_eq!(format!("{head}\n"), expected);
    assert!(legend.contains("All figures are of reports"), "{legend}");
}

#[test]
fn few_reports_have_no_quantiles_and_unknown_clocks_no_bars() {
    let text = told(&View::Paths(PAIR, vec![path(19)]));
    for part in ["10.0 us ± 1.9    -    -    50%", "2.0 us    -    -    10%"] {
        assert!(text.contains(part), "{text}does not say: {part}");
    }
    let text = told(&View::Paths(PAIR, vec![unknown_path()]));
    assert!(text.contains(", 1 report, "), "{text}");
    let rows: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("wire"))
        .collect();
    assert!(
        rows.iter().all(|row| row.ends_with("?    ?    ?      ?")),
        "{text}"
    );
    assert!(
        !rows.concat().contains('█') && !text.contains("slowest"),
        "{text}"
    );
}

#[test]
fn a_node_that_is_passed_twice_is_told() {
    let mut path = path(200);
    let again = path.path.hops[0];
    path.path.hops.push(again);
    let text = told(&View::Paths(PAIR, vec![path]));
    let part = "node leaf (28673) is on this path more than once";
    assert_eq!(text.matches(part).count(), 1, "{text}");
}

#[test]
fn segments_are_listed_with_their_paths_share() {
    let text = told(&View::Segments(path(200).segments));
    let expected = "\
3 segments from 2023-11-14 22:13:20 to 2023-11-14 22:23:20 UTC
segment                                   packets  reports           mean      p50      p99  share
wire     1 port 7 -> leaf (28673) port 2        -      200  10.0 us ± 1.9  10.0 us  12.0 us    50%
hop      leaf (28673) port 2 -> 3               -      200         2.0 us   2.0 us  60.0 us    10%
wire     leaf (28673) port 3 -> 2 port 8        -      200              ?        ?        ?      ?
";
    assert!(text.starts_with(expected), "{text}");
}
