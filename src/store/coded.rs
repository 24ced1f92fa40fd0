//! Kinds and addresses as they stand in the file.

use std::net::{IpAddr, SocketAddr};

/// Kinds by their numbers, from 1 on; others are 0.
const KINDS: [&str; 8] = [
    "latency",
    "drop-summary",
    "packet",
    "local",
    "drop",
    "intermediate",
    "ethernet",
    "flow-summary",
];

/// The number of a kind of report.
pub fn number_of(kind: &str) -> u8 {
    let at = KINDS.iter().position(|one| *one == kind);
    at.map_or(0, |at| at as u8 + 1)
}

/// An address and port as bytes.
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
    let v4 = <[u8; 4]>::try_from(bytes).ok().map(IpAddr::from);
    v4.or_else(|| <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from))
}
