//! The outcome of transfers: whole or not, bytes that nobody sent, and the longest time without progress.

use std::time::{Duration, Instant};

/// The outcome of some transfers.
#[derive(Clone, Debug, Default)]
pub struct Account {
    pub transfers: u64,
    pub whole: u64,
    /// Bytes that nobody sent.
    pub foreign_bytes: u64,
    /// Datagrams that did not arrive.
    pub missing: u64,
    pub longest_stall: Duration,
    /// Retransmission timeouts that followed another timeout of their connection without progress between them.
    pub repeated_timeouts: u64,
    pub failures: Vec<String>,
}

impl Account {
    pub fn add(&mut self, other: Self) {
        self.transfers += other.transfers;
        self.whole += other.whole;
        self.foreign_bytes += other.foreign_bytes;
        self.missing += other.missing;
        self.longest_stall = self.longest_stall.max(other.longest_stall);
        self.repeated_timeouts += other.repeated_timeouts;
        self.failures.extend(other.failures);
    }

    pub fn fail(&mut self, doing: &str, err: &std::io::Error) {
        self.failures.push(format!("{doing}: {err}"));
    }

    /// Nothing arrived since then.
    pub fn wait_since(&mut self, began: Instant) {
        self.longest_stall = self.longest_stall.max(began.elapsed());
    }
}

impl std::fmt::Display for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} whole, {} foreign bytes, {} missing, longest stall {} ms, {} repeated timeouts",
            self.whole,
            self.transfers,
            self.foreign_bytes,
            self.missing,
            self.longest_stall.as_millis(),
            self.repeated_timeouts
        )?;
        match self.failures.first() {
            Some(failure) => write!(f, ", {failure}"),
            None => Ok(()),
        }
    }
}
