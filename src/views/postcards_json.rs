//! Drops, hops and queues of a host as lines of JSON.

use serde::Serialize;

use crate::model::{DropTotals, FlowPassage, HostDrop, PassageTotals, QueueEpisode, QueueTotals};

const SCHEMA: &str = "hostint.postcards/1";

/// A line.
#[derive(Serialize)]
pub struct PostcardsJson<'a, T> {
    schema: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

impl<'a, T> PostcardsJson<'a, T> {
    fn of(kind: &'static str, content: &'a T) -> Self {
        Self {
            schema: SCHEMA,
            kind,
            content,
        }
    }
}

impl<'a> PostcardsJson<'a, HostDrop> {
    /// The drops of a flow.
    pub fn drops(content: &'a HostDrop) -> Self {
        Self::of("host-drop", content)
    }
}

impl<'a> PostcardsJson<'a, DropTotals> {
    /// The counts of all drops.
    pub fn drop_totals(content: &'a DropTotals) -> Self {
        Self::of("drop-totals", content)
    }
}

impl<'a> PostcardsJson<'a, FlowPassage> {
    /// The hops of a flow.
    pub fn hops(content: &'a FlowPassage) -> Self {
        Self::of("host-hop", content)
    }
}

impl<'a> PostcardsJson<'a, PassageTotals> {
    /// The times of all packets.
    pub fn hop_totals(content: &'a PassageTotals) -> Self {
        Self::of("hop-totals", content)
    }
}

impl<'a> PostcardsJson<'a, QueueEpisode> {
    /// An episode of a queue.
    pub fn queues(content: &'a QueueEpisode) -> Self {
        Self::of("queue", content)
    }
}

impl<'a> PostcardsJson<'a, QueueTotals> {
    /// The counts of all queues.
    pub fn queue_totals(content: &'a QueueTotals) -> Self {
        Self::of("queue-totals", content)
    }
}
