//! The UDP ports to which sockets of this network namespace are bound.

use std::collections::BTreeSet;
use std::fs;

/// Returns the ports of both address families, or none if the kernel does not list them.
pub fn bound() -> BTreeSet<u16> {
    ["/proc/thread-self/net/udp", "/proc/thread-self/net/udp6"]
        .into_iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|table| {
            table
                .lines()
                .skip(1)
                .filter_map(local_port)
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the local port of a line: 0x7ffe of `  5: 00000000:7FFE 00000000:0000 …`.
fn local_port(line: &str) -> Option<u16> {
    let (_, port) = line.split_whitespace().nth(1)?.rsplit_once(':')?;
    u16::from_str_radix(port, 16).ok()
}
