//! Further packets of a flow, made from one of its tagged packets: another number, another time.

use super::checksum::{be16, be32, complement, put16, udp_form};
use super::model::sink::Tagged;
use super::model::{Encapsulation, TCP, UDP, layout};

/// The places of the number and of the low word of the time in a tagged frame.
struct Places {
    sequence: usize,
    timestamp: usize,
}

fn places(frame: &[u8], tagged: &Tagged) -> Places {
    let at = layout::find(frame).expect("a tagged packet");
    let block = match (tagged.encapsulation, at.protocol) {
        (Encapsulation::OverTcpUdp, TCP) => at.l4 + 20,
        _ => at.l4 + 8,
    };
    if tagged.encapsulation != Encapsulation::VxlanGpe {
        let source = block + tagged.pushed.len() * 16;
        return Places {
            sequence: source + 28,
            timestamp: source + 20,
        };
    }
    let entry = usize::from(frame[block + 14]) * 4;
    let source = block + tagged.pushed.len() * entry + entry - 20;
    Places {
        sequence: source + 44,
        timestamp: source + 40,
    }
}

/// Changes a word that lies at an even distance from the L4 header, and a checksum that counts it.
fn set_word(frame: &mut [u8], at: usize, value: u32, checksum: Option<usize>, udp: bool) {
    let old = [be16(frame, at), be16(frame, at + 2)];
    frame[at..at + 4].copy_from_slice(&value.to_be_bytes());
    let Some(checksum) = checksum else { return };
    let mut sum = u32::from(!be16(frame, checksum));
    for (half, old) in old.into_iter().enumerate() {
        sum += u32::from(!old) + u32::from(be16(frame, at + 2 * half));
    }
    let check = complement(u64::from(sum));
    put16(frame, checksum, if udp { udp_form(check) } else { check });
}

/// The packet with the number that is this much greater, and with this time (low 32 bits) if there is one. A checksum that was
/// right still is.
pub fn another(frame: &[u8], tagged: &Tagged, further: u32, timestamp: Option<u32>) -> Vec<u8> {
    let at = layout::find(frame).expect("a tagged packet");
    let places = places(frame, tagged);
    let mut next = frame.to_vec();
    let udp = at.protocol == UDP;
    let over = tagged.encapsulation == Encapsulation::OverTcpUdp;
    let checksum = Some(at.l4 + if at.protocol == TCP { 16 } else { 6 });
    let checksum = checksum.filter(|at| over && be16(frame, *at) != 0);
    let number = be32(frame, places.sequence).wrapping_add(further);
    set_word(&mut next, places.sequence, number, checksum, udp);
    if let Some(timestamp) = timestamp {
        set_word(&mut next, places.timestamp, timestamp, checksum, udp);
    }
    next
}
