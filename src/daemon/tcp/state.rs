//! The state of the daemon that watches TCP connections, which its duties share.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::connections::Connections;
use super::lines::TcpLines;
use super::plan::TcpDaemonPlan;
use super::report_fifo::ReportFifo;
use crate::config::TcpReportChoice;
use crate::daemon::answers::CollectorsStatus;
use crate::daemon::duties::HasRules;
use crate::daemon::own_host::OwnHost;
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::datapath::sink::event_ring::EventRing;
use crate::datapath::tcp::programs::TcpPrograms;
use crate::model::{HostStatus, TcpNews, TcpReport, TcpStatus, TcpTotals, WatchRule};
use crate::report::Emitter;
use crate::views::drops::counted;

/// Connections that are watched.
pub struct TcpDaemon {
    pub programs: TcpPrograms,
    pub plan: TcpDaemonPlan,
    pub connections: Connections,
    pub lines: TcpLines,
    pub host: OwnHost,
    /// The way to the collectors, and what waits for it.
    pub emitter: Emitter,
    pub queue: ReportFifo,
    pub signs: Signs,
    /// The duration of the last walk.
    pub walk: Duration,
    /// The time at which counts began.
    pub since_ns: u64,
}

impl TcpDaemon {
    /// Reads the state of all watched connections, and tells what is new.
    pub fn sample(&mut self) -> Result<()> {
        let begun = Instant::now();
        let report = self.plan.config.report;
        let mut reported = Vec::new();
        let connections = &mut self.connections;
        connections.begin_walk();
        self.programs.walk(|sample| {
            let news = connections.take(sample);
            if let Some(news) = news.filter(|news| is_told(report, *news)) {
                reported.push((news, sample.socket));
            }
        })?;
        self.walk = begun.elapsed();
        for (news, socket) in reported {
            if let Some(report) = self.connections.report_of(news, socket) {
                self.lines.add(&report)?;
            }
        }
        for gone in self.connections.end_walk() {
            self.lines.add(&gone)?;
            self.queue_ending(gone);
        }
        if self.has_collectors() {
            let period_ns = self.plan.config.report_period.0.as_nanos();
            let period_ns = u64::try_from(period_ns).unwrap_or(u64::MAX);
            self.queue.add_due(self.connections.due(period_ns));
        }
        self.lines.flush()
    }

    /// Reports the connections that have ended.
    pub fn report_endings(&mut self, ring: &mut EventRing) -> Result<()> {
        let connections = &mut self.connections;
        let mut ended = Vec::new();
        self.programs
            .read_endings(ring, |sample| ended.push(connections.end(sample)))?;
        for report in ended {
            self.lines.add(&report)?;
            self.queue_ending(report);
        }
        self.lines.flush()
    }

    fn has_collectors(&self) -> bool {
        !self.plan.config.collectors.is_empty()
    }

    fn queue_ending(&mut self, report: TcpReport) {
        if self.has_collectors() {
            self.queue.add_ending(report);
        }
    }

    /// Writes the table of the worst connections.
    pub fn show(&mut self, top: usize) -> Result<()> {
        let totals = self.totals()?;
        let top = self.connections.top(top);
        self.lines.add_table(&top, &totals)?;
        self.lines.flush()
    }

    /// All counts since the programs were attached.
    pub fn totals(&self) -> Result<TcpTotals> {
        let counts = self.programs.counts()?;
        Ok(TcpTotals {
            begun: counts.begun,
            ended: counts.ended,
            failed: counts.failed,
            ends_limited: counts.ends_limited,
            ends_lost: counts.ends_lost,
            ends_unreported: self.queue.endings_lost,
            walk_ns: u64::try_from(self.walk.as_nanos()).unwrap_or(u64::MAX),
            option: self.plan.config.option.sends().then_some(counts.option),
            ..self.connections.sums()
        })
    }
}

impl CollectorsStatus for TcpDaemon {
    fn host_status(&mut self) -> Result<HostStatus> {
        let config = &self.plan.config;
        let counts = self.emitter.counts();
        let addresses = self.plan.collectors.iter();
        let ns = |period: Duration| u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
        Ok(HostStatus {
            tcp: Some(TcpStatus {
                daemon_pid: std::process::id(),
                node_id: self.host.node(),
                since_ns: self.since_ns,
                sample_period_ns: ns(config.sample_period.0),
                report_period_ns: ns(config.report_period.0),
                collectors: addresses.map(SocketAddr::to_string).collect(),
                reports_sent: counts.sent,
                reports_lost: counts.lost,
                connections_max: config.max_connections,
                totals: self.totals()?,
            }),
            lacks: self.programs.found().refused.lacks(),
            ..HostStatus::of_nothing()
        })
    }
}

fn is_told(choice: TcpReportChoice, news: TcpNews) -> bool {
    match news {
        TcpNews::End | TcpNews::Gone => true,
        TcpNews::Open | TcpNews::Change => choice != TcpReportChoice::End,
        TcpNews::Sample => choice == TcpReportChoice::Sample,
    }
}

impl HasRules for TcpDaemon {
    fn rules(&mut self) -> &mut Vec<WatchRule> {
        &mut self.plan.rules
    }

    fn set_rules(&mut self) -> Result<()> {
        Ok(self.programs.set(&self.plan.for_programs()?)?)
    }
}

impl ShowsSigns for TcpDaemon {
    fn signs(&mut self) -> &mut Signs {
        &mut self.signs
    }

    fn lacking(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn state_line(&mut self) -> Result<String> {
        let open = counted(self.connections.len() as u64, "connection");
        Ok(format!("{open} watched"))
    }
}
