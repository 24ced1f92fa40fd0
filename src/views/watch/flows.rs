//! The flows of a sink: their rates since the last refresh, and the filtered, sorted list of them.

use std::collections::HashMap;
use std::fmt::Write;

use super::columns::{FlowColumn, FlowLine};
use super::cursor::ListCursor;
use super::filter::RowFilter;
use super::histogram::{SlotCount, counts_of, quantile, window};
use super::history::FlowHistory;
use super::key_press::KeyPress;
use super::rates::Rates;
use crate::model::{FlowKey, FlowStatus};
use crate::views::hosts::KnownHosts;
use crate::views::stamped::PeerClocks;

/// Number of flows whose history is kept: those that were on the screen last.
const MOST_HISTORIES: usize = 128;

/// A flow as the last refresh found it.
#[derive(Debug, Default)]
struct KnownFlow {
    first_ns: u64,
    packets: u64,
    lost: u64,
    duplicates: u64,
    latencies: Vec<SlotCount>,
    /// Its index in that refresh's list, and the number of that refresh.
    place: u32,
    look: u64,
}

impl KnownFlow {
    /// The rates since then, with their histogram; `None` if it is another flow, or its numbering restarted.
    fn until(&self, flow: &FlowStatus, seconds: f64) -> Option<Rates> {
        if flow.first_ns != self.first_ns || flow.packets < self.packets || seconds <= 0.0 {
            return None;
        }
        let packets = flow.packets - self.packets;
        // Packets that arrived after all are subtracted.
        let lost = flow.lost.saturating_sub(self.lost);
        let sent = packets.saturating_sub(flow.duplicates.saturating_sub(self.duplicates)) + lost;
        let mut rates = Rates {
            packets_s: packets as f64 / seconds,
            lost_s: lost as f64 / seconds,
            loss: (sent > 0).then(|| lost as f64 / sent as f64),
            p50_ns: None,
            p99_ns: None,
        };
        if packets > 0
            && let Some(counts) = window(&counts_of(flow), &self.latencies, packets)
        {
            let max_ns = i64::from(flow.latency_max_ns);
            rates.p50_ns = quantile(&counts, 500, max_ns);
            rates.p99_ns = quantile(&counts, 990, max_ns);
        }
        Some(rates)
    }

    fn take(&mut self, flow: &FlowStatus, place: u32, look: u64) {
        if flow.packets != self.packets || flow.first_ns != self.first_ns {
            self.latencies = counts_of(flow);
        }
        self.first_ns = flow.first_ns;
        self.packets = flow.packets;
        self.lost = flow.lost;
        self.duplicates = flow.duplicates;
        self.place = place;
        self.look = look;
    }
}

/// The list of flows.
#[derive(Debug)]
pub struct FlowList {
    known: HashMap<FlowKey, KnownFlow>,
    looks: u64,
    /// The rates of each flow of the last refresh.
    rates: Vec<Option<Rates>>,
    /// Indices into that list: the flows that match the filter, sorted.
    order: Vec<u32>,
    pub sort: FlowColumn,
    pub reversed: bool,
    /// The flow that the cursor follows; `None` until the cursor is moved.
    chosen: Option<FlowKey>,
    pub cursor: ListCursor,
    histories: HashMap<FlowKey, FlowHistory>,
    clocks: PeerClocks,
    hosts: KnownHosts,
}

impl FlowList {
    pub fn sorted_by(sort: FlowColumn) -> Self {
        Self {
            known: HashMap::new(),
            looks: 0,
            rates: Vec::new(),
            order: Vec::new(),
            sort,
            reversed: false,
            chosen: None,
            cursor: ListCursor::default(),
            histories: HashMap::new(),
            clocks: PeerClocks::default(),
            hosts: KnownHosts::default(),
        }
    }

    /// Takes what is known of clocks, which latencies are shown with, and of the names of hosts.
    pub fn set_known(&mut self, clocks: PeerClocks, hosts: KnownHosts) {
        (self.clocks, self.hosts) = (clocks, hosts);
    }

    /// Takes the next refresh. `since` is the number of seconds from the one before, and its time.
    pub fn update(&mut self, flows: &[FlowStatus], since: Option<(f64, u64)>) {
        self.looks += 1;
        self.rates.clear();
        for (place, flow) in flows.iter().enumerate() {
            let known = self.known.entry(flow.flow).or_default();
            let mut rates = None;
            if let Some((seconds, before_ns)) = since {
                // A flow that began since then did all of its work since then.
                if flow.first_ns != known.first_ns && flow.first_ns > before_ns {
                    *known = KnownFlow {
                        first_ns: flow.first_ns,
                        ..KnownFlow::default()
                    };
                }
                rates = known.until(flow, seconds);
            }
            known.take(flow, place as u32, self.looks);
            self.rates.push(rates);
        }
        if self.known.len() > flows.len() {
            let looks = self.looks;
            self.known.retain(|_, known| known.look == looks);
        }
        self.remember(flows, since.is_some());
    }

    /// Adds to the history of flows that are kept. The kernel's histograms cover the flow's life, so the previous one
    /// is subtracted.
    fn remember(&mut self, flows: &[FlowStatus], again: bool) {
        for (key, history) in &mut self.histories {
            let place = self.known.get(key).map(|known| known.place as usize);
            let flow = place.and_then(|place| flows.get(place));
            let rates = place.and_then(|place| self.rates.get(place).copied().flatten());
            history.push(flow, rates, again);
        }
    }

    /// The names of hosts.
    pub fn hosts(&self) -> &KnownHosts {
        &self.hosts
    }

    /// Sorts and filters anew.
    pub fn arrange(&mut self, flows: &[FlowStatus], filter: &RowFilter, wall_ns: u64) {
        let mut places: Vec<u32> = (0..flows.len() as u32).collect();
        if !filter.is_empty() {
            let mut text = String::new();
            places.retain(|place| {
                let flow = &flows[*place as usize];
                text.clear();
                let node = flow.source_node;
                let _ = write!(text, "{} node:{node}", flow.flow);
                if let Some(name) = self.hosts.name(node) {
                    let _ = write!(text, " {}", name.to_lowercase());
                }
                filter.fits(&text)
            });
        }
        let (rates, clocks, hosts) = (&self.rates, &self.clocks, &self.hosts);
        self.sort
            .sort(self.reversed, &mut places, |place| FlowLine {
                flow: &flows[place as usize],
                rates: rates.get(place as usize).and_then(Option::as_ref),
                wall_ns,
                clocks,
                hosts,
            });
        self.order = places;
        match self.chosen {
            // The chosen flow may have moved, or may no longer match.
            Some(chosen) => {
                let known = self.known.get(&chosen);
                let place = known.map(|known| known.place);
                let at = self.order.iter().position(|one| Some(*one) == place);
                match at {
                    Some(at) => self.cursor.at = at,
                    None => self.choose(flows),
                }
            }
            None => self.cursor.at = 0,
        }
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The flow in a row of the list.
    pub fn row<'a>(
        &'a self,
        row: usize,
        flows: &'a [FlowStatus],
        wall_ns: u64,
    ) -> Option<FlowLine<'a>> {
        let place = *self.order.get(row)? as usize;
        Some(FlowLine {
            flow: flows.get(place)?,
            rates: self.rates.get(place).and_then(Option::as_ref),
            wall_ns,
            clocks: &self.clocks,
            hosts: &self.hosts,
        })
    }

    /// Moves the cursor; false if the key does not move it.
    pub fn press(&mut self, key: KeyPress, flows: &[FlowStatus]) -> bool {
        let moved = self.cursor.press(key, self.order.len());
        if moved {
            match key {
                // Chooses the first row, whichever flow is in it.
                KeyPress::Home | KeyPress::Char('g') => self.chosen = None,
                _ => self.choose(flows),
            }
        }
        moved
    }

    /// Makes the cursor follow the flow that it is at.
    pub fn choose(&mut self, flows: &[FlowStatus]) {
        self.cursor.at = self.cursor.at.min(self.order.len().saturating_sub(1));
        let place = self.order.get(self.cursor.at);
        self.chosen = place
            .and_then(|place| flows.get(*place as usize))
            .map(|flow| flow.flow);
    }

    /// Starts the history of flows that are on the screen, and forgets the flows that have been off it longest.
    pub fn watch(&mut self, rows: std::ops::Range<usize>, flows: &[FlowStatus]) {
        let looks = self.looks;
        let places = self.order.get(rows).unwrap_or_default();
        for flow in places.iter().filter_map(|place| flows.get(*place as usize)) {
            let history = self
                .histories
                .entry(flow.flow)
                .or_insert_with(|| FlowHistory::of(flow));
            history.looked_at = looks;
        }
        while self.histories.len() > MOST_HISTORIES {
            let oldest = self.histories.values().map(|one| one.looked_at).min();
            if oldest == Some(looks) {
                break;
            }
            self.histories
                .retain(|_, one| Some(one.looked_at) != oldest);
        }
    }

    pub fn history(&self, flow: &FlowKey) -> Option<&FlowHistory> {
        self.histories.get(flow)
    }
}
