//! The ring of packets in INT-MX of which a transit hop's programs send notices.

use std::io;

use libbpf_rs::{MapCore, MapHandle};

use crate::datapath::abi::{counter, read_from, transit_counter, transit_postcard};
use crate::datapath::kernel::map_names::{TRANSIT_COUNTERS, TRANSIT_POSTCARDS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::event_ring::EventRing;
use crate::model::{FirstHeader, MxNotice};
use crate::os::wait::Wait;

/// The programs of all interfaces write into it.
pub struct NoticeRing {
    ring: EventRing,
    map_id: u32,
    unread: UnreadCards,
}

/// The counter of what cannot be read. The map is that of the programs, which never add to this one.
pub struct UnreadCards(pub Map<u32, counter>);

impl UnreadCards {
    pub fn add(&self, more: u64) -> io::Result<()> {
        let key = transit_counter::COUNT_TRANSIT_POSTCARD_UNREAD.0;
        let mut counts = self.0.get_per_cpu(&key)?;
        if let Some(count) = counts.first_mut() {
            count.packets += more;
        }
        self.0.set_per_cpu(&key, &counts)
    }
}

impl NoticeRing {
    /// Opens the ring of this host's hop. What was written before is left out.
    ///
    /// # Errors
    /// If no transit hop is attached, or the ring cannot be read.
    pub fn open(pins: &Pins) -> io::Result<Self> {
        let map = pinned(pins)?;
        let map_id = id_of(&map)?;
        let mut ring = EventRing::new(map)?;
        ring.drain(|_| {})?;
        let counters = Map::open(&pins.map(TRANSIT_COUNTERS))?;
        let counters = counters.ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            ring,
            map_id,
            unread: UnreadCards(counters),
        })
    }

    /// True unless this host's hop has another ring now. One that is detached keeps its own.
    pub fn is_of(&self, pins: &Pins) -> io::Result<bool> {
        if !pins.map(TRANSIT_POSTCARDS).exists() {
            return Ok(true);
        }
        Ok(id_of(&pinned(pins)?)? == self.map_id)
    }

    /// Lets the daemon wake for the next one.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.ring.wakes(wait);
    }

    /// Hands on what there is, and counts what cannot be read.
    pub fn drain(&mut self, mut take: impl FnMut(MxNotice)) -> io::Result<()> {
        let mut unread = 0;
        self.ring.drain(|bytes| match decode(bytes) {
            Some(card) => take(card),
            None => unread += 1,
        })?;
        match unread {
            0 => Ok(()),
            more => self.unread.add(more),
        }
    }
}

fn pinned(pins: &Pins) -> io::Result<MapHandle> {
    MapHandle::from_pinned_path(pins.map(TRANSIT_POSTCARDS)).map_err(io::Error::other)
}

fn id_of(map: &MapHandle) -> io::Result<u32> {
    Ok(map.info().map_err(io::Error::other)?.info.id)
}

/// Reads what a program told; `None` if it is of another version.
pub fn decode(bytes: &[u8]) -> Option<MxNotice> {
    let notice: transit_postcard = read_from(bytes)?;
    Some(MxNotice {
        arrived_ns: Some(notice.arrived_ns).filter(|ns| *ns != 0),
        left_ns: notice.left_ns,
        ingress_port: notice.in_ifindex as u16,
        egress_port: notice.out_ifindex as u16,
        queue_packets: Some(notice.queue_packets).filter(|packets| *packets != u32::MAX),
        first: match notice.family {
            4 => FirstHeader::Ipv4,
            6 => FirstHeader::Ipv6,
            _ => return None,
        },
        quote: notice.quote.get(..notice.len.into())?.to_vec(),
    })
}
