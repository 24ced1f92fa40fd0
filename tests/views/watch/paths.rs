//! The way of a flow's packets: figures of the last minute, changes of the path, and what a history adds.

use hostint::model::*;
use hostint::views::watch::{Act, KeyPress, SentPaths};

use super::host::{BEGIN_NS, Viewer, flow, sink};
use crate::path::{path, with_losses, with_queue};

/// The node that flow 2 comes from.
const SOURCE: NodeId = NodeId(3);

/// So many packets of so many ns.
fn times(counts: &[(i64, u64)]) -> PassageTimes {
    let known: Vec<_> = counts.iter().filter(|(_, count)| *count > 0).collect();
    let least = known.iter().map(|(ns, _)| *ns).min();
    let most = known.iter().map(|(ns, _)| *ns).max();
    let sum = known
        .iter()
        .map(|(ns, count)| i128::from(*ns) * i128::from(*count));
    PassageTimes(LatencyHistogram::of_counts(
        LatencyResolution::Fine,
        least.zip(most).unwrap_or_default(),
        sum.sum(),
        known.into_iter().copied(),
    ))
}

/// A path from flow 2's node over these hops, each of which had so many packets for so many ns.
pub fn way(hops: &[u32], in_hops: &[(i64, u64)]) -> PathStatus {
    let end = |node, port| NodePort { node, port };
    let wire: Vec<_> = in_hops.iter().map(|(_, count)| (8_000, *count)).collect();
    let whole: Vec<_> = (in_hops.iter())
        .map(|(ns, count)| (ns + 20_000, *count))
        .collect();
    let mut segments = vec![times(&wire)];
    for _ in hops {
        segments.push(times(in_hops));
        segments.push(times(&wire));
    }
    let hop = |node: &u32| PathHop {
        node: NodeId(*node),
        ingress_port: 2,
        egress_port: 3,
    };
    PathStatus {
        source: end(SOURCE, 7),
        hops: hops.iter().map(hop).collect(),
        sink: end(NodeId(2), 8),
        first_ns: BEGIN_NS,
        last_ns: BEGIN_NS,
        whole: times(&whole),
        segments,
    }
}

/// A host with flow 2, which came on these paths.
pub fn host(second: u64, paths: Vec<PathStatus>) -> HostStatus {
    let mut status = sink(vec![flow(2, 4000 * second, 0, 15)]);
    status.sink.as_mut().unwrap().paths = paths;
    status
}

/// What a history says: a hop that is slow, a queue and losses.
pub fn told() -> SentPaths {
    let mut slow = with_losses(with_queue(path(200), 60_000));
    let period_ns = slow.period_ns;
    let since_ns = slow.first_ns - slow.first_ns % period_ns;
    slow.presence = vec![(since_ns + period_ns, 100), (since_ns + 3 * period_ns, 50)];
    SentPaths {
        source: SOURCE,
        paths: vec![slow],
        since_ns,
        until_ns: since_ns + 5 * period_ns,
        ..SentPaths::default()
    }
}

/// The 99th percentile of the first hop, in us.
fn p99_of_hop(viewer: &mut Viewer) -> f64 {
    let screen = viewer.screen();
    let row = screen.lines().find(|line| line.starts_with("hop "));
    let row = row.unwrap_or_else(|| panic!("no hop: {screen}"));
    // Mean, p50 and p99, each with its unit, then the share.
    let words: Vec<_> = row.split_whitespace().collect();
    let share = words.iter().position(|word| word.ends_with('%'));
    let at = share.unwrap_or_else(|| panic!("no share: {row}")) - 2;
    words[at].parse().unwrap()
}

/// What stands behind the nodes of the first path.
fn of_what(viewer: &mut Viewer) -> String {
    let screen = viewer.screen();
    let line = screen.lines().find(|line| line.starts_with("3 > "));
    let line = line.unwrap_or_else(|| panic!("no path: {screen}"));
    line.rsplit("  ").next().unwrap_or_default().to_owned()
}

#[test]
fn figures_are_of_the_last_minute() {
    // A million quick packets before anybody looked, then slow ones, and from second 101 on still slower ones.
    let at = |second: u64| {
        let slow = second.min(100) * 1_000;
        let later = second.saturating_sub(100) * 1_000;
        let counts = [(2_000, 1_000_000), (60_000, slow), (500_000, later)];
        host(second, vec![way(&[28673], &counts)])
    };
    let mut viewer = Viewer::new(120, 40);
    viewer.see(at(0)).type_keys("w");
    let first = of_what(&mut viewer);
    assert_eq!(first, "all 1,000,000 packets since its first packet");
    assert!((p99_of_hop(&mut viewer) - 2.0).abs() < 0.3);
    for second in 1..=200 {
        viewer.see(at(second));
        let shown = of_what(&mut viewer);
        let (packets, last) = shown.split_once(" packets of the last ").unwrap();
        let seconds: u64 = match last {
            "1m" => 60,
            _ => last.trim_end_matches('s').parse().unwrap(),
        };
        let least = second.min(30);
        assert!((least..=60).contains(&seconds), "second {second}: {shown}");
        let expected = format!("all {seconds},000");
        assert_eq!(packets, expected, "second {second}");
        let p99 = p99_of_hop(&mut viewer);
        let near = |us: f64| (p99 / us - 1.0).abs() < 0.15;
        match second {
            ..=100 => assert!(near(60.0), "second {second}: {p99}"),
            102.. => assert!(near(500.0), "second {second}: {p99}"),
            _ => {}
        }
    }
}

#[test]
fn a_way_over_four_hops_fits_into_a_low_terminal_or_says_that_it_does_not() {
    let four = |second: u64| {
        host(
            second,
            vec![way(&[11, 12, 13, 14], &[(2_000, 1_000 * second)])],
        )
    };
    let seen = |height| {
        let mut viewer = Viewer::new(80, height);
        viewer.see(four(1));
        viewer.see(four(2)).type_keys("w");
        viewer.screen()
    };
    let whole = seen(24);
    for part in [
        "wire   3 port 7",
        "hop    14 port 2",
        "\nin all ",
        "?: between two clocks",
    ] {
        assert!(whole.contains(part), "{whole}does not show: {part}");
    }
    assert!(!whole.contains("more lines"), "{whole}");
    let low = seen(16);
    assert!(!low.contains("in all "), "{low}");
    let above_keys = low.lines().rev().nth(1).unwrap_or_default();
    assert_eq!(
        above_keys.trim_end(),
        "… 7 more lines: make the terminal higher"
    );
}

#[test]
fn a_history_that_knows_the_clocks_needs_no_explanation() {
    let mut viewer = Viewer::new(120, 40);
    viewer.see(host(1, vec![way(&[28673], &[(2_000, 1_000)])]));
    viewer.see_told(
        1,
        host(2, vec![way(&[28673], &[(2_000, 2_000)])]),
        Some(told()),
    );
    viewer.type_keys("w");
    let screen = viewer.screen();
    assert!(!screen.contains("?: between two clocks"), "{screen}");
}

#[test]
fn a_path_that_begins_anew_has_no_figures_of_the_one_before() {
    let mut viewer = Viewer::new(120, 40);
    viewer.see(host(1, vec![way(&[28673], &[(2_000, 5_000)])]));
    viewer.see(host(2, vec![way(&[28673], &[(2_000, 6_000)])]));
    viewer.type_keys("w");
    assert_eq!(of_what(&mut viewer), "all 1,000 packets of the last 1s");
    // The sink was restarted: the counts begin at 0.
    let mut anew = way(&[28673], &[(9_000, 300)]);
    anew.first_ns += 1_500_000_000;
    viewer.see(host(3, vec![anew]));
    let shown = of_what(&mut viewer);
    assert_eq!(shown, "all 300 packets since its first packet");
    // The sink forgot it.
    let screen = viewer.see(host(4, Vec::new())).screen();
    assert!(screen.contains(NO_HOPS), "{screen}");
}

const NO_HOPS: &str = "no packets of this pair came over transit hops";

#[test]
fn a_change_of_the_path_is_a_mark() {
    let mut viewer = Viewer::new(120, 40);
    for second in 1..=9 {
        let mut paths = vec![way(&[28673], &[(2_000, 1_000 * second.min(5))])];
        if second > 5 {
            paths.push(way(&[28674], &[(2_000, 1_000 * (second - 5))]));
        }
        viewer.see(host(second, paths));
    }
    viewer.type_keys("w");
    let screen = viewer.screen();
    let marks = screen.lines().filter(|line| line.starts_with("packets "));
    let marks: Vec<_> = marks.filter(|line| line.contains('█')).collect();
    // The old path had no packets in the last four refreshes; of the new one the first refresh tells nothing.
    assert_eq!(marks, ["packets ████", "packets ███"], "{screen}");
}

#[test]
fn paths_of_other_pairs_are_not_shown() {
    let mut other = way(&[28673], &[(2_000, 5_000)]);
    other.source.node = NodeId(77);
    let mut viewer = Viewer::new(120, 40);
    let screen = viewer.see(host(1, vec![other])).type_keys("w").screen();
    assert!(screen.contains(NO_HOPS), "{screen}");
}

#[test]
fn the_way_is_asked_of_a_history_while_it_is_shown() {
    let mut viewer = Viewer::new(120, 40);
    viewer.see(host(1, vec![way(&[28673], &[(2_000, 1_000)])]));
    let cases = [
        (KeyPress::Enter, Act::Nothing, None, "the flow's figures"),
        (KeyPress::Char('w'), Act::Refresh, Some(SOURCE), "its way"),
        (KeyPress::Char('w'), Act::Nothing, None, "figures again"),
        (KeyPress::Char('w'), Act::Refresh, Some(SOURCE), "its way"),
        (KeyPress::Escape, Act::Nothing, None, "the table"),
        (
            KeyPress::Char('w'),
            Act::Refresh,
            Some(SOURCE),
            "from there",
        ),
        (KeyPress::Char('2'), Act::Nothing, None, "another tab"),
        (KeyPress::Char('1'), Act::Nothing, None, "the table again"),
        (KeyPress::Enter, Act::Nothing, None, "Enter shows figures"),
    ];
    for (key, act, asked, sentence) in cases {
        assert_eq!(viewer.press(key), act, "{sentence}");
        assert_eq!(viewer.watch.asked_paths(), asked, "{sentence}");
    }
}

#[test]
fn a_history_knows_more_than_this_host() {
    type Case = (&'static str, SentPaths, &'static [&'static str]);
    let of_none = || SentPaths {
        paths: Vec::new(),
        ..told()
    };
    let cases: [Case; 4] = [
        (
            "what a history has",
            told(),
            &[
                "200 reports of the last 50s",
                "10.0 us ± 1.9",
                "170 of 10,000 packets were lost",
            ],
        ),
        (
            "another node's packets were asked for",
            SentPaths {
                source: NodeId(77),
                ..told()
            },
            &["of the last 1s"],
        ),
        (
            "a history without this pair",
            of_none(),
            &["of the last 1s"],
        ),
        (
            "a history that cannot be read",
            SentPaths {
                trouble: Some("no history in /x".to_owned()),
                ..of_none()
            },
            &["! no history in /x", "of the last 1s"],
        ),
    ];
    for (sentence, told, parts) in cases {
        let mut viewer = Viewer::new(140, 40);
        viewer.see(host(1, vec![way(&[28673], &[(2_000, 500)])]));
        viewer.type_keys("w");
        let own = host(2, vec![way(&[28673], &[(2_000, 1_000)])]);
        let screen = viewer.see_told(1, own, Some(told)).screen();
        for part in parts {
            assert!(
                screen.contains(part),
                "{sentence}: {part} is not in {screen}"
            );
        }
    }
}
