//! The interfaces by which this network namespace's default routes leave.

use std::fs;
use std::io;

/// Their names, each once.
///
/// # Errors
/// If the kernel's tables of routes cannot be read.
pub fn interfaces() -> io::Result<Vec<String>> {
    let ipv4 = fs::read_to_string("/proc/thread-self/net/route")?;
    // There is none without IPv6.
    let ipv6 = fs::read_to_string("/proc/thread-self/net/ipv6_route").unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    for dev in of_ipv4(&ipv4).chain(of_ipv6(&ipv6)) {
        if dev != "lo" && !found.iter().any(|known| known == dev) {
            found.push(dev.to_owned());
        }
    }
    Ok(found)
}

/// Lines of name, destination, gateway, flags, …, mask (the eighth).
fn of_ipv4(table: &str) -> impl Iterator<Item = &str> {
    table.lines().skip(1).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_default = |at: usize| fields.get(at) == Some(&"00000000");
        let dev = fields.first().copied();
        dev.filter(|_| is_default(1) && is_default(7))
    })
}

/// Lines of destination, length of its prefix, …, name (the last). The route that refuses leaves by lo.
fn of_ipv6(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_default = fields.get(1) == Some(&"00");
        fields.last().copied().filter(|_| is_default)
    })
}
