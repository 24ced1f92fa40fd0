//! Assertions about a packet that the source tagged or left alone.

use hostint::datapath::abi::source_counter;

use super::checksum::{be32, verify, verify_at};
use super::frame::Frame;
use super::int_block::BLOCK_LEN;
use super::model::layout;
use super::model::source::Stamp;
use super::model::{Encapsulation, TCP, gpe, int_md};
use super::programs::Ran;
use super::programs::sink::XDP_PASS;
use super::programs::source::{Hook, Options, Source, TCX_NEXT};

pub fn with(encapsulation: Encapsulation) -> Options {
    Options {
        encapsulation,
        ..Options::default()
    }
}

/// The place of the INT block in a tagged frame.
pub fn block_at(tagged: &[u8], encapsulation: Encapsulation) -> usize {
    let l4 = layout::find(tagged).map_or(34, |at| match (encapsulation, at.protocol) {
        (Encapsulation::OverTcpUdp | Encapsulation::IntMd, TCP) => at.l4 + 12,
        _ => at.l4,
    });
    l4 + 8
}

/// What the block says that varies from packet to packet; zeros if the frame is too short for one.
pub fn stamp_of(tagged: &[u8], encapsulation: Encapsulation) -> Stamp {
    let at = block_at(tagged, encapsulation);
    if encapsulation == Encapsulation::VxlanGpe {
        // Where hops are asked for their latency, too, a word stands in front of the queue.
        let more = if tagged.get(at + 14) == Some(&6) {
            4
        } else {
            0
        };
        let block = tagged.get(at + more..at + more + gpe::BLOCK_LEN);
        let block = block.unwrap_or(&[0; gpe::BLOCK_LEN]);
        return Stamp {
            sequence: be32(block, 44),
            timestamp: u64::from(be32(block, 36)) << 32 | u64::from(be32(block, 40)),
            age_code: tagged.get(at + 23).map_or(0, |flags| flags & 15),
            queue: (be32(block, 32), be32(block, 48)),
        };
    }
    if encapsulation == Encapsulation::IntMd {
        // Without a queue, what follows stands a word earlier.
        let has_queue = tagged.get(at + 6) != Some(&5);
        let less = if has_queue { 0 } else { 4 };
        let block = tagged.get(at..at + int_md::OWN_LEN - less);
        let block = block.unwrap_or(&[0; int_md::OWN_LEN]);
        return Stamp {
            sequence: be32(block, 40 - less),
            timestamp: u64::from(be32(block, 32 - less)) << 32 | u64::from(be32(block, 36 - less)),
            age_code: block[15] & 15,
            queue: (if has_queue { be32(block, 28) } else { 0 }, 0),
        };
    }
    let block = tagged.get(at..at + BLOCK_LEN).unwrap_or(&[0; BLOCK_LEN]);
    Stamp {
        sequence: be32(block, 28),
        timestamp: be32(block, 20).into(),
        age_code: block[1] & 15,
        queue: (0, 0),
    }
}

/// Every checksum of a tagged packet is right for whoever looks on the way.
pub fn verify_tagged(tagged: &[u8], encapsulation: Encapsulation) -> Result<(), String> {
    verify(tagged)?;
    let at = layout::find(tagged).map_err(|why| format!("{why:?}"))?;
    match encapsulation {
        Encapsulation::OverTcpUdp | Encapsulation::IntMd => Ok(()),
        Encapsulation::ExtensionUdp => verify_at(tagged, &at, at.l4 + 44, tagged[at.l4 + 40]),
        Encapsulation::VxlanGpe => {
            let mut original = tagged.to_vec();
            let more = if tagged[at.l4 + 8 + 14] == 6 { 4 } else { 0 };
            original.drain(at.l3..at.l4 + gpe::ROOM + more);
            verify(&original)
        }
    }
}

pub fn passes(hook: Hook) -> i32 {
    match hook {
        Hook::Tc => TCX_NEXT,
        Hook::Xdp => XDP_PASS,
    }
}

pub fn run(source: &Source, hook: Hook, frame: &[u8]) -> Ran {
    match hook {
        Hook::Tc => source.run(frame),
        Hook::Xdp => source.run_xdp(frame),
    }
}

/// All counters but these are zero.
pub fn assert_counted(source: &Source, expected: &[(source_counter, u64, u64)], sentence: &str) {
    let mut all = vec![(0, 0); source_counter::COUNT_SOURCE_MAX.0 as usize];
    for (counter, packets, bytes) in expected {
        all[counter.0 as usize] = (*packets, *bytes);
    }
    assert_eq!(source.counters(), all, "{sentence}: counters");
}

/// The packet leaves as it came, for this reason.
pub fn assert_left(source: &Source, hook: Hook, frame: &Frame, reason: source_counter, name: &str) {
    let bytes = frame.bytes();
    source.zero_counters();
    let ran = run(source, hook, &bytes);
    assert_eq!(ran.verdict, passes(hook), "{name}: verdict");
    assert_eq!(ran.bytes, bytes, "{name}: bytes");
    assert_counted(source, &[(reason, 1, bytes.len() as u64)], name);
    assert_eq!(
        source.model.look(&bytes),
        Err(reason),
        "{name}: the model's reason"
    );
}

/// The packet leaves with INT in it, byte by byte as the model says.
pub fn assert_tagged(source: &Source, hook: Hook, frame: &Frame, name: &str) -> Stamp {
    let bytes = frame.bytes();
    let key = source.model.look(&bytes);
    let key = key.unwrap_or_else(|reason| panic!("{name}: the model refuses it: {reason:?}"));
    // A flow that was there before its lease is known, but was not tagged.
    let is_new = source.flow(&key).is_none_or(|flow| flow.created_ns == 0);
    source.zero_counters();
    let before = source.clock.now_ns();
    let ran = run(source, hook, &bytes);
    let took = source.clock.now_ns() - before;

    assert_eq!(ran.verdict, passes(hook), "{name}: verdict");
    let encapsulation = source.model.encapsulation;
    let stamp = stamp_of(&ran.bytes, encapsulation);
    assert_eq!(ran.bytes, source.model.tag(&bytes, stamp), "{name}: bytes");
    let late = (stamp.timestamp as u32).wrapping_sub(before as u32);
    assert!(
        u64::from(late) <= took,
        "{name}: the timestamp is the time of sending"
    );
    verify_tagged(&ran.bytes, encapsulation).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut counted = vec![(source_counter::COUNT_SOURCE_TAGGED, 1, bytes.len() as u64)];
    if is_new {
        counted.push((source_counter::COUNT_SOURCE_FLOW_NEW, 1, 0));
    }
    assert_counted(source, &counted, name);
    stamp
}

/// Every way in which the program can hang in the kernel.
pub fn every_way() -> Vec<(Source, Hook)> {
    let small = Options {
        fixed_mtu: 3_000,
        ..Options::default()
    };
    let extension = Options {
        encapsulation: Encapsulation::ExtensionUdp,
        ..small
    };
    let old_kernel = Options {
        kernel_ctx: false,
        atomics: false,
        ..small
    };
    vec![
        (Source::load(&small), Hook::Tc),
        (Source::load(&old_kernel), Hook::Tc),
        (Source::load(&extension), Hook::Tc),
        (Source::load(&extension), Hook::Xdp),
        (
            Source::load(&Options {
                atomics: false,
                ..extension
            }),
            Hook::Xdp,
        ),
        (
            Source::load(&Options {
                encapsulation: Encapsulation::VxlanGpe,
                ..small
            }),
            Hook::Tc,
        ),
        (
            Source::load(&Options {
                encapsulation: Encapsulation::IntMd,
                ..small
            }),
            Hook::Tc,
        ),
    ]
}
