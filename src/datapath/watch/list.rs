//! The watchlist in the kernel: a new list is written beside the one in use, and replaces it in one step.

use std::io;
use std::net::IpAddr;

use libbpf_rs::MapType;

use super::compile::{CompiledWatchlist, compile};
use crate::datapath::abi::{
    WATCH_TEXT_BYTES, watch_edge, watch_flag, watch_key4, watch_key6, watch_limit, watch_node,
    watch_place, watch_role, watch_state, watch_test, watch_text,
};
use crate::datapath::kernel::handover;
use crate::datapath::kernel::map_names::{
    WATCH_CLASSES, WATCH_EDGES, WATCH_MAPS, WATCH_NODES, WATCH_PLACES4, WATCH_PLACES6, WATCH_STATE,
    WATCH_TEXTS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::{Pins, remove};
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

/// Gives the tables of a program without pins room for these rules, before it is loaded. Returns from the function if that
/// fails.
macro_rules! size_watchlist {
    ($maps:expr, $rules:expr) => {
        let room = room_for($rules);
        for map in [
            &mut $maps.watch_nodes,
            &mut $maps.watch_edges,
            &mut $maps.watch_places4,
            &mut $maps.watch_places6,
        ] {
            map.set_max_entries(2 * room).map_err(io::Error::other)?;
        }
    };
}
pub(in crate::datapath) use size_watchlist;

/// The room of tables that get few rules, in places, nodes and edges: other rules may follow.
const LEAST_ROOM: u32 = 4096;
const _: () = assert!(watch_limit::WATCH_NODES.0 == watch_limit::WATCH_PREFIXES.0);
const _: () = assert!(watch_limit::WATCH_NODES.0 == watch_limit::WATCH_EDGES.0);

fn compile_here(rules: &[WatchRule]) -> io::Result<CompiledWatchlist> {
    compile(rules, |dev| netdev::index_of(dev).ok())
        .map_err(|err| io::Error::new(io::ErrorKind::InvalidInput, err))
}

/// What a list takes of each table, at most.
fn need_of(list: &CompiledWatchlist) -> usize {
    let places = |of: [usize; 2]| {
        of.map(|table| list.tables[table].entries.len())
            .iter()
            .sum()
    };
    let sizes: [usize; 4] = [
        places([0, 2]),
        places([1, 3]),
        list.nodes.len(),
        list.edges.len(),
    ];
    sizes.into_iter().max().unwrap_or_default()
}

/// The room for these rules, and for twice as much.
pub(in crate::datapath) fn room_for(rules: &[WatchRule]) -> u32 {
    let most = watch_limit::WATCH_NODES.0;
    let need = compile_here(rules).map_or(most as usize, |list| 2 * need_of(&list));
    u32::try_from(need)
        .unwrap_or(most)
        .next_power_of_two()
        .clamp(LEAST_ROOM, most)
}

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
        let compiled = compile_here(rules)?;
        let (need, room) = (need_of(&compiled), self.room());
        if need > room as usize {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!(
                    "the rules need {need} entries of a table that was made for {room} (restart hostint, which makes \
                     larger ones)"
                ),
            ));
        }
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
        let is_exempt = |node: &watch_node| u32::from(node.flags) & watch_flag::WATCH_ALWAYS.0 != 0;
        state.has_always = compiled.nodes.iter().any(is_exempt).into();
        self.state.set(&0, &state)?;
        self.clear(old)
    }

    /// The most places, nodes or edges of a list.
    fn room(&self) -> u32 {
        self.nodes.capacity() / 2
    }

    fn write(&self, generation: u32, list: &CompiledWatchlist) -> io::Result<()> {
        let first_node = generation * self.room();
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
            .remove_where(|key| key.node / self.room() == generation)?;
        self.texts.remove_where(|key| key >> 16 == generation)
    }
}

/// The rules of another version that runs on this host.
fn rules_of_others(pins: &Pins) -> io::Result<Vec<WatchRule>> {
    let states = handover::entries::<u32, watch_state>(pins, WATCH_STATE)?;
    let Some((_, state)) = states.first() else {
        return Ok(Vec::new());
    };
    let mut pieces = handover::entries::<u32, watch_text>(pins, WATCH_TEXTS)?;
    pieces.retain(|(key, _)| key >> 16 == state.generation & 1);
    pieces.sort_by_key(|(key, _)| *key);
    read_text(pieces.into_iter().map(|(_, piece)| piece))
}

/// Copies the rules of another version that runs on this host into this version's list, which was just made.
pub fn adopt(pins: &Pins) -> io::Result<()> {
    let rules = rules_of_others(pins)?;
    match Watchlist::open(pins)?.filter(|_| !rules.is_empty()) {
        Some(list) => list.replace(&rules),
        None => Ok(()),
    }
}

/// Pins the tables of a source that will be attached, with room for these rules of the file beside those that it has. Where
/// pinned ones are too small, others take their place, with the rules that are in them.
pub fn make_room(pins: &Pins, file_rules: &[WatchRule]) -> io::Result<()> {
    let list = Watchlist::open(pins)?;
    let old = match &list {
        Some(list) => list.rules()?,
        None => rules_of_others(pins)?,
    };
    let added = old.iter().filter(|rule| !rule.from_file);
    let all: Vec<WatchRule> = file_rules.iter().chain(added).cloned().collect();
    let serial = match &list {
        Some(list) if compile_here(&all).is_ok_and(|it| need_of(&it) <= list.room() as usize) => {
            return Ok(());
        }
        Some(list) => list.serial()?,
        None => 0,
    };
    WATCH_MAPS
        .iter()
        .try_for_each(|name| remove(&pins.map(name)))?;
    let room = 2 * room_for(&all).max(room_for(&old));
    let (array, hash) = (MapType::Array, MapType::Hash);
    let at = |name| pins.map(name);
    let made = Watchlist {
        state: Map::open_or_create(&at(WATCH_STATE), array, 1)?,
        places4: Map::open_or_create(&at(WATCH_PLACES4), hash, room)?,
        places6: Map::open_or_create(&at(WATCH_PLACES6), hash, room)?,
        nodes: Map::open_or_create(&at(WATCH_NODES), array, room)?,
        edges: Map::open_or_create(&at(WATCH_EDGES), hash, room)?,
        classes: Map::open_or_create(&at(WATCH_CLASSES), array, 2 * watch_limit::WATCH_CLASSES.0)?,
        texts: Map::open_or_create(&at(WATCH_TEXTS), hash, 2 * watch_limit::WATCH_TEXTS.0)?,
    };
    if list.is_none() {
        return Ok(());
    }
    let state = watch_state {
        serial,
        ..watch_state::default()
    };
    made.state.set(&0, &state)?;
    made.replace(&old)
}
