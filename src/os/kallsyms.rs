//! The kernel's functions: the names of addresses in its code, from /proc/kallsyms.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

const PATH: &str = "/proc/kallsyms";

/// The names that were looked up. The file is read once for all addresses that are new: it has a line for each symbol,
/// and there are few places where packets are dropped.
#[derive(Debug, Default)]
pub struct Kallsyms {
    known: BTreeMap<u64, Option<String>>,
    /// The kernel shows addresses to this process.
    hidden: bool,
}

/// Returns the functions of these ascending addresses, or nothing if the kernel hides addresses. It takes a quarter of a second.
///
/// # Errors
/// If the file cannot be read.
pub fn look_up(addresses: &[u64]) -> io::Result<Option<Vec<Option<String>>>> {
    search(BufReader::new(File::open(PATH)?), addresses)
}

impl Kallsyms {
    pub fn knows(&self, address: u64) -> bool {
        self.known.contains_key(&address)
    }

    /// Those of these addresses that were not looked up, ascending.
    pub fn unknown(&self, addresses: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut new: Vec<u64> = addresses.filter(|one| !self.knows(*one)).collect();
        new.sort_unstable();
        new.dedup();
        new
    }

    /// Remembers what was found of these addresses.
    pub fn add(&mut self, addresses: Vec<u64>, found: Option<Vec<Option<String>>>) {
        self.hidden = found.is_none();
        let names = found.unwrap_or_else(|| vec![None; addresses.len()]);
        self.known.extend(addresses.into_iter().zip(names));
    }

    /// The name of the function at an address that was looked up.
    pub fn name(&self, address: u64) -> Option<&str> {
        self.known.get(&address)?.as_deref()
    }

    /// True if the kernel hides addresses from this process.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }
}

/// True if the kernel shows the addresses of its functions to this process.
pub fn are_shown() -> bool {
    let Ok(file) = File::open(PATH) else {
        return false;
    };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    // The first symbols of some processors lie at 0.
    lines.any(|line| {
        line.split_whitespace()
            .next()
            .is_some_and(|address| !address.trim_start_matches('0').is_empty())
    })
}

/// Returns the function that each of these ascending addresses lies in, or nothing if all addresses are hidden.
pub fn search(lines: impl BufRead, addresses: &[u64]) -> io::Result<Option<Vec<Option<String>>>> {
    let mut best: Vec<(u64, Option<String>)> = vec![(0, None); addresses.len()];
    let mut shown = false;
    for line in lines.lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let (Some(address), Some(kind), Some(name)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let Ok(address) = u64::from_str_radix(address, 16) else {
            continue;
        };
        shown |= address != 0;
        if !matches!(kind, "t" | "T" | "w" | "W") {
            continue;
        }
        let behind = addresses.partition_point(|one| *one < address);
        // Addresses are ascending: the first one that lies before the best symbol so far ends the search.
        for (start, found) in best.iter_mut().skip(behind) {
            if *start >= address {
                break;
            }
            *start = address;
            *found = Some(name.to_owned());
        }
    }
    Ok(shown.then(|| best.into_iter().map(|(_, name)| name).collect()))
}
