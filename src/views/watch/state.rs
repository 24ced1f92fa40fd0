//! The state of the view between refreshes and keys.

use std::time::Duration;

use super::appearance::Appearance;
use super::columns::FlowColumn;
use super::counters::{Counter, counters};
use super::cursor::ListCursor;
use super::filter::RowFilter;
use super::flows::FlowList;
use super::key_press::KeyPress;
use super::paths::WatchedPaths;
use super::postcard_rates::{PostcardRates, is_there};
use super::snapshot::{HostSnapshot, flows_of, paths_of};
use super::tab::Tab;
use crate::model::{HostStatus, NodeId, PeerStatus};
use crate::views::hosts::KnownHosts;
use crate::views::stamped::PeerClocks;

/// The state of the view.
#[derive(Debug)]
pub struct Watch {
    pub(super) look: Appearance,
    pub interval: Duration,
    pub paused: bool,
    pub(super) tab: Tab,
    pub(super) detail: bool,
    /// The detail of a flow shows the way of its packets.
    pub(super) way: bool,
    pub(super) help: bool,
    /// A key was pressed: nothing is chosen automatically any more.
    pub(super) pressed: bool,
    /// The filter of each tab.
    pub(super) filters: [RowFilter; 7],
    pub(super) typing: bool,
    pub(super) now: Option<HostSnapshot>,
    /// Why the last refresh failed.
    pub(super) trouble: Option<String>,
    pub(super) flows: FlowList,
    pub(super) paths: WatchedPaths,
    pub(super) counters: Vec<Counter>,
    pub(super) counters_cursor: ListCursor,
    pub(super) peers_cursor: ListCursor,
    pub(super) why_cursor: ListCursor,
    pub(super) why_rows: usize,
    pub(super) postcards_cursor: ListCursor,
    pub(super) postcard_rates: PostcardRates,
}

impl Watch {
    pub fn new(look: Appearance, interval: Duration, sort: FlowColumn) -> Self {
        Self {
            look,
            interval,
            paused: false,
            tab: Tab::Flows,
            detail: false,
            way: false,
            help: false,
            pressed: false,
            filters: Default::default(),
            typing: false,
            now: None,
            trouble: None,
            flows: FlowList::sorted_by(sort),
            paths: WatchedPaths::default(),
            counters: Vec::new(),
            counters_cursor: ListCursor::default(),
            peers_cursor: ListCursor::default(),
            why_cursor: ListCursor::default(),
            why_rows: 0,
            postcards_cursor: ListCursor::default(),
            postcard_rates: PostcardRates::default(),
        }
    }

    /// Takes the result of a refresh.
    pub fn update(&mut self, snapshot: HostSnapshot) {
        let since = self.now.as_ref().map(|before| {
            let seconds = snapshot.at.saturating_sub(before.at).as_secs_f64();
            (seconds, before.wall_ns)
        });
        let flows = flows_of(&snapshot.status);
        self.flows.update(flows, since);
        let status = &snapshot.status;
        let hosts = KnownHosts::of_status(status);
        self.flows.set_known(PeerClocks::of(status), hosts);
        self.paths.update(paths_of(&snapshot.status), snapshot.at);
        let seconds = since.map(|(seconds, _)| seconds);
        self.counters = counters(&snapshot.status, &self.counters, seconds);
        self.postcard_rates = PostcardRates::between(self.status(), &snapshot.status, seconds);
        if !self.pressed && snapshot.status.sink.is_none() {
            let mut parts = [Tab::Drops, Tab::Hops, Tab::Queues].into_iter();
            if snapshot.status.source.is_some() {
                self.tab = Tab::Counters;
            } else if let Some(tab) = parts.find(|tab| is_there(Some(&snapshot.status), *tab)) {
                self.tab = tab;
            }
        }
        self.now = Some(snapshot);
        self.trouble = None;
        self.arrange();
    }

    /// Records that a refresh failed; the last state stays on the screen.
    pub fn fail(&mut self, why: String) {
        self.trouble = Some(why);
    }

    pub(super) fn show(&mut self, tab: Tab) {
        self.tab = tab;
        self.detail = false;
        self.postcards_cursor = ListCursor::default();
    }

    /// The tabs of what the host has, each with its number.
    pub(super) fn tabs_shown(&self) -> impl DoubleEndedIterator<Item = (usize, Tab)> {
        let status = self.status();
        let all = Tab::ALL.into_iter().enumerate();
        all.map(|(index, tab)| (index + 1, tab))
            .filter(move |(_, tab)| is_there(status, *tab))
    }

    /// Shows the next tab, or the one before.
    pub(super) fn show_neighbour(&mut self, forward: bool) {
        let shown: Vec<Tab> = self.tabs_shown().map(|(_, tab)| tab).collect();
        let at = shown.iter().position(|tab| *tab == self.tab);
        let by = if forward { 1 } else { shown.len() - 1 };
        self.show(shown[(at.unwrap_or_default() + by) % shown.len()]);
    }

    /// The node from which packets come whose way is shown. A history that is kept on this host knows more of it.
    pub fn asked_paths(&self) -> Option<NodeId> {
        let is_shown = self.tab == Tab::Flows && self.detail && self.way;
        is_shown.then(|| self.chosen_source()).flatten()
    }

    /// The node that the chosen flow comes from.
    pub(super) fn chosen_source(&self) -> Option<NodeId> {
        let now = self.now.as_ref()?;
        let at = self.flows.cursor.at;
        let row = self.flows.row(at, flows_of(&now.status), now.wall_ns)?;
        Some(row.flow.source_node)
    }

    pub(super) fn wall_ns(&self) -> u64 {
        self.now.as_ref().map_or(0, |now| now.wall_ns)
    }

    pub(super) fn status(&self) -> Option<&HostStatus> {
        self.now.as_ref().map(|now| &now.status)
    }

    pub(super) fn filter(&mut self) -> &mut RowFilter {
        &mut self.filters[self.tab as usize]
    }

    pub(super) fn arrange(&mut self) {
        let wall_ns = self.wall_ns();
        let flows = self
            .now
            .as_ref()
            .map_or(&[][..], |now| flows_of(&now.status));
        self.flows
            .arrange(flows, &self.filters[Tab::Flows as usize], wall_ns);
    }

    pub(super) fn move_in_flows(&mut self, key: KeyPress) {
        let flows = self
            .now
            .as_ref()
            .map_or(&[][..], |now| flows_of(&now.status));
        self.flows.press(key, flows);
    }

    pub(super) fn choose(&mut self) {
        let flows = self
            .now
            .as_ref()
            .map_or(&[][..], |now| flows_of(&now.status));
        self.flows.choose(flows);
    }

    pub(super) fn counters_shown(&self) -> Vec<&Counter> {
        let fits = |one: &&Counter| {
            self.filters[Tab::Counters as usize].is_empty()
                || self.filters[Tab::Counters as usize].fits(
                    &format!("{} {} {}", one.section.name(), one.name, one.text).to_lowercase(),
                )
        };
        self.counters.iter().filter(fits).collect()
    }

    pub(super) fn peers_shown(&self) -> Vec<&PeerStatus> {
        let source = self.status().and_then(|status| status.source.as_ref());
        let fits = |one: &&PeerStatus| {
            self.filters[Tab::Peers as usize].is_empty() || {
                let node = one.node.map_or_else(String::new, |node| node.to_string());
                let name = one.node.and_then(|node| self.flows.hosts().name(node));
                let name = name.unwrap_or_default().to_lowercase();
                self.filters[Tab::Peers as usize].fits(&format!(
                    "{} {} {} node:{node} {name}",
                    one.source, one.dest, one.state
                ))
            }
        };
        source.map_or_else(Vec::new, |source| {
            source.peers.iter().filter(fits).collect()
        })
    }
}
