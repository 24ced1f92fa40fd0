//! Nodes tell their identities; the collector keeps that in bounds, and says when a name is contested.

use std::net::IpAddr;

use hostint::collector::{Exporters, NodeNotice, ReportGroup, decode};
use hostint::model::coverage::CoverageReport;
use hostint::model::{Arrival, ClockEvidence, HostSeen, NodeId, NodeIdentity};
use hostint::wire::report_identity;
use hostint_testing::exporting;

const SECOND: u64 = 1_000_000_000;

fn identity(node: u32, name: &str) -> NodeIdentity {
    NodeIdentity {
        node: NodeId(node),
        period_s: 10,
        name: name.to_owned(),
        version: "0.2.0".to_owned(),
        labels: [("rack".to_owned(), "r7".to_owned())].into(),
        interfaces: [(2, "eth0".to_owned())].into(),
        ..NodeIdentity::default()
    }
}

fn host(last: u8) -> IpAddr {
    [192, 0, 2, last].into()
}

/// Has a node say who it is, from an address.
fn tell(exporters: &mut Exporters, address: u8, identity: &NodeIdentity, second: u64) {
    let mut datagram = Vec::new();
    report_identity::emit(identity, 1, &mut datagram);
    let arrival = Arrival {
        exporter: (host(address), 5000).into(),
        received_ns: second * SECOND,
    };
    exporters.received(arrival, &decode(&datagram).unwrap());
}

/// Node, name and whether the name is contested, of each exporter.
fn names(exporters: &Exporters) -> Vec<(u32, Option<String>, bool)> {
    let health = exporters.health(100, SECOND);
    let named = health.into_iter();
    let mut named: Vec<_> = named
        .map(|one| (one.node.unwrap().0, one.name, one.name_contested))
        .collect();
    named.sort();
    named
}

#[test]
fn a_node_is_known_by_what_it_tells() {
    let mut exporters = Exporters::default();
    tell(&mut exporters, 1, &identity(7, "web-3"), 0);
    let health = &exporters.health(1, 0)[0];
    assert_eq!(health.node, Some(NodeId(7)));
    assert_eq!(health.name.as_deref(), Some("web-3"));
    assert_eq!(health.version.as_deref(), Some("0.2.0"));
    assert_eq!(health.labels["rack"], "r7");
    let sums = exporters.counts();
    assert_eq!((sums.decoded, sums.not_decoded, sums.reports), (1, 0, 0));
    assert_eq!((sums.numbers.received, sums.numbers.lost), (0, 0));
}

#[test]
fn a_host_that_measures_nothing_is_not_silent_until_it_ends() {
    let mut exporters = Exporters::default();
    for second in (0..=600).step_by(10) {
        tell(&mut exporters, 1, &identity(7, "web-3"), second);
    }
    for (second, reporting) in [(600, 1), (630, 1), (631, 0)] {
        let hosts = exporters.hosts(second * SECOND);
        assert_eq!((hosts.known, hosts.reporting), (1, reporting), "{second} s");
    }
}

#[test]
fn identities_are_beside_the_numbering_of_reports() {
    let mut exporters = Exporters::default();
    let report = |exporters: &mut Exporters, sequence| {
        let arrival = Arrival {
            exporter: (host(1), 5000).into(),
            received_ns: SECOND,
        };
        let loss = decode(&exporting::loss_at(7, sequence)).unwrap();
        exporters.received(arrival, &loss);
    };
    tell(&mut exporters, 1, &identity(7, "web-3"), 0);
    for sequence in 1..=3 {
        report(&mut exporters, sequence);
        tell(&mut exporters, 1, &identity(7, "web-3"), 1);
    }
    let sums = exporters.counts();
    let numbers = (
        sums.numbers.received,
        sums.numbers.lost,
        sums.numbers.duplicates,
    );
    assert_eq!((sums.exporters, numbers), (1, (3, 0, 0)));
    let hosts = exporters.hosts(31 * SECOND);
    assert_eq!((hosts.known, hosts.reporting), (1, 1));
    assert_eq!(
        exporters.hosts(32 * SECOND).reporting,
        0,
        "three periods are over"
    );
}

#[test]
fn a_name_that_two_claim_is_contested_until_one_gives_it_up() {
    let named = |node, name: &str, contested| (node, Some(name.to_owned()), contested);
    let mut exporters = Exporters::default();
    tell(&mut exporters, 1, &identity(7, "web-3"), 0);
    tell(&mut exporters, 2, &identity(8, "web-4"), 0);
    assert_eq!(
        names(&exporters),
        [named(7, "web-3", false), named(8, "web-4", false)]
    );
    tell(&mut exporters, 2, &identity(8, "web-3"), 0);
    assert_eq!(
        names(&exporters),
        [named(7, "web-3", true), named(8, "web-3", true)]
    );
    tell(&mut exporters, 2, &identity(8, "web-4"), 0);
    assert_eq!(
        names(&exporters),
        [named(7, "web-3", false), named(8, "web-4", false)]
    );
    // Another address pretends to be node 7.
    tell(&mut exporters, 3, &identity(7, "web-3"), 0);
    let pair = [
        named(7, "web-3", true),
        named(7, "web-3", true),
        named(8, "web-4", false),
    ];
    assert_eq!(names(&exporters), pair);
}

#[test]
fn what_was_not_told_for_an_hour_is_forgotten() {
    let mut exporters = Exporters::default();
    tell(&mut exporters, 1, &identity(7, "web-3"), 0);
    tell(&mut exporters, 2, &identity(8, "web-3"), 3600);
    exporters.forget_old_identities(3601 * SECOND);
    let alone = (8, Some("web-3".to_owned()), false);
    assert_eq!(names(&exporters), [(7, None, false), alone]);
}

#[test]
fn hosts_of_an_earlier_run_are_missed_until_they_are_heard() {
    let seen =
        |node: Option<u32>, last, name: Option<&str>, last_s: u64, silent_after_s: u64| HostSeen {
            node: node.map(NodeId),
            address: host(last),
            name: name.map(str::to_owned),
            name_contested: false,
            interfaces: [].into(),
            last_ns: last_s * SECOND,
            silent_after_ns: silent_after_s * SECOND,
        };
    const NOW_S: u64 = 200_000;
    let hosts = [
        seen(Some(7), 1, Some("web-3"), NOW_S - 20, 30),
        seen(Some(8), 2, Some("web-4"), NOW_S - 3600, 30),
        seen(None, 3, None, NOW_S - 3600, 60),
        seen(Some(9), 4, Some("gone"), NOW_S - 90_000, 30),
    ];
    let mut exporters = Exporters::default();
    exporters.remember(&hosts, NOW_S * SECOND);
    let reporting = |exporters: &Exporters, second| {
        let found = exporters.hosts(second * SECOND);
        (found.known, found.reporting)
    };
    assert_eq!(
        reporting(&exporters, NOW_S),
        (3, 1),
        "one is silent for more than a day"
    );
    assert_eq!(reporting(&exporters, NOW_S + 60), (3, 0));
    let health = exporters.health(10, NOW_S * SECOND);
    let silent = health
        .iter()
        .find(|one| one.node == Some(NodeId(8)))
        .unwrap();
    assert_eq!(
        (silent.name.as_deref(), silent.reporting),
        (Some("web-4"), false)
    );
    tell(&mut exporters, 2, &identity(8, "web-4"), NOW_S + 60);
    assert_eq!(
        reporting(&exporters, NOW_S + 60),
        (3, 1),
        "it is heard again"
    );
    let arrival = Arrival {
        exporter: (host(1), 5000).into(),
        received_ns: (NOW_S + 60) * SECOND,
    };
    exporters.received(arrival, &decode(&exporting::loss_at(7, 1)).unwrap());
    assert_eq!(
        reporting(&exporters, NOW_S + 60),
        (3, 2),
        "reports take its place"
    );
    assert_eq!(exporters.counts().exporters, 3);
}

#[test]
fn what_a_host_tells_beside_reports_shows_that_it_lives_and_promises_nothing() {
    let coverage = |node| CoverageReport {
        node: NodeId(node),
        period_s: 10,
        epoch_ns: 1,
        missed: Vec::new(),
    };
    let clocks = |node| ClockEvidence {
        node: NodeId(node),
        ..ClockEvidence::default()
    };
    let take = |exporters: &mut Exporters, group: ReportGroup, second: u64| {
        let arrival = Arrival {
            exporter: (host(1), 5000).into(),
            received_ns: second * SECOND,
        };
        exporters.received(arrival, &group);
    };
    let reports = |exporters: &Exporters, second: u64| {
        let health = exporters.health(10, second * SECOND);
        Vec::from_iter(health.iter().map(|one| one.reporting))
    };
    // A host with --no-identity, with packets in its first ten seconds.
    let mut exporters = Exporters::default();
    take(&mut exporters, NodeNotice::Coverage(coverage(7)).into(), 0);
    assert_eq!(reports(&exporters, 59), [true], "coverage has no period");
    assert_eq!(reports(&exporters, 61), [false]);
    for second in 0..300 {
        take(&mut exporters, NodeNotice::Clocks(clocks(7)).into(), second);
        assert_eq!(reports(&exporters, second + 1), [true], "after {second} s");
    }
    assert_eq!(reports(&exporters, 299 + 59), [true]);
    assert_eq!(reports(&exporters, 299 + 61), [false], "it is gone");
    // Another node at the address says nothing of this one.
    take(&mut exporters, NodeNotice::Clocks(clocks(8)).into(), 400);
    assert_eq!(reports(&exporters, 400), [false]);
    // What a host says of its period holds.
    let mut exporters = Exporters::default();
    tell(&mut exporters, 1, &identity(7, "web-3"), 0);
    take(&mut exporters, NodeNotice::Coverage(coverage(7)).into(), 1);
    assert_eq!(reports(&exporters, 31), [true]);
    assert_eq!(reports(&exporters, 32), [false]);
}
