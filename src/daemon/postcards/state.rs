//! The state of a daemon of postcards, which its duties share.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::drop_cards::DropCards;
use super::lines::PostcardLines;
use super::links::HostLinks;
use super::names::KernelNames;
use super::passage_cards::PassageCards;
use super::plan::PostcardsPlan;
use super::pods::PodNames;
use super::queue_cards::QueueCards;
use crate::daemon::answers::CollectorsStatus;
use crate::daemon::duties::HasRules;
use crate::daemon::own_host::{OwnHost, SeesOwnHost};
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::model::{
    DropTotals, FlowPassage, HostDrop, HostStatus, KernelParts, PassageTotals, PostcardsStatus,
    QueueTotals, WatchRule,
};
use crate::os::wait::Wait;
use crate::report::Emitter;
use crate::views::drops::counted;

/// Postcards that are written.
pub struct PostcardsDaemon {
    /// `None` if drops are not reported.
    pub drops: Option<DropCards>,
    /// `None` if hops are not reported.
    pub hops: Option<PassageCards>,
    /// `None` if queues are not watched.
    pub queues: Option<QueueCards>,
    pub links: HostLinks,
    pub pods: PodNames,
    pub host: OwnHost,
    /// The way to the collectors.
    pub emitter: Emitter,
    pub plan: PostcardsPlan,
    pub names: KernelNames,
    /// `None` if only the counts at the end are printed.
    pub lines: Option<PostcardLines>,
    pub signs: Signs,
    /// The time at which counts began.
    pub since_ns: u64,
    /// What the kernel does not give of what is asked for.
    pub refused: KernelParts,
}

/// All counts since the programs were attached.
#[derive(Default)]
pub struct PostcardsTotals {
    pub drops: Option<DropTotals>,
    pub hops: Option<PassageTotals>,
    pub queues: Option<QueueTotals>,
}

impl PostcardsDaemon {
    /// Reports flows whose first packet was just seen, or that changed, and episodes that begin or end.
    pub fn tell_news(&mut self) -> Result<()> {
        self.report_new_drops()?;
        self.report_new_hops()?;
        self.send_queues(self.plan.config.report_period.0, false)
    }

    /// Lets the daemon wake for such news.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.drops.iter().for_each(|drops| drops.wakes(wait));
        self.hops.iter().for_each(|hops| hops.wakes(wait));
        self.queues.iter().for_each(|queues| queues.wakes(wait));
    }

    /// Reports flows whose first drop was just seen.
    pub fn report_new_drops(&mut self) -> Result<()> {
        match &mut self.drops {
            Some(drops) => {
                let new = drops.news()?;
                self.report_drops(new, None)
            }
            None => Ok(()),
        }
    }

    /// Reports those of these flows that have news, as far as the limit lets it.
    pub fn report_drops(&mut self, found: Vec<HostDrop>, read: Option<Instant>) -> Result<()> {
        let Some(drops) = &mut self.drops else {
            return Ok(());
        };
        let taken = drops.take(found, read);
        let taken = self.names.hold(taken);
        self.report_named(taken)
    }

    /// Reports the drops that wait for names.
    pub fn report_held(&mut self) -> Result<()> {
        let held = self.names.release();
        self.report_named(held)
    }

    fn report_named(&mut self, mut taken: Vec<HostDrop>) -> Result<()> {
        self.names.name(&mut taken, &self.links);
        self.pods.name_drops(&mut taken);
        self.host.place(&mut taken)?;
        self.report(&taken);
        if let Some(lines) = &mut self.lines {
            for drop in &taken {
                lines.add(drop)?;
            }
            lines.flush()?;
        }
        Ok(())
    }

    /// Tells collectors again what these flows reported last.
    pub fn repeat(&mut self, mut drops: Vec<HostDrop>) -> Result<()> {
        if self.plan.config.collectors.is_empty() || self.sends_standard() {
            return Ok(());
        }
        self.names.name(&mut drops, &self.links);
        self.pods.name_drops(&mut drops);
        self.host.place(&mut drops)?;
        self.report(&drops);
        Ok(())
    }

    /// Reports flows that begin or change.
    pub fn report_new_hops(&mut self) -> Result<()> {
        let Some(hops) = &mut self.hops else {
            return Ok(());
        };
        let new = hops.news()?;
        self.send_hops(new, None)
    }

    /// Reports those of these flows that may be reported now.
    pub fn send_hops(&mut self, found: Vec<FlowPassage>, read: Option<Instant>) -> Result<()> {
        let Some(hops) = &mut self.hops else {
            return Ok(());
        };
        let mut taken = hops.take(found, read, &self.links);
        self.pods.name_hops(&mut taken);
        self.report_hops(&taken);
        if let Some(lines) = &mut self.lines {
            for hop in &taken {
                lines.add_hop(hop)?;
            }
            lines.flush()?;
        }
        Ok(())
    }

    /// Tells episodes that begin and end, and once in a period those that go on.
    pub fn send_queues(&mut self, period: Duration, compares: bool) -> Result<()> {
        let Some(queues) = &mut self.queues else {
            return Ok(());
        };
        let due = queues.due(period, compares, &self.links)?;
        self.report_queues(&due.news);
        self.report_queues(&due.again);
        self.report_queue_packets(&due.packets);
        if let Some(lines) = &mut self.lines {
            for episode in &due.news {
                lines.add_queue(episode)?;
            }
            lines.flush()?;
        }
        Ok(())
    }

    /// Returns true if the names of all places are known. Without them, counts take a quarter of a second to be read.
    pub fn knows_places(&mut self) -> Result<bool> {
        match &self.drops {
            Some(drops) => drops.knows_places(&mut self.names),
            None => Ok(true),
        }
    }

    /// All counts since the programs were attached.
    pub fn totals(&mut self) -> Result<PostcardsTotals> {
        let (drops, hops) = (&self.drops, &self.hops);
        let (names, links) = (&mut self.names, &self.links);
        let drops = drops.as_ref().map(|one| one.totals(names, links));
        let hops = hops.as_ref().map(|one| one.totals(links));
        let queues = self.queues.as_ref().map(|one| one.totals(links));
        Ok(PostcardsTotals {
            drops: drops.transpose()?,
            hops: hops.transpose()?,
            queues: queues.transpose()?,
        })
    }

    /// What is reported, in words.
    pub fn reported_kinds(&self) -> String {
        let kinds = [
            (self.drops.is_some(), "drops"),
            (self.hops.is_some(), "hops"),
            (self.queues.is_some(), "queues"),
        ];
        let kinds: Vec<&str> = kinds
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, it)| *it)
            .collect();
        match &kinds[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            _ => kinds.concat(),
        }
    }

    /// What `hostint status` shows.
    pub fn status(&mut self) -> Result<PostcardsStatus> {
        let (drops, hops) = (&self.drops, &self.hops);
        let (plan, names, links) = (&self.plan, &mut self.names, &self.links);
        let drops = drops.as_ref().map(|one| one.status(plan, names, links));
        let hops = hops.as_ref().map(|one| one.status(plan, links));
        let queues = self.queues.as_ref().map(|one| one.status(links));
        let counts = self.emitter.counts();
        let addresses = plan.collectors.iter();
        Ok(PostcardsStatus {
            daemon_pid: std::process::id(),
            node_id: self.host.node(),
            since_ns: self.since_ns,
            report_period_ns: plan.config.report_period.as_ns(),
            collectors: addresses.map(SocketAddr::to_string).collect(),
            reports_sent: counts.sent,
            reports_lost: counts.lost,
            named_links: self.pods.named_links(),
            drops: drops.transpose()?,
            hops: hops.transpose()?,
            queues: queues.transpose()?,
        })
    }
}

impl HasRules for PostcardsDaemon {
    fn rules(&mut self) -> &mut Vec<WatchRule> {
        &mut self.plan.rules
    }

    fn set_rules(&mut self) -> Result<()> {
        match &mut self.hops {
            Some(hops) => hops.set(&self.plan),
            None => Ok(()),
        }
    }
}

impl CollectorsStatus for PostcardsDaemon {
    fn host_status(&mut self) -> Result<HostStatus> {
        Ok(HostStatus {
            postcards: Some(self.status()?),
            lacks: self.refused.lacks(),
            ..HostStatus::of_nothing()
        })
    }
}

impl SeesOwnHost for PostcardsDaemon {
    fn own_host(&mut self) -> &mut OwnHost {
        &mut self.host
    }
}

impl ShowsSigns for PostcardsDaemon {
    fn signs(&mut self) -> &mut Signs {
        &mut self.signs
    }

    fn lacking(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn state_line(&mut self) -> Result<String> {
        let drops = self.drops.as_ref();
        let drops = drops.map(|it| format!("drops of {} reported", counted(it.reports(), "flow")));
        let hops = self.hops.as_ref();
        let hops = hops.map(|it| format!("{} of hops reported", counted(it.reports(), "line")));
        let queues = self.queues.as_ref();
        let queues =
            queues.map(|it| format!("{} of queues reported", counted(it.reports(), "line")));
        let all: Vec<String> = drops.into_iter().chain(hops).chain(queues).collect();
        Ok(all.join(", "))
    }
}
