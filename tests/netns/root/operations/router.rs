//! The router between the hosts, whose rules change at random; what it drops is counted.

use hostint_testing::netns::Lab;
use hostint_testing::random::Random;
use serde_json::Value;

/// Every rule that drops counts here.
const DROP: &str = "counter name dropped drop";

/// Prepares the router: connections are followed from the beginning, as a router with any firewall does.
pub fn prepare(lab: &Lab) {
    lab.m.sh("nft add table inet path
         nft add counter inet path dropped
         nft 'add chain inet path follow { type filter hook prerouting priority -150; }'
         nft 'add rule inet path follow ct state new counter'
         nft 'add chain inet path police { type filter hook forward priority -20; }'
         nft 'add chain inet path marks { type filter hook forward priority -10; }'
         nft 'add chain inet path clamp { type filter hook forward priority -5; }'
         nft 'add chain inet path forward { type filter hook forward priority 0; }'
         nft 'add chain inet path lease { type filter hook forward priority 10; }'
         nft 'add chain inet path lose { type filter hook forward priority 20; }'
         sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0");
    lab.b
        .sh("sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.b0.rp_filter=0");
}

/// Translates the address from which a begins conversations with b, as a router between private and public networks does.
/// It does so for a whole round: a router that begins to translate would break conversations that it never saw, which are
/// those in a tunnel.
pub fn translate(lab: &Lab) {
    lab.m.sh("nft 'add chain inet path translate { type nat hook postrouting priority 100; }'
         nft 'add rule inet path translate ip saddr 10.9.1.0/24 ip daddr 10.9.2.0/24 snat ip to 10.9.2.2'");
}

/// A chain has these rules from now on, all at once.
fn set(lab: &Lab, chain: &str, rules: &[String]) {
    let mut batch = format!("flush chain inet path {chain}");
    for rule in rules {
        batch += &format!("; add rule inet path {chain} {rule}");
    }
    lab.m.sh(&format!("nft '{batch}'"));
}

/// Everything passes as it was sent.
pub fn heal(lab: &Lab) {
    for chain in ["police", "marks", "clamp", "forward", "lease", "lose"] {
        set(lab, chain, &[]);
    }
    set_mtu(lab, 1500);
    lab.m.sh("ip route replace 10.9.2.0/24 dev m1 src 10.9.2.2; ip route del 10.9.2.1/32 2>/dev/null || true");
}

fn either(random: &mut Random, rule: String) -> Vec<String> {
    if random.one_in(2) {
        Vec::new()
    } else {
        vec![rule]
    }
}

/// Rewrites DSCP, or does so no more.
pub fn mark(lab: &Lab, random: &mut Random) {
    let class = random.below(64);
    let rules = either(random, format!("ip dscp set {class}"));
    set(lab, "marks", &rules);
}

/// Loses some packets at random, or no more.
pub fn lose(lab: &Lab, random: &mut Random) {
    let percent = 1 + random.below(4);
    let rules = either(
        random,
        format!("meta l4proto {{ tcp, udp }} numgen random mod 100 < {percent} {DROP}"),
    );
    set(lab, "lose", &rules);
}

/// Limits the rate, or does so no more.
pub fn police(lab: &Lab, random: &mut Random) {
    let rate = 5 + random.below(20);
    let limit = format!("limit rate over {rate} mbytes/second burst 150 kbytes {DROP}");
    let rules = either(random, format!("meta l4proto {{ tcp, udp }} {limit}"));
    set(lab, "police", &rules);
}

/// Drops what belongs to no connection and what is no known service, or permits everything.
pub fn filter(lab: &Lab, random: &mut Random) {
    let rules = if random.one_in(2) {
        Vec::new()
    } else {
        let ports = random.pick(&["6100", "6100, 4790"]);
        [
            &*format!("ct state invalid {DROP}"),
            "ct state established accept",
            "meta l4proto { icmp, tcp } accept",
            &format!("udp dport {{ {ports} }} accept"),
            &format!("meta l4proto udp {DROP}"),
        ]
        .map(str::to_owned)
        .to_vec()
    };
    set(lab, "forward", &rules);
}

/// Lowers the MSS of new connections, or does so no more.
pub fn clamp(lab: &Lab, random: &mut Random) {
    let size = 1000 + random.below(400);
    let rules = either(
        random,
        format!("tcp flags syn tcp option maxseg size set {size}"),
    );
    set(lab, "clamp", &rules);
}

/// Drops pings, so that leases end in time, or permits them again.
pub fn cut_leases(lab: &Lab, random: &mut Random) {
    let rules = either(
        random,
        "icmp type { echo-request, echo-reply } drop".to_owned(),
    );
    set(lab, "lease", &rules);
}

/// Both ends of the link to b get another MTU.
pub fn resize(lab: &Lab, random: &mut Random) {
    set_mtu(lab, random.pick(&[1500, 1480, 1400, 1300]));
}

fn set_mtu(lab: &Lab, mtu: u32) {
    lab.m.sh(&format!("ip link set m1 mtu {mtu}"));
    lab.b.sh(&format!("ip link set b0 mtu {mtu}"));
}

/// The route to b names an MTU, or none, and is made anew.
pub fn reroute(lab: &Lab, random: &mut Random) {
    let mtu = random.pick(&["", "mtu 1500", "mtu 1450"]);
    lab.m.sh(&format!(
        "ip route replace 10.9.2.0/24 dev m1 src 10.9.2.2 {mtu}"
    ));
}

/// Adds another link to b, on which there is no sink.
pub fn add_link(lab: &Lab) {
    let (m, b) = (&lab.m.ns, &lab.b.ns);
    lab.m.sh(&format!(
        "ip link add m2 type veth peer name b1 netns {b}
         ip addr add 10.9.4.2/24 dev m2; ip link set m2 up
         ip -n {b} addr add 10.9.4.1/24 dev b1; ip -n {b} link set b1 up
         ip netns exec {b} sysctl -qw net.ipv4.conf.b1.rp_filter=0
         ip netns exec {m} sysctl -qw net.ipv4.fib_multipath_hash_policy=1"
    ));
}

/// Spreads connections over both links to b, or over the first one only.
pub fn spread(lab: &Lab, random: &mut Random) {
    let first = "nexthop via 10.9.2.1 dev m1";
    let second = random.pick(&["", "nexthop via 10.9.4.1 dev m2"]);
    lab.m
        .sh(&format!("ip route replace 10.9.2.1/32 {first} {second}"));
}

/// Packets that did not come through, by every count that the kernel has of such.
pub fn dropped(lab: &Lab) -> u64 {
    let (mut dropped, _) = lab.m.counted_by_nft("counters table inet path");
    for host in [&lab.a, &lab.m, &lab.b] {
        let counts = host.sh(
            "nstat -asz IpInHdrErrors IpInAddrErrors IpInDiscards IpOutDiscards IpOutNoRoutes IpFragFails UdpNoPorts",
        );
        dropped += counts
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
            .sum::<u64>();
        let links: Value = serde_json::from_str(&host.sh("ip -s -j link")).unwrap();
        for link in links.as_array().unwrap() {
            for way in ["rx", "tx"] {
                dropped += link["stats64"][way]["dropped"].as_u64().unwrap();
            }
        }
    }
    dropped
}
