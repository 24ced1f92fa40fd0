//! The state of a daemon of postcards, which its duties share.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::lines::PostcardLines;
use super::names::KernelNames;
use super::plan::PostcardsPlan;
use super::told::ToldDrops;
use crate::daemon::own_host::{OwnHost, SeesOwnHost};
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::datapath::drops::{DropPlan, DropProgram, read_event};
use crate::datapath::event_ring::EventRing;
use crate::model::{DropTotals, DropsWithoutPacket, HostDrop};
use crate::os::kernel_counters::{self, KernelCounter};
use crate::report::Emitter;
use crate::views::drops::counted;

/// Postcards that are written.
pub struct PostcardsDaemon {
    pub program: DropProgram,
    pub host: OwnHost,
    /// The way to the collectors.
    pub emitter: Emitter,
    pub plan: PostcardsPlan,
    /// The plan as the program has it.
    pub programmed: DropPlan,
    pub names: KernelNames,
    pub told: ToldDrops,
    /// `None` if only the counts at the end are printed.
    pub lines: Option<PostcardLines>,
    pub signs: Signs,
    /// The kernel's counters as they were when the program was attached.
    pub counters_before: Vec<KernelCounter>,
}

impl PostcardsDaemon {
    /// Tells flows whose first drop was just seen.
    pub fn tell_new_flows(&mut self, events: &mut EventRing, wait: Duration) -> Result<()> {
        let mut new = Vec::new();
        events.drain(wait, |bytes| new.extend(read_event(bytes)))?;
        self.tell(new)
    }

    /// Tells those of these flows that have news, as far as the limit lets it.
    pub fn tell(&mut self, drops: Vec<HostDrop>) -> Result<()> {
        let now = Instant::now();
        let mut taken: Vec<HostDrop> = drops
            .into_iter()
            .filter(|drop| self.told.take(drop, now))
            .collect();
        self.names.name(&mut taken);
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

    /// Tells collectors again what these flows told last.
    pub fn repeat(&mut self, mut drops: Vec<HostDrop>) -> Result<()> {
        if self.plan.config.collectors.is_empty() {
            return Ok(());
        }
        self.names.name(&mut drops);
        self.host.place(&mut drops)?;
        self.report(&drops);
        Ok(())
    }

    /// All counts since the program was attached.
    pub fn totals(&mut self) -> Result<DropTotals> {
        let places = self.program.places(&self.names.reasons)?;
        let mut totals = self
            .program
            .totals(&self.names.reasons, &self.programmed, &places)?;
        totals.places = self.names.name_places(places);
        totals.without_packet = self.without_packet()?;
        totals.told = self.told.told;
        totals.put_off = self.told.put_off;
        Ok(totals)
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
        Ok(format!("drops of {} told", counted(self.told.told, "flow")))
    }
}
