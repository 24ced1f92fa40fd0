//! What a capture tells of TCP option 114 on a connection.

use serde::Serialize;

use crate::model::{FlowKey, WorstHop};

/// What the echoes to a sender say of one hop.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct CapturedHop {
    /// The number of the hop, from 1, less all multiples of 16.
    pub hop: u8,
    /// The samples whose worst hop it was.
    pub samples: u64,
    pub first_ns: u64,
    pub last_ns: u64,
    /// The worst of these samples.
    pub worst: WorstHop,
}

/// One direction of a connection: the option in segments with data, and the other end's echoes.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct CapturedConnection {
    /// The way of the segments with data.
    pub flow: FlowKey,
    /// Nanoseconds since the Unix epoch.
    pub first_ns: u64,
    pub last_ns: u64,
    /// Segments with data that carry the option.
    pub requests: u64,
    /// Of these: those that hops had filled in before they were captured.
    pub filled: u64,
    /// Segments of the other direction with an echo.
    pub echoes: u64,
    /// Of these: the first to acknowledge a request. Others repeat what was reported before.
    pub samples: u64,
    /// The worst that hops had filled in before the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_filled: Option<WorstHop>,
    /// The worst that was echoed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_echo: Option<WorstHop>,
    /// The hops that samples name, those of most samples first.
    pub hops: Vec<CapturedHop>,
}
