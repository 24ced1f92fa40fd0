//! The state of a sink's daemon, which its duties share.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;

use super::metrics::Metrics;
use super::plan::SinkPlan;
use super::reports::SinkReports;
use crate::config::{File, IdentitySettings, SinkConfig, TimeSpan, budget_of_environment};
use crate::daemon::duties::{HasBudget, HasFileRules};
use crate::daemon::on_host::{HostSide, OnHost};
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::daemon::state_line;
use crate::datapath::host::daemon_counters::{DaemonCounters, LifeCounts};
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::event_ring::EventRing;
use crate::datapath::sink::kernel_half::Sink;
use crate::datapath::sink::sink_links;
use crate::datapath::sink::sweeper::{SummaryPlan, Sweeper};
use crate::model::{ClockSource, CpuBudget, KernelParts, NodeId, Tally, WatchRule};
use crate::os::signals;
use crate::report::Emitter;

/// Why a sink's daemon ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// A signal asked it to.
    Asked,
    /// The sink was detached from its last interface.
    Detached,
}

/// A sink that serves.
pub struct SinkDaemon {
    pub side: HostSide,
    pub sink: Sink,
    pub plan: SinkPlan,
    pub reports: SinkReports,
    /// The flow table, and the loss periods that are to be ended in it.
    pub flows: Sweeper,
    pub counters: DaemonCounters,
    pub metrics: Option<Metrics>,
    /// The sums that metrics and summaries of groups are made of.
    pub tally: Arc<Mutex<Tally>>,
    pub signs: Signs,
    /// Set when the last interface is gone.
    pub is_detached: bool,
}

impl SinkDaemon {
    /// The data path: takes the events of the kernel half, makes reports of them, and sends these.
    pub fn report_events(&mut self, events: &mut EventRing) -> Result<()> {
        let Self { reports, flows, .. } = self;
        reports.set_clock(self.side.clock);
        events.drain(|bytes| reports.take(bytes, flows))?;
        reports.emitter.flush();
        Ok(())
    }

    /// `None` while it is to go on.
    pub fn end(&self) -> Option<End> {
        if signals::ending() {
            Some(End::Asked)
        } else {
            self.is_detached.then_some(End::Detached)
        }
    }

    /// The counts of this life, complete.
    pub fn life_counts(&self) -> LifeCounts {
        use crate::datapath::host::daemon_counters::DaemonCount::*;
        let mut counts = self.side.counts.clone();
        let reports = self.reports.emitter.counts();
        let log = reports.log.unwrap_or_default();
        for (which, count) in [
            (EventsRead, self.reports.events_read),
            (EventsMalformed, self.reports.events_malformed),
            (ReportsSent, reports.sent),
            (ReportsLost, reports.lost),
            (DatagramsSent, reports.datagrams.sent),
            (DatagramsLost, reports.datagrams.lost),
            (LogWritten, log.lines),
            (LogLost, log.lost),
            (SummariesSent, self.reports.summaries_sent),
            (SummariesLeftOut, self.flows.summaries_left_out()),
        ] {
            counts.set(which, count);
        }
        if let Some(leases) = &self.side.leases {
            counts.set(LeasesAsked, leases.counts.asked);
            counts.set(LeasesAnswered, leases.counts.answered);
            counts.set(LeasesRefused, leases.counts.refused);
            counts.set(LeaseCpuNs, leases.counts.cpu_ns);
        }
        counts
    }
}

/// The summaries of flows that the settings ask for.
pub fn summary_plan(config: &SinkConfig) -> SummaryPlan {
    SummaryPlan {
        period: match config.has_summary_receivers() {
            true => config.summary_period.0,
            false => Duration::ZERO,
        },
        report_bytes: config.report_bytes().into(),
        copies: config.copies().into(),
        most_per_s: config.max_summaries,
    }
}

impl OnHost for SinkDaemon {
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
        &self.sink.host
    }

    fn sink(&self) -> Option<(&Sink, &SinkConfig)> {
        Some((&self.sink, &self.plan.config))
    }

    fn given_names(&self) -> Option<&BTreeMap<NodeId, String>> {
        self.plan.file.as_ref().map(|file| &file.names)
    }

    fn clock_error_ns(&self) -> Option<NonZeroU32> {
        self.plan.config.clock_error_ns
    }

    fn idle_flow_timeout(&self) -> TimeSpan {
        self.plan.config.idle_flow_timeout
    }
}

impl ReportsToCollectors for SinkDaemon {
    fn emitter(&mut self) -> &mut Emitter {
        &mut self.reports.emitter
    }

    fn node(&self) -> Result<NodeId> {
        Ok(self.plan.node.id)
    }

    fn sends_extended(&self) -> bool {
        let config = &self.plan.config;
        !config.collectors.is_empty() && config.compat.is_none()
    }

    fn holds_host(&self) -> bool {
        true
    }

    fn identity(&self) -> Option<&IdentitySettings> {
        self.plan.config.identity.as_ref()
    }

    fn lacks(&self) -> Result<KernelParts> {
        Ok(self.sink.host.parts()?.refused)
    }
}

impl HasBudget for SinkDaemon {
    fn budget(&self) -> CpuBudget {
        let file = self.plan.file.as_ref();
        let of_file = file.and_then(|file| file.source.options.budget);
        budget_of_environment().or(of_file).unwrap_or_default()
    }
}

impl HasFileRules for SinkDaemon {
    fn file_rules(&self) -> Option<&[WatchRule]> {
        let file = self.plan.file.as_ref();
        file.is_some_and(File::is_about_sources)
            .then_some(&*self.plan.rules)
    }
}

impl ShowsSigns for SinkDaemon {
    fn signs(&mut self) -> &mut Signs {
        &mut self.signs
    }

    fn lacking(&mut self) -> Vec<String> {
        let attached = match sink_links::attached_devs(&self.side.pins) {
            Ok(attached) => attached,
            Err(err) => return vec![format!("cannot look at what is attached: {err}")],
        };
        let is_attached = |dev: &String| attached.iter().any(|(name, _)| name == dev);
        let mut lacking: Vec<String> = self
            .plan
            .config
            .devs
            .iter()
            .filter(|dev| !is_attached(dev))
            .map(|dev| format!("not attached to {dev}"))
            .collect();
        if self
            .side
            .clock
            .is_none_or(|clock| clock.source == ClockSource::Unknown)
        {
            lacking.push("the clock that stamps packets is not known".to_owned());
        }
        if let Err(err) = self.side.pins.check_visible() {
            lacking.push(err.to_string());
        }
        lacking
    }

    fn state_line(&mut self) -> Result<String> {
        let lost = self.reports.emitter.counts().lost;
        let leases = self.side.leases.as_ref();
        state_line::of_sink(&self.side.pins, self.flows.seen_in_pass, lost, leases)
    }
}
