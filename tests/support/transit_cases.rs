//! Assertions about a packet that passes a transit hop.

use hostint::datapath::abi::{lease_way, source_lease, transit_counter};

use super::checksum::{be16, be32, verify};
use super::frame::Frame;
use super::model::transit::{Entry, push};
use super::model::{Encapsulation, Key, TCP, int_md, layout};
use super::programs::Ran;
use super::programs::source::{Options as SourceOptions, Source, TCX_NEXT};
use super::programs::transit::{Hop, Options};

/// The hop's node.
pub const NODE: u32 = 777;

pub fn hop(options: &Options<'_>) -> Hop {
    let hop = Hop::load(options);
    hop.set_node(NODE);
    hop
}

/// Entries that a sink of this version reads in a stack, the source's included.
pub const STACK: u8 = 9;
/// Every way is proved.
const ALL: u32 = 63 | lease_way::WAY_UDP_INT_MD.0 | lease_way::WAY_IOAM.0;

/// A source that lets this number of hops push, if a sink reads as many entries.
pub fn asking_source(encapsulation: Encapsulation, max_hops: u32) -> Source {
    Source::load_asking(&SourceOptions {
        encapsulation,
        max_hops,
        ..SourceOptions::default()
    })
}

/// The packet as such a source tags it for a sink that reads this number of entries.
pub fn tagged(source: &Source, frame: &Frame, stack: u8) -> Vec<u8> {
    let bytes = frame.bytes();
    lease_anew(source, &bytes, stack);
    let wire = source.run(&bytes).bytes;
    assert!(wire.len() > bytes.len(), "tagged");
    wire
}

/// A sink behind the path of this packet reads this number of entries.
pub fn lease(source: &Source, frame: &[u8], stack: u8) -> Key {
    let key = source.model.look(frame).expect("may be tagged");
    let lease = source_lease {
        until_ns: u64::MAX,
        proved_ns: 1,
        ways: ALL,
        has_answer: 1,
        stack,
        items: 1,
        ..source_lease::default()
    };
    source.write_lease(&key, &lease);
    key
}

/// The same, and a flow that had another lease notices.
pub fn lease_anew(source: &Source, frame: &[u8], stack: u8) {
    let key = lease(source, frame, stack);
    if source.knows(&key) {
        source.change_flow(&key, |flow| flow.leased_ns = 0);
    }
}

/// The place of the newest entry, and its items in INT v2.1; 0: INT v0.5.
fn newest_at(frame: &[u8], encapsulation: Encapsulation) -> (usize, u16) {
    let at = layout::find(frame).expect("a tagged packet");
    match encapsulation {
        Encapsulation::OverTcpUdp if at.protocol == TCP => (at.l4 + 20 + 12, 0),
        Encapsulation::OverTcpUdp | Encapsulation::ExtensionUdp => (at.l4 + 8 + 12, 0),
        Encapsulation::VxlanGpe => (at.l4 + 8 + 24, be16(frame, at.l4 + 8 + 16)),
        Encapsulation::IntMd => {
            let head = int_md::head_at(frame);
            (head + int_md::HEAD, be16(frame, head + 8))
        }
    }
}

/// What the newest entry says.
pub fn newest(frame: &[u8], encapsulation: Encapsulation) -> Entry {
    let (at, bitmap) = newest_at(frame, encapsulation);
    let word = |index: usize| be32(frame, at + 4 * index);
    let long = |index: usize| u64::from(word(index)) << 32 | u64::from(word(index + 1));
    let (queue, ingress_ns, latency_ns) = match bitmap {
        0 => (0, word(2).into(), word(3).wrapping_sub(word(2))),
        0xd800 => (word(2), long(3), 0),
        0xe800 => (0, long(3), word(2)),
        _ => (word(3), long(4), word(2)),
    };
    Entry {
        node: word(0),
        ingress_port: be16(frame, at + 4),
        egress_port: be16(frame, at + 6),
        queue,
        ingress_ns,
        latency_ns,
    }
}

/// All counters but these are zero.
pub fn assert_counted(hop: &Hop, expected: &[(transit_counter, u64, u64)], sentence: &str) {
    let mut all = vec![(0, 0); transit_counter::COUNT_TRANSIT_MAX.0 as usize];
    for (counter, packets, bytes) in expected {
        all[counter.0 as usize] = (*packets, *bytes);
    }
    assert_eq!(hop.counters(), all, "{sentence}: counters");
}

/// The packet leaves with one entry more, byte by byte as the model pushes what the entry says, and every checksum is
/// right for whoever looks on the way.
pub fn assert_pushed(
    ran: &Ran,
    frame: &[u8],
    encapsulation: Encapsulation,
    sentence: &str,
) -> Entry {
    assert_eq!(ran.verdict, TCX_NEXT, "{sentence}: verdict");
    assert!(ran.bytes.len() > frame.len(), "{sentence}: no entry");
    let entry = newest(&ran.bytes, encapsulation);
    let expected = push(frame, encapsulation, &entry);
    assert_eq!(ran.bytes, expected, "{sentence}: bytes");
    verify(&ran.bytes).unwrap_or_else(|why| panic!("{sentence}: {why}"));
    entry
}
