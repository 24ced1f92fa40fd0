//! The history has the times of all packets between interfaces of hosts, with the names that their flows told.

use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::*;
use hostint_testing::report_samples;

use crate::disk::*;

const NODE: NodeId = NodeId(2);

const QUERY: PassageQuery = PassageQuery {
    node: None,
    flow: None,
    order: PassageOrder::Mean,
    limit: 100,
};

fn passage(in_port: u16, out_port: u16, start: PassageStart) -> PassageId {
    PassageId {
        node: NODE,
        in_port,
        out_port,
        start,
    }
}

/// So many packets that reached the queue after 1 us, and the driver after so long; one more did not.
fn growth(id: PassageId, packets: u64, sent_ns: i64) -> PathGrowth {
    let times = |place, ns: i64, packets: u64| {
        let mut latency = LatencyHistogram::default();
        (0..packets).for_each(|_| latency.add(ns));
        PlaceGrowth {
            place,
            latency,
            corrected: ClockSums::default(),
        }
    };
    PathGrowth {
        path: id.path(),
        times: vec![
            times(SENT_PLACE, sent_ns, packets),
            times(QUEUED_PLACE, 1_000, packets + 1),
        ],
    }
}

#[test]
fn times_between_interfaces_are_kept_apart_from_paths() {
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    // Flows that were told long ago are forgotten.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now_ns = since.as_nanos() as u64;
    for n in 0..3 {
        let time_ns = now_ns - n * 10 * SECOND;
        keeper.grow_path(
            &growth(passage(2, 3, PassageStart::Sender), 100, 5_000),
            time_ns,
        );
    }
    keeper.grow_path(
        &growth(passage(3, 2, PassageStart::Interface), 50, 9_000),
        now_ns,
    );
    let [flow, _] = report_samples::host_hops();
    let Body::FlowPassage(told) = flow.observation.body else {
        unreachable!()
    };
    keeper.see_hop(NODE, &told.hop, now_ns);
    drop((keeper, store));
    let mut reader = disk.reader();
    let span = Span {
        since_ns: now_ns - MINUTE,
        until_ns: now_ns + SECOND,
    };
    let found = reader.passages(&QUERY, span).unwrap();
    let [first, second] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((first.node, first.in_port, first.out_port), (NODE, 2, 3));
    assert_eq!((second.in_port, second.out_port), (3, 2));
    assert_eq!(first.start, PassageStart::Sender);
    let (sent, queued) = (first.sent.unwrap(), first.queued.unwrap());
    assert_eq!((sent.samples, queued.samples), (300, 303));
    assert_eq!((sent.mean_ns, queued.mean_ns), (5_000, 1_000));
    assert_eq!(first.mean_queue_ns, Some(4_000));
    assert_eq!(first.in_interface.as_deref(), Some("eth0"));
    assert_eq!(first.pods.out_pod.as_deref(), Some("netns/blue"));
    assert_eq!(second.in_interface.as_deref(), Some("eth1"));
    // A question, and how many pairs of interfaces it finds.
    for (query, count) in [
        (
            PassageQuery {
                node: Some(NODE),
                ..QUERY
            },
            2,
        ),
        (
            PassageQuery {
                node: Some(NodeId(3)),
                ..QUERY
            },
            0,
        ),
        (PassageQuery { limit: 1, ..QUERY }, 1),
        (
            PassageQuery {
                flow: Some(1),
                ..QUERY
            },
            0,
        ),
    ] {
        let found = reader.passages(&query, span).unwrap();
        assert_eq!(found.len(), count, "{query:?}");
    }
    let before = Span {
        since_ns: now_ns - 3 * HOUR,
        until_ns: now_ns - 2 * HOUR,
    };
    assert_eq!(reader.passages(&QUERY, before).unwrap(), []);
    // No packet with INT took these ways.
    let itself = PathQuery::Pair {
        source: NODE,
        sink: NODE,
    };
    assert_eq!(reader.paths(itself, span).unwrap(), []);
    let segments = reader.segments(SegmentOrder::P99, span, 10).unwrap();
    assert_eq!(segments, []);
}

#[test]
fn a_store_without_them_knows_none() {
    let disk = Disk::new();
    drop(disk.open());
    assert_eq!(disk.reader().passages(&QUERY, ALWAYS).unwrap(), []);
}

#[test]
fn engines_get_flows_through_hosts_and_no_parts_of_such_paths() {
    let told = growth(passage(2, 3, PassageStart::Interface), 5, 9_000);
    assert_eq!(PathPart::of_growth(&told, 1_700_000_000), []);
}
