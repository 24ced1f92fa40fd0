//! What the sink's daemon knows of its collectors, where `hostint status` reads it.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use libbpf_rs::MapType;

use super::abi::Abi;
use super::map_names::SINK_COLLECTORS;
use super::maps::Map;
use super::pins::Pins;
use crate::model::{CollectorState, CollectorStatus};

/// Collectors that there is room for.
const MOST: usize = 64;

// Settings are refused before they get here.
const _: () = assert!(MOST == crate::config::MAX_SPREAD);

/// Not known.
const NONE: u32 = u32::MAX;

/// One of them; all zeros: none.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CollectorRecord {
    /// IPv4 as ::ffff:0:0/96.
    address: [u8; 16],
    since_ns: u64,
    sent: u64,
    lost: u64,
    doubtful: u64,
    port: u32,
    /// From 1, in the order of [`CollectorState::ALL`].
    state: u32,
    queue_percent: u32,
    spread: u32,
}

// SAFETY: integers and bytes, without padding: 16 + 4 * 8 + 4 * 4.
unsafe impl Abi for CollectorRecord {}

/// The map, for the daemon.
pub struct CollectorTable(Map<u32, CollectorRecord>);

impl CollectorTable {
    pub fn open_or_create(pins: &Pins) -> io::Result<Self> {
        let path = pins.map(SINK_COLLECTORS);
        Map::open_or_create(&path, MapType::Array, MOST as u32).map(Self)
    }

    /// Those beyond the room are not told.
    pub fn write(&self, spread: bool, collectors: &[CollectorStatus]) -> io::Result<()> {
        let mut entries = [CollectorRecord::default(); MOST];
        for (entry, collector) in entries.iter_mut().zip(collectors) {
            *entry = CollectorRecord::of(spread, collector);
        }
        self.0.set_from(0, &entries)
    }
}

/// What the daemon wrote last: whether each report goes to one of them, and who they are.
pub fn read(pins: &Pins) -> io::Result<(bool, Vec<CollectorStatus>)> {
    let mut found = (false, Vec::new());
    let Some(map) = Map::<u32, CollectorRecord>::open(&pins.map(SINK_COLLECTORS))? else {
        return Ok(found);
    };
    for place in 0..map.capacity() {
        let entry = map.get(&place)?.unwrap_or_default();
        let Some(collector) = entry.status() else {
            break;
        };
        found.0 |= entry.spread != 0;
        found.1.push(collector);
    }
    Ok(found)
}

impl CollectorRecord {
    fn of(spread: bool, collector: &CollectorStatus) -> Self {
        let address = match collector.address.ip() {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        let states = CollectorState::ALL.map(CollectorState::name);
        let state = states.iter().position(|name| *name == collector.state);
        Self {
            address: address.octets(),
            since_ns: collector.since_ns,
            sent: collector.sent,
            lost: collector.lost,
            doubtful: collector.doubtful,
            port: collector.address.port().into(),
            state: state.map_or(0, |place| place as u32 + 1),
            queue_percent: collector.queue_percent.map_or(NONE, u32::from),
            spread: spread.into(),
        }
    }

    fn status(&self) -> Option<CollectorStatus> {
        let place = (self.state as usize).checked_sub(1)?;
        let address = Ipv6Addr::from(self.address).to_canonical();
        Some(CollectorStatus {
            address: SocketAddr::new(address, u16::try_from(self.port).ok()?),
            state: CollectorState::ALL.get(place)?.name(),
            since_ns: self.since_ns,
            sent: self.sent,
            lost: self.lost,
            doubtful: self.doubtful,
            queue_percent: u8::try_from(self.queue_percent).ok(),
        })
    }
}
