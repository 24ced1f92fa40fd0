//! In networks that people have, applications get every byte and wait no longer than one timeout.

mod loss;
mod run;

use hostint_testing::networks;

use run::Measured::{Datagrams, Everything, Nothing};
use run::check;

#[test]
fn behind_a_plain_router() {
    check(networks::PLAIN, Everything, &[]);
}

#[test]
fn over_a_bridge() {
    check(networks::BRIDGE, Everything, &[]);
}

#[test]
fn behind_a_router_that_clears_dscp() {
    check(networks::DSCP, Everything, &[]);
}

#[test]
fn behind_a_firewall_that_permits_int() {
    check(networks::FIREWALL_OPEN, Nothing, &["stray packets"]);
}

#[test]
fn behind_a_loose_firewall_that_permits_int() {
    check(networks::FIREWALL_OPEN_LOOSE, Nothing, &["stray packets"]);
}

#[test]
fn behind_a_firewall() {
    check(
        networks::FIREWALL,
        Nothing,
        &["extension-udp", "vxlan-gpe", "stray packets"],
    );
}

#[test]
fn behind_a_loose_firewall() {
    check(
        networks::FIREWALL_LOOSE,
        Nothing,
        &["extension-udp", "vxlan-gpe", "stray packets"],
    );
}

#[test]
fn before_a_narrow_tunnel() {
    check(networks::TUNNEL, Datagrams, &[]);
}

#[test]
fn before_a_receiver_with_a_narrow_link() {
    check(networks::NARROW, Datagrams, &[]);
}

#[test]
fn over_two_links_with_a_sink_on_one() {
    check(
        networks::ECMP,
        Nothing,
        &["extension-udp", "vxlan-gpe", "stray packets"],
    );
}

#[test]
fn behind_nat() {
    check(networks::NAT, Nothing, &[]);
}

#[test]
fn behind_a_policer() {
    check(networks::POLICER, Everything, &[]);
}
