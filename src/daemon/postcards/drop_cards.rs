//! The drops of a host: their program, and the flows that were reported.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::links::HostLinks;
use super::names::KernelNames;
use super::plan::PostcardsPlan;
use super::reported_flows::ReportedFlows;
use crate::datapath::postcards::drops::{DropPlan, DropProgram, read_event};
use crate::datapath::sink::event_ring::EventRing;
use crate::host::advice::unless_refused;
use crate::model::{
    DropId, DropTotals, DropsStatus, DropsWithoutPacket, HostDrop, KernelPart, PartsFound,
};
use crate::os::kernel_counters::{self, KernelCounter};
use crate::os::{log, privileges, wait::Wait};

/// Drops that are watched.
pub struct DropCards {
    program: DropProgram,
    /// The plan as the program has it.
    programmed: DropPlan,
    events: EventRing,
    reported: ReportedFlows<DropId>,
    /// The kernel's counters as they were when the program was attached.
    counters_before: Vec<KernelCounter>,
    /// The flows in the program's table when they were read last.
    flows: usize,
}

/// Flows of the table: those with news, and those whose last report is to be repeated.
pub struct DueDrops {
    pub read: Instant,
    pub news: Vec<HostDrop>,
    pub again: Vec<HostDrop>,
}

impl DropCards {
    /// Attaches the program; `None` if the kernel lacks or refuses it.
    pub fn begin(
        plan: &PostcardsPlan,
        names: &KernelNames,
        found: &mut PartsFound,
    ) -> Result<Option<Self>> {
        if !names.reasons.exist() {
            log::warning(
                "this kernel gives no reasons for drops (Linux 5.17 does): packets are reported by the place that freed \
                 them, and many of those were no loss",
            );
        }
        // What was lost before is not reported; what is lost from here on is.
        let counters_before =
            kernel_counters::read().context("cannot read the kernel's counters")?;
        let programmed = plan.for_drops(&names.reasons)?;
        let program = DropProgram::attach(plan.config.max_flows, &programmed);
        let (program, here) = unless_refused(KernelPart::Drops, &privileges::POSTCARDS, program)
            .context("cannot see drops")?;
        found.add(here);
        let Some(program) = program else {
            return Ok(None);
        };
        Ok(Some(Self {
            events: program.events().context("cannot read drops")?,
            program,
            programmed,
            reported: ReportedFlows::new(plan.config.max_reports),
            counters_before,
            flows: 0,
        }))
    }

    /// Goes on with a new plan.
    pub fn set(&mut self, plan: &PostcardsPlan, names: &KernelNames) -> Result<()> {
        self.programmed = plan.for_drops(&names.reasons)?;
        self.program.set(&self.programmed)?;
        self.reported.set_most(plan.config.max_reports);
        Ok(())
    }

    /// Asks for the names of all places. Returns true if they are known.
    pub fn knows_places(&self, names: &mut KernelNames) -> Result<bool> {
        let places = self.program.places(&names.reasons)?;
        Ok(names.ask(places.iter().map(|place| place.address)))
    }

    /// All counts since the program was attached.
    pub fn totals(&self, names: &mut KernelNames, links: &HostLinks) -> Result<DropTotals> {
        let places = self.program.places(&names.reasons)?;
        let mut totals = self
            .program
            .totals(&names.reasons, &self.programmed, &places)?;
        totals.places = names.name_places(places, links);
        totals.without_packet = self.without_packet()?;
        totals.told = self.reported.reports;
        totals.put_off = self.reported.put_off;
        Ok(totals)
    }

    /// What `hostint status` shows.
    pub fn status(
        &self,
        plan: &PostcardsPlan,
        names: &mut KernelNames,
        links: &HostLinks,
    ) -> Result<DropsStatus> {
        let config = &plan.config;
        Ok(DropsStatus {
            netns: config.netns.name(),
            gives_reasons: names.reasons.exist(),
            ignored_reasons: config.ignored_reasons.clone(),
            flows_total: self.flows,
            flows_max: config.max_flows,
            totals: self.totals(names, links)?,
        })
    }

    /// Lets the daemon wake for news.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.events.wakes(wait);
    }

    pub fn reports(&self) -> u64 {
        self.reported.reports
    }

    /// Flows whose first drop was seen since the last call.
    pub fn news(&mut self) -> Result<Vec<HostDrop>> {
        let mut new = Vec::new();
        self.events.drain(|bytes| new.extend(read_event(bytes)))?;
        Ok(new)
    }

    /// Of these flows those that have news which may be reported now. `read` is as for `ToldFlows::news`.
    pub fn take(&mut self, drops: Vec<HostDrop>, read: Option<Instant>) -> Vec<HostDrop> {
        let now = Instant::now();
        let drops = drops.into_iter();
        drops
            .filter(|drop| self.reported.take(drop.id(), drop.count.packets, read, now))
            .collect()
    }

    /// Reads the table, and forgets flows that had no drop for this time.
    pub fn sweep(&mut self, idle: Duration) -> Result<DueDrops> {
        let idle_ns = u64::try_from(idle.as_nanos()).unwrap_or(u64::MAX);
        let mut present: HashSet<DropId> = HashSet::new();
        let mut due = DueDrops {
            read: Instant::now(),
            news: Vec::new(),
            again: Vec::new(),
        };
        let read = Some(due.read);
        let reported = &mut self.reported;
        self.program.sweep(idle_ns, |drop| {
            let id = drop.id();
            present.insert(id);
            if reported.news(&id, drop.count.packets, read) > 0 {
                due.news.push(drop);
            } else if reported.repeat(&id, drop.count.packets) {
                due.again.push(drop);
            }
        })?;
        self.flows = present.len();
        reported.keep(|id| present.contains(id));
        // If there are too many, those with most packets come first.
        due.news.sort_by_key(|drop| {
            std::cmp::Reverse(reported.news(&drop.id(), drop.count.packets, read))
        });
        Ok(due)
    }

    /// What the kernel's counters tell more than when the program was attached.
    fn without_packet(&self) -> Result<Vec<DropsWithoutPacket>> {
        let mut found = Vec::new();
        for (counter, interface, count) in kernel_counters::read()? {
            let known = self.counters_before.iter();
            let mut before = known.filter(|(name, dev, _)| *name == counter && *dev == interface);
            let before = before.next().map_or(0, |(.., count)| *count);
            if count > before {
                found.push(DropsWithoutPacket {
                    counter: counter.to_owned(),
                    interface,
                    count: count - before,
                });
            }
        }
        Ok(found)
    }
}
