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

/// What a line may have as its content.
pub trait PostcardsKind {
    const KIND: &'static str;
}

/// The drops of a flow.
impl PostcardsKind for HostDrop {
    const KIND: &'static str = "host-drop";
}

/// The counts of all drops.
impl PostcardsKind for DropTotals {
    const KIND: &'static str = "drop-totals";
}

/// The hops of a flow.
impl PostcardsKind for FlowPassage {
    const KIND: &'static str = "host-hop";
}

/// The times of all packets.
impl PostcardsKind for PassageTotals {
    const KIND: &'static str = "hop-totals";
}

impl PostcardsKind for QueueEpisode {
    const KIND: &'static str = "queue";
}

/// The counts of all queues.
impl PostcardsKind for QueueTotals {
    const KIND: &'static str = "queue-totals";
}

impl<'a, T: PostcardsKind> PostcardsJson<'a, T> {
    pub fn of(content: &'a T) -> Self {
        Self {
            schema: SCHEMA,
            kind: T::KIND,
            content,
        }
    }
}
