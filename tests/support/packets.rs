//! The packets and the flow that most cases vary.

use std::net::Ipv4Addr;

use super::frame::Frame;
use super::model::Key;

pub fn udp() -> Frame {
    Frame::ethernet().ipv4().udp().payload(64)
}

pub fn tcp() -> Frame {
    Frame::ethernet().ipv4().tcp().payload(64)
}

pub fn udp6() -> Frame {
    Frame::ethernet().ipv6().udp().payload(64)
}

pub fn tcp6() -> Frame {
    Frame::ethernet().ipv6().tcp().payload(64)
}

/// The flow of the builder's packets.
pub fn key(protocol: u8) -> Key {
    let mapped = |address: [u8; 4]| Ipv4Addr::from(address).to_ipv6_mapped().octets();
    Key {
        source: mapped([192, 0, 2, 1]),
        target: mapped([198, 51, 100, 2]),
        sport: 40000,
        dport: 5001,
        layers: protocol.into(),
    }
}
