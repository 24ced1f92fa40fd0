//! The state of a transit hop's daemon, which its duties share.

use std::time::Duration;

use anyhow::Result;

use super::plan::TransitPlan;
use crate::config::{SinkConfig, TimeSpan};
use crate::daemon::on_host::{HostSide, OnHost};
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::daemon::state_line;
use crate::datapath::pins::Pins;
use crate::datapath::shared_settings::SharedSettings;
use crate::datapath::sink::Sink;
use crate::datapath::transit::Transit;
use crate::datapath::transit_links;

/// A transit hop that is looked after.
pub struct TransitDaemon {
    pub side: HostSide,
    /// The programs of the last interface.
    pub transit: Transit,
    pub plan: TransitPlan,
    pub signs: Signs,
}

impl OnHost for TransitDaemon {
    fn side(&mut self) -> &mut HostSide {
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

    /// A hop has no flows.
    fn idle_flow_timeout(&self) -> TimeSpan {
        TimeSpan(Duration::MAX)
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
