//! Option 114 goes to hosts that take it, and others learn that this one does.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::TcpDaemon;
use crate::config::OptionPeers;
use crate::daemon::duty::Duty;
use crate::datapath::lease::leases::Leases;
use crate::datapath::tcp::option_114;
use crate::os::{clock, log};

const PERIOD: Duration = Duration::from_secs(1);
/// What is reported is true for this time: one turn may come late.
const ANNOUNCED: Duration = Duration::from_millis(2_500);

/// The duty to see to both.
#[derive(Default)]
pub struct FollowOptionPeers {
    warned: bool,
}

impl FollowOptionPeers {
    /// Says once that no lease can be found.
    fn warn(&mut self, peers: OptionPeers) {
        if peers == OptionPeers::Leased && !std::mem::replace(&mut self.warned, true) {
            log::warning(
                "option 114 goes to no host: no source or sink of this host can be seen (they are root's; \
                 try hostint source, or --option all)",
            );
        }
    }
}

impl Duty<TcpDaemon> for FollowOptionPeers {
    fn task(&self) -> &'static str {
        "learn which hosts take option 114"
    }

    fn period(&self, _daemon: &TcpDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut TcpDaemon, _now: Instant) -> Result<()> {
        if !daemon.plan.config.option.sends() {
            return Ok(());
        }
        let Some(pins) = daemon.host.pins() else {
            self.warn(daemon.plan.config.option);
            return Ok(());
        };
        option_114::announce(pins, ANNOUNCED)?;
        let Some(leases) = Leases::open(pins)? else {
            return Ok(());
        };
        let pairs = leases.with_option_114()?;
        let announced_ns = u64::try_from(ANNOUNCED.as_nanos()).unwrap_or(u64::MAX);
        daemon
            .programs
            .allow_option(&pairs, clock::monotonic_ns() + announced_ns)?;
        Ok(())
    }
}
