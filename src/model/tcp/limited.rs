//! What limits a connection's sender, by the difference of two of its states.

use std::fmt;

use clap::ValueEnum;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::TcpSample;

/// What kept the sender from sending more.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, ValueEnum)]
pub enum Limit {
    /// the application gives nothing to send
    Application,
    /// the receiver's window is full
    Receiver,
    /// the send buffer is too small
    SendBuffer,
    /// data waits in the host's own queues
    HostQueue,
    /// congestion control: the path takes no more
    Path,
    /// the kernel's figures do not show it
    #[default]
    Unknown,
}

impl Limit {
    pub const ALL: [Self; 6] = [
        Self::Application,
        Self::Receiver,
        Self::SendBuffer,
        Self::HostQueue,
        Self::Path,
        Self::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Receiver => "receiver",
            Self::SendBuffer => "send-buffer",
            Self::HostQueue => "host-queue",
            Self::Path => "path",
            Self::Unknown => "unknown",
        }
    }
}

impl Limit {
    /// The number on the wire.
    pub fn number(self) -> u8 {
        self as u8
    }

    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The limit with this name, whose words `-` or `_` joins; an unknown name is an unknown limit.
    pub fn of_name(name: &str) -> Self {
        let name = name.replace('_', "-");
        let mut named = Self::ALL.into_iter().filter(|limit| limit.name() == name);
        named.next().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of_name(&String::deserialize(deserializer)?))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What happened to a connection between two of its states, and what its end showed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TcpInterval {
    pub elapsed_us: u64,
    /// The kernel tells the three times below.
    pub has_times: bool,
    /// Data was unsent or unacknowledged.
    pub busy_us: u64,
    /// Of this: the receiver's window was full.
    pub receiver_us: u64,
    /// Of this: the send buffer was too small for more.
    pub buffer_us: u64,
    /// Segments that were sent again, without those that the receiver says it had before.
    pub lost: u32,
    /// Segments that arrived with the mark of a router whose queue was long (ECN).
    pub marked: u32,
    /// At the end: the congestion window was full.
    pub is_window_full: bool,
    /// At the end: the application had nothing more to send.
    pub is_app_limited: bool,
    /// At the end: congestion control paces the sender, and the application set no limit of its own.
    pub is_paced: bool,
    /// At the end: the application waited for room in the send buffer.
    pub waits_for_room: bool,
    /// A hop told by TCP option 114 that packets waited there, or that its link was full.
    pub is_hop_busy: bool,
    pub notsent_bytes: u32,
    /// At the end: how long this host's queues need for what they hold.
    pub host_queue_us: Option<u64>,
    pub srtt_us: Option<u32>,
}

/// The shortest interval that tells anything: the kernel counts times in ticks of up to 10 ms.
const SHORTEST_US: u64 = 50_000;

impl TcpInterval {
    /// The interval between two samples of one connection.
    pub fn between(before: &TcpSample, now: &TcpSample) -> Self {
        let (old, new) = (&before.tcp, &now.tcp);
        let elapsed_ns = now.monotonic_ns.saturating_sub(before.monotonic_ns);
        let mut interval = Self::of_end(now, elapsed_ns / 1000);
        if let (Some(old), Some(new)) = (old.held_up, new.held_up) {
            // The kernel's counts of ticks begin anew after half a year.
            interval.has_times = new.busy_us >= old.busy_us
                && new.receiver_us >= old.receiver_us
                && new.buffer_us >= old.buffer_us;
            interval.busy_us = new.busy_us.saturating_sub(old.busy_us);
            interval.receiver_us = new.receiver_us.saturating_sub(old.receiver_us);
            interval.buffer_us = new.buffer_us.saturating_sub(old.buffer_us);
        }
        let grown = |old: Option<u32>, new: Option<u32>| match (old, new) {
            (Some(old), Some(new)) => new.saturating_sub(old),
            _ => 0,
        };
        let retransmitted = new.total_retrans.saturating_sub(old.total_retrans);
        interval.lost = retransmitted.saturating_sub(grown(old.dsack_dups, new.dsack_dups));
        interval.marked = grown(old.delivered_ce, new.delivered_ce);
        interval
    }

    /// The whole life of a connection, if its beginning is known.
    pub fn since_begin(now: &TcpSample) -> Option<Self> {
        let elapsed_ns = now.monotonic_ns.saturating_sub(now.begun_monotonic_ns?);
        let times = now.tcp.held_up;
        Some(Self {
            has_times: times.is_some(),
            busy_us: times.map_or(0, |times| times.busy_us),
            receiver_us: times.map_or(0, |times| times.receiver_us),
            buffer_us: times.map_or(0, |times| times.buffer_us),
            lost: now
                .tcp
                .total_retrans
                .saturating_sub(now.tcp.dsack_dups.unwrap_or_default()),
            marked: now.tcp.delivered_ce.unwrap_or_default(),
            ..Self::of_end(now, elapsed_ns / 1000)
        })
    }

    fn of_end(now: &TcpSample, elapsed_us: u64) -> Self {
        let tcp = &now.tcp;
        let worst = now.option.and_then(|option| option.worst);
        let queue_us = |rate: u64| u64::from(tcp.host_queue_bytes) * 1_000_000 / rate.max(1);
        Self {
            elapsed_us,
            is_window_full: tcp.cwnd_limited || tcp.packets_out >= tcp.cwnd_segments.max(1),
            is_app_limited: tcp.app_limited,
            is_paced: tcp.paced && tcp.max_pacing_rate_bytes_s.is_none(),
            waits_for_room: tcp.waits_for_room,
            is_hop_busy: worst.is_some_and(|worst| worst.sample.is_busy()),
            notsent_bytes: tcp.notsent_bytes,
            host_queue_us: tcp.delivery_rate_bytes_s.map(queue_us),
            srtt_us: tcp.srtt_us,
            ..Self::default()
        }
    }

    /// What limited the sender for at least half of the interval.
    ///
    /// The kernel counts the time with something to send, and of this the time that the receiver's window or the send
    /// buffer was in the way. In what is left, the network decided, or an application that gave just enough: what the
    /// interval's end showed tells these apart.
    pub fn limit(&self) -> Limit {
        if !self.has_times || self.elapsed_us < SHORTEST_US {
            return Limit::Unknown;
        }
        let is_most = |us: u64| us.saturating_mul(2) >= self.elapsed_us;
        let network_us = self
            .busy_us
            .saturating_sub(self.receiver_us + self.buffer_us);
        // The times are counted in ticks, and may exceed the interval by one.
        let idle_us = self.elapsed_us.saturating_sub(self.busy_us);
        if is_most(self.receiver_us) {
            Limit::Receiver
        } else if is_most(self.buffer_us) {
            Limit::SendBuffer
        } else if is_most(idle_us) {
            Limit::Application
        } else if is_most(network_us) {
            self.network_limit()
        } else {
            Limit::Unknown
        }
    }

    fn network_limit(&self) -> Limit {
        let waits_here = match (self.host_queue_us, self.srtt_us) {
            (Some(queue_us), Some(srtt_us)) => queue_us * 2 >= u64::from(srtt_us) && queue_us > 0,
            _ => false,
        };
        let is_held_back = self.is_paced && self.notsent_bytes > 0;
        // The kernel counts a small buffer's time only if it is empty and full at an acknowledgement.
        let all_is_sent = self.notsent_bytes == 0 && !self.is_window_full;
        if waits_here {
            Limit::HostQueue
        } else if self.waits_for_room && all_is_sent {
            Limit::SendBuffer
        } else if self.is_window_full || self.lost > 0 || self.marked > 0 || is_held_back {
            Limit::Path
        } else if self.notsent_bytes == 0 && self.is_app_limited {
            Limit::Application
        } else if self.is_hop_busy {
            Limit::Path
        } else {
            Limit::Unknown
        }
    }
}
