//! INT in an option behind a datagram's data, as a source writes it: include/hostint/int_option.h has the layout.

use super::checksum::checksum;
use crate::model::NodeId;

/// Bytes of the area of options, without the byte in front of it where the UDP length is odd.
pub const LEN: usize = 26;
/// EXP, with an identifier (RFC 9868).
const KIND: u8 = 127;
const OPTION_LEN: u8 = 24;
const ID: [u8; 2] = [0x48, 0x49];
const FILLED: u8 = 0x80;

/// What follows a UDP header and its data, of this length together. The time is 0, for a single packet.
pub fn area(udp_len: usize, node: NodeId, sequence: u32) -> Vec<u8> {
    let size = u16::try_from(udp_len.saturating_sub(8)).unwrap_or(u16::MAX);
    let mut option = vec![KIND, OPTION_LEN];
    option.extend(ID);
    option.extend([FILLED, 0]);
    option.extend(size.to_be_bytes());
    option.extend(sequence.to_be_bytes());
    option.extend([0; 8]); // time, base
    option.extend(node.0.to_be_bytes());
    let padding = vec![0; udp_len % 2];
    let len = (padding.len() + LEN) as u16;
    let check = checksum(&[&len.to_be_bytes(), &option]);
    [padding, check.to_be_bytes().to_vec(), option].concat()
}
