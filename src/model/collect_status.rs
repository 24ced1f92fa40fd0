//! What a collector has received, lost and kept, and who sent it.

use std::net::IpAddr;

use serde::Serialize;

use super::{EngineStatus, NodeId};

/// The schema of a [`CollectStatus`] as JSON.
pub const COLLECT_SCHEMA: &str = "hostint.collect-status/1";

/// Counts since the collector began; times are ns since the Unix epoch.
///
/// Every datagram that the kernel had for its sockets is in exactly one of `socket_drops`, `probes`, `queue_drops`,
/// `undecodable` and `decoded`, or still waits for the decoder: `datagrams` are all of them but `socket_drops`. Every
/// report is in exactly one of `lines` and `lines_lost`, where lines are written at all, and in exactly one of `stored`,
/// `rolled_up_only` and `store_drops` with a store, once it does not wait any more.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct CollectStatus {
    pub schema: &'static str,
    pub started_ns: u64,
    /// Datagrams taken from sockets.
    pub datagrams: u64,
    pub bytes: u64,
    /// Datagrams that the kernel dropped at a full socket.
    pub socket_drops: u64,
    /// Receive calls that failed.
    pub receive_errors: u64,
    /// Datagrams of sinks that asked whether the collector is there.
    pub probes: u64,
    /// Of these, those whose answer could not be sent.
    pub probes_unanswered: u64,
    /// Datagrams that found the queue to the decoder full.
    pub queue_drops: u64,
    /// Datagrams of which no report could be read.
    pub undecodable: u64,
    /// Datagrams of which at least one was.
    pub decoded: u64,
    /// Individual reports of these.
    pub reports: u64,
    /// Individual reports of these that could not be read: of v2.0, whose groups may have both. If it is the length
    /// that cannot be right, the rest of the group counts as one.
    pub reports_refused: u64,
    /// Numbers missing in the exporters' sequences: lost before they came here, or dropped here.
    pub reports_lost: u64,
    pub reports_duplicate: u64,
    /// Reports that became lines.
    pub lines: u64,
    /// Reports whose lines could not be written, because the disk was full for instance.
    pub lines_lost: u64,
    /// Reports that are in the store, by themselves and in its figures.
    pub stored: u64,
    /// Reports that are in its figures only, because there was no time to write them by themselves.
    pub rolled_up_only: u64,
    /// Reports that are in neither, because its queue was full or it could not be written.
    pub store_drops: u64,
    /// What became of reports that were to go to engines, by engine.
    pub engines: Vec<EngineStatus>,
    /// Exporters that are followed.
    pub exporters_total: usize,
    /// Exporters that were silent and made room for others.
    pub exporters_forgotten: u64,
    /// Datagrams of exporters beyond the most that are followed.
    pub exporters_untracked: u64,
    /// Not all of them, if they are many: those that lost most reports first, then those with most duplicates and
    /// restarts.
    pub exporters: Vec<ExporterHealth>,
}

/// One exporter, as far as its reports tell.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ExporterHealth {
    pub exporter: IpAddr,
    pub node: Option<NodeId>,
    pub hw_id: u8,
    pub reports: u64,
    pub lost: u64,
    pub duplicates: u64,
    pub restarts: u64,
    pub last_seen_ns: u64,
    /// Which clock stamps at the exporter, and whether something keeps it to UTC, if it tells.
    pub clock: Option<&'static str>,
    pub clock_synchronised: Option<bool>,
}
