//! The queues of a host: their programs, and the episodes that were reported.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::episodes::{DueEpisodes, Episodes};
use super::links::HostLinks;
use super::plan::PostcardsPlan;
use super::reported_flows::ReportRate;
use crate::datapath::postcards::queues::{MOST_RULES, QueuePrograms, QueueRules};
use crate::datapath::sink::event_ring::EventRing;
use crate::host::advice::unless_refused;
use crate::model::{
    KernelPart, PartsFound, QueueEpisode, QueueMeasure, QueueRule, QueueTotals, QueuesStatus,
};
use crate::os::{clock, netns, privileges, wait::Wait};

/// The time between two looks whether news that wait may be told.
const LOOK: Duration = Duration::from_millis(20);

/// Queues that are watched.
pub struct QueueCards {
    programs: QueuePrograms,
    events: EventRing,
    episodes: Episodes,
    rules: Vec<QueueRule>,
    /// Standard reports are sent, which are about packets.
    keeps_packets: bool,
    packet_rate: ReportRate,
}

impl QueueCards {
    /// Attaches the programs, for the interfaces of the plan; `None` if the kernel lacks or refuses them.
    pub fn begin(
        plan: &PostcardsPlan,
        links: &HostLinks,
        found: &mut PartsFound,
    ) -> Result<Option<Self>> {
        let rules = plan.config.queues.clone();
        for rule in rules.iter().filter(|rule| rule.names_one()) {
            let name = &rule.dev;
            if !links.here().any(|link| link.name == *name) {
                bail!(
                    "cannot watch the queue of {name}: no such interface (try ip link, or a pattern for one that is to \
                     come)"
                );
            }
        }
        let netns = netns::inode().context("cannot watch queues")?;
        let started = QueuePrograms::start(netns, has_times(&rules));
        let part = KernelPart::QueueEpisodes;
        let (programs, here) =
            unless_refused(part, &privileges::POSTCARDS, started).context("cannot watch queues")?;
        found.add(here);
        let Some(programs) = programs else {
            return Ok(None);
        };
        found.add(programs.found());
        let mut cards = Self {
            events: programs
                .events()
                .context("cannot read the events of queues")?,
            programs,
            episodes: Episodes::new(plan.config.max_reports),
            rules,
            keeps_packets: plan.config.report_format.standard().is_some(),
            packet_rate: ReportRate::new(plan.config.max_reports),
        };
        cards.follow(links)?;
        Ok(Some(cards))
    }

    /// True if rules by time are possible.
    pub fn sees_times(&self) -> bool {
        self.programs.sees_times()
    }

    /// Goes on with a new plan.
    pub fn set(&mut self, plan: &PostcardsPlan, links: &HostLinks) -> Result<()> {
        self.rules.clone_from(&plan.config.queues);
        self.episodes.set_most(plan.config.max_reports);
        self.packet_rate.set_most(plan.config.max_reports);
        self.keeps_packets = plan.config.report_format.standard().is_some();
        self.follow(links)
    }

    /// Gives the programs the rules for the interfaces that are here now. Of several the first one counts.
    pub fn follow(&mut self, links: &HostLinks) -> Result<()> {
        let mut found = QueueRules::new();
        for rule in &self.rules {
            let fitting = links.here().filter(|link| rule.covers(&link.name));
            for link in fitting.take(MOST_RULES - found.len().min(MOST_RULES)) {
                let known = found.entry((link.index, rule.queue));
                known.or_insert(rule.limits);
            }
        }
        self.episodes
            .keep(|index| found.keys().any(|(known, _)| *known == index));
        Ok(self.programs.set(found)?)
    }

    /// The episodes that begin and end, and those that are due. `compares` is true once in a period.
    pub fn due(
        &mut self,
        period: Duration,
        compares: bool,
        links: &HostLinks,
    ) -> Result<DueEpisodes> {
        let offset = clock::wall_offset();
        let (programs, episodes) = (&self.programs, &mut self.episodes);
        let mut packets = Vec::new();
        let keeps = self.keeps_packets;
        self.events.drain(|bytes| {
            if let Some(news) = programs.read_event(bytes, offset) {
                episodes.add(news.episode, news.flow);
                packets.extend(news.packet.filter(|_| keeps));
            }
        })?;
        if compares {
            let queues = programs.queues()?.into_iter();
            episodes.compare(queues.filter_map(|(_, newest)| newest).collect());
        }
        let mut due = episodes.due(period, compares, Instant::now());
        let now = Instant::now();
        let untold = packets.len();
        packets.retain(|_| self.packet_rate.take(now));
        self.episodes.untold += (untold - packets.len()) as u64;
        due.packets = packets;
        let name = |one: &mut QueueEpisode| one.interface = links.name_of(one.ifindex);
        due.news.iter_mut().for_each(name);
        due.again.iter_mut().for_each(name);
        Ok(due)
    }

    /// All counts since the programs were attached.
    pub fn totals(&self, links: &HostLinks) -> Result<QueueTotals> {
        let mut totals = self.programs.totals()?;
        for one in &mut totals.queues {
            one.interface = links.name_of(one.ifindex);
        }
        totals.told = self.episodes.reports();
        totals.put_off = self.episodes.put_off();
        totals.untold = self.episodes.untold;
        Ok(totals)
    }

    /// What `hostint status` shows.
    pub fn status(&self, links: &HostLinks) -> Result<QueuesStatus> {
        let mut devs: Vec<String> = Vec::new();
        for rule in &self.rules {
            if !devs.contains(&rule.dev) {
                devs.push(rule.dev.clone());
            }
        }
        Ok(QueuesStatus {
            devs,
            totals: self.totals(links)?,
        })
    }

    /// Lets the daemon wake for news, and look again whether those that wait may be told.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.events.wakes(wait);
        if self.episodes.waits {
            wait.until(Instant::now() + LOOK);
        }
    }

    pub fn reports(&self) -> u64 {
        self.episodes.reports()
    }
}

/// True if packets are to be timed.
pub fn has_times(rules: &[QueueRule]) -> bool {
    let times = |rule: &QueueRule| rule.limits.measure == QueueMeasure::Time;
    rules.iter().any(times)
}
