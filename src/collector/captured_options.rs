//! The connections of a capture whose segments carry TCP option 114.

use std::collections::{HashMap, VecDeque};

use etherparse::LaxNetSlice;

use super::capture::Captured;
use super::datagram;
use crate::model::{CapturedConnection, CapturedHop, FlowKey, Vlans, WorstHop};
use crate::wire::tcp_option::{self, OptionSegment};

/// The most directions of connections that are followed.
pub const MAX_CAPTURED: usize = 1 << 16;
/// The most requests of a direction that wait for an echo; older ones are given up.
const MAX_WAITING: usize = 1024;
/// Sequence numbers that are farther apart belong to two connections.
const FAR: u32 = 1 << 30;
const TCP: u8 = 6;

/// What was found in a capture.
#[derive(Debug, Default)]
pub struct CapturedOptions {
    directions: HashMap<FlowKey, CapturedDirection>,
    counts: CapturedCounts,
}

/// Counts of segments.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CapturedCounts {
    /// Segments with the option.
    pub segments: u64,
    /// Segments whose options do not fit.
    pub malformed: u64,
    /// Segments with the option of connections beyond [`MAX_CAPTURED`].
    pub beyond: u64,
}

/// The requests of one direction of a connection, and what is told of them.
#[derive(Debug)]
struct CapturedDirection {
    found: CapturedConnection,
    /// Sequence numbers of requests without an echo, in their order.
    waiting: VecDeque<u32>,
    newest: Option<u32>,
}

impl CapturedOptions {
    /// Returns true if the packet is a segment with the option, or one whose options do not fit.
    pub fn see(&mut self, captured: &Captured<'_>) -> bool {
        let Ok(packet) = datagram::packet(captured) else {
            return false;
        };
        let (src, dst) = match packet.net.as_ref() {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                )
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                )
            }
            _ => return false,
        };
        let Some(payload) = packet.ip_payload() else {
            return false;
        };
        if payload.ip_number.0 != TCP || payload.fragmented {
            return false;
        }
        let segment = match tcp_option::find(payload.payload) {
            Ok(Some(segment)) => segment,
            Ok(None) => return false,
            Err(_) if payload.incomplete => return false,
            Err(_) => {
                self.counts.malformed += 1;
                return true;
            }
        };
        // VLAN tags may differ between the two directions.
        let flow = FlowKey {
            src,
            dst,
            sport: segment.sport,
            dport: segment.dport,
            protocol: TCP,
            vlans: Vlans::NONE,
        };
        let has_data = payload.incomplete || payload.payload.len() > segment.header;
        self.counts.segments += 1;
        self.add(flow, &segment, has_data, captured.time_ns);
        true
    }

    fn add(&mut self, flow: FlowKey, segment: &OptionSegment, has_data: bool, time_ns: u64) {
        if has_data {
            match self.direction(flow, time_ns) {
                Some(direction) => direction.request(segment),
                None => self.counts.beyond += 1,
            }
        }
        if let Some(echo) = segment.echo {
            match self.direction(flow.reversed(), time_ns) {
                Some(direction) => direction.echo(&echo, segment.ack, time_ns),
                None => self.counts.beyond += 1,
            }
        }
    }

    fn direction(&mut self, flow: FlowKey, time_ns: u64) -> Option<&mut CapturedDirection> {
        if self.directions.len() >= MAX_CAPTURED && !self.directions.contains_key(&flow) {
            return None;
        }
        let direction = self
            .directions
            .entry(flow)
            .or_insert_with(|| CapturedDirection::new(flow, time_ns));
        direction.found.last_ns = time_ns;
        Some(direction)
    }

    pub fn counts(&self) -> CapturedCounts {
        self.counts
    }

    /// What was found, the directions in the order of their beginnings.
    pub fn take(&mut self) -> Vec<CapturedConnection> {
        let directions = std::mem::take(&mut self.directions);
        let mut found: Vec<_> = directions
            .into_values()
            .map(CapturedDirection::end)
            .collect();
        found.sort_by_key(|one| (one.first_ns, one.flow));
        found
    }
}

impl CapturedDirection {
    fn new(flow: FlowKey, time_ns: u64) -> Self {
        Self {
            found: CapturedConnection {
                flow,
                first_ns: time_ns,
                last_ns: time_ns,
                requests: 0,
                filled: 0,
                echoes: 0,
                samples: 0,
                worst_filled: None,
                worst_echo: None,
                hops: Vec::new(),
            },
            waiting: VecDeque::new(),
            newest: None,
        }
    }

    fn request(&mut self, segment: &OptionSegment) {
        self.found.requests += 1;
        if let Some(filled) = segment.filled {
            self.found.filled += 1;
            keep_worst(&mut self.found.worst_filled, filled);
        }
        let ahead = self
            .newest
            .map(|newest| segment.sequence.wrapping_sub(newest));
        match ahead {
            // A later segment, or the first one.
            None | Some(1..FAR) => {}
            Some(ahead) if ahead == 0 || ahead.wrapping_neg() < FAR => return,
            // Another connection with the same addresses and ports.
            Some(_) => self.waiting.clear(),
        }
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        self.newest = Some(segment.sequence);
        self.waiting.push_back(segment.sequence);
    }

    fn echo(&mut self, echo: &WorstHop, ack: Option<u32>, time_ns: u64) {
        self.found.echoes += 1;
        keep_worst(&mut self.found.worst_echo, *echo);
        let Some(ack) = ack else { return };
        let is_acked = |sequence: &u32| (1..FAR).contains(&ack.wrapping_sub(*sequence));
        let acked = self.waiting.iter().take_while(|one| is_acked(one)).count();
        if acked == 0 {
            return;
        }
        self.waiting.drain(..acked);
        self.found.samples += 1;
        match self.found.hops.iter_mut().find(|hop| hop.hop == echo.hop) {
            Some(hop) => {
                hop.samples += 1;
                hop.last_ns = time_ns;
                if echo.is_worse_than(&hop.worst) {
                    hop.worst = *echo;
                }
            }
            None => self.found.hops.push(CapturedHop {
                hop: echo.hop,
                samples: 1,
                first_ns: time_ns,
                last_ns: time_ns,
                worst: *echo,
            }),
        }
    }

    fn end(self) -> CapturedConnection {
        let mut found = self.found;
        found
            .hops
            .sort_by_key(|hop| (std::cmp::Reverse(hop.samples), hop.hop));
        found
    }
}

fn keep_worst(worst: &mut Option<WorstHop>, one: WorstHop) {
    if worst.is_none_or(|worst| one.is_worse_than(&worst)) {
        *worst = Some(one);
    }
}
