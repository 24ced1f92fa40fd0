//! Networks such as people have, between the hosts of a lab: firewalls, NAT, narrow tunnels and others.

use crate::netns::{Host, Lab, await_that, sh};

/// A kind of network.
#[derive(Clone, Copy)]
pub struct Network {
    pub name: &'static str,
    routes: fn(&Lab),
    /// b knows a by the router's address only, and cannot begin a connection to it.
    pub is_nat: bool,
    /// Some packets to b arrive at an interface without a sink.
    pub has_links_without_sink: bool,
    /// Packets are lost without INT, too.
    pub loses: bool,
}

impl Network {
    /// Makes the lab's path such a network, for both IP versions.
    pub fn build(&self, lab: &Lab) {
        (self.routes)(lab);
        await_that("all IPv6 addresses are usable", || {
            let tentative = |host: &Host| host.sh("ip -6 addr show tentative");
            let mut hosts = [&lab.a, &lab.m, &lab.b].into_iter();
            hosts.all(|host| tentative(host).is_empty())
        });
    }
}

const fn network(name: &'static str, routes: fn(&Lab)) -> Network {
    Network {
        name,
        routes,
        is_nat: false,
        has_links_without_sink: false,
        loses: false,
    }
}

pub const PLAIN: Network = network("plain router", |_| {});
pub const BRIDGE: Network = network("bridge", bridge);

pub const DSCP: Network = network("router that clears DSCP", |lab| {
    forward(lab, &["ip dscp set cs0", "ip6 dscp set cs0"]);
});

/// Connections that it did not see begin are dropped.
pub const FIREWALL_OPEN: Network = network("stateful firewall, INT permitted", |lab| {
    firewall(lab, "53, 4433, 4789, 6100, 51820, 4790, 33122", 0);
});
/// Connections that it did not see begin are taken as established.
pub const FIREWALL_OPEN_LOOSE: Network = network("loose firewall, INT permitted", |lab| {
    firewall(lab, "53, 4433, 4789, 6100, 51820, 4790, 33122", 1);
});
pub const FIREWALL: Network = network("stateful firewall", |lab| {
    firewall(lab, "53, 4433, 4789, 6100, 51820", 0)
});
pub const FIREWALL_LOOSE: Network = network("loose firewall", |lab| {
    firewall(lab, "53, 4433, 4789, 6100, 51820", 1)
});

/// The router knows the tunnel's MTU and clamps the MSS, and says nothing of packets that are too long.
pub const TUNNEL: Network = network("MSS clamp before a tunnel of 1400", |lab| {
    lab.m.sh("ip route replace 10.9.1.0/24 dev m0 mtu 1400; ip route replace 10.9.2.0/24 dev m1 mtu 1400
         ip -6 route add fd09:1::/64 dev m0 mtu 1400 metric 1; ip -6 route add fd09:2::/64 dev m1 mtu 1400 metric 1");
    forward(lab, &["tcp flags syn tcp option maxseg size set rt mtu"]);
    silence(lab);
});
pub const NARROW: Network = network("receiver's link of 1300", |lab| {
    lab.m.sh("ip link set m1 mtu 1300");
    lab.b.sh("ip link set b0 mtu 1300");
    silence(lab);
});

/// Two links lead to b, whose sink is on the first one.
pub const ECMP: Network = Network {
    has_links_without_sink: true,
    ..network("ECMP, a sink on one of two links", ecmp)
};

pub const NAT: Network = Network {
    is_nat: true,
    ..network("NAT", |lab| {
        forward(lab, &["iifname m1 ct state != established drop"]);
        lab.m.sh(
            "nft 'add chain inet path out { type nat hook postrouting priority 100; }'
             nft 'add rule inet path out oifname m1 masquerade'",
        );
    })
};

pub const POLICER: Network = Network {
    loses: true,
    ..network("policer", |lab| {
        let limit = "limit rate over 10 mbytes/second burst 150 kbytes drop";
        let packets = "meta l4proto { tcp, udp }";
        forward(lab, &[&format!("{packets} {limit}")]);
    })
};

/// Packets of all kinds are lost at random, in both directions.
pub const LOSS_OF_5_PERCENT: Network = lossy("5 % loss", |lab| {
    forward(lab, &["numgen random mod 100 < 5 drop"]);
});
pub const LOSS_OF_20_PERCENT: Network = lossy("20 % loss", |lab| {
    forward(lab, &["numgen random mod 100 < 20 drop"]);
});

const fn lossy(name: &'static str, routes: fn(&Lab)) -> Network {
    Network {
        loses: true,
        ..network(name, routes)
    }
}

/// All but those that only lose packets.
pub const ALL: [Network; 12] = [
    PLAIN,
    BRIDGE,
    DSCP,
    FIREWALL_OPEN,
    FIREWALL_OPEN_LOOSE,
    FIREWALL,
    FIREWALL_LOOSE,
    TUNNEL,
    NARROW,
    ECMP,
    NAT,
    POLICER,
];

/// Rules for what the router forwards.
fn forward(lab: &Lab, rules: &[&str]) {
    lab.m.sh("nft add table inet path
         nft 'add chain inet path forward { type filter hook forward priority 0; }'");
    for rule in rules {
        lab.m
            .sh(&format!("nft 'add rule inet path forward {rule}'"));
    }
}

/// The router sends no ICMP errors.
fn silence(lab: &Lab) {
    lab.m.sh("nft add table inet mute
         nft 'add chain inet mute output { type filter hook output priority 0; }'
         nft 'add rule inet mute output icmp type != { echo-request, echo-reply } drop'
         nft 'add rule inet mute output icmpv6 type { 1, 2, 3, 4 } drop'");
}

/// A stateful firewall that permits TCP connections, pings, and UDP to these ports.
fn firewall(lab: &Lab, udp_ports: &str, loose: u8) {
    lab.m.sh(&format!(
        "sysctl -qw net.netfilter.nf_conntrack_tcp_loose={loose}"
    ));
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

fn bridge(lab: &Lab) {
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
