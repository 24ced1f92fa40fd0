//! The last totals of summaries are kept for the next run of the collector, and for no run after that.

use hostint::model::*;
use hostint::store::*;

use crate::disk::*;

fn base(exporter: Option<u8>, name: SummaryName, packets: u64) -> SummaryBase {
    let mut latency = LatencyHistogram::default();
    (0..packets.min(100)).for_each(|n| latency.add(1000 * n as i64));
    let mut encoded = Vec::new();
    latency.encode(&mut encoded);
    SummaryBase {
        exporter: exporter.map(|host| [192, 0, 2, host].into()),
        source_node: NodeId(1),
        sink_node: NodeId(u32::MAX),
        name,
        epoch_ns: 1_700_000_000_000_000_000,
        seen_ns: 1_700_000_010_000_000_000,
        counts: [packets, u64::MAX, 3, 2, 1, 0],
        squares: FlowSquares::from_all([4, i128::from(packets), 1 << 40]),
        latency: encoded.into(),
    }
}

fn group(class: Option<&str>, coarse: bool) -> SummaryName {
    SummaryName::Group {
        class: class.map(Box::from),
        coarse,
    }
}

fn place(place: u8) -> SummaryName {
    let way = Box::from([0, 0, 0, 1, 0, 7, 255]);
    SummaryName::Path { way, place }
}

fn flow() -> SummaryName {
    SummaryName::Flow(FlowKey {
        src: "2001:db8::1".parse().unwrap(),
        dst: "2001:db8::2".parse().unwrap(),
        sport: 40_000,
        dport: 443,
        protocol: 6,
        vlans: Vlans::NONE,
    })
}

/// Leaves these in the store, as a collector that ends.
fn leave(disk: &Disk, bases: SummaryBases) {
    let store = OpenedStore::open(disk.settings()).unwrap();
    let store = store
        .start(Box::new(|trouble| panic!("{trouble}")))
        .unwrap();
    store.leave_bases(bases);
}

#[test]
fn one_run_takes_what_the_run_before_left() {
    let disk = Disk::new();
    for until_ns in [Some(1_700_000_020_000_000_000), None] {
        let left = SummaryBases {
            until_ns,
            bases: vec![
                base(Some(7), group(None, false), 5),
                base(Some(7), group(None, true), 6),
                base(None, group(Some("web"), false), 0),
                base(Some(8), flow(), 700),
                base(Some(8), place(0), 8),
                base(Some(8), place(17), 9),
            ],
        };
        leave(&disk, left.clone());
        let mut store = OpenedStore::open(disk.settings()).unwrap();
        assert_eq!(store.take_bases(), left);
        drop(store);
        // This run was killed.
        let mut store = OpenedStore::open(disk.settings()).unwrap();
        assert_eq!(store.take_bases(), SummaryBases::default());
    }
}
