//! The sinks that the source knows, and their leases.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::area::{put, split};
use super::state::Watch;
use super::tab::Tab;
use super::words::{NONE, maybe_ns};
use crate::model::{PathState, PeerStatus};
use crate::views::digits::Nanoseconds;
use crate::views::hosts::KnownHosts;
use crate::views::known_digits::KnownDigits;
use crate::views::peers::clock;
use crate::views::shortened::shortened;

/// Widths of the columns after the address.
/// Those of nodes, without and with names.
const NODE: usize = 10;
const WIDEST_NODE: usize = 24;
const STATE: usize = 13;
const RTT: usize = 9;
const LEFT: usize = 9;
const CLOCK: usize = 23;
const PATH: usize = 14;
/// The first columns hold words, which begin at the left; those after them hold numbers.
const WORDS: usize = 2;

fn cells(peer: &PeerStatus, hosts: &KnownHosts, node_width: usize) -> [(String, usize); 6] {
    let mut clock = match clock(peer) {
        Some(KnownDigits { value, error }) => format!("{value} +- {error}"),
        None => "unknown".to_owned(),
    };
    if peer.clock_synchronised == Some(false) {
        clock.push_str(" unsync");
    }
    let node = node_text(peer, hosts, node_width);
    [
        (peer.state.to_owned(), STATE),
        (path(peer), PATH),
        (node, node_width),
        (maybe_ns(peer.rtt_ns.map(i64::from)), RTT),
        (
            Nanoseconds(peer.lease_left_ns.cast_signed()).to_string(),
            LEFT,
        ),
        (clock, CLOCK),
    ]
}

fn node_text(peer: &PeerStatus, hosts: &KnownHosts, width: usize) -> String {
    let node = peer.node;
    node.map_or_else(|| NONE.to_owned(), |node| hosts.named_within(node, width))
}

/// The width that names take, if all columns have room in `width` beside them.
fn node_width<'a>(
    peers: impl Iterator<Item = &'a PeerStatus>,
    hosts: &KnownHosts,
    width: usize,
) -> usize {
    let texts = peers.map(|peer| node_text(peer, hosts, WIDEST_NODE).chars().count());
    let all: usize = cells_of_titles(0).iter().map(|(_, width)| width + 1).sum();
    let room = width.saturating_sub(all + 1);
    texts.max().unwrap_or(0).min(room).max(NODE)
}

pub fn draw(watch: &mut Watch, buffer: &mut Buffer, area: Rect) {
    let rows = watch.peers_shown().len();
    let (head, list) = split(area, 1);
    watch.peers_cursor.fit(rows, list.height as usize);
    let peers = watch.peers_shown();
    let longest = peers.iter().map(|peer| peer.dest.to_string().len()).max();
    let hosts = watch.flows.hosts();
    let width = area.width as usize;
    let addr = longest.unwrap_or(0).max(15).min(width / 3);
    let node_width = node_width(peers.iter().copied(), hosts, width.saturating_sub(addr + 1));
    let titles = cells_of_titles(node_width);
    // The columns that fit; the sentence takes the rest.
    let mut used = addr + 1;
    let mut columns = 0;
    for (_, width_of) in titles {
        if used + width_of < width {
            used += width_of + 1;
            columns += 1;
        }
    }
    let mut title = format!("{:<addr$} ", "sink of");
    for (index, (text, width)) in titles.iter().take(columns).enumerate() {
        title += &aligned(text, *width, index < WORDS);
    }
    put(buffer, head, 0, &Line::styled(title, watch.look.strong()));
    if peers.is_empty() {
        let text = why_empty(watch);
        put(buffer, list, 1, &Line::styled(text, watch.look.faint()));
        return;
    }
    let shown = watch.peers_cursor.shown(rows);
    for (line, peer) in peers[shown.clone()].iter().enumerate() {
        let style = match peer.state {
            "granted" => watch.look.good(),
            "idle" | "asking" => Style::new(),
            _ => watch.look.bad(),
        };
        let dest = shortened(&peer.dest.to_string(), addr, watch.dots());
        let mut spans = vec![Span::raw(format!("{dest:<addr$} "))];
        let strips = ["granted", "idle"].contains(&peer.state);
        let known = if strips { columns } else { 1 };
        for (index, (text, width)) in cells(peer, hosts, node_width)
            .iter()
            .take(known)
            .enumerate()
        {
            let style = if index == 0 { style } else { Style::new() };
            spans.push(Span::styled(aligned(text, *width, index < WORDS), style));
        }
        if !strips {
            spans.push(Span::styled(lease(peer.state), style));
        }
        put(buffer, list, line, &Line::from(spans));
        if shown.start + line == watch.peers_cursor.at {
            let y = list.y + line as u16;
            buffer.set_style(Rect::new(list.x, y, list.width, 1), watch.look.chosen());
        }
    }
}

/// Why no peer is shown.
fn why_empty(watch: &Watch) -> &'static str {
    let source = watch.status().is_some_and(|status| status.source.is_some());
    match (source, watch.filters[Tab::Peers as usize].is_empty()) {
        (false, _) => "no source here: sinks answer the sources that ask them",
        (true, true) => "no sink was asked for a lease yet",
        (true, false) => "no peer has all words of the filter (Esc shows all again)",
    }
}

fn cells_of_titles(node_width: usize) -> [(&'static str, usize); 6] {
    [
        ("state", STATE),
        ("path", PATH),
        ("node", node_width),
        ("rtt", RTT),
        ("lease", LEFT),
        ("clock is ahead by", CLOCK),
    ]
}

fn aligned(text: &str, width: usize, left: bool) -> String {
    if left {
        format!("{text:<width$} ")
    } else {
        format!("{text:>width$} ")
    }
}

/// The encapsulations that flows to a peer have, or why they have none.
fn path(peer: &PeerStatus) -> String {
    match PathState::of(peer) {
        None => NONE.to_owned(),
        Some(PathState::Proving) => "being proved".to_owned(),
        Some(PathState::Closed) => "passes nothing".to_owned(),
        Some(PathState::Proved | PathState::Partly) => open_ways(peer),
    }
}

fn open_ways(peer: &PeerStatus) -> String {
    let of = |protocol| {
        let ways = peer
            .ways
            .iter()
            .filter_map(move |way| way.strip_prefix(protocol));
        ways.map(str::trim_start).next()
    };
    match (of("tcp"), of("udp")) {
        (Some(tcp), Some(udp)) if tcp == udp => tcp.to_owned(),
        (Some(_), Some(_)) => "several".to_owned(),
        (Some(_), None) => "TCP only".to_owned(),
        (None, Some(_)) => "UDP only".to_owned(),
        (None, None) => NONE.to_owned(),
    }
}

/// A lease's state as a short phrase.
fn lease(state: &str) -> &'static str {
    match state {
        "asking" => "asked for a lease",
        "silent" => "does not answer: packets stay untagged",
        "no_sink" => "no sink in front of it: packets stay untagged",
        "forged" => "wrong tag (--lease-key? NAT?): packets stay untagged",
        "encapsulation" => "does not recognise the encapsulation: packets stay untagged",
        "mark" => "expects another mark or port: packets stay untagged",
        "own_node" => "uses this host's own node id: packets stay untagged",
        "astray" => "its host gets tagged packets without a sink: packets stay untagged",
        "duplicate" => "uses another sink's node id: packets stay untagged",
        _ => "packets stay untagged",
    }
}
