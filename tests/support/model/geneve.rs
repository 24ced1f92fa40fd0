//! A model of INT v2.1 (MD) in an option of Geneve: a source's packet, and what a transit hop makes of it.

use super::int_md::{Header, grown};
use super::layout;
use crate::frame::Frame;

pub const PORT: u16 = 6081;
const CLASS: [u8; 2] = [0x01, 0x03];
/// UDP and Geneve.
const FRONT: usize = 16;

/// What varies in Geneve around the packet in the tunnel.
#[derive(Clone, Debug)]
pub struct Tunnel {
    /// Options in front of INT's, and behind it.
    pub before: Vec<u8>,
    pub behind: Vec<u8>,
    pub class: [u8; 2],
    pub kind: u8,
    /// What the first byte and the option's length say instead of the truth.
    pub first: Option<u8>,
    pub words: Option<u8>,
    pub inside: Vec<u8>,
}

impl Tunnel {
    pub fn around(inside: Vec<u8>) -> Self {
        Self {
            before: Vec::new(),
            behind: Vec::new(),
            class: CLASS,
            kind: 1,
            first: None,
            words: None,
            inside,
        }
    }

    /// What follows the outer UDP header.
    pub fn bytes(&self, header: &Header) -> Vec<u8> {
        let words = self.words.unwrap_or((3 + header.stack.len() / 4) as u8);
        let mut options = self.before.clone();
        options.extend(self.class);
        options.extend([self.kind, words]);
        options.extend(&header.bytes()[4..]);
        options.extend(&self.behind);
        let first = self.first.unwrap_or((options.len() / 4) as u8);
        let mut bytes = vec![first, 0, 0x65, 0x58, 0x12, 0x34, 0x56, 0];
        bytes.extend(options);
        bytes.extend(&self.inside);
        bytes
    }

    /// The tunnel in this datagram.
    pub fn wrap(&self, outer: Frame, header: &Header) -> Frame {
        outer.ports(40_000, PORT).payload_bytes(self.bytes(header))
    }

    /// Where INT's option is.
    pub fn head_at(&self, frame: &[u8]) -> usize {
        layout::find(frame).expect("UDP").l4 + FRONT + self.before.len()
    }

    /// The words of all options, as the packet states them.
    pub fn option_words(&self, frame: &[u8]) -> u8 {
        frame[layout::find(frame).expect("UDP").l4 + 8] & 0x3f
    }

    /// The frame with one more entry.
    pub fn push(&self, frame: &[u8], entry: &[u8]) -> Vec<u8> {
        let at = layout::find(frame).expect("UDP");
        let head = self.head_at(frame);
        let words = (entry.len() / 4) as u8;
        grown(frame, head + super::int_md::HEAD, entry, at.tos, |frame| {
            frame[at.l4 + 8] += words;
            frame[head + 3] += words;
            frame[head + 7] -= 1;
        })
    }

    /// The frame with these bits of the metadata header's first byte set.
    pub fn with_flags(&self, frame: &[u8], flags: u8) -> Vec<u8> {
        let tos = layout::find(frame).expect("UDP").tos;
        let head = self.head_at(frame);
        grown(frame, head, &[], tos, |frame| frame[head + 4] |= flags)
    }
}

/// An option of another class, with so many words.
pub fn other_option(words: u8) -> Vec<u8> {
    let mut option = vec![0x01, 0x02, 0x80, words];
    option.resize(4 + 4 * usize::from(words), 0x77);
    option
}
