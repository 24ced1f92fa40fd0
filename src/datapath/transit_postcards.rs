//! The ring of packets in INT-MX of which a transit hop's programs tell.

use std::io;
use std::time::Duration;

use libbpf_rs::{MapCore, MapHandle};

use super::abi::{read_from, transit_postcard};
use super::event_ring::EventRing;
use super::map_names::TRANSIT_POSTCARDS;
use super::pins::Pins;
use crate::model::{FirstHeader, MxPostcard};

/// The programs of all interfaces write into it.
pub struct PostcardRing {
    ring: EventRing,
    map_id: u32,
}

impl PostcardRing {
    /// Opens the ring of this host's hop. What was written before is left out.
    ///
    /// # Errors
    /// If no transit hop is attached, or the ring cannot be read.
    pub fn open(pins: &Pins) -> io::Result<Self> {
        let map = pinned(pins)?;
        let map_id = id_of(&map)?;
        let mut ring = EventRing::new(map)?;
        ring.drain(Duration::ZERO, |_| {})?;
        Ok(Self { ring, map_id })
    }

    /// True unless this host's hop has another ring now. One that is detached keeps its own.
    pub fn is_of(&self, pins: &Pins) -> io::Result<bool> {
        if !pins.map(TRANSIT_POSTCARDS).exists() {
            return Ok(true);
        }
        Ok(id_of(&pinned(pins)?)? == self.map_id)
    }

    /// Hands on what there is.
    pub fn drain(&mut self, mut take: impl FnMut(MxPostcard)) -> io::Result<()> {
        self.ring.drain(Duration::ZERO, |bytes| {
            if let Some(card) = read_from::<transit_postcard>(bytes).as_ref().and_then(card) {
                take(card);
            }
        })
    }
}

fn pinned(pins: &Pins) -> io::Result<MapHandle> {
    MapHandle::from_pinned_path(pins.map(TRANSIT_POSTCARDS)).map_err(io::Error::other)
}

fn id_of(map: &MapHandle) -> io::Result<u32> {
    Ok(map.info().map_err(io::Error::other)?.info.id)
}

fn card(told: &transit_postcard) -> Option<MxPostcard> {
    Some(MxPostcard {
        arrived_ns: Some(told.arrived_ns).filter(|ns| *ns != 0),
        left_ns: told.left_ns,
        ingress_port: told.in_ifindex as u16,
        egress_port: told.out_ifindex as u16,
        queue_packets: Some(told.queue_packets).filter(|packets| *packets != u32::MAX),
        first: match told.family {
            4 => FirstHeader::Ipv4,
            6 => FirstHeader::Ipv6,
            _ => return None,
        },
        quote: told.quote.get(..told.len.into())?.to_vec(),
    })
}
