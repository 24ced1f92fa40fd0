//! What hosts told of drops, connections, hops and queues until it is written.

use rusqlite::Connection;

use super::connections::{ConnectionsWriter, WaitingConnections};
use super::drops::{DropsWriter, WaitingDrops};
use super::lives::{LivesWriter, NewestReports};
use crate::model::{FlowPassage, QueueEpisode};

/// What waits for the writer.
#[derive(Debug, Default)]
pub struct WaitingHostRecords {
    pub drops: WaitingDrops,
    pub connections: WaitingConnections,
    pub hops: NewestReports<FlowPassage>,
    pub queues: NewestReports<QueueEpisode>,
}

impl WaitingHostRecords {
    pub fn is_empty(&self) -> bool {
        self.drops.is_empty()
            && self.connections.is_empty()
            && self.hops.is_empty()
            && self.queues.is_empty()
    }

    /// Adds an older one that could not be written.
    pub fn merge(&mut self, older: Self) {
        self.drops.merge(older.drops);
        self.connections.merge(older.connections);
        self.hops.merge(older.hops);
        self.queues.merge(older.queues);
    }
}

/// Writes it.
#[derive(Debug, Default)]
pub struct HostRecordWriter {
    drops: DropsWriter,
    connections: ConnectionsWriter,
    hops: LivesWriter<FlowPassage>,
    queues: LivesWriter<QueueEpisode>,
}

impl HostRecordWriter {
    /// Writes each kind in a transaction of its own, removes rows that are older than `before_ns`, and returns what could
    /// not be written.
    pub fn write(
        &mut self,
        conn: &mut Connection,
        waiting: WaitingHostRecords,
        before_ns: u64,
    ) -> WaitingHostRecords {
        let WaitingHostRecords {
            drops,
            connections,
            hops,
            queues,
        } = waiting;
        let mut left = WaitingHostRecords::default();
        if !drops.is_empty() && self.drops.write(conn, &drops, before_ns).is_err() {
            left.drops = drops;
        }
        if !connections.is_empty()
            && (self.connections)
                .write(conn, &connections, before_ns)
                .is_err()
        {
            left.connections = connections;
        }
        if !hops.is_empty() && self.hops.write(conn, &hops, before_ns).is_err() {
            left.hops = hops;
        }
        if !queues.is_empty() && self.queues.write(conn, &queues, before_ns).is_err() {
            left.queues = queues;
        }
        left
    }
}
