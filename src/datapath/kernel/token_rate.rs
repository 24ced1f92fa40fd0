//! The rate of tokens that programs take, each CPU by itself.

use std::io;

const NS_PER_S: u64 = 1_000_000_000;

/// The interval and the burst of each CPU's tokens, if all CPUs together have this many a second; 0: no limit.
pub fn token_rate_of(most: u64) -> io::Result<(u64, u64)> {
    let cpus = libbpf_rs::num_possible_cpus().map_err(io::Error::other)? as u64;
    let interval_ns = (NS_PER_S * cpus).checked_div(most);
    Ok(interval_ns.map_or((0, 0), |ns| (ns.clamp(1, NS_PER_S), NS_PER_S)))
}
