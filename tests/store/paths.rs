//! The history of paths over transit hops: each segment's times, path changes, and which hop the slowest lost time in.

use hostint::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use hostint::model::*;
use hostint::store::*;
use hostint_testing::path_samples::{PassedWay, path_totals, two_hops};
use rusqlite::Connection;

use crate::disk::*;

const PAIR: PathQuery = PathQuery::Pair {
    source: NodeId(1),
    sink: NodeId(2),
};

/// The clocks of a collector that knows those of the ends, of all nodes, or none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Known {
    Ends,
    All,
    Nothing,
}

/// What a collector makes of a report: it knows how far each clock is ahead, to 500 ns.
pub fn sample_of(way: &PassedWay, report: &LatencyReport, known: Known) -> PathSample {
    let ahead = |node: NodeId| {
        let hop = way.hops.iter().find(|hop| hop.node == node.0);
        hop.map_or(0, |hop| i128::from(hop.ahead_ns))
    };
    let corrected = |from, to, stamped_ns| {
        let ahead = ahead(to) - ahead(from);
        CorrectedLatency::new(stamped_ns, ahead, 500, [ahead - 2_000, ahead + 2_000])
    };
    let (source, sink) = (report.hops.source().node, report.hops.sink().node);
    let whole = corrected(source, sink, report.hops.latency_ns().unwrap());
    PathSample::of(
        report,
        whole.filter(|_| known != Known::Nothing),
        |from, to, stamped_ns| corrected(from, to, stamped_ns).filter(|_| known == Known::All),
    )
    .unwrap()
}

pub fn keep_way(
    keeper: &mut StoreKeeper,
    way: &PassedWay,
    (sequence, sport, time_ns): (u32, u16, u64),
    known: Known,
) {
    let sample = way.sample(sequence, sport, time_ns);
    keep(keeper, &sample);
    add_path(
        keeper,
        &sample_of(way, &way.report(sequence, sport, time_ns), known),
    );
}

/// Adds the packet's way to the report that was kept last.
pub fn add_path(keeper: &mut StoreKeeper, sample: &PathSample) {
    keeper.add_path(PassedPath {
        path: &sample.path,
        times: TimeWords::of(sample).as_slice(),
    });
}

/// A store of 100 reports, a second apart; the way of each is made by `way`.
fn stored(known: Known, mut way: impl FnMut(u32) -> PassedWay) -> Disk {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    for n in 0..100 {
        let time_ns = DAY + u64::from(n) * SECOND;
        keep_way(&mut keeper, &way(n), (n, 5000, time_ns), known);
    }
    drop((keeper, store));
    disk
}

fn paths(disk: &Disk, query: PathQuery) -> Vec<PathFigures> {
    disk.reader().paths(query, ALWAYS).unwrap()
}

#[test]
fn every_segment_has_its_times() {
    let disk = stored(Known::All, |n| {
        let mut way = two_hops();
        way.hops[1].stay_ns = 2_000 + n;
        way
    });
    let [path] = &paths(&disk, PAIR)[..] else {
        panic!("one path");
    };
    assert_eq!((path.first_ns, path.until_ns), (DAY, DAY + 100 * SECOND));
    assert_eq!(path.whole.latency.unwrap().mean_ns, 33_049);
    assert_eq!(path.unknown_mean_ns, None);
    let port = |node, port| NodePort {
        node: NodeId(node),
        port,
    };
    let expected = [
        (
            SegmentKind::Wire,
            port(1, 7),
            port(28673, 2),
            10_000,
            10_000,
        ),
        (
            SegmentKind::Hop,
            port(28673, 2),
            port(28673, 3),
            1_000,
            1_000,
        ),
        (
            SegmentKind::Wire,
            port(28673, 3),
            port(28674, 4),
            10_000,
            10_000,
        ),
        (
            SegmentKind::Hop,
            port(28674, 4),
            port(28674, 5),
            2_049,
            2_099,
        ),
        (
            SegmentKind::Wire,
            port(28674, 5),
            port(2, 8),
            10_000,
            10_000,
        ),
    ];
    assert_eq!(path.segments.len(), expected.len());
    for (row, (kind, from, to, mean_ns, max_ns)) in path.segments.iter().zip(expected) {
        assert_eq!(row.segment, Segment { kind, from, to });
        let latency = row.times.latency.unwrap();
        assert_eq!(
            (latency.samples, latency.mean_ns),
            (100, mean_ns),
            "{row:?}"
        );
        assert_eq!(latency.max_ns, max_ns, "{row:?}");
        let share = mean_ns as f64 / 33_049.0;
        assert!((row.share.unwrap() - share).abs() < 1e-9, "{row:?}");
        // A hop has one clock, so that there is no error.
        let bound = row.times.corrected.map(|one| (one.error_ns, one.bound_ns));
        let wire = (kind == SegmentKind::Wire).then_some((500, [8_000, 12_000]));
        assert_eq!(bound, wire, "{row:?}");
    }
}

#[test]
fn the_queues_that_packets_met_are_those_of_the_reports() {
    let disk = stored(Known::All, |n| {
        let mut way = two_hops();
        way.hops[0].queue = Some(HopQueue::Bytes(n));
        way.hops[1].queue = (n % 2 == 0).then_some(HopQueue::Bytes(0));
        way
    });
    let figures = |reports, mean, most| HopQueueFigures {
        reports,
        in_bytes: true,
        mean,
        most,
    };
    for query in [PAIR, PathQuery::Flow(1)] {
        let [path] = &paths(&disk, query)[..] else {
            panic!("one path");
        };
        let depths: Vec<_> = path.segments.iter().map(|one| one.queue_depth).collect();
        let expected = [
            None,
            Some(figures(100, 49.5, 99)),
            None,
            Some(figures(50, 0.0, 0)),
            None,
        ];
        assert_eq!(depths, expected, "{query:?}");
    }
    let disk = stored(Known::All, |_| two_hops());
    let told = &paths(&disk, PAIR)[0].segments;
    assert!(
        told.iter().all(|one| one.queue_depth.is_none()),
        "no hop says it"
    );
}

#[test]
fn a_link_between_unknown_clocks_has_no_time() {
    for known in [Known::Ends, Known::Nothing] {
        let disk = stored(known, |_| two_hops());
        let path = paths(&disk, PAIR).remove(0);
        for row in &path.segments {
            let is_hop = row.segment.kind == SegmentKind::Hop;
            assert_eq!(row.times.latency.is_some(), is_hop, "{known:?}: {row:?}");
            assert_eq!(row.times.reports, 100, "{known:?}: {row:?}");
            assert_eq!(row.times.corrected, None, "{known:?}: {row:?}");
            let has_share = is_hop && known == Known::Ends;
            assert_eq!(row.share.is_some(), has_share, "{known:?}: {row:?}");
        }
        // The ends tell what all links take together.
        let links = (known == Known::Ends).then_some(30_000);
        assert_eq!(path.unknown_mean_ns, links, "{known:?}");
    }
}

#[test]
fn the_hop_in_which_the_slowest_lost_their_time_is_named() {
    struct Case {
        name: &'static str,
        /// The hop that held each hundredth packet for 5 ms; `None`: a link did.
        slow: Option<usize>,
        responsible: Option<u32>,
    }
    let cases = [
        Case {
            name: "the first hop",
            slow: Some(0),
            responsible: Some(28673),
        },
        Case {
            name: "the second hop",
            slow: Some(1),
            responsible: Some(28674),
        },
        Case {
            name: "a link, which is not named",
            slow: None,
            responsible: None,
        },
    ];
    for case in cases {
        let disk = stored(Known::Ends, |n| {
            let mut way = two_hops();
            if n == 50 {
                match case.slow {
                    Some(hop) => way.hops[hop].stay_ns += 5_000_000,
                    None => way.links_ns[1] += 5_000_000,
                }
            }
            way
        });
        let path = paths(&disk, PAIR).remove(0);
        let tail = path.tail.as_ref().unwrap();
        assert_eq!((tail.of_reports, tail.slowest), (100, 1), "{}", case.name);
        assert_eq!(tail.excess_ns, 5_000_000, "{}", case.name);
        let named = path.responsible().map(|(row, share)| {
            assert!(share >= 0.9, "{}: {share}", case.name);
            row.segment.from.node.0
        });
        assert_eq!(named, case.responsible, "{}", case.name);
    }
}

#[test]
fn a_changed_path_is_another_path_with_times_of_its_own() {
    let other = || {
        let mut way = two_hops();
        way.hops.remove(0);
        way.links_ns.pop();
        way
    };
    let disk = stored(Known::All, |n| if n < 60 { two_hops() } else { other() });
    let found = paths(&disk, PAIR);
    let seen: Vec<_> = found
        .iter()
        .map(|path| {
            (
                path.path.hops.len(),
                path.whole.reports,
                path.presence.len(),
            )
        })
        .collect();
    assert_eq!(seen, [(2, 60, 6), (1, 40, 4)]);
    assert_ne!(found[0].path.hash_text(), found[1].path.hash_text());
    // In the list of segments, each segment is there once.
    let segments = (disk.reader().segments(SegmentOrder::P99, ALWAYS, 100)).unwrap();
    let hops: Vec<_> = segments
        .iter()
        .filter(|row| row.segment.kind == SegmentKind::Hop)
        .map(|row| (row.segment.from.node.0, row.times.reports))
        .collect();
    assert_eq!(hops, [(28674, 100), (28673, 60)]);
    assert_eq!(segments.len(), 6);
}

#[test]
fn flows_have_paths_of_their_own() {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    for n in 0..40 {
        let mut way = two_hops();
        let sport = 5000 + (n % 2) as u16;
        if sport == 5001 {
            way.hops[0].stay_ns = 9_000;
        }
        let time_ns = DAY + u64::from(n) * SECOND;
        keep_way(&mut keeper, &way, (n, sport, time_ns), Known::Ends);
    }
    drop((keeper, store));
    let stay = |query| {
        let path = paths(&disk, query).remove(0);
        let latency = path.segments[1].times.latency.unwrap();
        (latency.samples, latency.mean_ns)
    };
    let mut reader = disk.reader();
    let flows = FlowQuery {
        limit: 10,
        ..FlowQuery::default()
    };
    for flow in reader.flows(&flows, ALWAYS).unwrap() {
        let expected = if flow.flow.sport == 5001 {
            9_000
        } else {
            1_000
        };
        assert_eq!(stay(PathQuery::Flow(flow.id)), (20, expected), "{flow:?}");
    }
    assert_eq!(stay(PAIR), (40, 5_000));
    assert_eq!(paths(&disk, PathQuery::Flow(0)), []);
}

#[test]
fn minutes_and_hours_add_up_to_the_same() {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    for n in 0..400 {
        let time_ns = DAY + u64::from(n) * 20 * SECOND;
        keep_way(&mut keeper, &two_hops(), (n, 5000, time_ns), Known::Ends);
    }
    drop((keeper, store));
    let whole = paths(&disk, PAIR).remove(0);
    assert_eq!(whole.whole.reports, 400);
    assert!(whole.presence.len() < 400, "hours and minutes are read");
    let of = |from: u64, until: u64| {
        let span = Span {
            since_ns: DAY + from * MINUTE,
            until_ns: DAY + until * MINUTE,
        };
        let path = disk.reader().paths(PAIR, span).unwrap().remove(0);
        path.segments
            .iter()
            .map(|row| row.times.reports)
            .collect::<Vec<_>>()
    };
    let sums: Vec<u64> = (of(0, 50).iter().zip(of(50, 134)))
        .map(|(one, other)| one + other)
        .collect();
    assert_eq!(sums, [400; 5]);
}

#[test]
fn damaged_names_of_paths_are_left_out() {
    let disk = stored(Known::All, |_| two_hops());
    let conn = Connection::open(disk.file()).unwrap();
    conn.execute_batch("UPDATE path SET way = x'010203' WHERE flow = 0")
        .unwrap();
    assert_eq!(paths(&disk, PAIR), []);
    assert_eq!(
        disk.reader()
            .segments(SegmentOrder::P99, ALWAYS, 9)
            .unwrap(),
        []
    );
}

/// What a sink adds for the path of [`two_hops`]: 1000 packets, each segment as many times 100 ns long as its place.
fn growth(corrected: bool) -> PathGrowth {
    let totals = path_totals(2, |place| {
        (0..1_000)
            .map(|n| 100 * i64::from(place) + n % 10)
            .collect()
    });
    let times = totals.times.into_iter().map(|time| PlaceGrowth {
        place: time.place,
        corrected: match corrected {
            true => ClockSums {
                packets: 1_000,
                latency_ns: time.latency.sum_ns(),
                error_ns: 2_000,
                less_ns: 3_000,
                more_ns: 4_000,
            },
            false => ClockSums::default(),
        },
        latency: time.latency,
    });
    PathGrowth {
        times: times.collect(),
        path: totals.path,
    }
}

#[test]
fn figures_are_of_all_packets_where_the_sink_tells_of_them() {
    for corrected in [true, false] {
        let disk = stored(Known::Nothing, |_| two_hops());
        let store = disk.open();
        for n in 0..3 {
            let keeper = store.keeper();
            keeper.grow_path(&growth(corrected), DAY + n * 10 * SECOND);
        }
        drop(store);
        let [path] = &paths(&disk, PAIR)[..] else {
            panic!("the path of the reports is that of all packets");
        };
        assert_eq!(path.whole.packets, Some(3_000));
        assert_eq!(path.whole.reports, 100, "there were reports, too");
        assert_eq!(path.presence.iter().map(|one| one.1).sum::<u64>(), 3_000);
        for (place, row) in (1..).zip(&path.segments) {
            assert_eq!(row.times.packets, Some(3_000), "{row:?}");
            let known = corrected || row.segment.kind == SegmentKind::Hop;
            assert_eq!(row.times.latency.is_some(), known, "{row:?}");
            if let Some(latency) = row.times.latency {
                let mean_ns = 100 * place + 4;
                assert_eq!(
                    (latency.samples, latency.mean_ns),
                    (3_000, mean_ns),
                    "{row:?}"
                );
            }
        }
        let segments = (disk.reader().segments(SegmentOrder::P99, ALWAYS, 100)).unwrap();
        assert_eq!(segments.len(), 5);
        assert!(segments.iter().all(|row| row.times.packets == Some(3_000)));
    }
}

#[test]
fn a_path_that_no_report_tells_is_known_by_its_packets() {
    let disk = Disk::new();
    let store = disk.open();
    store.keeper().grow_path(&growth(true), DAY);
    drop(store);
    let [path] = &paths(&disk, PAIR)[..] else {
        panic!("a path");
    };
    assert_eq!((path.whole.packets, path.whole.reports), (Some(1_000), 0));
    assert_eq!((path.first_ns, path.until_ns), (DAY, DAY + 10 * SECOND));
    assert_eq!(path.tail, None);
}

#[test]
fn a_path_has_what_hosts_tell_of_its_ends_and_of_routers_without_int() {
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    let growth = growth(true);
    keeper.grow_path(&growth, DAY);
    let (source, sink) = (growth.path.source, growth.path.sink);
    for (path, place) in [
        (Path::to_queue(source.node, source), QUEUE_PLACE),
        (Path::to_queue(source.node, source), WITHIN_PLACE),
        (Path::to_queue(source.node, source), BUFFER_PLACE),
        (Path::to_application(source.node, sink), WITHIN_PLACE),
        (Path::to_application(source.node, sink), ANSWER_PLACE),
        // Of another source.
        (Path::to_application(NodeId(3), sink), WITHIN_PLACE),
    ] {
        let mut latency = LatencyHistogram::default();
        (0..50).for_each(|_| latency.add(i64::from(place)));
        let times = vec![PlaceGrowth {
            place,
            latency,
            corrected: ClockSums::default(),
        }];
        keeper.grow_path(&PathGrowth { path, times }, DAY);
    }
    for (at, routers) in [(DAY, 3), (DAY + 10 * SECOND, 2)] {
        let told = PathCrossed {
            unseen: vec![(1, routers), (3, 0)],
            ..crossed(&growth.path, &[])
        };
        keeper.cross_path(&told, at);
    }
    drop((keeper, store));
    let [path] = &paths(&disk, PAIR)[..] else {
        panic!("a path");
    };
    let queues: Vec<_> = path.queues.iter().map(|queue| queue.segment.from).collect();
    assert_eq!(queues, [source]);
    let ends: Vec<_> = (path.host_segments.iter())
        .map(|one| (one.segment.kind, one.segment.from.node, one.times.packets))
        .collect();
    assert_eq!(
        ends,
        [
            (SegmentKind::Buffer, source.node, Some(50)),
            (SegmentKind::Stack, source.node, Some(50)),
            (SegmentKind::Read, sink.node, Some(50)),
            (SegmentKind::Answer, sink.node, Some(50)),
        ]
    );
    let unseen: Vec<_> = path.segments.iter().map(|one| one.unseen_hops).collect();
    assert_eq!(unseen, [Some(2), None, Some(0), None, None], "the newest");
}

#[test]
fn a_path_has_the_queues_behind_its_hops() {
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    keeper.grow_path(&growth(true), DAY);
    let wait = |source, node, port, ns: i64| {
        let queue = NodePort {
            node: NodeId(node),
            port,
        };
        let mut latency = LatencyHistogram::default();
        (0..50).for_each(|n| latency.add(ns + n % 2));
        let growth = PathGrowth {
            path: Path::to_queue(NodeId(source), queue),
            times: vec![PlaceGrowth {
                place: QUEUE_PLACE,
                latency,
                corrected: ClockSums::default(),
            }],
        };
        for n in 0..2 {
            keeper.grow_path(&growth, DAY + n * 10 * SECOND);
        }
    };
    wait(1, 28674, 5, 70);
    // By another port, of another source, and of a node that is not on the path.
    wait(1, 28674, 6, 1);
    wait(3, 28673, 3, 2);
    wait(1, 28675, 5, 3);
    drop((keeper, store));
    let [path] = &paths(&disk, PAIR)[..] else {
        panic!("a path");
    };
    assert_eq!(path.segments.len(), 5, "a queue is no further segment");
    let [queue] = &path.queues[..] else {
        panic!("one queue: {:?}", path.queues);
    };
    assert_eq!(queue.segment.kind, SegmentKind::Queue);
    assert_eq!(queue.segment.from.node, NodeId(28674));
    assert_eq!(queue.times.packets, Some(100));
    let latency = queue.times.latency.expect("one clock");
    assert_eq!(
        (latency.samples, latency.min_ns, latency.max_ns),
        (100, 70, 71)
    );
    let whole = path.whole.latency.expect("known clocks").mean_ns;
    assert_eq!(
        queue.share,
        Some((latency.mean_ns as f64 / whole as f64).min(1.0))
    );
    let all = disk
        .reader()
        .segments(SegmentOrder::P99, ALWAYS, 100)
        .unwrap();
    let queues = all
        .iter()
        .filter(|row| row.segment.kind == SegmentKind::Queue);
    assert_eq!(queues.count(), 4, "each is a segment of its own: {all:?}");
}

/// Packets that came to places of a path, and those that were lost there.
fn crossed(path: &Path, places: &[(CrossedPlace, u64, i64)]) -> PathCrossed {
    let places = places.iter().map(|(place, packets, lost)| {
        let crossed = Crossed {
            packets: *packets,
            lost: *lost,
        };
        (*place, crossed)
    });
    PathCrossed {
        path: path.clone(),
        places: places.collect(),
        unseen: Vec::new(),
    }
}

/// The loss of each row, as text: lost packets of all, or ? if it is unknown.
fn losses<'a>(times: impl IntoIterator<Item = &'a SegmentTimes>) -> String {
    let text = |times: &SegmentTimes| {
        let loss = times.loss;
        loss.map_or("?".to_owned(), |loss| {
            format!("{}/{}", loss.lost, loss.packets)
        })
    };
    times.into_iter().map(text).collect::<Vec<_>>().join(" ")
}

fn of(rows: &[SegmentFigures]) -> String {
    losses(rows.iter().map(|row| &row.times))
}

#[test]
fn losses_of_segments_are_added_up_over_time_and_restarts() {
    use CrossedPlace::{Queue, Segment};
    let disk = Disk::new();
    let path = growth(true).path;
    for n in 0..3 {
        let store = disk.open();
        let keeper = store.keeper();
        let time_ns = DAY + n * 3_600 * SECOND;
        keeper.grow_path(&growth(true), time_ns);
        let told = [
            (Segment(0), 100, 12),
            (Segment(1), 100, 10),
            (Segment(2), 90, 0),
            // Packets that are counted in the next block are lost in this one, and too many there.
            (Segment(3), 90, if n == 1 { 4 } else { -1 }),
            (Segment(5), 80, -1),
            (Queue(1), 90, 2),
        ];
        keeper.cross_path(&crossed(&path, &told), time_ns);
        drop((keeper, store));
    }
    let [path] = &paths(&disk, PAIR)[..] else {
        panic!("a path");
    };
    assert_eq!(losses([&path.whole]), "36/300");
    assert_eq!(of(&path.segments), "30/300 0/270 2/270 ? ?");
    let [queue] = &path.queues[..] else {
        panic!("the queue behind the second hop: {:?}", path.queues);
    };
    assert_eq!(queue.segment.from.node, path.path.hops[1].node);
    assert_eq!(losses([&queue.times]), "6/270");
    let listed = disk
        .reader()
        .segments(SegmentOrder::Lost, ALWAYS, 3)
        .unwrap();
    let listed = listed
        .iter()
        .map(|row| (row.segment.kind, losses([&row.times])));
    let expected = [
        (SegmentKind::Wire, "30/300".to_owned()),
        (SegmentKind::Queue, "6/270".to_owned()),
        (SegmentKind::Wire, "2/270".to_owned()),
    ];
    assert_eq!(listed.collect::<Vec<_>>(), expected);
    // The rest of a wire's loss is that of the link behind its queue.
    let at: Vec<_> = path
        .lost_at()
        .iter()
        .map(|(row, lost)| (row.segment.kind, *lost))
        .collect();
    let (wire, queue) = (SegmentKind::Wire, SegmentKind::Queue);
    assert_eq!(at, [(wire, 30), (queue, 6), (wire, 2)]);
}

#[test]
fn all_paths_of_a_pair_show_what_the_segments_that_they_share_lost() {
    use CrossedPlace::Segment;
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    let one = growth(true);
    let mut other = one.clone();
    other.path.hops[1].node = NodeId(999);
    for growth in [&one, &other] {
        keeper.grow_path(growth, DAY);
    }
    let told = crossed(
        &one.path,
        &[
            (Segment(0), 100, 7),
            (Segment(1), 100, 5),
            (Segment(4), 60, 2),
        ],
    );
    keeper.cross_path(&told, DAY);
    keeper.cross_path(&crossed(&other.path, &[(Segment(4), 35, 0)]), DAY);
    drop((keeper, store));
    let paths = paths(&disk, PAIR);
    assert_eq!(paths.len(), 2);
    for path in &paths {
        let own = if path.path == one.path {
            "2/60"
        } else {
            "0/35"
        };
        assert_eq!(losses([&path.whole]), "7/100");
        assert_eq!(of(&path.segments), format!("5/100 ? ? {own} ?"));
    }
}
