//! The history names pods in its answers, and keeps what it was told of them for as long as it is to.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::*;
use hostint::store::OpenedStore;
use hostint_testing::report_samples;

use crate::disk::*;

const UID: &str = "5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11";

fn name(pod: &str) -> PodName {
    PodName {
        namespace: "shop".into(),
        pod: pod.into(),
        workload: pod.split('-').next().unwrap().into(),
        workload_kind: "Deployment".into(),
    }
}

fn period(
    address: Option<&str>,
    uid: &str,
    pod: &str,
    [since_ns, until_ns]: [u64; 2],
) -> PodPeriod {
    PodPeriod {
        address: address.map(|address| address.parse().unwrap()),
        uid: uid.into(),
        name: Arc::new(name(pod)),
        since_ns,
        until_ns,
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    since.as_nanos() as u64
}

#[test]
fn drops_have_the_names_of_pods_by_uid_and_by_address() {
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    let [most, _] = report_samples::host_drops();
    let Body::HostDrop(report) = most.observation.body else {
        unreachable!()
    };
    let mut drop_told = report.drop;
    drop_told.flow_before_nat = None;
    drop_told.tunnel = None;
    drop_told.pods.pod = None;
    let (src, dst) = (
        drop_told.flow.src.to_string(),
        drop_told.flow.dst.to_string(),
    );
    let lasts = [SECOND, PodPeriod::OPEN];
    let periods = vec![
        period(None, UID, "web-1", lasts),
        // Two had the one address in this time, and one the other.
        period(Some(&src), "a", "old-1", [SECOND, 5 * SECOND]),
        period(Some(&src), "b", "new-1", [5 * SECOND, PodPeriod::OPEN]),
        period(Some(&dst), UID, "web-1", lasts),
    ];
    keeper.see_pods(periods, 20 * SECOND);
    keeper.drop_flow(NodeId(1), &drop_told, drop_told.count, 10 * SECOND);
    drop((keeper, store));
    let asked = |by| {
        let query = DropQuery {
            by,
            limit: 10,
            ..DropQuery::default()
        };
        let found = disk.reader().drops(&query, ALWAYS).unwrap();
        assert_eq!(found.len(), 1, "{by:?}: {found:?}");
        found[0].clone()
    };
    let of_pods = asked(DropGrouping::Pod);
    assert_eq!(of_pods.pod, Some(format!("pod/{UID}")));
    assert_eq!(of_pods.pod_name, Some(name("web-1")));
    let of_flows = asked(DropGrouping::Flow);
    let dst_pod = Some(name("web-1"));
    assert_eq!(
        of_flows.pods,
        FlowPods {
            src_pod: None,
            dst_pod
        }
    );
}

#[test]
fn hops_have_the_names_of_pods_by_uid_and_by_address() {
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    let [most, _] = report_samples::host_hops();
    let Body::FlowPassage(report) = most.observation.body else {
        unreachable!()
    };
    let mut hop = report.hop;
    hop.pods.in_pod = Some("netns/blue".into());
    hop.pods.out_pod = Some(format!("pod/{UID}"));
    let dst = hop.flow.dst.to_string();
    let told_ns = hop.last_ns;
    let lasts = [SECOND, PodPeriod::OPEN];
    let periods = vec![
        period(None, UID, "web-1", lasts),
        period(Some(&dst), UID, "web-1", lasts),
    ];
    keeper.see_pods(periods, told_ns);
    keeper.see_hop(NodeId(1), &hop, told_ns);
    drop((keeper, store));
    let query = PassageQuery {
        limit: 10,
        ..PassageQuery::default()
    };
    let found = disk.reader().hops(&query, ALWAYS).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    let named = Some(name("web-1"));
    let ends = FlowPods {
        src_pod: None,
        dst_pod: named.clone(),
    };
    let behind = PassagePods {
        in_pod_name: None,
        out_pod_name: named,
    };
    assert_eq!(found[0].ends, ends);
    assert_eq!(found[0].behind, behind);
}

#[test]
fn a_connection_has_the_names_of_the_pods_at_its_time() {
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    let [most, _] = report_samples::connections();
    let Body::Connection(mut report) = most.observation.body else {
        unreachable!()
    };
    let now_ns = now_ns();
    report.connection.sample.time_ns = now_ns;
    report.connection.sample.begun_ns = Some(now_ns - MINUTE);
    let peer = report.connection.sample.flow.dst.to_string();
    let before = period(
        Some(&peer),
        "a",
        "old-1",
        [now_ns - HOUR, now_ns - 10 * MINUTE],
    );
    let now = period(
        Some(&peer),
        "b",
        "new-1",
        [now_ns - 9 * MINUTE, PodPeriod::OPEN],
    );
    keeper.see_pods(vec![before, now], now_ns);
    keeper.see_connection(&report, &TcpGrowth::default(), now_ns);
    drop((keeper, store));
    let query = ConnectionQuery {
        limit: 10,
        ..ConnectionQuery::default()
    };
    let found = disk.reader().connections(&query, ALWAYS).unwrap();
    let dst_pod = Some(name("new-1"));
    assert_eq!(
        found[0].pods,
        FlowPods {
            src_pod: None,
            dst_pod
        }
    );
}

#[test]
fn the_next_run_finds_the_pods_that_are_there() {
    let disk = Disk::new();
    let store = disk.open();
    let keeper = store.keeper();
    let lasts = [SECOND, PodPeriod::OPEN];
    let there = vec![
        period(None, "a", "web-1", lasts),
        period(Some("10.0.0.1"), "a", "web-1", lasts),
        period(Some("10.0.0.2"), "b", "db-1", lasts),
        period(None, "b", "db-1", lasts),
    ];
    keeper.see_pods(there, 10 * SECOND);
    let ended = [SECOND, 20 * SECOND];
    let gone = vec![
        period(None, "b", "db-1", ended),
        period(Some("10.0.0.2"), "b", "db-1", ended),
    ];
    keeper.see_pods(gone, 30 * SECOND);
    drop((keeper, store));
    let book = OpenedStore::open(disk.settings()).unwrap().pods();
    assert_eq!((book.present(), book.current_ns()), (1, 30 * SECOND));
    let at = FlowTime::at(40 * SECOND);
    let found = book.at("10.0.0.1".parse().unwrap(), at);
    assert_eq!(found.map(|found| found.pod.as_str()), Some("web-1"));
}

#[test]
fn pods_that_went_before_the_figures_of_hours_are_forgotten() {
    let disk = Disk::new();
    let mut settings = disk.settings();
    settings.limits.hours_ns = DAY;
    settings.from_file = false;
    let store = start(settings);
    let now_ns = now_ns();
    let periods = vec![
        period(None, "a", "old-1", [1, now_ns - 2 * DAY]),
        period(None, "b", "late-1", [1, now_ns - HOUR]),
        period(None, "c", "here-1", [1, PodPeriod::OPEN]),
    ];
    store.keeper().see_pods(periods, now_ns);
    drop(store);
    let conn = rusqlite::Connection::open(disk.file()).unwrap();
    let mut ask = conn.prepare("SELECT pod FROM pod ORDER BY uid").unwrap();
    let left = ask.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let left: Vec<String> = left.map(Result::unwrap).collect();
    assert_eq!(left, ["late-1", "here-1"]);
}

#[test]
fn a_history_without_pods_names_none() {
    let disk = Disk::new();
    drop(disk.open());
    let found = disk.reader().classes_by(PodsOf::Workload, ALWAYS).unwrap();
    assert!(found.is_empty());
}
