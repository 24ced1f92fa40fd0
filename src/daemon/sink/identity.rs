//! Tells collectors the identity of this host, and that it lives although it may measure nothing.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;
use crate::model::NodeIdentity;
use crate::os::{clock, hostname};

/// A host is silent after three of these.
const PERIOD_S: u16 = 10;

/// The duty to do so.
pub struct TellIdentity;

impl Duty<SinkDaemon> for TellIdentity {
    fn task(&self) -> &'static str {
        "tell collectors this host's identity"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(PERIOD_S.into())
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        let config = &daemon.plan.config;
        let Some(settings) = &config.identity else {
            return Ok(());
        };
        let identity = NodeIdentity {
            node: config.node_id,
            period_s: PERIOD_S,
            name: match &settings.name {
                Some(name) => name.clone(),
                None => hostname::get()?,
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            labels: settings.labels.clone(),
        };
        let time_s = (clock::realtime_ns() / 1_000_000_000) as u32;
        daemon.reports.emitter.identify(&identity, time_s);
        Ok(())
    }
}
