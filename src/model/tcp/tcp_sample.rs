//! The state of a TCP connection at a time, as the sending host's kernel knows it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::{FlowKey, OptionFigures};

/// The name of a congestion control, as the kernel has it: bytes up to the first NUL.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CongestionControl(pub [u8; 16]);

impl CongestionControl {
    /// `None` if the kernel has no such name: it is longer than 15 bytes, or has characters that do not show.
    pub fn named(name: &str) -> Option<Self> {
        let mut bytes = [0; 16];
        let is_name = name.len() < bytes.len() && name.bytes().all(|byte| byte.is_ascii_graphic());
        bytes
            .get_mut(..name.len())?
            .copy_from_slice(name.as_bytes());
        is_name.then_some(Self(bytes))
    }

    pub fn name(&self) -> &str {
        let bytes = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl Serialize for CongestionControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for CongestionControl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(Self::named(&name).unwrap_or_default())
    }
}

/// What numbers of the kernel with names have: they are read by name, written by name, and known by number.
macro_rules! named_number {
    ($number:ident) => {
        impl $number {
            fn of_name(name: &str) -> Self {
                let all = (0..=u8::MAX).map(Self);
                let mut named = all.filter(|one| one.name() == name);
                named.next().unwrap_or_default()
            }

            /// The first of those of one name, so that all that are unknown are one.
            pub fn by_name(self) -> Self {
                Self::of_name(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $number {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Ok(Self::of_name(&String::deserialize(deserializer)?))
            }
        }

        impl Serialize for $number {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}
named_number!(TcpPhase);
named_number!(CongestionPhase);

/// The state of the connection, by the kernel's numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TcpPhase(pub u8);

impl TcpPhase {
    /// The kernel's own name, in lower case.
    pub fn name(self) -> &'static str {
        match self.0 {
            1 => "established",
            2 => "syn-sent",
            3 => "syn-recv",
            4 => "fin-wait-1",
            5 => "fin-wait-2",
            7 => "closed",
            8 => "close-wait",
            9 => "last-ack",
            11 => "closing",
            _ => "unknown",
        }
    }
}

/// The state of congestion control, by the kernel's numbers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CongestionPhase(pub u8);

impl CongestionPhase {
    pub fn name(self) -> &'static str {
        match self.0 {
            0 => "open",
            1 => "disorder",
            2 => "cwr",
            3 => "recovery",
            4 => "loss",
            _ => "unknown",
        }
    }
}

/// The time since the connection began in which the sender was held up, by what; the kernel counts it in ticks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct HeldUp {
    /// Data was unsent or unacknowledged.
    pub busy_us: u64,
    /// Of this: the receiver's window was full.
    #[serde(rename = "receiver_limited_us")]
    pub receiver_us: u64,
    /// Of this: the send buffer was too small for more.
    #[serde(rename = "buffer_limited_us")]
    pub buffer_us: u64,
}

/// What the kernel knows of a connection. Counts are those since it began, as `ss -ti` shows them. A field that the
/// kernel does not have, or that has no value yet, is absent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct TcpFigures {
    pub state: TcpPhase,
    pub congestion_state: CongestionPhase,
    pub congestion_control: CongestionControl,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_us: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rttvar_us: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<u32>,
    pub rto_us: u64,
    pub cwnd_segments: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh_segments: Option<u32>,
    pub mss_bytes: u32,
    pub packets_out: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub retrans_out: u32,
    pub total_retrans: u32,
    /// Segments of all kinds, acknowledgements too.
    pub segments_out: u32,
    pub data_segments_out: u32,
    pub delivered: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_ce: Option<u32>,
    /// Segments that the receiver says it had before: retransmissions that nothing was lost for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack_dups: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reord_seen: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_count: Option<u32>,
    /// Timeouts since the last progress.
    pub timeouts_in_a_row: u8,
    pub bytes_sent: u64,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_retrans: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bytes_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_rate_bytes_s: Option<u64>,
    /// The application's own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pacing_rate_bytes_s: Option<u64>,
    #[serde(flatten)]
    pub held_up: Option<HeldUp>,
    pub notsent_bytes: u32,
    /// Bytes that arrived and that the application has not read.
    pub unread_bytes: u32,
    /// The sender's data in queues of this host, with the kernel's overhead.
    pub host_queue_bytes: u32,
    pub snd_wnd_bytes: u32,
    pub send_buffer_bytes: u32,
    pub cwnd_limited: bool,
    pub app_limited: bool,
    /// The delivery rate is the application's, and less than the path can do.
    pub delivery_rate_app_limited: bool,
    /// The application waits for room in the send buffer.
    pub waits_for_room: bool,
    pub paced: bool,
    pub ecn: bool,
    pub window_scaled: bool,
    pub sack: bool,
    pub timestamps: bool,
}

/// A connection's state, and which connection it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct TcpSample {
    /// From this host to its peer.
    pub flow: FlowKey,
    /// Nanoseconds since the Unix epoch.
    pub time_ns: u64,
    /// When the connection was established; absent if that was before the program was attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_ns: Option<u64>,
    /// The id of the socket's cgroup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cgroup: Option<u64>,
    /// No two sockets that live at a time have the same.
    #[serde(skip)]
    pub socket: u64,
    /// The monotonic clock, by which intervals are measured.
    #[serde(skip)]
    pub monotonic_ns: u64,
    /// The monotonic clock when the connection was established.
    #[serde(skip)]
    pub begun_monotonic_ns: Option<u64>,
    /// The number of the class; 0: none.
    #[serde(skip)]
    pub class: u32,
    pub tcp: TcpFigures,
    /// Absent if the host sends no option 114 on this connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<OptionFigures>,
}

impl TcpSample {
    /// True if this may be a later state of the connection that the other sample is of: sockets of connections that
    /// ended are used again.
    pub fn continues(&self, before: &Self) -> bool {
        self.socket == before.socket
            && self.flow == before.flow
            && self.begun_monotonic_ns == before.begun_monotonic_ns
            && self.tcp.bytes_sent >= before.tcp.bytes_sent
            && self.tcp.bytes_received >= before.tcp.bytes_received
    }
}

impl fmt::Display for TcpPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
