//! Notices tagged packets that come in where no sink strips them: they would reach applications with INT, or none. The
//! sink then grants no leases, so that sources stop tagging.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;
use crate::datapath::sink::astray::{ASTRAY_NS, AstrayWatchers};
use crate::datapath::sink::sink_links;
use crate::os::netlink_events::Changes;
use crate::os::{log, netdev};

/// Changes that the kernel does not tell of, such as a watcher that something else took off, are seen this late.
const FOLLOW: Duration = Duration::from_secs(5);

/// The duty to do so.
#[derive(Default)]
pub struct WatchOtherInterfaces {
    watchers: Option<AstrayWatchers>,
    changes: Option<Changes>,
    next_follow: Option<Instant>,
    /// The packets of each interface that were noticed already.
    noticed: BTreeMap<u32, u64>,
    astray_until: Option<Instant>,
    /// The kernel has no tcx, so there are no watchers.
    cannot: bool,
}

impl WatchOtherInterfaces {
    fn follow(&mut self, daemon: &SinkDaemon, now: Instant) -> Result<()> {
        let pins = &daemon.side.pins;
        let changed = match &self.changes {
            Some(changes) => changes.any().context("cannot hear of changed interfaces")?,
            None => false,
        };
        if !changed && self.next_follow.is_some_and(|next| now < next) {
            return Ok(());
        }
        self.next_follow = Some(now + FOLLOW);
        // The sink was detached: the daemon is about to end, and its interfaces are no others'.
        if sink_links::links(pins)?.is_empty() {
            return Ok(());
        }
        let watchers = match &mut self.watchers {
            Some(watchers) => watchers,
            None => {
                self.changes = Changes::listen().ok();
                let loaded = AstrayWatchers::load(pins)?;
                self.noticed = loaded.packets()?;
                self.watchers.insert(loaded)
            }
        };
        if !watchers.follow(pins)? {
            self.cannot = true;
            log::info(
                "interfaces without a sink are not watched for tagged packets: the kernel has no tcx (6.6)",
            );
        }
        Ok(())
    }

    /// Returns the interfaces by which tagged packets came in since the last look.
    fn look(&mut self) -> Result<Vec<u32>> {
        let Some(watchers) = &self.watchers else {
            return Ok(Vec::new());
        };
        let packets = watchers.packets().context("cannot read the counts")?;
        let before = std::mem::replace(&mut self.noticed, packets);
        let is_new = |(ifindex, count): (&u32, &u64)| {
            let grown = *count > before.get(ifindex).copied().unwrap_or_default();
            grown.then_some(*ifindex)
        };
        Ok(self.noticed.iter().filter_map(is_new).collect())
    }

    fn judge(&mut self, daemon: &SinkDaemon, seen: &[u32], now: Instant) -> Result<()> {
        if !seen.is_empty() {
            if self.astray_until.is_none() {
                let devs: Vec<String> = seen.iter().map(|seen| netdev::label_of(*seen)).collect();
                let devs = devs.join(", ");
                log::warning(format_args!(
                    "tagged packets come in by {devs}, where no sink strips them: no leases are granted meanwhile \
                     (try hostint sink with --dev for each interface by which packets come in)"
                ));
            }
            self.astray_until = Some(now + Duration::from_nanos(ASTRAY_NS));
        } else if self.astray_until.is_some_and(|until| now >= until) {
            self.astray_until = None;
            log::info(
                "no tagged packets come in where no sink strips them any more: leases are granted again",
            );
        }
        daemon.sink.set_astray(self.astray_until.is_some())?;
        Ok(())
    }
}

impl Duty<SinkDaemon> for WatchOtherInterfaces {
    fn task(&self) -> &'static str {
        "watch interfaces without a sink for tagged packets"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        Duration::from_millis(200)
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        if self.cannot {
            return Ok(());
        }
        let followed = self.follow(daemon, now);
        let seen = self.look()?;
        self.judge(daemon, &seen, now)?;
        followed
    }

    /// Without the daemon its end would go unnoticed.
    fn finish(&mut self, daemon: &mut SinkDaemon) -> Result<()> {
        Ok(daemon.sink.set_astray(false)?)
    }
}
