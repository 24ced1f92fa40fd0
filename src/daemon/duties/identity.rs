//! Tells collectors the identity of this host, and that it lives although it may measure nothing.
//!
//! The daemon that holds the lock of this host's pins does so: that of the sink, or else that of the source. If none
//! does, one of those of postcards, of TCP connections and of a transit hop tells it: first the one to which a name or
//! labels were given.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::host::node_seed;
use crate::model::NodeIdentity;
use crate::model::node_identity::MOST_INTERFACES;
use crate::os::host_token::{Claim, HostToken};
use crate::os::{clock, netdev};

/// A host is silent after three of these.
const PERIOD_S: u16 = 10;

/// The name of the token of the daemon that does so.
const TOKEN: &str = "identity";

/// The duty to do so.
#[derive(Default)]
pub struct SendIdentity {
    token: Option<HostToken>,
}

impl<D: ReportsToCollectors> Duty<D> for SendIdentity {
    fn task(&self) -> &'static str {
        "send collectors this host's identity"
    }

    fn period(&self, _daemon: &D) -> Duration {
        Duration::from_secs(PERIOD_S.into())
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        let held = self.token.take();
        let Some(settings) = daemon.identity() else {
            return Ok(());
        };
        if !daemon.holds_host() {
            let claim = match settings.name.is_some() || !settings.labels.is_empty() {
                true => Claim::First,
                false => Claim::Second,
            };
            self.token = HostToken::take(TOKEN, claim, held)
                .context("cannot find out which daemon sends it")?;
            if self.token.is_none() {
                return Ok(());
            }
        }
        let identity = NodeIdentity {
            node: daemon.node()?,
            period_s: PERIOD_S,
            name: match &settings.name {
                Some(name) => name.clone(),
                None => node_seed::name()?,
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            labels: settings.labels.clone(),
            interfaces: interfaces()?,
            lacks: daemon.lacks()?,
        };
        let time_s = (clock::realtime_ns() / 1_000_000_000) as u32;
        daemon.emitter().identify(&identity, time_s);
        Ok(())
    }
}

/// The interfaces of this network namespace, those with the lowest indices. A port is the low 16 bits of an index.
fn interfaces() -> Result<BTreeMap<u16, String>> {
    let all = netdev::names().context("cannot list this host's interfaces")?;
    let packets_pass = |name: &str| name != "lo";
    let reported = all.into_iter().filter(|(_, name)| packets_pass(name));
    let reported = reported.take(MOST_INTERFACES);
    Ok(reported.map(|(index, name)| (index as u16, name)).collect())
}
