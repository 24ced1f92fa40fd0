//! Networks such as people have, between the hosts of a lab: firewalls, NAT, narrow tunnels and others.

use std::any::Any;

mod firewalls;
mod paths;
mod proxies;
mod removers;
mod translators;

pub use firewalls::*;
pub use paths::*;
pub use proxies::*;
pub use removers::*;
pub use translators::*;

use crate::netns::{Host, Lab, await_that};

/// What works in a network beside the kernel, until it is dropped.
pub type Devices = Vec<Box<dyn Any + Send>>;

/// A kind of network.
#[derive(Clone, Copy)]
pub struct Network {
    pub name: &'static str,
    routes: fn(&Lab),
    devices: fn(&Lab) -> Devices,
    /// What changes while traffic runs, and how it is undone.
    pub midway: Option<[fn(&Lab); 2]>,
    /// By which address a knows b.
    pub server: &'static str,
    /// Which destinations the sources on a and b are told.
    pub dests: [&'static str; 2],
    /// b knows a by the router's address only, and cannot begin a connection to it.
    pub is_nat: bool,
    /// Some packets to b arrive at an interface without a sink.
    pub has_links_without_sink: bool,
    /// Packets are lost without INT, too.
    pub loses: bool,
}

impl Network {
    /// Makes the lab's path such a network, for both IP versions.
    #[must_use = "the network lasts as long as its devices"]
    pub fn build(&self, lab: &Lab) -> Devices {
        (self.routes)(lab);
        let devices = (self.devices)(lab);
        await_that("all IPv6 addresses are usable", || {
            let tentative = |host: &Host| host.sh("ip -6 addr show tentative");
            let mut hosts = [&lab.a, &lab.m, &lab.b].into_iter();
            hosts.all(|host| tentative(host).is_empty())
        });
        devices
    }
}

const fn network(name: &'static str, routes: fn(&Lab)) -> Network {
    Network {
        name,
        routes,
        devices: |_| Vec::new(),
        midway: None,
        server: "10.9.2.1",
        dests: ["10.9.2.1", "10.9.1.1"],
        is_nat: false,
        has_links_without_sink: false,
        loses: false,
    }
}

/// A rule of the router's begins while traffic runs.
const fn midway(name: &'static str, before: fn(&Lab), begin: fn(&Lab)) -> Network {
    Network {
        midway: Some([begin, |lab| {
            lab.m.sh("nft delete table inet path");
        }]),
        ..network(name, before)
    }
}

pub const PLAIN: Network = network("plain router", |_| {});

pub const DSCP: Network = network("router that clears DSCP", |lab| {
    forward(lab, &["ip dscp set cs0", "ip6 dscp set cs0"]);
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

/// Those in which real applications run.
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

/// Those in which everything happens to hosts that can.
pub const HOSTILE: [Network; 39] = [
    PLAIN,
    BRIDGE,
    DSCP,
    FIREWALL_OPEN,
    FIREWALL,
    TUNNEL,
    NARROW,
    INVALID_LOOSE,
    INVALID_STRICT,
    INVALID_LIBERAL,
    ANSWERS_ONLY,
    ANSWERS_AND_PING,
    ANSWERS_AND_PROBES,
    PORT_CLOSED,
    PORT_CLOSED_AT_BRIDGE,
    REDIRECTED,
    TPROXY,
    NAT,
    SNAT,
    SNAT_PORTS,
    DNAT,
    NAT_BOTH,
    NAT_STATELESS,
    SYN_PROXY,
    OPTIONS_REMOVED,
    OPTION_PACKETS_DROPPED,
    SURPLUS_CUT,
    SURPLUS_DROPPED,
    CONNTRACK_MIDWAY,
    INVALID_STRICT_MIDWAY,
    ANSWERS_ONLY_MIDWAY,
    OPTIONS_REMOVED_MIDWAY,
    OPTION_PACKETS_DROPPED_MIDWAY,
    SURPLUS_DROPPED_MIDWAY,
    ECMP,
    ECMP_STRICT,
    ASYMMETRIC,
    SINKS_IN_A_ROW,
    CONTAINER_BEHIND_SINK,
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
