//! Paths: a bridge, several links, another way back, and sinks in a row.

use super::{Devices, Network, network};
use crate::netns::{Lab, sh};

pub const BRIDGE: Network = network("bridge", bridge);

/// Two links lead to b, whose sink is on the first one.
pub const ECMP: Network = Network {
    has_links_without_sink: true,
    ..network("ECMP, a sink on one of two links", ecmp)
};
/// Two routers lead to b, by port. One of them drops what is invalid, and never sees pings or probes.
pub const ECMP_STRICT: Network = network("two ways by port, a strict one", |lab| {
    let other = second_router(lab);
    sh(&format!(
        "ip netns exec {other} sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0
         ip netns exec {other} nft 'add table inet path'
         ip netns exec {other} nft 'add chain inet path forward {{ type filter hook forward priority 0; }}'
         ip netns exec {other} nft 'add rule inet path forward ct state invalid counter drop'"
    ));
    for (host, port, gateway) in [(&lab.a, "dport", "10.9.1.3"), (&lab.b, "sport", "10.9.2.3")] {
        host.sh(&format!(
            "ip route add default via {gateway} table 100
             ip rule add ipproto tcp {port} 7002-7009 lookup 100; ip rule add ipproto udp {port} 6101-6109 lookup 100"
        ));
    }
});
/// What b sends comes back through another router.
pub const ASYMMETRIC: Network = network("another way back", |lab| {
    second_router(lab);
    lab.b.sh("ip route replace default via 10.9.2.3");
});

/// The router has a sink of its own, which takes nothing out.
pub const SINKS_IN_A_ROW: Network = Network {
    devices: |lab| -> Devices {
        let sink = lab.m.leasing_sink("--dev m0 --dev m1 --node-id 9");
        vec![Box::new(sink)]
    },
    ..network("a router with a sink", |_| {})
};

/// b's applications and sink are in a container behind an interface of a host that has a sink, too.
pub const CONTAINER_BEHIND_SINK: Network = Network {
    devices: |lab| -> Devices {
        let sink = lab.m.leasing_sink("--dev parent --node-id 9");
        vec![Box::new(sink)]
    },
    ..network("a container behind a host with a sink", |lab| {
        // The host is the router's namespace: b's interface is one of macvlan on a link that leads back to the router.
        let b = &lab.b.ns;
        lab.m.sh(&format!(
            "ip netns exec {b} ip link del b0
             ip link add m1 type veth peer name parent; ip link set m1 up; ip link set parent up
             ip addr add 10.9.2.2/24 dev m1; ip -6 addr add fd09:2::2/64 dev m1 nodad
             ip link add link parent name b0 type macvlan mode bridge; ip link set b0 netns {b}
             ip -n {b} addr add 10.9.2.1/24 dev b0; ip -n {b} link set b0 up
             ip -n {b} route add default via 10.9.2.2
             ip -n {b} addr add fd09:2::1/64 dev b0 nodad; ip -n {b} -6 route add default via fd09:2::2"
        ));
    })
};

pub(super) fn bridge(lab: &Lab) {
    lab.m.sh("ip addr flush dev m0; ip addr flush dev m1
         ip link add br0 type bridge; ip link set m0 master br0; ip link set m1 master br0; ip link set br0 up");
    for (host, dev) in [(&lab.a, "a0"), (&lab.b, "b0")] {
        host.sh(&format!(
            "ip route replace default dev {dev}; ip -6 route replace default dev {dev}; ip -6 route del default via fd09:1::2 2>/dev/null || true; ip -6 route del default via fd09:2::2 2>/dev/null || true"
        ));
    }
}

fn ecmp(lab: &Lab) {
    let (m, b) = (&lab.m.ns, &lab.b.ns);
    sh(&format!(
        "ip link add b1 netns {b} type veth peer name m2 netns {m}
         ip -n {b} addr add 10.9.4.1/24 dev b1; ip -n {b} addr add fd09:4::1/64 dev b1 nodad
         ip -n {m} addr add 10.9.4.2/24 dev m2; ip -n {m} addr add fd09:4::2/64 dev m2 nodad
         ip -n {b} link set b1 up; ip -n {m} link set m2 up"
    ));
    lab.b
        .sh("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.b1.rp_filter=0");
    lab.m.sh(
        "sysctl -qw net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1
         ip route add 10.9.2.1/32 nexthop via 10.9.2.1 dev m1 nexthop via 10.9.4.1 dev m2
         ip -6 route add fd09:2::1/128 nexthop via fd09:2::1 dev m1 nexthop via fd09:4::1 dev m2",
    );
}

/// Another router between both hosts' networks, 10.9.1.3 and 10.9.2.3; returns its namespace.
fn second_router(lab: &Lab) -> String {
    let other = lab.host("n").ns;
    let (m, a, b) = (&lab.m.ns, &lab.a.ns, &lab.b.ns);
    // Bridges in the first router's namespace join three interfaces each.
    sh(&format!(
        "ip netns exec {other} sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
             net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.default.send_redirects=0
         for n in $(seq 2); do
             ip -n {m} link add br$n type bridge
             ip -n {m} link add n$n type veth peer name n0 netns {other}
             ip -n {other} link set n0 name n$n
             ip -n {m} addr del 10.9.$n.2/24 dev m$((n - 1)); ip -n {m} addr add 10.9.$n.2/24 dev br$n
             ip -n {m} link set m$((n - 1)) master br$n; ip -n {m} link set n$n master br$n
             ip -n {m} link set n$n up; ip -n {m} link set br$n up
             ip -n {other} addr add 10.9.$n.3/24 dev n$n; ip -n {other} link set n$n up
         done
         ip netns exec {m} sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.all.send_redirects=0 \
             net.ipv4.conf.br1.send_redirects=0 net.ipv4.conf.br2.send_redirects=0
         ip netns exec {a} sysctl -qw net.ipv4.conf.all.accept_redirects=0 net.ipv4.conf.a0.accept_redirects=0
         ip netns exec {b} sysctl -qw net.ipv4.conf.all.accept_redirects=0 net.ipv4.conf.b0.accept_redirects=0"
    ));
    // IPv6 stays on the first router.
    sh(&format!(
        "for n in $(seq 2); do
             ip -n {m} -6 addr del fd09:$n::2/64 dev m$((n - 1)) 2>/dev/null || continue
             ip -n {m} -6 addr add fd09:$n::2/64 dev br$n nodad
         done"
    ));
    other
}
