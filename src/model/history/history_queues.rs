//! Queries to a collector's history about the queues of hosts, and their results.

use clap::ValueEnum;
use serde::Serialize;

use crate::model::{NodeId, QueueEpisode};

/// The figure that episodes are sorted by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum EpisodeOrder {
    /// newest first
    #[default]
    Newest,
    /// longest first
    Length,
    /// longest wait of a packet first
    Wait,
    /// most bytes in the queue first
    Bytes,
    /// most packets over the trigger first
    Packets,
}

/// A question about episodes of queues.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct EpisodeQuery {
    /// Only those of this host.
    pub node: Option<NodeId>,
    pub order: EpisodeOrder,
    pub limit: usize,
}

/// An episode of a host's queue, as the host told it last.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ReportedEpisode {
    pub node: NodeId,
    /// When it began, by the collector's clock.
    pub began_ns: u64,
    /// When the collector heard of it last.
    pub told_ns: u64,
    #[serde(flatten)]
    pub episode: QueueEpisode,
}
