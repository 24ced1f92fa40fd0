//! In networks that people have, applications get every byte and wait no longer than one timeout.

mod loss;
mod run;

use hostint_testing::networks;

use run::Carrier::{Options, Tunnel};
use run::Measured::{Connections, Datagrams, Everything, Nothing};
use run::check;

/// Probes of options go to the port of probes, so where that is closed, no datagram has an option.
const NO_PROBES: [&str; 1] = ["options"];

#[test]
fn behind_a_plain_router() {
    check(networks::PLAIN, Options, Everything, &[]);
}

#[test]
fn over_a_bridge() {
    check(networks::BRIDGE, Options, Everything, &[]);
}

#[test]
fn behind_a_router_that_clears_dscp() {
    check(networks::DSCP, Options, Everything, &[]);
}

#[test]
fn behind_a_firewall_that_permits_int() {
    check(networks::FIREWALL_OPEN, Options, Everything, &[]);
}

#[test]
fn behind_a_loose_firewall_that_permits_int() {
    check(networks::FIREWALL_OPEN_LOOSE, Options, Everything, &[]);
}

#[test]
fn behind_a_firewall() {
    check(networks::FIREWALL, Options, Connections, &NO_PROBES);
}

#[test]
fn behind_a_loose_firewall() {
    check(networks::FIREWALL_LOOSE, Options, Connections, &NO_PROBES);
}

#[test]
fn before_a_narrow_tunnel() {
    check(networks::TUNNEL, Options, Everything, &[]);
}

#[test]
fn before_a_receiver_with_a_narrow_link() {
    check(networks::NARROW, Options, Everything, &[]);
}

#[test]
fn over_two_links_with_a_sink_on_one() {
    check(networks::ECMP, Options, Nothing, &NO_PROBES);
}

#[test]
fn behind_nat() {
    check(networks::NAT, Options, Nothing, &[]);
}

#[test]
fn behind_a_policer() {
    check(networks::POLICER, Options, Everything, &[]);
}

#[test]
fn in_a_tunnel_behind_a_plain_router() {
    check(networks::PLAIN, Tunnel, Everything, &[]);
}

#[test]
fn in_a_tunnel_behind_a_firewall_that_permits_int() {
    check(networks::FIREWALL_OPEN, Tunnel, Nothing, &["stray packets"]);
}

#[test]
fn in_a_tunnel_behind_a_firewall() {
    let eaten = ["extension-udp", "vxlan-gpe", "stray packets"];
    check(networks::FIREWALL, Tunnel, Nothing, &eaten);
}

#[test]
fn in_a_tunnel_before_a_narrow_tunnel() {
    check(networks::TUNNEL, Tunnel, Datagrams, &[]);
}

#[test]
fn in_a_tunnel_over_two_links_with_a_sink_on_one() {
    let eaten = ["extension-udp", "vxlan-gpe", "stray packets"];
    check(networks::ECMP, Tunnel, Nothing, &eaten);
}
