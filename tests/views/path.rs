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
        unseen_hops: None,
        queue_depth: None,
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
        loss: None,
    };
    let inside = SegmentTimes {
        reports,
        packets: None,
        latency: Some(latency(reports, 2_000, 60_000)),
        corrected: None,
        loss: None,
    };
    let unknown = SegmentTimes {
        reports,
        packets: None,
        latency: None,
        corrected: None,
        loss: None,
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
        of_flow: false,
        first_ns: SPAN.since_ns,
        until_ns: SPAN.since_ns + 20_000_000_000,
        period_ns: 10_000_000_000,
        lacking: Vec::new(),
        whole: SegmentTimes {
            reports,
            packets: None,
            latency: Some(latency(reports, 20_000, 80_000)),
            corrected: Some(corrected(20_000)),
            loss: None,
        },
        unknown_mean_ns: None,
        segments: vec![
            segment(SegmentKind::Wire, (1, 7), (28673, 2), known),
            segment(SegmentKind::Hop, (28673, 2), (28673, 3), inside),
            segment(SegmentKind::Wire, (28673, 3), (2, 8), unknown),
        ],
        queues: Vec::new(),
        host_segments: Vec::new(),
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

/// The same path with waits in the queue behind its hop.
pub fn with_queue(mut path: PathFigures, p99_ns: i64) -> PathFigures {
    let times = SegmentTimes {
        reports: 0,
        packets: Some(9_000),
        latency: Some(latency(9_000, 4_000, p99_ns)),
        corrected: None,
        loss: None,
    };
    path.queues = vec![segment(SegmentKind::Queue, (28673, 3), (28673, 3), times)];
    path
}

/// The same with losses.
pub fn with_losses(mut path: PathFigures) -> PathFigures {
    let loss = |packets, lost| Some(SegmentLoss { packets, lost });
    path.whole.loss = loss(10_000, 170);
    path.segments[0].times.loss = loss(10_000, 100);
    path.segments[1].times.loss = loss(9_900, 0);
    path.segments[2].times.loss = loss(9_900, 60);
    for queue in &mut path.queues {
        queue.times.loss = loss(9_900, 50);
    }
    path
}

/// The same path, whose hop told its queue.
pub fn with_depth(mut path: PathFigures) -> PathFigures {
    path.segments[1].queue_depth = Some(HopQueueFigures {
        reports: 1_000,
        in_bytes: true,
        mean: 2_048.25,
        most: 65_536,
    });
    path
}

fn told(view: &Answer) -> String {
    told_in(120, view)
}

fn told_in(width: usize, view: &Answer) -> String {
    told_with(&[], width, view)
}

/// The leaf tells the names of these ports.
fn told_with(ports: &[(u16, &str)], width: usize, view: &Answer) -> String {
    let named = ports.iter().map(|(port, name)| (*port, (*name).to_owned()));
    let seen = [HostSeen {
        node: Some(NodeId(28673)),
        address: [192, 0, 2, 1].into(),
        name: Some("leaf".to_owned()),
        name_contested: false,
        interfaces: named.collect(),
        last_ns: 1,
        silent_after_ns: 1,
    }];
    View(view).text(SPAN, width, &KnownHosts::new(&seen, None))
}

const PAIR: PathQuery = PathQuery::Pair {
    source: NodeId(1),
    sink: NodeId(2),
};

#[test]
fn a_waterfall_has_a_row_for_each_segment() {
    let text = told(&Answer::Paths {
        of: PAIR,
        paths: vec![path(200)],
        loss: None,
    });
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
fn ports_have_the_names_of_their_interfaces() {
    let view = Answer::Paths {
        of: PAIR,
        paths: vec![with_queue(path(200), 60_000)],
        loss: None,
    };
    for (ports, rows) in [
        (
            &[(2, "eth0"), (3, "eth1"), (4, "eth2")][..],
            [
                "wire     1 port 7 -> leaf (28673) eth0 ",
                "hop      leaf (28673) eth0 -> eth1 ",
                "wire     leaf (28673) eth1 -> 2 port 8 ",
                "queue    leaf (28673) eth1 ",
            ],
        ),
        (
            &[(2, "eth0")],
            [
                "wire     1 port 7 -> leaf (28673) eth0 ",
                "hop      leaf (28673) eth0 -> port 3 ",
                "wire     leaf (28673) port 3 -> 2 port 8 ",
                "queue    leaf (28673) port 3 ",
            ],
        ),
        (
            &[(3, "eth1")],
            [
                "wire     1 port 7 -> leaf (28673) port 2 ",
                "hop      leaf (28673) port 2 -> eth1 ",
                "wire     leaf (28673) eth1 -> 2 port 8 ",
                "queue    leaf (28673) eth1 ",
            ],
        ),
    ] {
        let text = told_with(ports, 120, &view);
        for row in rows {
            assert!(text.contains(row), "{text}has no row {row:?}");
        }
    }
}

#[test]
fn a_queue_stands_below_its_wire_and_is_named_if_it_explains_the_slowest() {
    let queue = |p99_ns| {
        let mut path = with_queue(path(200), p99_ns);
        path.tail.as_mut().unwrap().shares[1] = Some(0.1);
        told(&Answer::Paths {
            of: PAIR,
            paths: vec![path],
            loss: None,
        })
    };
    let slow = queue(60_000);
    let lines: Vec<&str> = slow.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("queue "));
    let at = at.expect("a row of the queue");
    assert!(lines[at - 1].starts_with("wire     leaf (28673) port 3 -> 2 port 8"));
    for part in [
        "queue    leaf (28673) port 3                     4.0 us   4.0 us  60.0 us    20%",
        "the slowest 2 of 200 reports took 58.0 us more than the median: the queue of leaf (28673) port 3 can explain \
         it: its waits vary by 56.0 us (p99 less p50)",
        "queue: a part of the wire above it",
    ] {
        assert!(slow.contains(part), "{slow}does not say: {part}");
    }
    // Half of 58 us, and a little less.
    assert!(queue(33_000).contains("can explain it"));
    assert!(queue(32_900).contains("cannot be told apart"));
}

#[test]
fn without_enough_reports_the_distributions_say_what_can_explain_the_slowest() {
    let of = |whole_p99_ns: i64, queue_p99_ns: i64, samples: u64| {
        let mut path = with_queue(path(200), queue_p99_ns);
        path.tail = None;
        let latency = path.whole.latency.as_mut().unwrap();
        latency.p99_ns = Some(whole_p99_ns);
        latency.samples = samples;
        told(&Answer::Paths {
            of: PAIR,
            paths: vec![path],
            loss: None,
        })
    };
    let begin = "the 99th percentile of 200 reports is ";
    for (name, text, expected) in [
        (
            "a hop",
            of(110_000, 40_000, 200),
            Some(
                "90.0 us above the median: hop leaf (28673) port 2 -> 3 can explain it: its times vary by 58.0 us (p99 less p50)\n",
            ),
        ),
        (
            "a queue or a hop",
            of(110_000, 90_000, 200),
            Some(
                "90.0 us above the median: the queue of leaf (28673) port 3 or hop leaf (28673) port 2 -> 3 can explain it: their times vary by 86.0 us and 58.0 us (p99 less p50)\n",
            ),
        ),
        (
            "a queue",
            of(150_000, 90_000, 200),
            Some(
                "130.0 us above the median: the queue of leaf (28673) port 3 can explain it: its times vary by 86.0 us (p99 less p50)\n",
            ),
        ),
        (
            "neither",
            of(420_000, 90_000, 200),
            Some("400.0 us above the median: not in a hop that knows its time; links, "),
        ),
        ("packets that are alike", of(20_000, 90_000, 200), None),
        ("few packets", of(110_000, 90_000, 19), None),
    ] {
        match expected {
            Some(expected) => {
                let whole = format!("{begin}{expected}");
                assert!(text.contains(&whole), "{name}: {text}");
            }
            None => assert!(!text.contains("99th"), "{name}: {text}"),
        }
    }
}

#[test]
fn the_queues_that_packets_met_are_a_sentence() {
    let with = |mean, most, in_bytes| {
        let mut path = path(200);
        path.segments[1].queue_depth = Some(HopQueueFigures {
            reports: 1_000,
            in_bytes,
            mean,
            most,
        });
        told(&Answer::Paths {
            of: PAIR,
            paths: vec![path],
            loss: None,
        })
    };
    let begin = "queues that packets met at hops, by the newest 1,000 reports: ";
    for (text, expected) in [
        (
            with(2_048.25, 65_536, true),
            "leaf (28673) port 3 2048.2 bytes (mean), 65,536 bytes at most\n",
        ),
        (
            with(0.5, 7, false),
            "leaf (28673) port 3 0.5 (mean), 7 at most (hostint's hops count packets)\n",
        ),
        (with(0.0, 0, true), "empty\n"),
    ] {
        let expected = format!("{begin}{expected}");
        assert!(text.contains(&expected), "{text}does not say: {expected}");
    }
    let untold = told(&Answer::Paths {
        of: PAIR,
        paths: vec![path(200)],
        loss: None,
    });
    assert!(!untold.contains("queues that packets met"), "{untold}");
}

#[test]
fn a_segment_says_how_many_packets_it_lost() {
    let mut lossy = with_losses(with_queue(path(200), 60_000));
    let told = told(&Answer::Paths {
        of: PAIR,
        paths: vec![lossy.clone()],
        loss: None,
    });
    for part in [
        "wire     1 port 7 -> leaf (28673) port 2   100  10.0 us ± 1.9",
        "hop      leaf (28673) port 2 -> 3            0         2.0 us",
        "wire     leaf (28673) port 3 -> 2 port 8    60              ?",
        "queue    leaf (28673) port 3                50         4.0 us",
        "in all                                     170  20.0 us ± 1.9",
        "170 of 10,000 packets were lost: 100 in wire 1 port 7 -> leaf (28673) port 2; 50 in the queue of leaf (28673) \
         port 3; 10 in wire leaf (28673) port 3 -> 2 port 8; 10 where it is not known\n",
        "lost: of all packets of the pair",
    ] {
        assert!(told.contains(part), "{told}does not say: {part}");
    }
    lossy.whole.loss = Some(SegmentLoss {
        packets: 10_000,
        lost: 0,
    });
    lossy.segments[0].times.loss = None;
    for part in [
        "no packet of 10,000 was lost\n",
        "leaf (28673) port 2     ?  10.0 us",
    ] {
        let told = self::told(&Answer::Paths {
            of: PAIR,
            paths: vec![lossy.clone()],
            loss: None,
        });
        assert!(told.contains(part), "{told}does not say: {part}");
    }
}

#[test]
fn routers_without_int_and_the_hosts_at_the_ends_have_rows() {
    let mut path = with_losses(path(200));
    path.segments[0].unseen_hops = Some(2);
    path.segments[2].unseen_hops = Some(0);
    let of_host = |latency| SegmentTimes {
        packets: Some(9_000),
        latency: Some(latency),
        ..SegmentTimes::default()
    };
    path.host_segments = vec![
        segment(
            SegmentKind::Buffer,
            (1, 0),
            (1, 7),
            of_host(latency(9_000, 14_000_000, 26_000_000)),
        ),
        segment(
            SegmentKind::Stack,
            (1, 0),
            (1, 7),
            of_host(latency(9_000, 3_000, 5_000)),
        ),
        segment(
            SegmentKind::Read,
            (2, 8),
            (2, 0),
            of_host(latency(9_000, 70_000, 90_000)),
        ),
        segment(
            SegmentKind::Answer,
            (2, 8),
            (2, 0),
            of_host(latency(9_000, 2_000_000, 9_000_000)),
        ),
    ];
    let told = told(&Answer::Paths {
        of: PAIR,
        paths: vec![path],
        loss: None,
    });
    let lines: Vec<&str> = told.lines().filter(|line| !line.is_empty()).collect();
    let kinds: Vec<&str> = (lines[3..12].iter())
        .map(|line| line.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(
        kinds,
        [
            "buffer", "stack", "wire", "router", "hop", "wire", "read", "answer", "in"
        ],
        "{told}"
    );
    for part in [
        "stack    1 port 7                                      3.0 us   3.0 us   5.0 us\n",
        "router   2 routers without INT",
        "read     2 port 8                                     70.0 us  70.0 us  90.0 us\n",
        "┄┄┄┄",
        "In the hosts at the ends, and no part of the path: buffer, until TCP sends",
    ] {
        assert!(told.contains(part), "{told}does not say: {part}");
    }
}

#[test]
fn rows_fit_into_a_narrow_terminal() {
    for (width, heads) in [
        (120, &["lost", "mean", "p50", "p99", "share"][..]),
        (94, &["lost", "mean", "p50", "p99"]),
        (84, &["lost", "p50", "p99"]),
        (70, &["lost", "p50", "p99"]),
    ] {
        let path = with_losses(with_queue(path(200), 9_000));
        let told = told_in(
            width,
            &Answer::Paths {
                of: PAIR,
                paths: vec![path],
                loss: None,
            },
        );
        let rows: Vec<&str> = (told.lines())
            .skip_while(|line| !line.starts_with("segment"))
            .take(6)
            .collect();
        assert_eq!(
            rows[0].split_whitespace().skip(1).collect::<Vec<_>>(),
            heads,
            "{width}: {told}"
        );
        assert!(rows[5].starts_with("in all"), "{width}: {told}");
        let longest = rows.iter().map(|row| row.chars().count()).max();
        assert!(longest <= Some(width), "{width}: {told}");
    }
}

#[test]
fn a_hop_that_pushed_no_entry_on_some_packets_is_named() {
    let whole = path(200);
    let mut part = path(100);
    let hop = part.path.hops[0];
    let further = PathHop {
        node: NodeId(12),
        ..hop
    };
    let mut longer = whole.clone();
    longer.path.hops.push(further);
    part.path.hops = vec![hop];
    let mut all = vec![longer, part, whole];
    all[2].path.sink.port += 1;
    set_lacking(&mut all);
    let lacking: Vec<_> = all.iter().map(|one| one.lacking.clone()).collect();
    assert_eq!(
        lacking,
        [vec![], vec![NodeId(12)], vec![]],
        "another sink's port is another way"
    );
    let told = told(&Answer::Paths {
        of: PAIR,
        paths: all,
        loss: None,
    });
    let sentence = "another path of this pair differs in 12 alone, which reported nothing of these packets; hostint status there says why";
    assert_eq!(told.matches(sentence).count(), 1, "{told}");
}

#[test]
fn losses_of_a_flow_are_those_of_its_pair() {
    let mut path = with_losses(path(200));
    path.of_flow = true;
    let told = |path: &PathFigures| {
        self::told(&Answer::Paths {
            of: PAIR,
            paths: vec![path.clone()],
            loss: None,
        })
    };
    let several = told(&path);
    assert!(
        several.contains("170 of 10,000 packets of all flows of this pair were lost: 100 in"),
        "{several}"
    );
    assert!(!several.contains("any of this flow"), "{several}");
    path.whole.loss = Some(SegmentLoss {
        packets: 10_000,
        lost: 100,
    });
    path.segments[2].times.loss = None;
    let one = told(&path);
    let sentence = "100 of 10,000 packets of all flows of this pair were lost: 100 in wire 1 port 7 -> leaf (28673) port 2; any \
                    of this flow, too\n";
    assert!(one.contains(sentence), "{one}");
}

#[test]
fn losses_are_named_with_the_hosts_that_tell_them() {
    let drops = PairDrops {
        source_reports: true,
        sink_reports: true,
        behind_tag: 3,
        between: 20,
        ..PairDrops::default()
    };
    let loss = LossByHost {
        split: LossSplit::new(30, &drops),
        at: vec![
            LossAt {
                node: NodeId(28673),
                segments: 18,
            },
            LossAt {
                node: NodeId(4),
                segments: 2,
            },
        ],
    };
    let text = told(&Answer::Paths {
        of: PAIR,
        paths: vec![path(200)],
        loss: Some(loss),
    });
    let line = "30 lost: 3 in the source host, 20 at hosts between, 7 elsewhere in the network; dropped by leaf (28673) 18, by 4 2\n";
    assert!(text.contains(line), "{text}does not say: {line}");
}

#[test]
fn few_reports_have_no_quantiles_and_unknown_clocks_no_bars() {
    let text = told(&Answer::Paths {
        of: PAIR,
        paths: vec![path(19)],
        loss: None,
    });
    for part in ["10.0 us ± 1.9    -    -    50%", "2.0 us    -    -    10%"] {
        assert!(text.contains(part), "{text}does not say: {part}");
    }
    let text = told(&Answer::Paths {
        of: PAIR,
        paths: vec![unknown_path()],
        loss: None,
    });
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
    let text = told(&Answer::Paths {
        of: PAIR,
        paths: vec![path],
        loss: None,
    });
    let part = "node leaf (28673) is on this path more than once";
    assert_eq!(text.matches(part).count(), 1, "{text}");
}

#[test]
fn segments_are_listed_with_their_paths_share() {
    let text = told(&Answer::Segments {
        segments: path(200).segments,
    });
    let expected = "\
3 segments from 2023-11-14 22:13:20 to 2023-11-14 22:23:20 UTC
segment                                   packets  reports           mean      p50      p99  share
wire     1 port 7 -> leaf (28673) port 2        -      200  10.0 us ± 1.9  10.0 us  12.0 us    50%
hop      leaf (28673) port 2 -> 3               -      200         2.0 us   2.0 us  60.0 us    10%
wire     leaf (28673) port 3 -> 2 port 8        -      200              ?        ?        ?      ?
";
    assert!(text.starts_with(expected), "{text}");
}
