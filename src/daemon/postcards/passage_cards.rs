//! The passages through a host: their programs, and the flows that were reported.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::links::HostLinks;
use super::passage_interfaces::PassageInterfaces;
use super::plan::PostcardsPlan;
use super::reported_flows::ReportedFlows;
use crate::config::HopsChoice;
use crate::datapath::postcards::passages::{PassagePrograms, read_event};
use crate::datapath::sink::event_ring::EventRing;
use crate::host::advice::unless_refused;
use crate::model::{FlowPassage, FlowPassageId, HopsStatus, KernelPart, PartsFound, PassageTotals};
use crate::os::{privileges, wait::Wait};

/// Hops that are watched.
pub struct PassageCards {
    pub programs: PassagePrograms,
    pub interfaces: PassageInterfaces,
    events: EventRing,
    reported: ReportedFlows<FlowPassageId>,
    /// The flows in the table when they were read last.
    flows: usize,
}

impl PassageCards {
    /// Attaches the programs to the interfaces of the plan; `None` if the kernel lacks or refuses them.
    pub fn begin(
        plan: &PostcardsPlan,
        links: &HostLinks,
        found: &mut PartsFound,
    ) -> Result<Option<Self>> {
        let config = &plan.config;
        let started = PassagePrograms::start(config.max_flows, &plan.for_hops()?);
        let part = KernelPart::Passages;
        let (programs, here) = unless_refused(part, &privileges::POSTCARDS_HOPS, started)
            .context("cannot time packets")?;
        found.add(here);
        let Some(mut programs) = programs else {
            return Ok(None);
        };
        found.add(programs.found());
        let interfaces = PassageInterfaces::begin(&config.devs, links, &mut programs)
            .with_context(|| format!("cannot time packets at {}", config.devs.join(", ")))?;
        Ok(Some(Self {
            interfaces,
            events: programs.events().context("cannot read hops")?,
            programs,
            reported: ReportedFlows::new(config.max_reports),
            flows: 0,
        }))
    }

    /// Goes on with a new plan.
    pub fn set(&mut self, plan: &PostcardsPlan) -> Result<()> {
        self.programs.set(&plan.for_hops()?)?;
        self.reported.set_most(plan.config.max_reports);
        Ok(())
    }

    /// All counts since the programs were attached.
    pub fn totals(&self, links: &HostLinks) -> Result<PassageTotals> {
        let mut totals = self.programs.totals()?;
        for one in &mut totals.passages {
            one.in_interface = links.name_of(one.in_ifindex);
            one.out_interface = links.name_of(one.out_ifindex);
        }
        totals.interfaces = self.programs.interfaces() as u64;
        totals.left_out = self.interfaces.left_out() as u64;
        totals.put_back = self.interfaces.put_back;
        totals.told = self.reported.reports;
        totals.put_off = self.reported.put_off;
        Ok(totals)
    }

    /// What `hostint status` shows.
    pub fn status(&self, plan: &PostcardsPlan, links: &HostLinks) -> Result<HopsStatus> {
        Ok(HopsStatus {
            devs: plan.config.devs.clone(),
            by_rules: plan.config.hops == HopsChoice::Watched,
            flows_total: self.flows,
            flows_max: plan.config.max_flows,
            totals: self.totals(links)?,
        })
    }

    /// Lets the daemon wake for news.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.events.wakes(wait);
    }

    pub fn reports(&self) -> u64 {
        self.reported.reports
    }

    /// Flows with news since the last call.
    pub fn news(&mut self) -> Result<Vec<FlowPassage>> {
        let mut new = Vec::new();
        self.events.drain(|bytes| new.extend(read_event(bytes)))?;
        Ok(new)
    }

    /// Of these flows those that may be reported now, with their interfaces' names. `read` is as for `ToldFlows::news`.
    pub fn take(
        &mut self,
        hops: Vec<FlowPassage>,
        read: Option<Instant>,
        links: &HostLinks,
    ) -> Vec<FlowPassage> {
        let now = Instant::now();
        let reported = &mut self.reported;
        let taken = hops.into_iter();
        let mut taken: Vec<FlowPassage> = taken
            .filter(|hop| reported.take(hop.id(), hop.packets, read, now))
            .collect();
        for hop in &mut taken {
            hop.in_interface = links.name_of(hop.in_ifindex);
            hop.out_interface = links.name_of(hop.out_ifindex);
        }
        taken
    }

    /// Flows that had packets since they were reported, and were not reported for `period`; all of the former if there
    /// is none; and the time when they were read.
    pub fn due(
        &mut self,
        period: Option<Duration>,
        idle: Duration,
    ) -> Result<(Vec<FlowPassage>, Instant)> {
        let now = Instant::now();
        let idle_ns = u64::try_from(idle.as_nanos()).unwrap_or(u64::MAX);
        let mut present: HashSet<FlowPassageId> = HashSet::new();
        let mut due = Vec::new();
        let reported = &self.reported;
        self.programs.sweep(idle_ns, |hop| {
            let id = hop.id();
            present.insert(id);
            // The last time was at the end of a sweep, and this is the beginning of one.
            let is_due = period.is_none_or(|one| reported.is_due(&id, one - one / 10, now));
            if is_due && reported.news(&id, hop.packets, Some(now)) > 0 {
                due.push(hop);
            }
        })?;
        self.flows = present.len();
        self.reported.keep(|id| present.contains(id));
        // If there are too many, those with most packets come first.
        due.sort_by_key(|hop| {
            std::cmp::Reverse(self.reported.news(&hop.id(), hop.packets, Some(now)))
        });
        Ok((due, now))
    }
}
