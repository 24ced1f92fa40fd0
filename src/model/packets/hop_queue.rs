//! The queue that a packet came to at a transit hop, as the hop says.

use serde::Serialize;

/// What stood in the queue, by the unit in which it is reported.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum HopQueue {
    /// INT's queue occupancy, in the unit of the node: hostint's hops count packets. It has 24 bits.
    Occupancy(u32),
    /// IOAM's queue depth: bytes, if the router is Linux.
    Bytes(u32),
}

/// What packets met at a hop, by reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HopQueueFigures {
    /// The newest reports, those that said it.
    pub reports: u64,
    /// The numbers are bytes; else they are in the unit of the node, packets at hostint's hops.
    pub in_bytes: bool,
    pub mean: f64,
    pub most: u32,
}

impl HopQueue {
    /// The greatest occupancy that INT can tell, and all ones say that it is not known.
    const MOST_OCCUPANCY: u32 = 0x00ff_fffe;

    /// Reads INT's word, a queue's number and its occupancy; `None` if it is all ones.
    pub fn of_int(word: u32) -> Option<Self> {
        let occupancy = word & 0x00ff_ffff;
        (word != u32::MAX).then_some(Self::Occupancy(occupancy))
    }

    /// Reads IOAM's word; `None` if it is all ones.
    pub fn of_ioam(word: u32) -> Option<Self> {
        (word != u32::MAX).then_some(Self::Bytes(word))
    }

    pub fn number(self) -> u32 {
        match self {
            Self::Occupancy(number) | Self::Bytes(number) => number,
        }
    }

    pub fn is_in_bytes(self) -> bool {
        matches!(self, Self::Bytes(_))
    }

    /// The number in the 24 bits of INT; a greater one becomes the greatest.
    pub fn in_24_bits(self) -> u32 {
        self.number().min(Self::MOST_OCCUPANCY)
    }
}

impl HopQueueFigures {
    /// The figures of what reports say of a hop; `None` if none of them says it. The first one decides on the unit.
    pub fn of(queues: impl IntoIterator<Item = HopQueue>) -> Option<Self> {
        let mut queues = queues.into_iter().peekable();
        let in_bytes = queues.peek()?.is_in_bytes();
        let (mut reports, mut sum, mut most) = (0_u64, 0_u64, 0);
        for queue in queues.filter(|queue| queue.is_in_bytes() == in_bytes) {
            reports += 1;
            sum += u64::from(queue.number());
            most = queue.number().max(most);
        }
        Some(Self {
            reports,
            in_bytes,
            mean: sum as f64 / reports as f64,
            most,
        })
    }
}
