//! Questions to a collector's history about TCP connections, and their answers.

use std::net::IpAddr;

use clap::ValueEnum;
use serde::Serialize;

use crate::model::{
    BesideInt, BesideIntUnknown, FlowPods, IntOfConnection, Limit, LimitedTimes, Measured, NodeId,
    SegmentFigures, SegmentKind, TcpReport, WITHOUT_SOCKET,
};

/// What a connection did since an earlier state of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TcpGrowth {
    /// For how long each thing limited it.
    pub times: LimitedTimes,
    /// What limited it for at least half of this time.
    pub limited: Limit,
    pub counts: ConnectionCounts,
}

/// Counts of one connection or of several.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ConnectionCounts {
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub retransmitted_segments: u64,
    /// Those that the receiver says it had before.
    pub spurious_segments: u64,
    pub timeouts: u64,
}

impl ConnectionCounts {
    /// The counts of a connection since it began.
    pub fn of(report: &TcpReport) -> Self {
        let tcp = &report.sample.tcp;
        Self {
            bytes_acked: tcp.bytes_acked,
            bytes_received: tcp.bytes_received,
            retransmitted_segments: tcp.total_retrans.into(),
            spurious_segments: tcp.dsack_dups.unwrap_or_default().into(),
            timeouts: tcp.rto_count.unwrap_or_default().into(),
        }
    }

    /// What was counted since `before`, which is an earlier state of the same counts.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            bytes_acked: self.bytes_acked.saturating_sub(before.bytes_acked),
            bytes_received: self.bytes_received.saturating_sub(before.bytes_received),
            retransmitted_segments: self
                .retransmitted_segments
                .saturating_sub(before.retransmitted_segments),
            spurious_segments: self
                .spurious_segments
                .saturating_sub(before.spurious_segments),
            timeouts: self.timeouts.saturating_sub(before.timeouts),
        }
    }

    /// Numbers of other hosts may be anything, so sums end at the greatest one.
    pub fn add(&mut self, more: &Self) {
        for (sum, more) in [
            (&mut self.bytes_acked, more.bytes_acked),
            (&mut self.bytes_received, more.bytes_received),
            (
                &mut self.retransmitted_segments,
                more.retransmitted_segments,
            ),
            (&mut self.spurious_segments, more.spurious_segments),
            (&mut self.timeouts, more.timeouts),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// A connection without news for this time is silent, and not open: by default its host tells an idle one each minute.
pub const CONNECTION_SILENT_NS: u64 = 180_000_000_000;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionState {
    Open,
    /// It has not ended as far as is known, and its host tells nothing of it.
    Silent,
    Ended,
    /// Its host does not have it any more, and did not see its end.
    Gone,
}

impl ConnectionState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Silent => "silent",
            Self::Ended => "ended",
            Self::Gone => "gone",
        }
    }
}

/// What connections are added up by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum TcpGrouping {
    /// what limits the sender
    #[default]
    Limit,
    /// sending host, and address of its peer
    Pair,
    /// sending host
    Host,
}

/// The figure by which connections are sorted, largest first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ConnectionOrder {
    /// most retransmitted segments first
    #[default]
    Retransmitted,
    /// most bytes first, sent and received
    Bytes,
    /// longest round-trip time first
    Rtt,
    /// newest state first
    Newest,
}

/// A question about single connections.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ConnectionQuery {
    /// Those of this host alone.
    pub node: Option<NodeId>,
    /// Those that this limits.
    pub limited: Option<Limit>,
    /// Those whose segments are this flow of the history.
    pub flow: Option<i64>,
    pub order: ConnectionOrder,
    pub limit: usize,
}

/// The last known state of a connection.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ConnectionFigures {
    /// The host that told it, which is the sender.
    pub node: NodeId,
    /// The flow that INT measured of its segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<i64>,
    /// The node at which INT sees its segments arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sink: Option<NodeId>,
    pub state: ConnectionState,
    /// What INT measured of its segments, or why that is not known.
    pub int: BesideInt,
    #[serde(flatten)]
    pub pods: FlowPods,
    #[serde(flatten)]
    pub connection: TcpReport,
}

impl ConnectionFigures {
    /// Why a connection was not seen whole by its host. `None`: it was.
    pub fn not_whole(&self) -> Option<BesideIntUnknown> {
        match self.state {
            ConnectionState::Gone => Some(BesideIntUnknown::EndUnseen),
            ConnectionState::Open | ConnectionState::Silent => Some(BesideIntUnknown::NotEnded),
            ConnectionState::Ended => match self.connection.sample.begun_ns {
                None => Some(BesideIntUnknown::BegunBefore),
                Some(_) => None,
            },
        }
    }

    /// Compares a connection that was seen whole with all that INT counted of its flow meanwhile.
    ///
    /// Each retransmission that was needed repeats a segment that did not arrive, and the sender sent
    /// `segments_out - arrived` of these at most: the lost ones, and those that INT did not see.
    pub fn beside(&self, measured: &Measured, dropped_behind_strip: u64) -> BesideInt {
        let unknown = |unknown| BesideInt::Unknown { unknown };
        if let Some(reason) = self.not_whole() {
            return unknown(reason);
        }
        if measured.summaries == 0 {
            return unknown(BesideIntUnknown::NotMeasured);
        }
        let tcp = &self.connection.sample.tcp;
        let sent = u64::from(tcp.segments_out);
        if measured.sent() > sent.saturating_add(WITHOUT_SOCKET) {
            return unknown(BesideIntUnknown::OtherPackets);
        }
        let lost = measured.missing();
        let unseen = sent.saturating_sub(measured.sent());
        let needed = lost
            .saturating_add(unseen)
            .saturating_add(dropped_behind_strip)
            .saturating_add(WITHOUT_SOCKET);
        BesideInt::Known(IntOfConnection {
            arrived: measured.sent().saturating_sub(lost),
            lost,
            unseen,
            dropped_behind_strip,
            spurious_least: u64::from(tcp.total_retrans).saturating_sub(needed),
        })
    }
}

/// The sums over connections.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct TcpSums {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<IpAddr>,
    /// What limited them for most of the time.
    pub limited: Limit,
    /// Connections that were told in the span. By limit: those that it limits.
    pub connections: u64,
    /// Of these: those that are open.
    pub open: u64,
    /// For how long each thing limited them, added up over connections.
    #[serde(rename = "limited_us")]
    pub times: LimitedTimes,
    #[serde(flatten)]
    pub counts: ConnectionCounts,
    /// By host: how long its applications took to answer, if its sink reports the times of its host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<AnswerTimes>,
}

/// The times from an application's reading of a request to its answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct AnswerTimes {
    pub answers: u64,
    pub mean_ns: i64,
}

impl AnswerTimes {
    /// Those of a host, by the segments of a span.
    pub fn of(node: NodeId, segments: &[SegmentFigures]) -> Option<Self> {
        let (mut answers, mut sum_ns) = (0_u64, 0_i128);
        let own = segments
            .iter()
            .filter(|one| one.segment.kind == SegmentKind::Answer && one.segment.from.node == node);
        for latency in own.filter_map(|one| one.times.latency) {
            answers = answers.saturating_add(latency.samples);
            let of_one = i128::from(latency.mean_ns) * i128::from(latency.samples);
            sum_ns = sum_ns.saturating_add(of_one);
        }
        let mean_ns = sum_ns.checked_div(answers.into())?;
        Some(Self {
            answers,
            mean_ns: i64::try_from(mean_ns).unwrap_or(i64::MAX),
        })
    }
}

/// For how long each thing limited connections, over time; periods without news are left out.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct LimitSeries {
    pub period_ns: u64,
    pub points: Vec<LimitPoint>,
}

/// For how long one thing limited connections in a period, added up over connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct LimitPoint {
    pub begin_ns: u64,
    pub limited: Limit,
    pub us: u64,
}

/// The state of connections over time.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ConnectionSeries {
    pub period_ns: u64,
    pub points: Vec<ConnectionPoint>,
}

/// The last state of a connection in a period, and what was counted in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct ConnectionPoint {
    pub begin_ns: u64,
    pub node: NodeId,
    /// The connection's number at its host.
    pub id: u64,
    pub limited: Limit,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_us: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_us: Option<u32>,
    pub cwnd_segments: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bytes_s: Option<u64>,
    #[serde(flatten)]
    pub counts: ConnectionCounts,
}

/// The open connections of a host and the sums of those that something limits, since the collector started.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct HostTcpRow {
    pub node: NodeId,
    pub limited: Limit,
    pub open: u64,
    pub us: u64,
    #[serde(flatten)]
    pub counts: ConnectionCounts,
}

impl TcpReport {
    /// The address of its peer.
    pub fn peer(&self) -> IpAddr {
        self.sample.flow.dst
    }

    /// Its beginning, or the time of this state if that is not known.
    pub fn known_since_ns(&self) -> u64 {
        self.sample.begun_ns.unwrap_or(self.sample.time_ns)
    }
}
