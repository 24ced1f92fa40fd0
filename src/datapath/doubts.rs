//! The source's doubts: TCP connections that repeat segments, so that their tagged packets may not arrive.

use std::io;
use std::time::Duration;

use libbpf_rs::{MapCore, MapHandle};

use super::abi::{doubt_event, read_from};
use super::event_ring::EventRing;
use super::map_names::SOURCE_DOUBTS;
use super::pins::Pins;
use crate::model::FlowKey;

/// The ring of doubts. The source's program writes a flow into it when a TCP segment is repeated, and again while it
/// is in doubt, but at most every 200 ms.
///
/// The reader asks the sink whether packets of the flow arrived, at once and again until an answer comes. If one
/// arrived less than a second before the doubt, or since the last answer, it calls `Renewal::vouch`, with a time about
/// a second ahead. (Packets of the flow may go untagged meanwhile, so the time since the last arrival grows.) Until the
/// vouch ends, repetitions count as loss. Without a vouch, packets of a connection that makes no progress go untagged
/// at once, and for good after 70 seconds of doubts without a pause of a second. A vouch until 0 says nothing about the
/// flow: it lets a connection whose packets go untagged be tried again, from its next new data on. A repeated SYN is
/// unknown to the sink; `vouched_ns` of the lease counts for the first repetition.
pub struct DoubtRing {
    ring: EventRing,
    map_id: u32,
}

impl DoubtRing {
    /// Opens the ring of this host's source. Returns `None` if no source is set up.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        match MapHandle::from_pinned_path(pins.map(SOURCE_DOUBTS)) {
            Ok(map) => Self::of(map).map(Some),
            Err(_) if !pins.map(SOURCE_DOUBTS).exists() => Ok(None),
            Err(err) => Err(io::Error::other(err)),
        }
    }

    /// Reads this map.
    pub fn of(map: MapHandle) -> io::Result<Self> {
        let map_id = map.info().map_err(io::Error::other)?.info.id;
        Ok(Self {
            ring: EventRing::new(map)?,
            map_id,
        })
    }

    /// Returns the map's id in the kernel; a source that was detached and attached again has another map.
    pub fn map_id(&self) -> u32 {
        self.map_id
    }

    /// Waits until there are doubts, but no longer than `wait`, and hands each flow to `take`.
    pub fn drain(&mut self, wait: Duration, mut take: impl FnMut(FlowKey)) -> io::Result<()> {
        self.ring.drain(wait, |bytes| {
            if let Some(event) = read_from::<doubt_event>(bytes) {
                take(FlowKey::from(&event.key));
            }
        })
    }
}
