//! What TCP option 114 tells of a connection's path. The kernel half writes and reads the option, as TCP-INT 0.4 has it:
//!
//! | byte | meaning |
//! |---|---|
//! | 0, 1 | kind 114, length 12 |
//! | 2 | key of the request, 4 bits; code of the link's speed at the worst hop, 4 bits |
//! | 3 | the worst hop: from 128 on its queue in units of 8 KiB, else 127 less its free Gbit/s |
//! | 4 | TTL or hop limit at the worst hop; 0: no hop filled this in |
//! | 5 to 7 | the latency of all hops in units of 256 ns, big endian |
//! | 8 | echo of byte 3 |
//! | 9 | echo: number of the worst hop, which is 64 less its TTL, 4 bits; code of the link's speed, 4 bits |
//! | 10, 11 | echo of the latency, little endian; from 0x8000 on the other 15 bits count units of 65,536 ns |

use serde::{Deserialize, Serialize};

use crate::model::NodeId;

const QUEUE: u8 = 0x80;
/// The step in which queues are reported.
pub const QUEUE_STEP_BYTES: u32 = 8192;
const UNIT_NS: u64 = 256;
const FAR: u16 = 0x8000;
/// The TTL that packets begin with; an echo names a hop by this less the TTL there.
const FIRST_TTL: u8 = 64;
const FAR_UNIT_NS: u64 = 65_536;
/// A link is full if less than this part of it is free.
const FULL_PART: u64 = 20;
/// Gbit/s of links, by their codes.
const SPEEDS: [Option<u32>; 8] = [
    None,
    Some(10),
    Some(25),
    Some(40),
    Some(50),
    Some(100),
    Some(200),
    Some(400),
];

/// The code of a link's speed in Mbit/s; 0: it has none.
pub fn link_code(mbit: u32) -> u8 {
    let has_speed = |gbit: &Option<u32>| gbit.is_some_and(|gbit| gbit * 1000 == mbit);
    let code = SPEEDS.iter().position(has_speed).unwrap_or_default();
    // There are fewer than 16.
    code as u8
}

/// What the worst hop of a path told.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct WorstHop {
    /// The number of the worst hop, from 1, less all multiples of 16.
    pub hop: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_gbit_s: Option<u32>,
    /// Its queue, in steps of 8 KiB; 1,040,384 bytes are that or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u32>,
    /// Where it had no queue: how much of its link was free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_gbit_s: Option<u32>,
    /// The time that the packet took in all hops.
    pub latency_ns: u64,
}

/// A queue in bytes, or free Gbit/s.
fn queue_or_free(value: u8) -> (Option<u32>, Option<u32>) {
    match value.checked_sub(QUEUE) {
        Some(steps) => (Some(u32::from(steps) * QUEUE_STEP_BYTES), None),
        None => (None, Some(u32::from(QUEUE - 1 - value))),
    }
}

fn link_speed(code: u8) -> Option<u32> {
    SPEEDS.get(usize::from(code & 15)).copied().flatten()
}

impl WorstHop {
    /// Reads what hops filled in: bytes 3, 2 and 4, and the latency. `None`: none did. The first hop of a sender whose
    /// TTL is 64 has the number 1, if it is a router; a bridge there has 0.
    pub fn from_request(value: u8, key_speed: u8, ttl: u8, latency: u32) -> Option<Self> {
        let hop = FIRST_TTL.wrapping_sub(ttl) & 15;
        let latency_ns = u64::from(latency) * UNIT_NS;
        (ttl != 0).then(|| Self::from_value(value, hop, link_speed(key_speed), latency_ns))
    }

    /// Reads an echo: its bytes 8 and 9, and its latency. `None`: it is empty.
    pub fn from_echo(value: u8, hop_speed: u8, latency: u16) -> Option<Self> {
        let hop = hop_speed >> 4;
        let latency_ns = if latency & FAR == 0 {
            u64::from(latency) * UNIT_NS
        } else {
            u64::from(latency & !FAR) * FAR_UNIT_NS
        };
        (hop != 0).then(|| Self::from_value(value, hop, link_speed(hop_speed), latency_ns))
    }
}

impl WorstHop {
    /// True if this one is worse: any queue is worse than free bandwidth, and of hops as bad the longer latency decides.
    pub fn is_worse_than(&self, other: &Self) -> bool {
        let badness = |one: &Self| {
            (
                one.queue_bytes,
                std::cmp::Reverse(one.free_gbit_s.unwrap_or(u32::MAX)),
                one.latency_ns,
            )
        };
        badness(self) > badness(other)
    }

    /// The value on the wire: from 128 on a queue in steps, else 127 less the free Gbit/s. Worse ones are larger.
    pub fn value(&self) -> u8 {
        let most = u32::from(QUEUE - 1);
        let value = match self.queue_steps() {
            Some(steps) => u32::from(QUEUE) + steps.min(most),
            None => most.saturating_sub(self.free_gbit_s.unwrap_or(most)),
        };
        // It is less than 256.
        value as u8
    }

    /// The hop that told this value.
    pub fn from_value(value: u8, hop: u8, link_gbit_s: Option<u32>, latency_ns: u64) -> Self {
        let (queue_bytes, free_gbit_s) = queue_or_free(value);
        Self {
            hop,
            link_gbit_s,
            queue_bytes,
            free_gbit_s,
            latency_ns,
        }
    }

    /// Its queue in steps of [`QUEUE_STEP_BYTES`].
    pub fn queue_steps(&self) -> Option<u32> {
        self.queue_bytes.map(|bytes| bytes / QUEUE_STEP_BYTES)
    }

    /// True if packets waited there, or less than a twentieth of the link was free.
    pub fn is_busy(&self) -> bool {
        let is_full = |(free, link): (u32, u32)| u64::from(free) * FULL_PART < link.into();
        self.queue_bytes.is_some_and(|bytes| bytes > 0)
            || self.free_gbit_s.zip(self.link_gbit_s).is_some_and(is_full)
    }
}

/// Why a connection sends no requests any more.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionOff {
    /// A retransmission timer ran out before any echo came: something on the path may drop segments with the option.
    Timeout,
}

/// The worst sample since the state before.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct WorstSample {
    #[serde(flatten)]
    pub sample: WorstHop,
    /// The time since the request was sent that the sample answers.
    pub age_ns: u64,
    /// The node that the worst hop is, as a collector learnt from hops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
}

/// Option 114 of all connections since the programs were attached.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct OptionCounts {
    pub requests: u64,
    pub samples: u64,
    pub echoes: u64,
    pub no_room: u64,
    /// Connections that send no requests any more.
    pub off: u64,
}

/// Option 114 of a connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct OptionFigures {
    /// Segments sent with a request.
    pub requests: u32,
    /// Requests that an echo answered.
    pub samples: u32,
    /// Segments sent with an echo.
    pub echoes: u32,
    /// Segments whose other options left no room.
    pub no_room: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<OptionOff>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<WorstSample>,
}
