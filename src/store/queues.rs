//! The table of episodes of hosts' queues: what each host told last of each episode, and answers about them.

use std::collections::HashMap;

use rusqlite::Connection;

use super::bounds::{BoundedTable, MOST_WAITING, RowsWritten, signed, touched};
use crate::model::{EpisodeOrder, EpisodeQuery, NodeId, QueueEpisode, Span, ToldEpisode};

/// The table and its bounds. An episode is at most 3 kB.
const TABLE: BoundedTable = BoundedTable {
    name: "queue_episode",
    time: "last_ns",
    most_rows: 100_000,
};

/// No host: episodes of all are asked for.
const ANY: i64 = -1;

/// A queue of a host, and the begin of an episode by the host's clock.
type EpisodeOfHost = (NodeId, u32, u32, u64);

/// What hosts told of episodes, until it is written.
#[derive(Debug, Default)]
pub struct WaitingQueues {
    /// The last report of each, and the time of its arrival.
    last: HashMap<EpisodeOfHost, (QueueEpisode, u64)>,
}

impl WaitingQueues {
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Adds what a host told of an episode, which arrived at `time_ns`. One that is late has less, and one that is told
    /// again has nothing new.
    pub fn add(&mut self, node: NodeId, episode: &QueueEpisode, time_ns: u64) {
        let id = (node, episode.ifindex, episode.queue, episode.begin_ns);
        let is_news = match self.last.get(&id) {
            Some((known, _)) => known.progress() < episode.progress(),
            None => self.last.len() < MOST_WAITING,
        };
        if is_news {
            self.last.insert(id, (episode.clone(), time_ns));
        }
    }

    /// Adds all that another one has.
    pub fn merge(&mut self, other: Self) {
        for ((node, ..), (episode, time_ns)) in other.last {
            self.add(node, &episode, time_ns);
        }
    }
}

/// Writes episodes, and removes the oldest.
#[derive(Debug, Default)]
pub struct QueuesWriter {
    since_counted: RowsWritten,
}

impl QueuesWriter {
    /// Writes in one transaction, and removes rows that are older than `before_ns`.
    pub fn write(
        &mut self,
        conn: &mut Connection,
        told: &WaitingQueues,
        before_ns: u64,
    ) -> rusqlite::Result<()> {
        let transaction = conn.transaction()?;
        create(&transaction)?;
        {
            let mut put = transaction.prepare_cached(
                "INSERT INTO queue_episode VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT DO UPDATE SET last_ns = excluded.last_ns, progress = excluded.progress,
                     length_ns = excluded.length_ns, max_time_ns = excluded.max_time_ns,
                     max_bytes = excluded.max_bytes, told = excluded.told
                 WHERE progress < excluded.progress",
            )?;
            for ((node, ifindex, queue, begin_ns), (episode, time_ns)) in &told.last {
                let Ok(text) = serde_json::to_string(episode) else {
                    continue;
                };
                // The time by the collector's clock: what the report tells last was shortly before it came.
                let age_ns = episode.newest_ns().saturating_sub(*begin_ns);
                put.execute(rusqlite::params![
                    i64::from(node.0),
                    ifindex,
                    queue,
                    signed(*begin_ns),
                    signed(time_ns.saturating_sub(age_ns)),
                    signed(*time_ns),
                    signed(episode.progress()),
                    signed(episode.length_ns()),
                    episode.max_time_ns.unwrap_or_default(),
                    episode.max_bytes,
                    text,
                ])?;
            }
        }
        TABLE.forget(&transaction, before_ns)?;
        if self.since_counted.add(told.last.len()) {
            TABLE.shorten(&transaction)?;
        }
        transaction.commit()
    }
}

fn create(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS queue_episode (
             node INTEGER NOT NULL,
             ifindex INTEGER NOT NULL,
             queue INTEGER NOT NULL,
             -- the begin, by the clock of the host
             begin_ns INTEGER NOT NULL,
             first_ns INTEGER NOT NULL,
             last_ns INTEGER NOT NULL,
             progress INTEGER NOT NULL,
             length_ns INTEGER NOT NULL,
             max_time_ns INTEGER NOT NULL,
             max_bytes INTEGER NOT NULL,
             told TEXT NOT NULL,
             PRIMARY KEY (node, ifindex, queue, begin_ns)
         );
         CREATE INDEX IF NOT EXISTS queue_episode_time ON queue_episode (last_ns);",
    )
}

/// The episodes that hosts told in the span.
pub fn find(
    conn: &Connection,
    query: &EpisodeQuery,
    span: Span,
) -> rusqlite::Result<Vec<ToldEpisode>> {
    if !TABLE.exists(conn)? {
        return Ok(Vec::new());
    }
    let order = match query.order {
        EpisodeOrder::Newest => "first_ns",
        EpisodeOrder::Length => "length_ns",
        EpisodeOrder::Wait => "max_time_ns",
        EpisodeOrder::Bytes => "max_bytes",
        EpisodeOrder::Packets => "progress",
    };
    let [since, until] = touched(span);
    let node = query.node.map_or(ANY, |node| node.0.into());
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut ask = conn.prepare_cached(&format!(
        "SELECT node, first_ns, last_ns, told FROM queue_episode
         WHERE last_ns >= ?1 AND first_ns < ?2 AND ?3 IN (-1, node)
         ORDER BY {order} DESC, first_ns DESC, node, ifindex, queue LIMIT ?4"
    ))?;
    let mut rows = ask.query((since, until, node, limit))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let Ok(episode) = serde_json::from_str(row.get_ref(3)?.as_str()?) else {
            continue;
        };
        found.push(ToldEpisode {
            node: NodeId(row.get(0)?),
            began_ns: row.get::<_, i64>(1)?.unsigned_abs(),
            told_ns: row.get::<_, i64>(2)?.unsigned_abs(),
            episode,
        });
    }
    Ok(found)
}
