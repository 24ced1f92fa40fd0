//! The table of episodes of hosts' queues: what each host reported last of each episode, and answers about them.

use rusqlite::{Connection, Transaction};

use super::bounds::{BoundedTable, signed, touched};
use super::lives::{LifeTable, Living};
use crate::model::{EpisodeOrder, EpisodeQuery, NodeId, QueueEpisode, ReportedEpisode, Span};

/// The table and its bounds. An episode is at most 3 kB.
const TABLE: BoundedTable = BoundedTable {
    name: "queue_episode",
    time: "last_ns",
    most_rows: 100_000,
};

/// No host: episodes of all are asked for.
const ANY: i64 = -1;

impl Living for QueueEpisode {
    /// The queue, and the begin of the episode by the host's clock.
    type Name = (u32, u32, u64);

    fn name(&self) -> Self::Name {
        (self.ifindex, self.queue, self.begin_ns)
    }

    fn progress(&self) -> u64 {
        self.progress()
    }
}

impl LifeTable for QueueEpisode {
    const TABLE: BoundedTable = TABLE;

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

    fn put(&self, to: &Transaction<'_>, node: NodeId, time_ns: u64) -> rusqlite::Result<()> {
        let Ok(text) = serde_json::to_string(self) else {
            return Ok(());
        };
        // The time by the collector's clock: what the report says last was shortly before it came.
        let age_ns = self.newest_ns().saturating_sub(self.begin_ns);
        to.prepare_cached(
            "INSERT INTO queue_episode VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT DO UPDATE SET last_ns = excluded.last_ns, progress = excluded.progress,
                 length_ns = excluded.length_ns, max_time_ns = excluded.max_time_ns,
                 max_bytes = excluded.max_bytes, told = excluded.told
             WHERE progress < excluded.progress",
        )?
        .execute(rusqlite::params![
            i64::from(node.0),
            self.ifindex,
            self.queue,
            signed(self.begin_ns),
            signed(time_ns.saturating_sub(age_ns)),
            signed(time_ns),
            signed(self.progress()),
            signed(self.length_ns()),
            self.max_time_ns.unwrap_or_default(),
            self.max_bytes,
            text,
        ])?;
        Ok(())
    }
}

/// The episodes that hosts reported in the span.
pub fn find(
    conn: &Connection,
    query: &EpisodeQuery,
    span: Span,
) -> rusqlite::Result<Vec<ReportedEpisode>> {
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
        found.push(ReportedEpisode {
            node: NodeId(row.get(0)?),
            began_ns: row.get::<_, i64>(1)?.unsigned_abs(),
            told_ns: row.get::<_, i64>(2)?.unsigned_abs(),
            episode,
        });
    }
    Ok(found)
}
