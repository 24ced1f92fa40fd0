//! Reports back to the senders of the reported packets. Each sender has a numbering of its own: all of them are a sink's.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use super::counts::{LostCounts, SenderCounts};
use super::socket::Sockets;
use crate::wire::report_v05;

/// The most packet senders that have a numbering at a time.
pub const MAX_PACKET_SENDERS: usize = 65_536;

/// A sender without reports for this time may be forgotten when the table is full.
pub const SENDER_IDLE: Duration = Duration::from_secs(120);

/// The least time between two searches of the full table for idle senders.
const SEARCH_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct PacketSenders {
    pub port: u16,
    /// The most senders.
    pub limit: usize,
    senders: HashMap<IpAddr, Sender>,
    next_search: Option<Instant>,
    forgotten: u64,
    sent: u64,
    lost: LostCounts,
}

#[derive(Debug)]
struct Sender {
    next_sequence: u32,
    last_report: Instant,
}

impl PacketSenders {
    pub fn new(port: u16) -> Self {
        Self {
            port,
            limit: MAX_PACKET_SENDERS,
            senders: HashMap::new(),
            next_search: None,
            forgotten: 0,
            sent: 0,
            lost: LostCounts::default(),
        }
    }

    pub fn send(&mut self, address: SocketAddr, sockets: &Sockets, datagram: &mut [u8]) {
        let ip = address.ip();
        if !can_be_sent_to(ip) {
            self.lost.not_unicast += 1;
            return;
        }
        let now = Instant::now();
        let Some(sequence) = self.next_number(ip, now) else {
            self.lost.table_full += 1;
            return;
        };
        report_v05::renumber(datagram, sequence);
        match sockets.send(datagram, address) {
            Ok(()) => self.sent += 1,
            Err(error) => self.lost.count(&error, 1),
        }
    }

    /// Returns `None` if the sender is new and the table is full.
    pub fn next_number(&mut self, ip: IpAddr, now: Instant) -> Option<u32> {
        if let Some(sender) = self.senders.get_mut(&ip) {
            let sequence = sender.next_sequence;
            sender.next_sequence = sequence.wrapping_add(1);
            sender.last_report = now;
            return Some(sequence);
        }
        if self.senders.len() >= self.limit {
            self.forget_idle(now);
        }
        (self.senders.len() < self.limit).then(|| {
            let sender = Sender {
                next_sequence: 2,
                last_report: now,
            };
            self.senders.insert(ip, sender);
            1
        })
    }

    fn forget_idle(&mut self, now: Instant) {
        if self.next_search.is_some_and(|time| now < time) {
            return;
        }
        self.next_search = Some(now + SEARCH_PAUSE);
        let before = self.senders.len();
        self.senders
            .retain(|_, sender| now.duration_since(sender.last_report) < SENDER_IDLE);
        self.forgotten += (before - self.senders.len()) as u64;
    }

    pub fn counts(&self) -> SenderCounts {
        SenderCounts {
            senders: self.senders.len(),
            forgotten: self.forgotten,
            sent: self.sent,
            lost: self.lost.total(),
            lost_by_cause: self.lost,
        }
    }
}

/// True if a report can be sent to an address. A link-local one would need its interface as well, and an IPv4 address
/// mapped into IPv6 does not stand in honest packets.
fn can_be_sent_to(ip: IpAddr) -> bool {
    let excluded = match ip {
        IpAddr::V4(v4) => v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6.to_ipv4_mapped().is_some(),
    };
    !(excluded || ip.is_unspecified() || ip.is_multicast())
}
