//! The state of a source's daemon, which its duties share.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use anyhow::Result;

use super::plan::SourcePlan;
use crate::config::{File, IdentitySettings, SinkConfig, TimeSpan};
use crate::daemon::duties::{HasBudget, HasFileRules};
use crate::daemon::on_host::{HostSide, OnHost};
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::daemon::state_line;
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::kernel_half::Sink;
use crate::datapath::source::kernel_half::Source;
use crate::model::{CpuBudget, KernelParts, NodeId, WatchRule};
use crate::report::Emitter;

/// A source that is looked after.
pub struct SourceDaemon {
    pub side: HostSide,
    pub source: Source,
    pub plan: SourcePlan,
    /// The way to the collectors.
    pub emitter: Emitter,
    pub signs: Signs,
}

impl OnHost for SourceDaemon {
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
        &self.source.host
    }

    fn sink(&self) -> Option<(&Sink, &SinkConfig)> {
        None
    }

    fn given_names(&self) -> Option<&BTreeMap<NodeId, String>> {
        self.plan.file.as_ref().map(|file| &file.names)
    }

    fn clock_error_ns(&self) -> Option<NonZeroU32> {
        self.plan.setup.clock_error_ns
    }

    fn idle_flow_timeout(&self) -> TimeSpan {
        self.plan.setup.source.idle_flow_timeout
    }
}

impl ReportsToCollectors for SourceDaemon {
    fn emitter(&mut self) -> &mut Emitter {
        &mut self.emitter
    }

    fn node(&self) -> Result<NodeId> {
        Ok(self.source.host.node()?.id)
    }

    fn sends_extended(&self) -> bool {
        true
    }

    fn holds_host(&self) -> bool {
        true
    }

    fn identity(&self) -> Option<&IdentitySettings> {
        self.plan.setup.identity.as_ref()
    }

    fn lacks(&self) -> Result<KernelParts> {
        Ok(self.source.host.parts()?.refused)
    }
}

impl HasBudget for SourceDaemon {
    fn budget(&self) -> CpuBudget {
        self.plan.setup.budget
    }
}

impl HasFileRules for SourceDaemon {
    fn file_rules(&self) -> Option<&[WatchRule]> {
        let file = self.plan.file.as_ref();
        file.is_some_and(File::is_about_sources)
            .then_some(&*self.plan.rules)
    }
}

impl ShowsSigns for SourceDaemon {
    fn signs(&mut self) -> &mut Signs {
        &mut self.signs
    }

    fn lacking(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn state_line(&mut self) -> Result<String> {
        state_line::of_source(&self.side.pins, self.side.leases.as_ref())
    }
}
