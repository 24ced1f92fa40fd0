//! What hosts tell of packets between their interfaces is added up apart from paths, and has the names of flows' interfaces.

use hostint::collector::ReportHub;
use hostint::model::*;
use hostint::wire::report_path;
use hostint_testing::nobody::Nobody;
use hostint_testing::path_samples::path_totals;
use hostint_testing::report_samples;

const SECOND: u64 = 1_000_000_000;
const STARTED: u64 = 1_700_000_000 * SECOND;

fn arrival() -> Arrival {
    Arrival {
        exporter: "192.0.2.1:4000".parse().unwrap(),
        received_ns: STARTED + 5 * SECOND,
    }
}

/// What a host tells of packets from interface 2 to interface 3.
fn told(packets: usize) -> PathTotalsReport {
    let id = PassageId {
        node: NodeId(2),
        in_port: 2,
        out_port: 3,
        start: PassageStart::Interface,
    };
    let mut totals = path_totals(1, |place| match place {
        SENT_PLACE => vec![9_000; packets],
        _ => vec![2_000; packets + 1],
    });
    totals.path = id.path();
    (totals.times).retain(|time| [SENT_PLACE, QUEUED_PLACE].contains(&time.place));
    for time in &mut totals.times {
        time.epoch_ns = STARTED + SECOND;
    }
    PathTotalsReport {
        time_s: 1_700_000_004,
        period_ns: 10 * SECOND,
        totals,
    }
}

#[test]
fn packets_between_interfaces_count_once_and_are_no_segments() {
    let mut hub = ReportHub::new(Nobody, None, Classes::default());
    hub.ledgers.start_at(STARTED);
    let tell = |hub: &mut ReportHub<Nobody>, packets| {
        for datagram in report_path::emit(&told(packets)) {
            hub.datagram(&datagram, arrival()).unwrap();
        }
    };
    for packets in [10, 10, 30] {
        tell(&mut hub, packets);
    }
    let rows = hub.ledgers.hops.rows(10);
    let [(node, passage)] = &rows[..] else {
        panic!("{rows:?}");
    };
    assert_eq!((node.0, passage.in_ifindex, passage.out_ifindex), (2, 2, 3));
    let samples = |times: &PassageTimes| times.0.samples();
    assert_eq!((samples(&passage.sent), samples(&passage.queued)), (30, 31));
    assert_eq!(passage.in_interface, None, "no flow was told");
    assert_eq!(hub.ledgers.segments.rows(10), [], "segments of paths");
    // The host tells a flow with the names of both.
    let [flow, _] = report_samples::host_hops();
    let datagram = report_samples::datagram(&flow);
    hub.datagram(&datagram, arrival()).unwrap();
    let rows = hub.ledgers.hops.rows(10);
    let names = (&rows[0].1.in_interface, &rows[0].1.out_interface);
    assert_eq!(names, (&Some("eth0".to_owned()), &Some("eth1".to_owned())));
    assert!(
        hub.ledgers.hops.rows(0).is_empty(),
        "as many as are asked for"
    );
}
