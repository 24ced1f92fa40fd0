//! The history knows which hosts reported, and names them, also after the collector has ended.

use hostint::model::*;
use hostint::store::*;
use hostint_testing::synthetic::Synthetic;

use crate::disk::*;

const SECOND: u64 = 1_000_000_000;

fn now_ns() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(since.unwrap().as_nanos()).unwrap()
}

fn seen(node: Option<u32>, address: u8, name: Option<&str>, last_ns: u64) -> HostSeen {
    HostSeen {
        node: node.map(NodeId),
        address: [192, 0, 2, address].into(),
        name: name.map(str::to_owned),
        name_contested: false,
        interfaces: [(2, format!("eth{address}"))].into(),
        last_ns,
        silent_after_ns: 30 * SECOND,
    }
}

/// What a store knows after a collector saw these.
fn kept(disk: &Disk, hosts: Vec<HostSeen>) -> Vec<HostSeen> {
    let store = OpenedStore::open(disk.settings()).unwrap();
    let store = store
        .start(Box::new(|trouble| panic!("{trouble}")))
        .unwrap();
    store.keeper().see_hosts(hosts);
    drop(store);
    let mut reader = HistoryReader::open(&disk.file(), decoder()).unwrap();
    reader.hosts().unwrap()
}

#[test]
fn hosts_are_kept_and_told_again_until_they_are_long_gone() {
    let (disk, now) = (Disk::new(), now_ns());
    let month = 31 * 86_400 * SECOND;
    let first = vec![
        seen(None, 9, None, now),
        seen(Some(7), 1, Some("web-3"), now - 60 * SECOND),
        seen(Some(8), 2, None, now - month),
    ];
    assert_eq!(kept(&disk, first.clone()), first[..2]);
    let mut later = seen(Some(7), 1, Some("web-4"), now);
    // An interface is gone, and others came.
    later.interfaces = [(3, "eth1"), (4, "vxlan0")]
        .map(|(port, name)| (port, name.to_owned()))
        .into();
    assert_eq!(kept(&disk, vec![later.clone()]), [first[0].clone(), later]);
}

#[test]
fn a_store_without_hosts_knows_none_and_is_read() {
    let disk = Disk::new();
    drop(OpenedStore::open(disk.settings()).unwrap());
    let mut reader = HistoryReader::open(&disk.file(), decoder()).unwrap();
    assert_eq!(reader.hosts().unwrap(), []);
}

#[test]
fn a_name_leads_to_all_nodes_that_have_it() {
    let hosts = [
        seen(Some(7), 1, Some("web-3"), 1),
        seen(Some(7), 2, Some("web-3"), 1),
        seen(Some(8), 3, Some("db-1"), 1),
        seen(Some(9), 4, Some("db-1"), 1),
        seen(None, 5, Some("x"), 1),
    ];
    for (name, nodes) in [
        ("web-3", &[7][..]),
        ("db-1", &[8, 9]),
        ("x", &[]),
        ("7", &[]),
    ] {
        let mut found: Vec<u32> = called(&hosts, name).iter().map(|node| node.0).collect();
        found.sort_unstable();
        assert_eq!(found, nodes, "{name}");
    }
}

#[test]
fn flows_are_found_by_the_names_of_their_nodes() {
    let (disk, now) = (Disk::new(), now_ns());
    let store = disk.open();
    let mut keeper = store.keeper();
    let mut synthetic = Synthetic::new(1, 3, 30);
    for flow in 0..30 {
        keep(&mut keeper, &synthetic.report(flow, now));
    }
    let web = seen(Some(2), 1, Some("Web-3.example"), now);
    keeper.see_hosts(vec![web]);
    drop((keeper, store));
    let mut reader = disk.reader();
    let mut found = |search: &str| {
        let query = FlowQuery {
            search: Some(search.to_owned()),
            limit: 100,
            ..FlowQuery::default()
        };
        reader.flows(&query, ALWAYS).unwrap()
    };
    let of_node = |flow: &FlowFigures| [flow.source, flow.sink].contains(&Some(NodeId(2)));
    let expected = found("").into_iter().filter(of_node).count();
    assert!((1..30).contains(&expected), "{expected} flows");
    assert_eq!(found("web-3").len(), expected);
    assert!(found("WEB-3 ex").iter().all(of_node));
    assert_eq!(found("web-4").len(), 0);
}
