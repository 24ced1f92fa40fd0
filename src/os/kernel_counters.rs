//! Counters of the kernel that tell losses without a packet that a tracepoint would show.

use std::fs;
use std::io;

/// A counter's name, its interface if it has one, and its value.
pub type KernelCounter = (&'static str, Option<String>, u64);

/// The counters of listening sockets in /proc/net/netstat. Each overflow is a listen drop, too.
const OVERFLOWS: &str = "ListenOverflows";
const LISTEN_DROPS: &str = "ListenDrops";
/// Its name, without the overflows.
const OTHER_LISTEN_DROPS: &str = "OtherListenDrops";

/// The columns of /proc/net/stat/nf_conntrack.
const CONNTRACK: [(&str, &str); 3] = [
    ("insert_failed", "conntrack_insert_failed"),
    ("drop", "conntrack_drop"),
    ("early_drop", "conntrack_early_drop"),
];

/// Statistics of a device's receiver, before there is a packet, as /sys and `ip -s -s link` name them.
const RECEIVER: [&str; 4] = [
    "rx_missed_errors",
    "rx_fifo_errors",
    "rx_over_errors",
    "rx_crc_errors",
];

/// Reads the counters of this network namespace.
///
/// # Errors
/// If /proc/net/netstat cannot be read. What else is not there is left out.
pub fn read() -> io::Result<Vec<KernelCounter>> {
    let mut found = listening(&fs::read_to_string("/proc/net/netstat")?);
    if let Ok(text) = fs::read_to_string("/proc/net/stat/nf_conntrack") {
        found.extend(conntrack(&text));
    }
    found.extend(receivers());
    Ok(found)
}

/// Reads the counters of listening sockets. The file has lines of names and lines of values, in pairs.
pub fn listening(text: &str) -> Vec<KernelCounter> {
    let value = |wanted: &str| {
        let mut lines = text.lines();
        while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
            let mut pairs = names.split_whitespace().zip(values.split_whitespace());
            if let Some((_, value)) = pairs.find(|(name, _)| *name == wanted) {
                return value.parse::<u64>().ok();
            }
        }
        None
    };
    let overflows = value(OVERFLOWS);
    let drops = value(LISTEN_DROPS);
    let mut found = Vec::new();
    found.extend(overflows.map(|count| (OVERFLOWS, None, count)));
    found.extend(drops.map(|count| {
        let others = count.saturating_sub(overflows.unwrap_or_default());
        (OTHER_LISTEN_DROPS, None, others)
    }));
    found
}

/// Sums the counters of connection tracking over all CPUs, each of which has a line of hexadecimal numbers.
pub fn conntrack(text: &str) -> Vec<KernelCounter> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let cpus: Vec<Vec<u64>> = lines
        .map(|line| {
            let words = line.split_whitespace();
            words
                .map(|word| u64::from_str_radix(word, 16).unwrap_or_default())
                .collect()
        })
        .collect();
    let mut found = Vec::new();
    for (column, name) in CONNTRACK {
        if let Some(at) = names.iter().position(|one| *one == column) {
            let sum = cpus.iter().filter_map(|cpu| cpu.get(at)).sum();
            found.push((name, None, sum));
        }
    }
    found
}

fn receivers() -> Vec<KernelCounter> {
    let mut found = Vec::new();
    for dev in nix::net::if_::if_nameindex().iter().flatten() {
        let name = dev.name().to_string_lossy().into_owned();
        for counter in RECEIVER {
            let path = format!("/sys/class/net/{name}/statistics/{counter}");
            let text = fs::read_to_string(path).unwrap_or_default();
            // Interfaces are many, and have hardly ever lost anything so.
            if let Ok(count @ 1..) = text.trim().parse() {
                found.push((counter, Some(name.clone()), count));
            }
        }
    }
    found
}
