//! Flow summaries tell how many packets came out of order.

use hostint::model::*;
use hostint_testing::report_samples;

use crate::disk::*;

/// When the store gets a summary, since when the flow is at the sink, and its total.
type Told = (u64, u64, u64);

fn summary(flow: u16, (time_s, since_s, reordered): Told) -> (Report, Arrival) {
    let flow = FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "192.0.2.2".parse().unwrap(),
        sport: flow,
        dport: 5001,
        protocol: 6,
        vlans: Vlans::NONE,
    };
    let totals = SubjectTotals {
        epoch_ns: since_s * SECOND,
        reordered,
        ..SubjectTotals::default()
    };
    let observation = Observation {
        hw_id: HwId::default(),
        flags: Flags::default(),
        clock: None,
        body: report_samples::flow_summary(time_s, [1, 2], flow, totals),
    };
    let arrival = Arrival {
        exporter: "192.0.2.2:32766".parse().unwrap(),
        received_ns: time_s * SECOND,
    };
    let report = Report {
        sequence: 1,
        observation,
    };
    (report, arrival)
}

fn keep(disk: &Disk, flow: u16, told: &[Told]) {
    let store = disk.open();
    let mut keeper = store.keeper();
    for one in told {
        let (report, arrival) = summary(flow, *one);
        keeper.keep(&report, 0, Some(arrival), None, None, b"{}");
    }
    drop(keeper);
    assert_eq!(store.counts().drops(), 0);
}

fn reordered(disk: &Disk, flow: u16) -> Option<u64> {
    let query = FlowQuery {
        search: Some(format!(":{flow}")),
        limit: 9,
        ..FlowQuery::default()
    };
    let flows = disk.reader().flows(&query, ALWAYS).unwrap();
    assert_eq!(flows.len(), 1, "flow {flow}");
    assert_eq!(flows[0].figures.packets, 0, "a summary is no packet");
    flows[0].figures.reordered
}

#[test]
fn summaries_tell_what_came_since_the_one_before() {
    let cases: [(&str, &[&[Told]], u64); 6] = [
        (
            "from the flow's beginning",
            &[&[(1000, 999, 3), (1060, 999, 3), (1120, 999, 8)]],
            8,
        ),
        (
            "one that is lost does no harm",
            &[&[(1000, 999, 3), (1120, 999, 8)]],
            8,
        ),
        (
            "of a flow that is older than the store only what is new",
            &[&[(1000, 100, 70), (1060, 100, 75)]],
            5,
        ),
        (
            "a flow that begins anew counts from 0",
            &[&[(1000, 999, 3), (1300, 1299, 2)]],
            5,
        ),
        (
            "one that comes late is not counted again",
            &[&[(1005, 999, 8), (1003, 999, 3), (1060, 999, 9)]],
            9,
        ),
        (
            "after the collector starts again, nothing is counted twice",
            &[&[(1000, 999, 3)], &[(1060, 999, 5), (1120, 999, 6)]],
            4,
        ),
    ];
    let disk = Disk::new();
    for (n, (name, runs, expected)) in cases.iter().enumerate() {
        let flow = 40_000 + n as u16;
        for told in *runs {
            keep(&disk, flow, told);
        }
        assert_eq!(reordered(&disk, flow), Some(*expected), "{name}");
    }
    let all: u64 = cases.iter().map(|(_, _, expected)| expected).sum();
    let pairs = disk.reader().pairs(ALWAYS).unwrap();
    assert_eq!(pairs[0].figures.reordered, Some(all));
}

#[test]
fn without_summaries_nobody_knows() {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    let sample = hostint_testing::synthetic::Synthetic::new(1, 2, 1).report(0, 1000 * SECOND);
    keeper.keep(&sample.report, 0, Some(sample.arrival), None, None, b"{}");
    drop((keeper, store));
    let pairs = disk.reader().pairs(ALWAYS).unwrap();
    assert_eq!(pairs[0].figures.reordered, None);
}
