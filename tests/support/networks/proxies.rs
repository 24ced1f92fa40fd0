//! Proxies that end connections, whether hosts know of them or not.

use std::any::Any;

use super::{Devices, Network, lossy, network};
use crate::proxy::Proxy;

const CONNECTIONS: &str = "iifname m0 ip daddr 10.9.2.1 tcp dport 7000-7009";

/// The router takes connections to b for itself. Those to each port have a proxy, so that two connections of one client's port
/// stay apart.
pub const REDIRECTED: Network = Network {
    devices: |lab| -> Devices {
        let proxy = |port| -> Box<dyn Any + Send> { Box::new(Proxy::start(&lab.m, port)) };
        (7000..=7009).map(proxy).collect()
    },
    ..network("a proxy by redirection", |lab| {
        lab.m.sh(&format!(
            "nft add table inet path
             nft 'add chain inet path prerouting {{ type nat hook prerouting priority -100; }}'
             nft 'add rule inet path prerouting {CONNECTIONS} redirect'"
        ));
    })
};

/// The same without translation: the proxy has b's address.
pub const TPROXY: Network = Network {
    devices: |lab| -> Devices { vec![Box::new(Proxy::start(&lab.m, 3128))] },
    ..network("a proxy by tproxy", |lab| {
        lab.m.sh(&format!(
            "ip rule add fwmark 1 lookup 200; ip route add local default dev lo table 200
             nft add table inet path
             nft 'add chain inet path prerouting {{ type filter hook prerouting priority -150; }}'
             nft 'add rule inet path prerouting {CONNECTIONS} tproxy ip to :3128 meta mark set 1 accept'"
        ));
    })
};

/// The router answers SYNs, and translates sequence numbers between both connections. Linux' own loses one connection in some
/// hundreds.
pub const SYN_PROXY: Network = lossy("SYN proxy", |lab| {
    let connections = CONNECTIONS;
    lab.m.sh(&format!(
        "nft add table inet path
         nft 'add chain inet path prerouting {{ type filter hook prerouting priority -300; }}'
         nft 'add chain inet path forward {{ type filter hook forward priority 0; }}'
         nft 'add rule inet path prerouting {connections} tcp flags syn notrack'
         nft 'add rule inet path forward {connections} ct state invalid,untracked synproxy mss 1460 wscale 7 timestamp sack-perm'
         nft 'add rule inet path forward ct state invalid counter drop'
         sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0"
    ));
});
