//! The state of a transit hop's daemon, which its duties share.

use std::num::NonZeroU32;
use std::time::Duration;

use anyhow::{Context, Result};

use super::plan::TransitPlan;
use crate::config::{IdentitySettings, SinkConfig, TimeSpan};
use crate::daemon::on_host::{HostSide, OnHost};
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::daemon::state_line;
use crate::datapath::host::settings_status;
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::kernel_half::Sink;
use crate::datapath::transit::kernel_half::Transit;
use crate::datapath::transit::transit_links;
use crate::model::{KernelParts, NodeId};
use crate::report::Emitter;

/// A transit hop that is looked after.
pub struct TransitDaemon {
    pub side: HostSide,
    /// The programs of the last interface.
    pub transit: Transit,
    pub plan: TransitPlan,
    /// The way to the collectors.
    pub emitter: Emitter,
    pub signs: Signs,
    /// Set when the last interface is gone.
    pub is_detached: bool,
}

impl OnHost for TransitDaemon {
    fn side(&self) -> &HostSide {
        &self.side
    }

    fn side_mut(&mut self) -> &mut HostSide {
        &mut self.side
    }

    fn pins(&self) -> &Pins {
        &self.side.pins
    }

    fn host(&self) -> &SharedSettings {
        &self.transit.host
    }

    fn sink(&self) -> Option<(&Sink, &SinkConfig)> {
        None
    }

    /// A hop sends nothing of its clock to collectors.
    fn clock_error_ns(&self) -> Option<NonZeroU32> {
        None
    }

    /// A hop has no flows.
    fn idle_flow_timeout(&self) -> TimeSpan {
        TimeSpan(Duration::MAX)
    }
}

impl TransitDaemon {
    /// True if the daemon of a sink or source tells collectors which host this is, and follows the clock.
    pub fn is_served(&self) -> bool {
        // Whoever cannot tell leaves it to the other daemon.
        self.side.pins.is_served().unwrap_or(true)
    }
}

impl ReportsToCollectors for TransitDaemon {
    fn emitter(&mut self) -> &mut Emitter {
        &mut self.emitter
    }

    fn node(&self) -> Result<NodeId> {
        let node = settings_status::node(&self.side.pins)?;
        Ok(node.context("this host has no node id")?.id)
    }

    fn sends_extended(&self) -> bool {
        !self.plan.collectors.is_empty()
    }

    fn identity(&self) -> Option<&IdentitySettings> {
        let settings = self.plan.setup.identity.as_ref()?;
        (self.sends_extended() && !self.is_served()).then_some(settings)
    }

    fn lacks(&self) -> Result<KernelParts> {
        Ok(self.transit.host.parts()?.refused)
    }
}

impl ShowsSigns for TransitDaemon {
    fn signs(&mut self) -> &mut Signs {
        &mut self.signs
    }

    fn lacking(&mut self) -> Vec<String> {
        let attached = transit_links::inspect(&self.side.pins).unwrap_or_default();
        let is_attached = |dev: &&String| {
            let mut seen = attached.iter();
            seen.any(|seen| seen.alive && seen.name.as_ref() == Some(*dev))
        };
        let devs = self.plan.setup.devs.iter();
        devs.filter(|dev| !is_attached(dev))
            .map(|dev| format!("the transit hop is not attached to {dev}"))
            .collect()
    }

    fn state_line(&mut self) -> Result<String> {
        state_line::of_transit(&self.side.pins)
    }
}
