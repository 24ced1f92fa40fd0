//! The return of fine slots whose flows are gone.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::time::{Duration, Instant};

use super::fine_slots::FineSlots;
use crate::datapath::abi::{flow_key, sink_flow};
use crate::datapath::kernel::maps::Map;

/// A program that found a flow before it was removed has counted its packet after this time.
const STILL_COUNTED: Duration = Duration::from_secs(1);

/// Slots that will be free.
#[derive(Default)]
pub(in crate::datapath) struct FineReturns {
    /// In the order of time.
    waiting: VecDeque<(Instant, u32)>,
    /// Slots that were neither free nor of a flow when this process began: an earlier one was killed before it returned
    /// them.
    lost: Option<(Instant, HashSet<u32>)>,
}

fn used_slots(flows: &Map<flow_key, sink_flow>) -> io::Result<HashSet<u32>> {
    let mut used = HashSet::new();
    flows.for_each(|_, flow| used.extend(flow.fine_index()))?;
    Ok(used)
}

impl FineReturns {
    /// Looks for slots of which an earlier process lost track.
    pub fn look_for_lost(
        slots: &FineSlots,
        flows: &Map<flow_key, sink_flow>,
        now: Instant,
    ) -> io::Result<Self> {
        let free = slots.list_free()?;
        let mut found = Self::default();
        let made = slots.made()?;
        if free.len() < made as usize {
            let used = used_slots(flows)?;
            let lost = (0..made).filter(|index| !free.contains(index));
            let lost: HashSet<u32> = lost.filter(|index| !used.contains(index)).collect();
            found.lost = (!lost.is_empty()).then_some((now, lost));
        }
        Ok(found)
    }

    /// Takes the slots of a flow that was removed.
    pub fn take(&mut self, flow: &sink_flow, now: Instant) {
        let index = flow.fine_index();
        self.waiting.extend(index.map(|index| (now, index)));
    }

    /// Makes slots free whose flows were removed long enough ago.
    pub fn give_back(
        &mut self,
        slots: &FineSlots,
        flows: &Map<flow_key, sink_flow>,
        now: Instant,
    ) -> io::Result<()> {
        let is_over = |since: Instant| now.saturating_duration_since(since) >= STILL_COUNTED;
        if let Some((_, lost)) = self.lost.take_if(|(since, _)| is_over(*since)) {
            // A flow that just began had taken its slots, and was not in the table.
            let used = used_slots(flows)?;
            for index in lost.difference(&used) {
                slots.give_back(*index)?;
            }
        }
        let over = self.waiting.partition_point(|(since, _)| is_over(*since));
        for (_, index) in self.waiting.drain(..over) {
            slots.give_back(index)?;
        }
        Ok(())
    }
}
