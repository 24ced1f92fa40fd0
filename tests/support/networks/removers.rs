//! Devices that take options off, or drop packets that have some.

use super::{Devices, Network, forward, midway, network};
use crate::inspector::Inspector;
use crate::netns::Lab;

const TAKE_OFF: &str = "reset tcp option 253";
const DROP: &str = "tcp option 253 exists counter drop";

pub const OPTIONS_REMOVED: Network = network("options of TCP taken off", |lab| {
    forward(lab, &[TAKE_OFF]);
});
pub const OPTION_PACKETS_DROPPED: Network = network("segments with options dropped", |lab| {
    forward(lab, &[DROP]);
});
pub const SURPLUS_CUT: Network = Network {
    devices: |lab| inspect(lab, cut),
    ..network("options of UDP taken off", |_| {})
};
pub const SURPLUS_DROPPED: Network = Network {
    devices: |lab| inspect(lab, refuse),
    ..network("datagrams with options dropped", |_| {})
};

pub const OPTIONS_REMOVED_MIDWAY: Network = midway(
    "options of TCP taken off midway",
    |_| {},
    |lab| forward(lab, &[TAKE_OFF]),
);
pub const OPTION_PACKETS_DROPPED_MIDWAY: Network = midway(
    "segments with options dropped midway",
    |_| {},
    |lab| forward(lab, &[DROP]),
);
/// Packets pass the device from some time on.
pub const SURPLUS_DROPPED_MIDWAY: Network = Network {
    devices: |lab| vec![Box::new(Inspector::start(&lab.m, refuse))],
    midway: Some([divert, release]),
    ..network("datagrams with options dropped midway", |_| {})
};

fn inspect(lab: &Lab, change: fn(&mut Vec<u8>) -> bool) -> Devices {
    let device = Inspector::start(&lab.m, change);
    divert(lab);
    vec![Box::new(device)]
}

/// What the router forwards passes the device.
fn divert(lab: &Lab) {
    lab.m
        .sh("ip rule add iif m0 lookup 100; ip rule add iif m1 lookup 100");
}

fn release(lab: &Lab) {
    lab.m
        .sh("ip rule del iif m0 lookup 100; ip rule del iif m1 lookup 100");
}

/// Where a UDP datagram ends, by its own length. None: the packet is something else, or ends there.
fn end_of_datagram(packet: &[u8]) -> Option<usize> {
    let header = usize::from(packet.first()? & 15) * 4;
    let is_udp = packet[0] >> 4 == 4 && *packet.get(9)? == 17;
    let len = packet.get(header + 4..header + 6)?;
    let end = header + usize::from(u16::from_be_bytes([len[0], len[1]]));
    (is_udp && end < packet.len()).then_some(end)
}

#[allow(clippy::ptr_arg)] // what a device does to packets has one signature
fn refuse(packet: &mut Vec<u8>) -> bool {
    end_of_datagram(packet).is_none()
}

/// Leaves what the length of the datagram covers.
fn cut(packet: &mut Vec<u8>) -> bool {
    let Some(end) = end_of_datagram(packet) else {
        return true;
    };
    packet.truncate(end);
    packet[2..4].copy_from_slice(&(end as u16).to_be_bytes());
    packet[10..12].fill(0);
    let header = usize::from(packet[0] & 15) * 4;
    let words = packet[..header].chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!folded as u16).to_be_bytes());
    true
}
