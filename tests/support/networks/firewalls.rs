//! Firewalls: those that follow connections, those whose outside may only answer, and ports that are closed.

use super::{Network, bridge, forward, midway, network};
use crate::netns::Lab;

/// The ports of services that firewalls permit, QUIC, VXLAN and WireGuard among them.
const SERVICES: &str = "53, 4433, 4789, 6100, 51820";
const SERVICES_AND_INT: &str = "53, 4433, 4789, 6100, 51820, 4790, 33122";

/// Connections that it did not see begin are dropped.
pub const FIREWALL_OPEN: Network = network("stateful firewall, INT permitted", |lab| {
    firewall(lab, SERVICES_AND_INT, 0);
});
/// Connections that it did not see begin are taken as established.
pub const FIREWALL_OPEN_LOOSE: Network = network("loose firewall, INT permitted", |lab| {
    firewall(lab, SERVICES_AND_INT, 1);
});
pub const FIREWALL: Network = network("stateful firewall", |lab| firewall(lab, SERVICES, 0));
pub const FIREWALL_LOOSE: Network = network("loose firewall", |lab| firewall(lab, SERVICES, 1));

/// A stateful firewall that permits TCP connections, pings, and UDP to these ports.
fn firewall(lab: &Lab, udp_ports: &str, loose: u8) {
    tracking(lab, &format!("tcp_loose={loose}"));
    forward(
        lab,
        &[
            "ct state invalid counter drop",
            "ct state established accept",
            "icmp type echo-request accept",
            "icmpv6 type echo-request accept",
            "meta l4proto tcp ct state new accept",
            &format!("udp dport {{ {udp_ports} }} accept"),
            "counter drop",
        ],
    );
}

const INVALID: &str = "ct state invalid counter drop";

/// As kube-proxy, firewalld and home routers have it.
pub const INVALID_LOOSE: Network = network("invalid packets dropped", |lab| {
    forward(lab, &[INVALID]);
});
pub const INVALID_STRICT: Network = network("invalid packets dropped, strict", |lab| {
    tracking(lab, "tcp_loose=0");
    forward(lab, &[INVALID]);
});
pub const INVALID_LIBERAL: Network = network("invalid packets dropped, liberal", |lab| {
    tracking(lab, "tcp_be_liberal=1");
    forward(lab, &[INVALID]);
});

pub const ANSWERS_ONLY: Network = network("outside may only answer", |lab| answers(lab, ""));
pub const ANSWERS_AND_PING: Network = network("outside may answer and ping", |lab| {
    answers(
        lab,
        "icmp type echo-request accept; icmpv6 type echo-request accept",
    );
});
pub const ANSWERS_AND_PROBES: Network = network("outside may answer, ping and probe", |lab| {
    answers(
        lab,
        "icmp type echo-request accept; icmpv6 type echo-request accept; udp dport 4790 accept",
    );
});

/// a is inside and may begin what it wants; b may answer, and begin what these rules permit.
fn answers(lab: &Lab, permitted: &str) {
    let permitted = permitted.split("; ").filter(|rule| !rule.is_empty());
    let rules = [
        "ct state established,related accept",
        "iifname m0 accept",
        "icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept",
    ];
    let all = rules.into_iter().chain(permitted).chain(["counter drop"]);
    forward(lab, &all.collect::<Vec<_>>());
}

/// The port that firewalls close in these networks, of TCP and UDP.
const CLOSED: &str = "meta l4proto { tcp, udp } th dport { 7009, 6109 } counter drop";

pub const PORT_CLOSED: Network = network("port closed at a router", |lab| {
    forward(lab, &[CLOSED]);
});
pub const PORT_CLOSED_AT_BRIDGE: Network = network("port closed at a bridge", |lab| {
    bridge(lab);
    lab.m.sh(&format!(
        "nft add table bridge path
         nft 'add chain bridge path forward {{ type filter hook forward priority 0; }}'
         nft 'add rule bridge path forward {CLOSED}'"
    ));
});

/// Nothing follows connections before the rule begins.
pub const CONNTRACK_MIDWAY: Network = midway(
    "connection tracking begins midway",
    |_| {},
    |lab| forward(lab, &[INVALID]),
);
/// The router has followed connections, and now drops what it takes for invalid.
pub const INVALID_STRICT_MIDWAY: Network =
    midway("invalid packets dropped midway, strict", follow, |lab| {
        tracking(lab, "tcp_loose=0");
        forward(lab, &[INVALID]);
    });
pub const ANSWERS_ONLY_MIDWAY: Network = midway("outside may only answer, midway", follow, |lab| {
    answers(lab, "")
});

/// Follows connections from now on.
fn follow(lab: &Lab) {
    lab.m.sh("nft add table inet follow
         nft 'add chain inet follow prerouting { type filter hook prerouting priority -150; }'
         nft 'add rule inet follow prerouting ct state new counter'");
}

/// Sets how the router follows connections.
fn tracking(lab: &Lab, setting: &str) {
    lab.m
        .sh(&format!("sysctl -qw net.netfilter.nf_conntrack_{setting}"));
}
