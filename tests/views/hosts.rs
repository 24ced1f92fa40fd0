//! Names stand beside IDs, and one line says how many hosts report.

use hostint::model::{HostSeen, HostsReporting, NodeId, NodePort};
use hostint::views::hosts::KnownHosts;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// At an address, with the second of the last report.
fn seen(node: Option<u32>, address: u8, name: Option<&str>, second: u64) -> HostSeen {
    HostSeen {
        node: node.map(NodeId),
        address: [192, 0, 2, address].into(),
        name: name.map(str::to_owned),
        name_contested: name == Some("db-1"),
        interfaces: [].into(),
        last_ns: DAY + second * SECOND,
        silent_after_ns: 30 * SECOND,
    }
}

/// The line 100 seconds after the day began, with 20 seconds until the store knows.
fn line(hosts: &[HostSeen]) -> String {
    let reporting = HostsReporting::at(hosts, DAY + 100 * SECOND, 20 * SECOND);
    let moment = |ns: u64| format!("{}", (ns - DAY) / SECOND);
    KnownHosts::new(hosts, Some(reporting)).line(moment)
}

#[test]
fn the_line_counts_hosts_and_names_the_silent_ones() {
    let lives = |node| seen(Some(node), 1, None, 50);
    let many: Vec<HostSeen> = (1..=6)
        .map(|node| seen(Some(node), 1, None, u64::from(node)))
        .collect();
    let old = HostSeen {
        last_ns: 1,
        ..lives(3)
    };
    for (name, hosts, wanted) in [
        ("none is known", vec![], ""),
        ("one reports", vec![lives(1)], "1 of 1 host reports\n"),
        (
            "one with a name is silent",
            vec![lives(1), seen(Some(7), 2, Some("web-3"), 49)],
            "1 of 2 hosts report; web-3 (7) silent since 49 UTC\n",
        ),
        (
            "one without a node is silent",
            vec![lives(1), seen(None, 9, None, 0)],
            "1 of 2 hosts report; 192.0.2.9 silent since 0 UTC\n",
        ),
        (
            "one of two addresses of a host is silent",
            vec![seen(Some(7), 2, None, 0), seen(Some(7), 3, None, 90)],
            "1 of 1 host reports\n",
        ),
        (
            "one is gone for a day",
            vec![lives(1), old],
            "1 of 1 host reports\n",
        ),
        (
            "many are silent",
            many,
            "0 of 6 hosts report; node 6 silent since 6 UTC; node 5 silent since 5 UTC; node 4 silent since 4 UTC; \
             3 more silent\n",
        ),
    ] {
        assert_eq!(line(&hosts), wanted, "{name}");
    }
}

#[test]
fn a_name_stands_beside_its_id() {
    let hosts = [
        seen(Some(7), 1, Some("old"), 1),
        seen(Some(7), 2, Some("web-3"), 2),
        seen(Some(8), 3, Some("db-1"), 1),
        seen(Some(9), 4, None, 1),
    ];
    let hosts = KnownHosts::new(&hosts, None);
    let named = [Some(7), Some(8), Some(9), None].map(|node| hosts.named(node.map(NodeId)));
    assert_eq!(named, ["web-3 (7)", "db-1? (8)", "9", "?"]);
    assert_eq!(
        hosts.line(|_| String::new()),
        "",
        "it is not about the present"
    );
}

#[test]
fn a_port_has_the_name_of_its_interface_unless_twins_differ() {
    let with = |address, ports: &[(u16, &str)]| HostSeen {
        interfaces: (ports.iter())
            .map(|(port, name)| (*port, (*name).to_owned()))
            .collect(),
        ..seen(Some(7), address, Some("web-3"), 1)
    };
    let hosts = [
        with(1, &[(2, "eth0"), (3, "eth1")]),
        with(2, &[(2, "eth0"), (3, "wan"), (4, "eth2")]),
        with(3, &[(3, "eth1")]),
    ];
    let hosts = KnownHosts::new(&hosts, None);
    let port = |port| {
        hosts.port(NodePort {
            node: NodeId(7),
            port,
        })
    };
    assert_eq!(
        [2, 3, 4, 5].map(port),
        [
            "web-3 (7) eth0",
            "web-3 (7) port 3",
            "web-3 (7) eth2",
            "web-3 (7) port 5"
        ]
    );
}
