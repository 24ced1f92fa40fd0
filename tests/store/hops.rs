//! The history has what hosts told last of each flow that they forward.

use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::*;
use hostint_testing::report_samples;

use crate::disk::*;

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap().as_nanos()).unwrap()
}

/// What a host tells of a flow.
#[derive(Clone, Copy)]
struct Told {
    node: u32,
    sport: u16,
    packets: u64,
    mean_ns: u32,
    max_ns: u32,
    /// Before now, in seconds.
    ago_s: u64,
}

const TOLD: Told = Told {
    node: 7,
    sport: 40001,
    packets: 10,
    mean_ns: 1000,
    max_ns: 2000,
    ago_s: 0,
};

impl Told {
    fn hop(self) -> FlowPassage {
        let [most, _] = report_samples::host_hops();
        let Body::FlowPassage(report) = most.observation.body else {
            unreachable!()
        };
        let mut hop = report.hop;
        hop.flow.sport = self.sport;
        hop.first_ns = SECOND;
        hop.last_ns = hop.first_ns + SECOND;
        hop.packets = self.packets;
        (hop.mean_hop_ns, hop.max_hop_ns) = (self.mean_ns, self.max_ns);
        hop
    }
}

/// What a collector keeps in a run that ends in order.
fn keep(disk: &Disk, now_ns: u64, all: &[Told]) {
    let store = disk.open();
    let keeper = store.keeper();
    for one in all {
        keeper.see_hop(NodeId(one.node), &one.hop(), now_ns - one.ago_s * SECOND);
    }
}

const QUERY: PassageQuery = PassageQuery {
    node: None,
    flow: None,
    order: PassageOrder::Mean,
    limit: 100,
};

/// Nodes, source ports and packets of the flows in the answer about the last hour.
fn found(disk: &Disk, query: &PassageQuery, now_ns: u64) -> Vec<(u32, u16, u64)> {
    let last_hour = Span {
        since_ns: now_ns - HOUR,
        until_ns: now_ns + SECOND,
    };
    let flows = disk.reader().hops(query, last_hour).unwrap();
    let row = |one: &ForwardedFlow| (one.node.0, one.hop.flow.sport, one.hop.packets);
    flows.iter().map(row).collect()
}

#[test]
fn a_question_chooses_and_sorts() {
    let (disk, now_ns) = (Disk::new(), now_ns());
    keep(&disk, now_ns, &[]);
    assert!(
        found(&disk, &QUERY, now_ns).is_empty(),
        "nothing was ever told"
    );
    let slow = Told {
        sport: 1,
        mean_ns: 9000,
        max_ns: 9000,
        packets: 1,
        ago_s: 20,
        ..TOLD
    };
    let uneven = Told {
        node: 8,
        sport: 2,
        max_ns: 50_000,
        packets: 5,
        ago_s: 10,
        ..TOLD
    };
    let ended = Told {
        sport: 3,
        ago_s: 7200,
        ..TOLD
    };
    keep(&disk, now_ns, &[slow, uneven, TOLD, ended]);
    let ask = |query: PassageQuery| {
        let rows = found(&disk, &query, now_ns);
        rows.into_iter().map(|row| row.1).collect::<Vec<u16>>()
    };
    let by = |order| ask(PassageQuery { order, ..QUERY });
    assert_eq!(by(PassageOrder::Mean), [1, 40001, 2]);
    assert_eq!(by(PassageOrder::Max), [2, 1, 40001]);
    assert_eq!(by(PassageOrder::Packets), [40001, 2, 1]);
    assert_eq!(by(PassageOrder::Newest), [40001, 2, 1]);
    assert_eq!(ask(PassageQuery { limit: 1, ..QUERY }), [1]);
    let node = Some(NodeId(8));
    assert_eq!(ask(PassageQuery { node, ..QUERY }), [2]);
    let flow = Some(17);
    assert!(
        ask(PassageQuery { flow, ..QUERY }).is_empty(),
        "no such flow"
    );
}

/// What INT counts of a flow.
fn keep_int(disk: &Disk, flow: FlowKey, time_ns: u64) {
    let body =
        report_samples::flow_summary(time_ns / SECOND, [1, 2], flow, SubjectTotals::default());
    let report = report_samples::of_body(body);
    let arrival = Arrival {
        exporter: "198.51.100.2:32766".parse().unwrap(),
        received_ns: time_ns,
    };
    let store = disk.open();
    let mut keeper = store.keeper();
    keeper.keep(&report, 0, Some(arrival), None, None, b"{}");
}

#[test]
fn a_flow_of_int_is_found_before_and_behind_nat() {
    let (disk, now_ns) = (Disk::new(), now_ns());
    let hop = TOLD.hop();
    keep(&disk, now_ns, &[TOLD, Told { sport: 1, ..TOLD }]);
    let before = hop.flow_before_nat.expect("the sample has one");
    keep_int(&disk, hop.flow, now_ns);
    keep_int(&disk, before, now_ns);
    let query = FlowQuery {
        limit: 10,
        ..FlowQuery::default()
    };
    let known = disk.reader().flows(&query, ALWAYS).unwrap();
    assert_eq!(known.len(), 2);
    for one in known {
        let flow = Some(one.id);
        let rows = found(&disk, &PassageQuery { flow, ..QUERY }, now_ns);
        let expected = match one.flow == before {
            true => 2, // both flows of the sample have this one before NAT
            false => 1,
        };
        assert_eq!(rows.len(), expected, "{}: {rows:?}", one.flow);
        assert!(rows.contains(&(7, 40001, 10)), "{}: {rows:?}", one.flow);
    }
}

#[test]
fn a_flow_that_goes_on_is_listed_once_although_its_beginning_is_told_a_little_otherwise() {
    // How much later the second report says that the flow began, and the packets of the flows that are listed.
    let cases: [(&str, i64, &[u64]); 4] = [
        ("as exactly as two clocks are read", 40_000, &[30]),
        ("or a little earlier", -40_000, &[30]),
        ("another beginning", 200_000_000, &[10, 30]),
        ("an earlier one", -200_000_000, &[10, 30]),
    ];
    for (sentence, later_ns, expected) in cases {
        // In one run of the collector, which may write both at once, and in two.
        for runs in [1, 2] {
            let (disk, now_ns) = (Disk::new(), now_ns());
            let first = TOLD.hop();
            let mut second = Told {
                packets: 30,
                ..TOLD
            }
            .hop();
            second.first_ns = second.first_ns.wrapping_add_signed(later_ns);
            let runs = match runs {
                1 => vec![vec![first, second]],
                _ => vec![vec![first], vec![second]],
            };
            for run in &runs {
                let store = disk.open();
                let keeper = store.keeper();
                for hop in run {
                    keeper.see_hop(NodeId(7), hop, now_ns);
                }
            }
            let mut packets: Vec<_> = (found(&disk, &QUERY, now_ns).iter())
                .map(|(_, _, packets)| *packets)
                .collect();
            packets.sort_unstable();
            assert_eq!(packets, expected, "{sentence}, {} runs", runs.len());
        }
    }
}
