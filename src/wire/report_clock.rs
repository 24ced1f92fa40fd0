//! hostint's report of evidence about clocks (NProto 15, sub-kind 4). It is about no packet, so it is no [`Report`].
//!
//! [`Report`]: crate::model::Report

use std::num::NonZeroU32;

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_framed;
use super::report_header::HEADER_BYTES;
use crate::model::clock_evidence::{
    ClockEvidence, ClockReading, LeaseExchange, MOST_CLOCK_PEERS, MOST_EXCHANGES, MOST_PACKETS,
    MOST_READINGS, PeerEvidence, QuickPacket,
};
use crate::model::{ClockState, NodeId};

const SUB_KIND: u8 = 4;
/// Bytes of a datagram that every path carries.
const MOST_BYTES: usize = 1232;
const FRAME_BYTES: usize = 4;
const HEAD_BYTES: usize = 28;
const READING_BYTES: usize = 28;
const PEER_BYTES: usize = 8;
const PACKET_BYTES: usize = 12;
const EXCHANGE_BYTES: usize = 24;
/// Beside the clock that stamps packets: network cards may stamp arrivals.
const ARRIVALS_BY_CARD: u8 = 0x40;

/// True for a datagram that announces evidence about clocks.
pub(super) fn is_one(datagram: &[u8]) -> bool {
    report_framed::announces(datagram, SUB_KIND)
}

/// Reads a whole datagram. What follows the last peer is left for later versions.
pub(super) fn decode(datagram: &[u8]) -> Result<ClockEvidence, DecodeError> {
    let (_, mut cursor) = report_framed::open(datagram)?;
    let node = NodeId(cursor.u32("node ID")?);
    let instance = cursor.u64("instance")?;
    let kernel = cursor.u64("kernel")?;
    let stated_error_ns = NonZeroU32::new(cursor.u32("stated error")?);
    let clock = cursor.u8("clock")?;
    let readings = count(&mut cursor, "readings of clocks", MOST_READINGS)?;
    let peers = count(&mut cursor, "peers", MOST_CLOCK_PEERS)?;
    let set_before = cursor.u8("readings after which a clock was set")?;
    let mut readings = all(readings, || decode_reading(&mut cursor))?;
    for (place, reading) in readings.iter_mut().rev().take(8).enumerate() {
        reading.is_after_set = set_before >> place & 1 == 1;
    }
    Ok(ClockEvidence {
        node,
        instance,
        kernel,
        clock: ClockState::from_bits(clock & !ARRIVALS_BY_CARD),
        arrivals_by_card: clock & ARRIVALS_BY_CARD != 0,
        stated_error_ns,
        readings,
        peers: all(peers, || decode_peer(&mut cursor))?,
    })
}

fn count(cursor: &mut Cursor<'_>, what: &'static str, most: usize) -> Result<usize, DecodeError> {
    let found = usize::from(cursor.u8(what)?);
    if found > most {
        return Err(DecodeError::Length {
            what,
            found,
            expected: "less",
        });
    }
    Ok(found)
}

fn all<T>(
    count: usize,
    decode: impl FnMut() -> Result<T, DecodeError>,
) -> Result<Vec<T>, DecodeError> {
    std::iter::repeat_with(decode).take(count).collect()
}

fn decode_reading(cursor: &mut Cursor<'_>) -> Result<ClockReading, DecodeError> {
    let mut rate = || Ok::<_, DecodeError>(cursor.u32("rate of a clock")?.cast_signed());
    let steered_ppb = (rate()?, rate()?);
    Ok(ClockReading {
        took_ns: cursor.u32("time of a reading")?,
        raw_ns: cursor.u64("raw clock")?,
        clock_ns: cursor.u64("clock")?,
        steered_ppb,
        is_after_set: false,
    })
}

fn decode_peer(cursor: &mut Cursor<'_>) -> Result<PeerEvidence, DecodeError> {
    let node = NodeId(cursor.u32("peer's node ID")?);
    let packets = count(cursor, "quick packets", MOST_PACKETS)?;
    let exchanges = count(cursor, "exchanges", MOST_EXCHANGES)?;
    cursor.u16("reserved bytes")?;
    Ok(PeerEvidence {
        node,
        packets: all(packets, || {
            Ok(QuickPacket {
                arrived_ns: cursor.u64("arrival of a packet")?,
                latency_ns: cursor.u32("latency of a packet")?.cast_signed(),
            })
        })?,
        exchanges: all(exchanges, || {
            Ok(LeaseExchange {
                asked_raw_ns: cursor.u64("time of a question")?,
                received_raw_ns: cursor.u64("arrival of an answer")?,
                answered_ns: cursor.u64("time of an answer")?,
            })
        })?,
    })
}

/// Writes the evidence into as many datagrams as it takes. Each repeats the readings, and all have the number 0, because
/// they are none of the reports.
pub fn emit(evidence: &ClockEvidence, time_s: u32) -> Vec<Vec<u8>> {
    let newest = evidence.readings.len().saturating_sub(MOST_READINGS);
    let readings = &evidence.readings[newest..];
    let room =
        MOST_BYTES - HEADER_BYTES - FRAME_BYTES - HEAD_BYTES - readings.len() * READING_BYTES;
    let mut datagrams = Vec::new();
    let mut peers = evidence.peers.as_slice();
    loop {
        let mut left = room;
        let fits = |peer: &&PeerEvidence| {
            let fits = peer_bytes(peer) <= left;
            left = left.saturating_sub(peer_bytes(peer));
            fits
        };
        let count = peers.iter().take_while(fits).count();
        // A peer never has more than fits beside the readings.
        let (these, others) = peers.split_at(count.clamp(1, MOST_CLOCK_PEERS).min(peers.len()));
        datagrams.push(emit_one(evidence, readings, these, time_s));
        if others.is_empty() {
            return datagrams;
        }
        peers = others;
    }
}

/// The newest of each kind.
fn fitting(peer: &PeerEvidence) -> (&[QuickPacket], &[LeaseExchange]) {
    let packets = peer.packets.len().saturating_sub(MOST_TOLD);
    let exchanges = peer.exchanges.len().saturating_sub(MOST_TOLD);
    (&peer.packets[packets..], &peer.exchanges[exchanges..])
}

/// The most packets, and exchanges, of a peer that are written.
const MOST_TOLD: usize = 16;

fn peer_bytes(peer: &PeerEvidence) -> usize {
    let (packets, exchanges) = fitting(peer);
    PEER_BYTES + packets.len() * PACKET_BYTES + exchanges.len() * EXCHANGE_BYTES
}

fn emit_one(
    evidence: &ClockEvidence,
    readings: &[ClockReading],
    peers: &[PeerEvidence],
    time_s: u32,
) -> Vec<u8> {
    let mut content = Vec::new();
    content.extend(evidence.node.0.to_be_bytes());
    content.extend(evidence.instance.to_be_bytes());
    content.extend(evidence.kernel.to_be_bytes());
    let stated_error_ns = evidence.stated_error_ns.map_or(0, NonZeroU32::get);
    content.extend(stated_error_ns.to_be_bytes());
    let counts = [readings.len() as u8, peers.len() as u8];
    let set_before = (readings.iter().rev().take(8).enumerate()).fold(0, |bits, (place, one)| {
        bits | u8::from(one.is_after_set) << place
    });
    let by_card = u8::from(evidence.arrivals_by_card) * ARRIVALS_BY_CARD;
    let clock = evidence.clock.bits() | by_card;
    content.extend([clock, counts[0], counts[1], set_before]);
    for reading in readings {
        content.extend(reading.steered_ppb.0.to_be_bytes());
        content.extend(reading.steered_ppb.1.to_be_bytes());
        content.extend(reading.took_ns.to_be_bytes());
        content.extend(reading.raw_ns.to_be_bytes());
        content.extend(reading.clock_ns.to_be_bytes());
    }
    for peer in peers {
        let (packets, exchanges) = fitting(peer);
        content.extend(peer.node.0.to_be_bytes());
        content.extend([packets.len() as u8, exchanges.len() as u8, 0, 0]);
        for packet in packets {
            content.extend(packet.arrived_ns.to_be_bytes());
            content.extend(packet.latency_ns.to_be_bytes());
        }
        for exchange in exchanges {
            content.extend(exchange.asked_raw_ns.to_be_bytes());
            content.extend(exchange.received_raw_ns.to_be_bytes());
            content.extend(exchange.answered_ns.to_be_bytes());
        }
    }
    let mut out = Vec::new();
    report_framed::emit_unnumbered(SUB_KIND, time_s, &content, &mut out);
    out
}
