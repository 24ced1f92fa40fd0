//! The recorded reports: a capture that the binary brings, made by tests/record-demo.sh.

use std::io::{self, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::read::GzDecoder;

/// Reports of six hosts and two routers, as their collector received them.
const CAPTURE: &[u8] = include_bytes!("six-hosts.pcap.gz");

/// Lengths of the file's header, and of the one in front of each packet (pcap-savefile(5), with nanoseconds).
const FILE_HEADER: usize = 24;
const PACKET_HEADER: usize = 16;

/// A capture whose times were moved.
pub struct MovedCapture {
    pub bytes: Vec<u8>,
    /// When the last report was received in truth.
    pub recorded: SystemTime,
}

/// Returns the capture as if its last report had come at this time. Nothing else in it is changed: a collector goes by the
/// times at which it received reports. But hosts tell when they began to count, which is long before now, so the collector
/// takes their first totals for what it had no part in.
///
/// # Errors
/// If the binary is damaged.
pub fn moved_to(end: SystemTime) -> io::Result<MovedCapture> {
    let mut bytes = Vec::new();
    GzDecoder::new(CAPTURE).read_to_end(&mut bytes)?;
    let places: Vec<usize> = headers(&bytes).collect();
    let times = places.iter().filter_map(|at| time_at(&bytes, *at));
    let recorded = times.max().unwrap_or(UNIX_EPOCH);
    let later = end.duration_since(recorded).unwrap_or_default();
    for at in places {
        if let Some(time) = time_at(&bytes, at)
            && let Ok(moved) = (time + later).duration_since(UNIX_EPOCH)
        {
            set_word(&mut bytes, at, moved.as_secs() as u32);
            set_word(&mut bytes, at + 4, moved.subsec_nanos());
        }
    }
    Ok(MovedCapture { bytes, recorded })
}

/// The places of the packets' headers.
fn headers(capture: &[u8]) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(FILE_HEADER), |at| {
        Some(at + PACKET_HEADER + word(capture, at + 8)? as usize)
    })
    .take_while(|at| at + PACKET_HEADER <= capture.len())
}

fn time_at(capture: &[u8], at: usize) -> Option<SystemTime> {
    let (seconds, nanoseconds) = (word(capture, at)?, word(capture, at + 4)?);
    Some(UNIX_EPOCH + Duration::new(seconds.into(), nanoseconds))
}

fn word(capture: &[u8], at: usize) -> Option<u32> {
    let bytes = capture.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

fn set_word(capture: &mut [u8], at: usize, value: u32) {
    if let Some(bytes) = capture.get_mut(at..at + 4) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}
