//! The watchlist in the kernel: a new list is written beside the one in use, and replaces it in one step.

use std::io;
use std::net::IpAddr;

use super::compile::{CompiledWatchlist, compile};
use crate::datapath::abi::{
    WATCH_TEXT_BYTES, watch_edge, watch_key4, watch_key6, watch_limit, watch_node, watch_place,
    watch_role, watch_state, watch_test, watch_text,
};
use crate::datapath::kernel::handover;
use crate::datapath::kernel::map_names::{
    WATCH_CLASSES, WATCH_EDGES, WATCH_NODES, WATCH_PLACES4, WATCH_PLACES6, WATCH_STATE, WATCH_TEXTS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::events::address_words;
use crate::model::WatchRule;
use crate::os::{log, netdev};

/// The pinned maps of the watchlist. Only one process at a time may change them.
pub struct Watchlist {
    pub state: Map<u32, watch_state>,
    pub places4: Map<watch_key4, watch_place>,
    pub places6: Map<watch_key6, watch_place>,
    pub nodes: Map<u32, watch_node>,
    pub edges: Map<watch_edge, u32>,
    pub classes: Map<u32, u32>,
    pub texts: Map<u32, watch_text>,
}

/// The watchlist of a program without pins, from the maps of its skeleton. Returns from the function if one cannot be used.
macro_rules! watchlist_of {
    ($maps:expr) => {
        Watchlist {
            state: Map::of(&$maps.watch_state)?,
            places4: Map::of(&$maps.watch_places4)?,
            places6: Map::of(&$maps.watch_places6)?,
            nodes: Map::of(&$maps.watch_nodes)?,
            edges: Map::of(&$maps.watch_edges)?,
            classes: Map::of(&$maps.watch_classes)?,
            texts: Map::of(&$maps.watch_texts)?,
        }
    };
}
pub(in crate::datapath) use watchlist_of;

const TABLES: u32 = watch_limit::WATCH_TABLES.0;

/// Reads rules from the pieces of their text.
fn read_text(pieces: impl Iterator<Item = watch_text>) -> io::Result<Vec<WatchRule>> {
    let mut text = Vec::new();
    for piece in pieces {
        let len = (piece.len as usize).min(WATCH_TEXT_BYTES);
        text.extend_from_slice(&piece.bytes[..len]);
    }
    if text.is_empty() {
        return Ok(Vec::new());
    }
    serde_json::from_slice(&text).map_err(io::Error::from)
}

fn too_long(text: &[u8]) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "the rules are {} bytes long: at most {} are possible",
            text.len(),
            WATCH_TEXT_BYTES * watch_limit::WATCH_TEXTS.0 as usize
        ),
    )
}

impl Watchlist {
    /// Opens the list pinned on this host. Returns `None` if no source is set up.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        let found = (
            Map::open(&pins.map(WATCH_STATE))?,
            Map::open(&pins.map(WATCH_PLACES4))?,
            Map::open(&pins.map(WATCH_PLACES6))?,
            Map::open(&pins.map(WATCH_NODES))?,
            Map::open(&pins.map(WATCH_EDGES))?,
            Map::open(&pins.map(WATCH_CLASSES))?,
            Map::open(&pins.map(WATCH_TEXTS))?,
        );
        let (
            Some(state),
            Some(places4),
            Some(places6),
            Some(nodes),
            Some(edges),
            Some(classes),
            Some(texts),
        ) = found
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            state,
            places4,
            places6,
            nodes,
            edges,
            classes,
            texts,
        }))
    }

    fn generation(&self) -> io::Result<u32> {
        Ok(self.state.get(&0)?.unwrap_or_default().generation & 1)
    }

    /// Returns a number that changes whenever the rules change.
    pub fn serial(&self) -> io::Result<u32> {
        Ok(self.state.get(&0)?.unwrap_or_default().serial)
    }

    /// Returns the rules in use.
    pub fn rules(&self) -> io::Result<Vec<WatchRule>> {
        loop {
            let generation = self.generation()?;
            let mut pieces = Vec::new();
            while let Some(piece) = self.texts.get(&(generation << 16 | pieces.len() as u32))? {
                pieces.push(piece);
            }
            if self.generation()? == generation {
                return read_text(pieces.into_iter());
            }
        }
    }

    /// Replaces the rules. Each packet is judged either by all old rules or by all new ones.
    ///
    /// # Errors
    /// There is no room for the rules. The old ones stay in use.
    pub fn replace(&self, rules: &[WatchRule]) -> io::Result<()> {
        let compiled = compile(rules, |dev| netdev::index_of(dev).ok())
            .map_err(|err| io::Error::new(io::ErrorKind::InvalidInput, err))?;
        let text = serde_json::to_vec(rules)?;
        if text.len() > WATCH_TEXT_BYTES * watch_limit::WATCH_TEXTS.0 as usize {
            return Err(too_long(&text));
        }
        let state = self.state.get(&0)?.unwrap_or_default();
        let old = state.generation & 1;
        let new = old ^ 1;
        // A process that was killed may have left entries there.
        self.clear(new)?;
        let written = self
            .write(new, &compiled)
            .and_then(|()| self.write_text(new, &text));
        if let Err(err) = written {
            let _ = self.clear(new);
            return Err(err);
        }
        let mut state = state;
        let searches = &mut state.searches[(new * TABLES) as usize..];
        for (number, (search, table)) in searches.iter_mut().zip(&compiled.tables).enumerate() {
            *search = table.search(number % 2 == 0);
        }
        self.state.set(&0, &state)?;
        log::debug(|| {
            format!(
                "replacing the watchlist by {} rules in {} nodes and {} edges",
                rules.len(),
                compiled.nodes.len(),
                compiled.edges.len()
            )
        });
        state.generation = new;
        state.serial = state.serial.wrapping_add(1);
        self.state.set(&0, &state)?;
        self.clear(old)
    }

    fn write(&self, generation: u32, list: &CompiledWatchlist) -> io::Result<()> {
        let first_node = generation * watch_limit::WATCH_NODES.0;
        let nodes: Vec<watch_node> = list
            .nodes
            .iter()
            .map(
                |node| match u32::from(node.test) == watch_test::WATCH_VERDICT.0 {
                    true => *node,
                    false => watch_node {
                        other: first_node + node.other,
                        ..*node
                    },
                },
            )
            .collect();
        self.nodes.set_from(first_node, &nodes)?;
        let first_class = generation * watch_limit::WATCH_CLASSES.0;
        self.classes.set_from(first_class, &list.classes)?;
        for (node, value, next) in &list.edges {
            let key = watch_edge {
                node: first_node + node,
                value: *value,
            };
            self.edges.set(&key, &(first_node + next))?;
        }
        for (number, table) in (0..).zip(&list.tables) {
            let role = number & watch_role::WATCH_FROM.0;
            let first = if role == watch_role::WATCH_TO.0 {
                first_node
            } else {
                0
            };
            for entry in &table.entries {
                let what = generation << 16 | role << 8 | u32::from(entry.prefix.len());
                let place = watch_place {
                    number: first + entry.number,
                    flags: entry.flags,
                };
                match entry.prefix.addr() {
                    IpAddr::V4(v4) => {
                        let addr = u32::from_ne_bytes(v4.octets());
                        self.places4.set(&watch_key4 { what, addr }, &place)?;
                    }
                    IpAddr::V6(v6) => {
                        let addr = address_words(v6.into());
                        self.places6.set(&watch_key6 { what, addr }, &place)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn write_text(&self, generation: u32, text: &[u8]) -> io::Result<()> {
        for (number, bytes) in (0..).zip(text.chunks(WATCH_TEXT_BYTES)) {
            let mut piece = watch_text {
                len: bytes.len() as u32,
                ..watch_text::default()
            };
            piece.bytes[..bytes.len()].copy_from_slice(bytes);
            self.texts.set(&(generation << 16 | number), &piece)?;
        }
        Ok(())
    }

    /// Removes the entries of one generation from tables that hold both.
    fn clear(&self, generation: u32) -> io::Result<()> {
        self.places4
            .remove_where(|key| key.what >> 16 == generation)?;
        self.places6
            .remove_where(|key| key.what >> 16 == generation)?;
        self.edges
            .remove_where(|key| key.node / watch_limit::WATCH_NODES.0 == generation)?;
        self.texts.remove_where(|key| key >> 16 == generation)
    }
}

/// Copies the rules of another version that runs on this host into this version's list, which was just made.
pub fn adopt(pins: &Pins) -> io::Result<()> {
    let states = handover::entries::<u32, watch_state>(pins, WATCH_STATE)?;
    let (Some((_, state)), Some(list)) = (states.first(), Watchlist::open(pins)?) else {
        return Ok(());
    };
    let mut pieces = handover::entries::<u32, watch_text>(pins, WATCH_TEXTS)?;
    pieces.retain(|(key, _)| key >> 16 == state.generation & 1);
    pieces.sort_by_key(|(key, _)| *key);
    let rules = read_text(pieces.into_iter().map(|(_, piece)| piece))?;
    list.replace(&rules)
}
