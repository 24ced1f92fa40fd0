//! Assertions about a packet that came back to a source.

use hostint::datapath::abi::peer_counter;

use super::programs::peer::Peer;
use super::programs::source::TCX_NEXT;

/// The frame becomes this one, and is counted so.
pub fn assert_becomes(
    peer: &Peer,
    frame: &[u8],
    expected: &[u8],
    reason: Option<peer_counter>,
    sentence: &str,
) {
    peer.zero_counters();
    let ran = peer.run(frame);
    assert_eq!(ran.verdict, TCX_NEXT, "{sentence}: verdict");
    assert_eq!(ran.bytes, expected, "{sentence}: bytes");
    let mut counted = vec![(0, 0); peer_counter::COUNT_PEER_MAX.0 as usize];
    for reason in reason.into_iter().chain([peer_counter::COUNT_PEER_SEEN]) {
        counted[reason.0 as usize] = (1, frame.len() as u64);
    }
    assert_eq!(peer.counters(), counted, "{sentence}: counters");
}

pub fn assert_left(peer: &Peer, frame: &[u8], reason: Option<peer_counter>, sentence: &str) {
    assert_becomes(peer, frame, frame, reason, sentence);
}
