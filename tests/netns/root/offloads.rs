//! Bulk traffic of both IP versions survives every way in which packets are merged, split and summed on the way.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use hostint_testing::netns::{Daemon, Host, Lab, await_that_or, sh, with_form};

use crate::exchange::{exchange_tcp_with, exchange_udp, exchange_udp_superpackets};

const STREAM: usize = 2_000_000;

struct Case {
    name: &'static str,
    source: &'static str,
    sink: &'static str,
    /// What is set up on a host before.
    setup: &'static [(&'static str, &'static str)],
    /// b hands everything on to c.
    behind: bool,
    /// Superpackets of UDP over IPv4 are tagged too.
    udp_superpackets: bool,
    /// At most so much of TCP, in percent.
    unmeasured: u64,
}

const PLAIN: Case = Case {
    name: "",
    source: "",
    sink: "",
    setup: &[],
    behind: false,
    udp_superpackets: false,
    unmeasured: 1,
};

/// What is sent to a watched host and not measured, by the counters of both ends.
fn unmeasured(source: &BTreeMap<String, u64>, sink: &BTreeMap<String, u64>) -> u64 {
    let of = |counters: &BTreeMap<String, u64>, names: &[&str]| -> u64 {
        names.iter().map(|name| counters[*name]).sum()
    };
    of(
        source,
        &[
            "superpacket",
            "too_long",
            "may_fragment",
            "fragment",
            "malformed",
            "has_int",
            "table_full",
            "no_checksum_state",
            "cannot_resize",
            "undone",
            "dropped",
        ],
    ) + of(
        sink,
        &[
            "bad_segment",
            "untracked",
            "foreign_mark",
            "bad_length",
            "bad_inner",
            "cannot_resize",
            "broken",
        ],
    )
}

/// Waits until every packet tagged at one end is stripped or missed at the other; how many were tagged, and how
/// many not.
fn settle(name: &str, from: &Host, to: &Host) -> (u64, u64) {
    let state = || (from.counters("source"), to.counters("sink"));
    let settled = || {
        let (source, sink) = state();
        source["tagged"] == sink["received"] + sink["lost"] - sink["recovered"]
    };
    await_that_or(settled, || {
        format!("{name}: tagged is not stripped and lost: {:?}", state())
    });
    let (source, sink) = state();
    (source["tagged"], unmeasured(&source, &sink))
}

fn attach(host: &Host, dev: &str, node: u32, sink: &str) -> Daemon {
    host.sink(&format!("--dev {dev} --node-id {node} {sink}"))
}

/// c behind b, and what is watched is c.
fn add_c(lab: &Lab) -> Host {
    let c = lab.host("c");
    let (b, m, ns) = (&lab.b.ns, &lab.m.ns, &c.ns);
    sh(&format!(
        "ip link add c0 netns {ns} type veth peer name b1 netns {b}
         ip -n {b} addr add 10.9.3.2/24 dev b1; ip -n {b} addr add fd09:3::2/64 dev b1 nodad
         ip -n {ns} addr add 10.9.3.1/24 dev c0; ip -n {ns} addr add fd09:3::1/64 dev c0 nodad
         ip -n {b} link set b1 up; ip -n {ns} link set c0 up
         ip netns exec {b} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
         ip netns exec {b} ethtool -K b1 tx off >/dev/null
         ip -n {ns} route add default via 10.9.3.2; ip -n {ns} -6 route add default via fd09:3::2
         ip -n {m} route add 10.9.3.0/24 via 10.9.2.1
         ip -n {m} -6 route add fd09:3::/64 via fd09:2::1"
    ));
    c
}

/// Every router's way to say that there is too much, to senders that listen.
const CONGESTED: &[(&str, &str)] = &[
    ("a", "sysctl -qw net.ipv4.tcp_ecn=1"),
    ("b", "sysctl -qw net.ipv4.tcp_ecn=1"),
    (
        "m",
        "nft add table inet lab
         nft 'add chain inet lab congest { type filter hook forward priority 0; }'
         nft 'add rule inet lab congest ip ecn ect0 numgen inc mod 20 == 1 ip ecn set ce'
         nft 'add rule inet lab congest ip6 ecn ect0 numgen inc mod 20 == 1 ip6 ecn set ce'",
    ),
];

fn check(case: &Case) {
    let name = case.name;
    let lab = Lab::new();
    lab.add_ipv6();
    let behind = case.behind.then(|| add_c(&lab));
    for (host, line) in case.setup {
        let host = match *host {
            "a" => &lab.a,
            "m" => &lab.m,
            _ => &lab.b,
        };
        host.sh(&format!("{line} >/dev/null"));
    }
    let _sinks = [
        attach(&lab.a, "a0", 1, case.sink),
        attach(&lab.b, "b0", 2, case.sink),
    ];
    for (host, dev, watched) in [
        (&lab.a, "a0", "10.9.2.0/23 fd09:2::/31"),
        (&lab.b, "b0", "10.9.1.1 fd09:1::1"),
    ] {
        let flags = with_form(case.source);
        host.hostint(&format!("source attach --dev {dev} {flags}"));
        host.hostint(&format!("source add-dest --static {watched}"));
    }
    let receiver = behind.as_ref().unwrap_or(&lab.b);
    let net = if case.behind { 3 } else { 2 };

    for family in ["IPv4", "IPv6"] {
        let (from, to): (&str, [SocketAddr; 2]) = if family == "IPv4" {
            (
                "10.9.1.1:5000",
                [7000, 6000].map(|port| format!("10.9.{net}.1:{port}").parse().unwrap()),
            )
        } else {
            (
                "[fd09:1::1]:5000",
                [7000, 6000].map(|port| format!("[fd09:{net}::1]:{port}").parse().unwrap()),
            )
        };
        let before = (settle(name, &lab.a, &lab.b), settle(name, &lab.b, &lab.a));
        exchange_tcp_with(&lab.a, receiver, to[0], STREAM);
        let after = (settle(name, &lab.a, &lab.b), settle(name, &lab.b, &lab.a));
        for (way, before, after) in [("there", before.0, after.0), ("back", before.1, after.1)] {
            let (tagged, not) = (after.0 - before.0, after.1 - before.1);
            println!("{name}, {family} {way}: {tagged} tagged, {not} not");
            assert!(
                tagged > 100,
                "{name}, {family} {way}: {tagged} tagged; a: {:?}; b: {:?}",
                lab.a.counters("source"),
                lab.b.counters("source")
            );
            assert!(
                not * 100 <= (tagged + not) * case.unmeasured,
                "{name}, {family} {way}: {tagged} tagged, {not} not"
            );
        }

        let (from, to) = (lab.a.udp(from), receiver.udp(&to[1].to_string()));
        exchange_udp(&from, &to, 300, 1452);
        let (tagged, _) = settle(name, &lab.a, &lab.b);
        assert!(tagged - after.0.0 > 270, "{name}, {family}: datagrams");
        exchange_udp_superpackets(&from, &to, 40, 1200);
        let more = settle(name, &lab.a, &lab.b).0 - tagged;
        let all: u64 = (0..40).map(|i| 3 + i % 8).sum();
        let expected = if case.udp_superpackets && family == "IPv4" {
            all
        } else {
            0
        };
        assert_eq!(
            more,
            expected,
            "{name}, {family}: of superpackets of UDP: {:?}",
            lab.a.counters("source")
        );
    }
    if case.setup == CONGESTED {
        let seen = lab.b.sh("nstat -asz IpExtInCEPkts Ip6InCEPkts");
        let none = |line: &str| line.split_whitespace().nth(1) == Some("0");
        assert!(!seen.lines().any(none), "{name}: {seen}");
    }
    for host in [&lab.a, &lab.b] {
        let counters = host.counters("source");
        assert!(counters["encapsulated"] > 0, "{name}: {counters:?}");
        let clamped = counters.get("mss_clamped").is_some_and(|n| *n >= 2);
        let wanted = !case.source.contains("--no-mss-clamp");
        assert_eq!(clamped, wanted, "{name}: {counters:?}");
    }
    for host in [&lab.a, &lab.m, &lab.b].into_iter().chain(&behind) {
        assert_eq!(host.checksum_errors(), 0, "{name}: at {}", host.ns);
    }
}

#[test]
fn bulk_traffic_survives_every_kind_of_sink() {
    for case in [
        Case {
            name: "XDP native",
            sink: "--xdp-mode native",
            ..PLAIN
        },
        Case {
            name: "XDP native and GRO",
            sink: "--xdp-mode native",
            setup: &[("a", "ethtool -K a0 gro on"), ("b", "ethtool -K b0 gro on")],
            ..PLAIN
        },
        Case {
            name: "XDP generic",
            sink: "--xdp-mode generic",
            ..PLAIN
        },
        Case {
            name: "TC",
            sink: "--hook tc",
            ..PLAIN
        },
        Case {
            name: "TC and GRO",
            sink: "--hook tc",
            setup: &[
                ("a", "ethtool -K a0 gro on"),
                ("b", "ethtool -K b0 gro on"),
                ("m", "ethtool -K m1 tso off gso off"),
            ],
            ..PLAIN
        },
        Case {
            name: "XDP native with a jumbo MTU",
            sink: "--xdp-mode native",
            setup: &[
                ("a", "ip link set a0 mtu 9000"),
                ("m", "ip link set m0 mtu 9000; ip link set m1 mtu 9000"),
                ("b", "ip link set b0 mtu 9000"),
            ],
            ..PLAIN
        },
        Case {
            name: "XDP native before a router that finishes checksums",
            sink: "--xdp-mode native",
            behind: true,
            ..PLAIN
        },
        Case {
            name: "TC before a router that finishes checksums",
            sink: "--hook tc",
            behind: true,
            ..PLAIN
        },
    ] {
        check(&case);
    }
}

#[test]
fn bulk_traffic_survives_every_kind_of_sender() {
    const SOFT: &[(&str, &str)] = &[("a", "ethtool -K a0 tx off"), ("b", "ethtool -K b0 tx off")];
    const FINISHED: &[(&str, &str)] = &[("m", "ethtool -K m0 tx off; ethtool -K m1 tx off")];
    for case in [
        Case {
            name: "checksums by the sender's stack",
            setup: SOFT,
            ..PLAIN
        },
        Case {
            name: "checksums by the sender's stack, sink at TC",
            setup: SOFT,
            sink: "--hook tc",
            ..PLAIN
        },
        Case {
            name: "checksums finished on the way",
            setup: FINISHED,
            ..PLAIN
        },
        Case {
            name: "checksums finished on the way, sink at TC",
            setup: FINISHED,
            sink: "--hook tc",
            ..PLAIN
        },
        Case {
            name: "clsact",
            source: "--no-tcx",
            setup: FINISHED,
            ..PLAIN
        },
        Case {
            name: "no room left by TCP",
            source: "--no-mss-clamp",
            unmeasured: 10,
            ..PLAIN
        },
        Case {
            name: "congestion",
            setup: CONGESTED,
            ..PLAIN
        },
        Case {
            name: "BIG TCP over IPv6, which goes untagged",
            setup: &[
                ("a", "ip link set a0 gso_max_size 150000"),
                ("b", "ip link set b0 gso_max_size 150000"),
            ],
            unmeasured: 100,
            ..PLAIN
        },
        Case {
            name: "extension-udp",
            source: "--encap extension-udp",
            setup: FINISHED,
            ..PLAIN
        },
        Case {
            name: "extension-udp, checksums by the sender's stack",
            source: "--encap extension-udp",
            setup: SOFT,
            ..PLAIN
        },
        Case {
            name: "vxlan-gpe",
            source: "--encap vxlan-gpe",
            setup: FINISHED,
            ..PLAIN
        },
        Case {
            name: "vxlan-gpe, sink at TC",
            source: "--encap vxlan-gpe",
            sink: "--hook tc",
            ..PLAIN
        },
        Case {
            name: "vxlan-gpe with superpackets of UDP",
            source: "--encap vxlan-gpe --superpackets encap-all",
            sink: "--hook xdp",
            udp_superpackets: true,
            ..PLAIN
        },
        Case {
            name: "superpackets of UDP, checksums finished on the way",
            source: "--superpackets encap-all",
            sink: "--hook xdp",
            setup: FINISHED,
            udp_superpackets: true,
            ..PLAIN
        },
    ] {
        check(&case);
    }
}
