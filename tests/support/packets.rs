//! The packets and the flow that most cases are variations of.

use super::frame::Frame;
use super::model::Key;

pub fn udp() -> Frame {
    Frame::ethernet().ipv4().udp().payload(64)
}

pub fn tcp() -> Frame {
    Frame::ethernet().ipv4().tcp().payload(64)
}

/// The flow of the builder's packets.
pub fn key(protocol: u8) -> Key {
    Key {
        source: [192, 0, 2, 1],
        target: [198, 51, 100, 2],
        sport: 40000,
        dport: 5001,
        protocol,
    }
}
