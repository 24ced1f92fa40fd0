//! Many paths at once: their figures are written less often, all of them, and what finds no room is counted.

use hostint::model::{FlowQuery, History, NodeId, PathQuery};
use hostint::store::{HistoryReader, Store, StoreKeeper, StoreSettings};
use hostint_testing::netns::await_that;
use hostint_testing::path_samples::two_hops;

use crate::disk::*;
use crate::paths::{Known, keep_way};

const PAIR: PathQuery = PathQuery::Pair {
    source: NodeId(1),
    sink: NodeId(2),
};

/// Hands on one report of each flow.
fn round(keeper: &mut StoreKeeper, flows: u16, number: u32) {
    for flow in 0..flows {
        let time_ns = DAY + u64::from(number);
        keep_way(keeper, &two_hops(), (number, flow, time_ns), Known::All);
    }
    keeper.flush();
}

/// Waits until the reports of all flows are in the store.
fn await_stored(store: &Store, reports: u64) {
    let counts = store.counts();
    await_that("all reports are stored", || {
        counts.stored() + counts.rolled_up_only() == reports
    });
}

/// Returns how many flows have a path, and the packets of all of these paths and of the pair's path.
fn of_paths(reader: &mut HistoryReader) -> (usize, u64, u64) {
    let packets = |reader: &mut HistoryReader, query| -> u64 {
        let paths = reader.paths(query, ALWAYS).unwrap();
        paths.iter().map(|path| path.whole.samples()).sum()
    };
    let query = FlowQuery {
        limit: 10_000,
        ..FlowQuery::default()
    };
    let flows = reader.flows(&query, ALWAYS).unwrap();
    let each: Vec<u64> = (flows.iter())
        .map(|flow| packets(reader, PathQuery::Flow(flow.id)))
        .filter(|packets| *packets > 0)
        .collect();
    (each.len(), each.iter().sum(), packets(reader, PAIR))
}

#[test]
fn each_packet_counts_once_in_its_paths_however_often_they_are_written() {
    // Flows, the flows that have a path then, and what reports told in vain.
    for (flows, of_flows, in_vain) in [(10, 10, 0), (300, 300, 0), (4_100, 4_096, 2 * 4)] {
        let disk = Disk::new();
        let store = disk.open();
        let mut keeper = store.keeper();
        for number in 0..2 {
            round(&mut keeper, flows, number);
            // The next ones belong to another transaction.
            await_stored(&store, u64::from(flows) * u64::from(number + 1));
        }
        let counts = store.counts();
        drop((keeper, store));
        assert_eq!(
            (of_paths(&mut disk.reader()), counts.told_drops()),
            (
                (of_flows, 2 * of_flows as u64, 2 * u64::from(flows)),
                in_vain
            ),
            "of {flows} flows"
        );
    }
}

#[test]
fn paths_that_wait_are_written_although_no_other_report_comes() {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    round(&mut keeper, 300, 0);
    await_stored(&store, 300);
    let mut reader = disk.reader();
    await_that("the paths are written", || {
        of_paths(&mut reader) == (300, 300, 300)
    });
}

/// The store remembers twice as many flows as are tracked, and forgets them when there are more.
#[test]
fn paths_whose_flow_was_forgotten_before_they_were_written_are_counted() {
    const FLOWS: u16 = 300;
    let disk = Disk::new();
    let store = start(StoreSettings {
        most_flows: FLOWS.into(),
        ..disk.settings()
    });
    let mut keeper = store.keeper();
    let mut counted = 0;
    for number in 0..4 {
        // The flows before are quiet by then, so that these are tracked.
        let time_ns = DAY + u64::from(number) * HOUR;
        for flow in 0..FLOWS {
            let sport = flow + FLOWS * number as u16;
            keep_way(
                &mut keeper,
                &two_hops(),
                (number, sport, time_ns),
                Known::All,
            );
        }
        keeper.flush();
        counted += u64::from(FLOWS);
        await_stored(&store, counted);
    }
    let counts = store.counts();
    drop((keeper, store));
    let (of_flows, in_flows, in_pair) = of_paths(&mut disk.reader());
    assert_eq!(in_pair, counted, "the paths of the pair need no flow");
    assert_eq!(of_flows as u64, in_flows);
    assert!(counts.told_drops() > 0, "flows were forgotten");
    assert_eq!(in_flows + counts.told_drops(), counted);
}
