//! The connections that wait to be told to collectors, and the rate of reports.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::connections::Connections;
use crate::model::TcpReport;

/// The most endings that wait for their turn.
const MOST_ENDINGS: usize = 65_536;

/// An ending is reported again after this time, in case that a datagram is lost.
const AGAIN: Duration = Duration::from_secs(1);

/// The most endings that wait to be reported again.
const MOST_REPEATED: usize = 8192;

/// A full bucket of tokens lasts for this part of a second, so that many connections are reported one after the other.
const BURST: f64 = 0.1;

/// What waits to be told to collectors, and the rate of reports.
pub struct ReportFifo {
    /// The most in a second; 0: no limit.
    most: u64,
    tokens: f64,
    filled: Option<Instant>,
    endings: VecDeque<TcpReport>,
    repeated: VecDeque<(Instant, TcpReport)>,
    /// Sockets of open connections.
    due: VecDeque<u64>,
    /// Endings that had no room.
    pub endings_lost: u64,
}

impl ReportFifo {
    pub fn new(most: u64) -> Self {
        Self {
            most,
            tokens: 0.0,
            filled: None,
            endings: VecDeque::new(),
            repeated: VecDeque::new(),
            due: VecDeque::new(),
            endings_lost: 0,
        }
    }

    pub fn set_most(&mut self, most: u64) {
        self.most = most;
    }

    pub fn add_due(&mut self, sockets: impl IntoIterator<Item = u64>) {
        self.due.extend(sockets);
    }

    pub fn add_ending(&mut self, report: TcpReport) {
        if self.endings.len() < MOST_ENDINGS {
            self.endings.push_back(report);
        } else {
            self.endings_lost += 1;
        }
    }

    /// When the next one is due: at once, or when an ending is to be repeated.
    pub fn next_due(&self, now: Instant) -> Option<Instant> {
        match self.endings.is_empty() && self.due.is_empty() {
            true => self.repeated.front().map(|(due, _)| *due),
            false => Some(now),
        }
    }

    /// Returns the number of reports that may be reported now.
    fn fill(&mut self, now: Instant) -> usize {
        if self.most == 0 {
            return usize::MAX;
        }
        let rate = self.most as f64;
        let full = (rate * BURST).max(1.0);
        let gained = self.filled.map_or(full, |filled| {
            now.saturating_duration_since(filled).as_secs_f64() * rate
        });
        self.filled = Some(now);
        self.tokens = (self.tokens + gained).min(full);
        self.tokens as usize
    }

    /// Returns the reports whose turn it is: endings before open connections, and repetitions last.
    pub fn take(&mut self, connections: &mut Connections, now: Instant) -> Vec<TcpReport> {
        let room = self.fill(now);
        let mut taken = Vec::new();
        while room > taken.len() {
            let Some(ending) = self.endings.pop_front() else {
                break;
            };
            if self.repeated.len() < MOST_REPEATED {
                self.repeated.push_back((now + AGAIN, ending.clone()));
            }
            taken.push(ending);
        }
        while room > taken.len() {
            let Some(socket) = self.due.pop_front() else {
                break;
            };
            taken.extend(connections.next_report(socket));
        }
        while room > taken.len() && self.repeated.front().is_some_and(|(due, _)| *due <= now) {
            taken.extend(self.repeated.pop_front().map(|(_, ending)| ending));
        }
        if self.most > 0 {
            self.tokens -= taken.len() as f64;
        }
        taken
    }
}
