//! The fixed header of Telemetry Report v0.5: its flags, and the sink's clock in its reserved byte.

use crate::model::{Body, ClockSource, ClockState, Report};

/// Bytes of the fixed header.
pub const HEADER_BYTES: usize = 12;

pub(super) const VERSION: u8 = 0;

pub(super) const FLAG_DROPPED: u8 = 0x80;
pub(super) const FLAG_CONGESTED_QUEUE: u8 = 0x40;
pub(super) const FLAG_TRACKED_FLOW: u8 = 0x20;
/// Reserved in the standard: the flag I of v2.0, in hostint's reports of latency.
pub(super) const FLAG_INTERMEDIATE: u8 = 0x10;

/// Bits of the header's third byte, which is reserved in the standard.
const CLOCK_SOURCE_SHIFT: u8 = 6;
const CLOCK_SYNCHRONISED: u8 = 0x20;
const CLOCK_TOLD: u8 = 0x10;

/// Appends the header of a report of this kind.
pub(super) fn emit_header(kind: u8, report: &Report, out: &mut Vec<u8>) {
    let observation = &report.observation;
    let mut flags = 0;
    let is_latency = matches!(observation.body, Body::Latency(_));
    for (set, flag) in [
        (observation.flags.dropped, FLAG_DROPPED),
        (observation.flags.congested_queue, FLAG_CONGESTED_QUEUE),
        (observation.flags.tracked_flow, FLAG_TRACKED_FLOW),
        (
            observation.flags.intermediate && is_latency,
            FLAG_INTERMEDIATE,
        ),
    ] {
        if set {
            flags |= flag;
        }
    }
    let clock = observation.clock.map_or(0, clock_byte);
    out.extend([VERSION << 4 | kind, flags, clock, observation.hw_id.get()]);
    out.extend(report.sequence.to_be_bytes());
    let timestamp = match &observation.body {
        Body::Packet(packet) => packet.metadata.ingress_ts.unwrap_or_default() as u32,
        body => body.time_s().unwrap_or_default(),
    };
    out.extend(timestamp.to_be_bytes());
}

pub(super) fn clock_byte(clock: ClockState) -> u8 {
    let source = match clock.source {
        ClockSource::Unknown => 0,
        ClockSource::Tai => 1,
        ClockSource::Realtime => 2,
        ClockSource::Nic => 3,
    };
    let synchronised = match clock.synchronised {
        true => CLOCK_SYNCHRONISED,
        false => 0,
    };
    source << CLOCK_SOURCE_SHIFT | synchronised | CLOCK_TOLD
}

pub(super) fn decode_clock(byte: u8) -> Option<ClockState> {
    (byte & CLOCK_TOLD != 0).then_some(ClockState {
        source: match byte >> CLOCK_SOURCE_SHIFT {
            1 => ClockSource::Tai,
            2 => ClockSource::Realtime,
            3 => ClockSource::Nic,
            _ => ClockSource::Unknown,
        },
        synchronised: byte & CLOCK_SYNCHRONISED != 0,
    })
}
