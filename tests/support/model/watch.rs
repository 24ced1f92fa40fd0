//! A model of the watchlist: the rule for a packet, found by asking all rules.

use std::cmp::Reverse;
use std::net::{IpAddr, Ipv6Addr};

use hostint::model::{Prefix, RuleHost, WatchRule};

use super::TCP;
use super::layout::Layout;
use crate::checksum::be16;

/// What rules ask of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub from: IpAddr,
    pub to: IpAddr,
    pub tcp: bool,
    /// 0 where there are none.
    pub ports: (u16, u16),
    pub dscp: u8,
    pub ifindex: u32,
}

/// An IPv6 packet to a mapped address is none to that IPv4 address.
pub fn address(mapped: [u8; 16], v6: bool) -> IpAddr {
    let address = Ipv6Addr::from(mapped);
    match address.to_canonical() {
        IpAddr::V4(v4) if !v6 => v4.into(),
        _ => address.into(),
    }
}

impl Packet {
    pub fn of(frame: &[u8], at: &Layout, ifindex: u32) -> Self {
        let (from, to) = at.mapped_addresses(frame);
        let port = |offset| match frame.get(at.l4 + offset..at.l4 + offset + 2) {
            Some(_) => be16(frame, at.l4 + offset),
            None => 0,
        };
        Packet {
            from: address(from, at.v6),
            to: address(to, at.v6),
            tcp: at.protocol == TCP,
            ports: (port(0), port(2)),
            dscp: at.tos >> 2,
            ifindex,
        }
    }
}

fn prefixes(places: &[RuleHost]) -> impl Iterator<Item = Prefix> {
    places.iter().flat_map(|place| place.prefixes.clone())
}

fn lies_in(prefix: Prefix, address: IpAddr) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    let (ours, theirs) = (bits(prefix.addr()), bits(address));
    let bit = |bytes: &[u8], n: usize| bytes[n / 8] >> (7 - n % 8) & 1;
    ours.len() == theirs.len()
        && (0..usize::from(prefix.len())).all(|n| bit(&ours, n) == bit(&theirs, n))
}

/// How much of the destination the rule names, if it fits.
fn fits(rule: &WatchRule, packet: &Packet) -> Option<u8> {
    let to = prefixes(&rule.to).filter(|prefix| lies_in(*prefix, packet.to));
    let to = to.map(Prefix::len).max();
    let to = if rule.to.is_empty() { Some(0) } else { to };
    let from =
        rule.from.is_empty() || prefixes(&rule.from).any(|prefix| lies_in(prefix, packet.from));
    let transport = rule.protocols.is_empty()
        || rule
            .protocols
            .iter()
            .any(|one| (one.protocol() == TCP) == packet.tcp);
    let (sport, dport) = packet.ports;
    let sport = rule.from_ports.is_empty() || rule.from_ports.iter().any(|one| one.contains(sport));
    let dport = rule.to_ports.is_empty() || rule.to_ports.iter().any(|one| one.contains(dport));
    let dscp = rule.dscp.is_empty() || rule.dscp.contains(&packet.dscp);
    // The tests' one interface.
    let dev =
        rule.devs.is_empty() || packet.ifindex == 1 && rule.devs.iter().any(|dev| dev == "lo");
    to.filter(|_| from && transport && sport && dport && dscp && dev)
}

/// The rule that decides, if any fits.
pub fn decide<'a>(rules: &'a [WatchRule], packet: &Packet) -> Option<&'a WatchRule> {
    let fitting = rules
        .iter()
        .filter_map(|rule| Some((rule, fits(rule, packet)?)));
    let (rule, _) = fitting.min_by_key(|(rule, len)| {
        (
            Reverse(rule.priority),
            rule.action,
            Reverse(*len),
            !rule.fixed,
        )
    })?;
    Some(rule)
}
