//! Tells collectors between which hosts this hop fills in TCP option 114, so that they know which node "hop 2" is.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::TransitDaemon;
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::tcp::option_hops;
use crate::model::option_hops::{OptionHopPair, OptionHopsReport};
use crate::os::clock;

const PERIOD: Duration = Duration::from_secs(5);

/// A pair is reported again after this time.
const AGAIN: Duration = Duration::from_secs(60);

/// The duty to do so.
#[derive(Default)]
pub struct SendOptionHops {
    /// When each pair was reported last.
    sent: HashMap<OptionHopPair, Instant>,
    /// The pairs of requests since this time are looked at (monotonic clock).
    since_ns: u64,
}

impl Duty<TransitDaemon> for SendOptionHops {
    fn task(&self) -> &'static str {
        "report to collectors whose TCP option 114 is filled in"
    }

    fn period(&self, _daemon: &TransitDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, now: Instant) -> Result<()> {
        let fills = daemon.plan.setup.transit.carriers.tcp_int.is_some();
        if !fills || !daemon.sends_extended() {
            return Ok(());
        }
        let next_ns = option_hops::now_ns();
        let mut pairs = option_hops::since(&daemon.side.pins, self.since_ns)?;
        // A pair that is noted while the table is read is looked at again.
        self.since_ns = next_ns.saturating_sub(2 * PERIOD.as_nanos() as u64);
        self.sent
            .retain(|_, sent| now.saturating_duration_since(*sent) < AGAIN);
        pairs.retain(|pair| !self.sent.contains_key(pair));
        if pairs.is_empty() {
            return Ok(());
        }
        self.sent.extend(pairs.iter().map(|pair| (*pair, now)));
        pairs.sort();
        let report = OptionHopsReport {
            node: daemon.node()?,
            told_ns: clock::realtime_ns(),
            pairs,
        };
        daemon.emitter.send_option_hops(&report);
        Ok(())
    }
}
