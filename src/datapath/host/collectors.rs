//! The state of the sink's collectors: the daemon writes it into a pinned map, `hostint status` reads it there.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use libbpf_rs::MapType;

use crate::datapath::abi::Abi;
use crate::datapath::kernel::map_names::SINK_COLLECTORS;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::model::{CollectorState, CollectorStatus};

/// The most collectors that the map holds.
const MOST: usize = 64;

// The configuration refuses more collectors.
const _: () = assert!(MOST == crate::config::MAX_SPREAD);

/// The queue's filling is not known.
const UNKNOWN: u32 = u32::MAX;

/// The state of one collector. The first record that is all zeros ends the list.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CollectorRecord {
    /// IPv4 addresses are mapped into ::ffff:0:0/96.
    address: [u8; 16],
    since_ns: u64,
    sent: u64,
    lost: u64,
    doubtful: u64,
    port: u32,
    /// The state's place in [`CollectorState::ALL`], counted from 1.
    state: u32,
    queue_percent: u32,
    spread: u32,
}

// SAFETY: integers and bytes without padding: 16 + 4 * 8 + 4 * 4.
unsafe impl Abi for CollectorRecord {}

/// The map as the daemon writes it.
pub struct CollectorTable(Map<u32, CollectorRecord>);

impl CollectorTable {
    pub fn open_or_create(pins: &Pins) -> io::Result<Self> {
        let path = pins.map(SINK_COLLECTORS);
        Map::open_or_create(&path, MapType::Array, MOST as u32).map(Self)
    }

    /// Collectors that the map has no room for are left out.
    pub fn write(&self, spread: bool, collectors: &[CollectorStatus]) -> io::Result<()> {
        let mut entries = [CollectorRecord::default(); MOST];
        for (entry, collector) in entries.iter_mut().zip(collectors) {
            *entry = CollectorRecord::of(spread, collector);
        }
        self.0.set_from(0, &entries)
    }
}

/// Returns the state that the daemon wrote last: whether each report goes to only one collector, and the collectors.
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
            queue_percent: collector.queue_percent.map_or(UNKNOWN, u32::from),
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
