//! What two clocks explain is no negative latency, in any text or screen.

use hostint::model::*;
use hostint::views::history::View;
use hostint::views::hosts::KnownHosts;
use hostint::views::stamped::PeerClocks;
use hostint::views::status::StatusText;
use hostint::views::text::TextLine;
use hostint_testing::golden::{decode, udp_payload};

use super::watch::host::{Viewer, flow, sink, source};

/// Stamps of node 2 tell that packets arrived 4 us before they were sent.
const STAMPED_NS: i64 = -4_000;

/// A digit after a minus, as in `-4.0 us` and `+-4`, but not in `1 -> 2`, `2023-11-14` or `--all`.
fn has_negative(text: &str) -> bool {
    let words = text.split([' ', '\n', '(', ',']);
    let mut signed = words.filter_map(|word| word.strip_prefix('-'));
    signed.any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Figures of a hundred such packets, without the difference of the clocks.
fn figures(corrected: ClockSums) -> Figures {
    let mut latency = LatencyHistogram::default();
    for n in 0..100 {
        latency.add(STAMPED_NS + n * 20 - 1_000);
    }
    let measured = Measured {
        summaries: 1,
        packets: 100,
        latency,
        corrected,
        ..Measured::default()
    };
    Figures {
        reports: 0,
        packets: 0,
        lost: 0,
        reordered: None,
        latency: None,
        measured: Some(MeasuredFigures::from(&measured)),
    }
}

/// Of a hundred packets: the mean, its error, and by how much it can be less and more.
fn sums(mean_ns: i64, error_ns: u64, less_ns: u64, more_ns: u64) -> ClockSums {
    ClockSums {
        packets: 100,
        latency_ns: 100 * mean_ns,
        error_ns: 100 * error_ns,
        less_ns: 100 * less_ns,
        more_ns: 100 * more_ns,
    }
}

#[test]
fn no_history_tells_one() {
    let cases = [
        ("just above 0", sums(300, 900, 900, 5_000)),
        ("an estimate below 0", sums(-2_000, 900, 9_000, 5_000)),
        ("at 0, and nothing else is possible", sums(0, 0, 0, 0)),
        ("wide bounds around 0", sums(-50, 80_000, 90_000, 90_000)),
    ];
    let span = Span {
        since_ns: 1_700_000_000_000_000_000,
        until_ns: 1_700_000_600_000_000_000,
    };
    for (name, corrected) in cases {
        let figures = figures(corrected);
        let pair = PairFigures {
            source: NodeId(1),
            sink: NodeId(2),
            flows: 1,
            last_ns: None,
            loss_split: None,
            loss_of_all: None,
            figures: figures.clone(),
        };
        let class = ClassFigures {
            class: "storage".to_owned(),
            loss_of_all: None,
            figures: figures.clone(),
        };
        let point = Point {
            begin_ns: span.since_ns,
            figures,
        };
        let views = [
            Answer::Pairs {
                pairs: vec![pair],
                shown: MatrixFigure::P99,
                limit: 10,
            },
            Answer::Classes {
                classes: vec![class],
            },
            Answer::Series {
                series: Series {
                    period_ns: 10_000_000_000,
                    points: vec![point],
                },
            },
        ];
        for view in views {
            let text = View(&view).text(span, 120, &KnownHosts::new(&[], None));
            assert!(!has_negative(&text), "{name}:\n{text}");
            assert!(
                text.contains("ns") || text.contains("us"),
                "{name}:\n{text}"
            );
        }
    }
}

#[test]
fn no_line_of_a_report_does() {
    let report = decode(&udp_payload("hostint_report_l4_udp")).unwrap();
    let line = |clocks| {
        let line = TextLine {
            report: &report,
            arrival: None,
            reasons: &DropReasons::default(),
            names: &NodeNames::NONE,
            clocks,
        };
        line.to_string()
    };
    let corrected = |ahead_ns, error_ns, bound_ns| {
        CorrectedLatency::new(STAMPED_NS, ahead_ns, error_ns, bound_ns).expect("possible")
    };
    let cases = [
        (
            "known well",
            corrected(-10_140, 1_900, [-11_000, -9_000]),
            "6.1 us ± 2.0  ",
        ),
        (
            "around 0",
            corrected(-3_000, 5_000, [-9_000, 2_000]),
            "0 us ± 5  ",
        ),
        (
            "at 0",
            corrected(0, 90_000, [-90_000, 90_000]),
            "0 us ± 90  ",
        ),
    ];
    for (name, corrected, expected) in cases {
        let text = line(LatencyClocks::Known(corrected));
        assert!(text.contains(expected), "{name}: {text}");
        assert!(!has_negative(&text), "{name}: {text}");
    }
    for clocks in [LatencyClocks::Unknown, LatencyClocks::Unreported] {
        assert!(line(clocks).contains("254.3 us  "), "as it was stamped");
    }
}

/// A host with flows from node 2, whose clock it knows so well.
fn host(bound_ns: Option<[i64; 2]>) -> HostStatus {
    let stamped = i32::try_from(STAMPED_NS).unwrap();
    let mut flow = flow(1, 1_000, 0, 1);
    flow.source_node = NodeId(2);
    (flow.latency_min_ns, flow.latency_max_ns) = (stamped - 500, stamped + 500);
    (flow.latency_last_ns, flow.latency_mean_ns) = (stamped, STAMPED_NS);
    let mut sending = source(1).source;
    for peer in sending.iter_mut().flat_map(|source| &mut source.peers) {
        peer.node = Some(NodeId(2));
        peer.clock_bound_ns = bound_ns;
        peer.clock_offset_ns = bound_ns.map(|[least, most]| i64::midpoint(least, most));
        peer.clock_error_ns = bound_ns.map(|[least, most]| most.abs_diff(least) / 2);
    }
    HostStatus {
        source: sending,
        ..sink(vec![flow])
    }
}

#[test]
fn no_host_shows_one_that_its_peers_clocks_explain() {
    struct Case {
        name: &'static str,
        bound_ns: Option<[i64; 2]>,
        /// What is shown instead of the mean.
        mean: &'static str,
    }
    let cases = [
        Case {
            name: "the clock may be far ahead",
            bound_ns: Some([1_000, 90_000]),
            mean: "~0",
        },
        Case {
            name: "it is ahead by just enough",
            bound_ns: Some([3_000, 4_500]),
            mean: "~0",
        },
        Case {
            name: "it is not known",
            bound_ns: None,
            mean: "-4.0 us",
        },
        Case {
            name: "it is known not to be: stamps contradict each other",
            bound_ns: Some([100, 900]),
            mean: "-4.0 us",
        },
    ];
    for Case {
        name,
        bound_ns,
        mean,
    } in cases
    {
        let status = host(bound_ns);
        let clocks = PeerClocks::of(&status);
        assert_eq!(clocks.text(NodeId(2), STAMPED_NS), mean, "{name}");
        assert_eq!(clocks.text(NodeId(2), 4_000), "4.0 us", "{name}");
        let explained = mean == "~0";
        let flow_line = |text: &str| {
            let mut lines = text.lines();
            let line = lines
                .find(|line| line.contains("10.9.0.1:40001"))
                .unwrap_or_default();
            line.to_owned()
        };
        let text = StatusText {
            status: &status,
            all: true,
        }
        .to_string();
        let line = flow_line(&text);
        assert!(line.contains(mean), "{name}: {text}");
        assert_eq!(has_negative(&line), !explained, "{name}: {text}");
        let mut viewer = Viewer::new(160, 50);
        viewer.see(status);
        let line = flow_line(&viewer.screen());
        assert!(line.contains(mean), "{name}: {line}");
        assert_eq!(has_negative(&line), !explained, "{name}: {line}");
    }
}
