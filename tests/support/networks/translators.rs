//! Routers that translate addresses and ports.

use super::{Network, forward, network};
use crate::netns::Lab;

/// The router's address on b's side.
const OUTSIDE: &str = "10.9.2.2";

/// b knows a by the router's address, and its source watches both.
const fn nat(name: &'static str, routes: fn(&Lab)) -> Network {
    Network {
        is_nat: true,
        dests: ["10.9.2.1", "10.9.2.2 10.9.1.1"],
        ..network(name, routes)
    }
}

pub const NAT: Network = nat("NAT", |lab| {
    forward(lab, &["iifname m1 ct state != established drop"]);
    postrouting(lab, "oifname m1 masquerade");
});

pub const SNAT: Network = nat("source NAT", |lab| {
    postrouting(
        lab,
        &format!("ip saddr 10.9.1.1 oifname m1 snat ip to {OUTSIDE}"),
    );
});
/// Each connection has another port at b than at a.
pub const SNAT_PORTS: Network = nat("source NAT of ports", |lab| {
    for protocol in ["tcp", "udp"] {
        postrouting(
            lab,
            &format!(
                "oifname m1 meta l4proto {protocol} snat ip to {OUTSIDE}:20000-60000 fully-random"
            ),
        );
    }
    postrouting(
        lab,
        &format!("oifname m1 ip saddr 10.9.1.1 snat ip to {OUTSIDE}"),
    );
});

/// a knows b by an address of the router.
pub const DNAT: Network = Network {
    is_nat: true,
    server: "10.9.1.2",
    dests: ["10.9.1.2 10.9.2.1", "10.9.1.1"],
    ..network("destination NAT", |lab| {
        prerouting(lab, "iifname m0 ip daddr 10.9.1.2 dnat ip to 10.9.2.1");
    })
};

/// Neither host knows the other one's address.
pub const NAT_BOTH: Network = Network {
    server: "10.9.1.2",
    dests: ["10.9.1.2", "10.9.2.2"],
    ..nat("NAT of both addresses", |lab| {
        prerouting(lab, "iifname m0 ip daddr 10.9.1.2 dnat ip to 10.9.2.1");
        postrouting(lab, &format!("oifname m1 snat ip to {OUTSIDE}"));
    })
};

/// One address stands for a, whoever begins and without any state.
pub const NAT_STATELESS: Network = Network {
    dests: ["10.9.2.1", "10.9.2.101"],
    ..nat("NAT without state", |lab| {
        lab.m.sh("ip route add 10.9.2.101 via 10.9.1.1 dev m0; sysctl -qw net.ipv4.conf.m1.proxy_arp=1
             nft add table inet path
             nft 'add chain inet path prerouting { type filter hook prerouting priority -300; }'
             nft 'add chain inet path forward { type filter hook forward priority 0; }'
             nft 'add rule inet path forward iifname m0 ip saddr 10.9.1.1 ip saddr set 10.9.2.101'
             nft 'add rule inet path prerouting iifname m1 ip daddr 10.9.2.101 ip daddr set 10.9.1.1'");
    })
};

fn postrouting(lab: &Lab, rule: &str) {
    lab.m.sh(&format!(
        "nft add table inet path
         nft 'add chain inet path postrouting {{ type nat hook postrouting priority 100; }}'
         nft 'add rule inet path postrouting {rule}'"
    ));
}

fn prerouting(lab: &Lab, rule: &str) {
    lab.m.sh(&format!(
        "nft add table inet path
         nft 'add chain inet path translate {{ type nat hook prerouting priority -100; }}'
         nft 'add rule inet path translate {rule}'"
    ));
}
