//! The coding of kinds and addresses in the file.

use std::net::{IpAddr, SocketAddr};

/// The kinds of reports. Their numbers are their places, counted from 1; other kinds have number 0.
const KINDS: [&str; 9] = [
    "latency",
    "drop-summary",
    "packet",
    "local",
    "drop",
    "intermediate",
    "ethernet",
    "flow-summary",
    "host-drop",
];

/// Returns the number of a kind of report.
pub fn number_of(kind: &str) -> u8 {
    KINDS
        .iter()
        .position(|one| *one == kind)
        .map_or(0, |at| at as u8 + 1)
}

/// Returns an address and port as bytes.
pub fn exporter_bytes(exporter: SocketAddr) -> Vec<u8> {
    let mut bytes = address_bytes(exporter.ip());
    bytes.extend(exporter.port().to_be_bytes());
    bytes
}

pub fn exporter_of(bytes: &[u8]) -> Option<SocketAddr> {
    let (address, port) = bytes.split_last_chunk::<2>()?;
    Some(SocketAddr::new(
        address_of(address)?,
        u16::from_be_bytes(*port),
    ))
}

pub fn address_bytes(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

pub fn address_of(bytes: &[u8]) -> Option<IpAddr> {
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from),
        _ => <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from),
    }
}
