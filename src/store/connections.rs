//! The tables of TCP connections: the last state of each, its states and its worst hops over time, and sums by host, peer
//! and limit.

use std::collections::HashMap;
use std::net::IpAddr;

use rusqlite::{Connection, Transaction};

use super::bounds::{BoundedTable, MOST_WAITING, RowsWritten, has_table, signed};
use super::coding::address_bytes;
use super::connection_hops::{self, WaitingTcpHops};
use super::ids::name_bytes;
use super::lives::{Living, NewestReports};
use super::period::RollUpLevel;
use crate::model::{ConnectionCounts, ConnectionReport, Limit, NodeId, TcpGrowth, TcpReport};

/// The tables and their bounds. A connection is about 1 kB.
pub const TABLES: [BoundedTable; 4] = [
    BoundedTable {
        name: "tcp_connection",
        time: "last_ns",
        most_rows: 200_000,
    },
    BoundedTable::by_begin("tcp_state"),
    BoundedTable::by_begin("tcp_sum"),
    connection_hops::TABLE,
];

/// A host, and its number of a connection.
type ConnectionName = (NodeId, u64);

impl Living for TcpReport {
    type Name = u64;

    fn name(&self) -> u64 {
        self.id
    }

    fn progress(&self) -> u64 {
        let ended = u64::from(self.why.is_last());
        self.samples.saturating_mul(2).saturating_add(ended)
    }
}

/// The state of a connection at the end of a period, and what was counted in the period.
#[derive(Clone, Debug)]
struct PeriodState {
    limited: Limit,
    srtt_us: Option<u32>,
    min_rtt_us: Option<u32>,
    cwnd_segments: u32,
    delivery_rate_bytes_s: Option<u64>,
    counts: ConnectionCounts,
}

/// A host, its peer, and what limits their connections in a period.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct LimitSumKey {
    begin_ns: u64,
    node: NodeId,
    peer: IpAddr,
    limited: Limit,
}

/// What hosts told of connections, until it is written.
#[derive(Debug, Default)]
pub struct WaitingConnections {
    last: NewestReports<TcpReport>,
    states: HashMap<(ConnectionName, u64), PeriodState>,
    sums: HashMap<LimitSumKey, (u64, ConnectionCounts)>,
    hops: WaitingTcpHops,
}

impl WaitingConnections {
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Adds the state of a connection, and what it adds to earlier ones. Times are those of the arrival, as in all
    /// figures of a collector.
    pub fn add(&mut self, report: &ConnectionReport, growth: &TcpGrowth, time_ns: u64) {
        let (node, reported) = (report.node, &report.connection);
        let begin_ns = RollUpLevel::TenSeconds.floor(time_ns);
        let name = (node, reported.id);
        self.last.add(node, reported, time_ns);
        let tcp = &reported.sample.tcp;
        let state = PeriodState {
            limited: growth.limited,
            srtt_us: tcp.srtt_us,
            min_rtt_us: tcp.min_rtt_us,
            cwnd_segments: tcp.cwnd_segments,
            delivery_rate_bytes_s: tcp.delivery_rate_bytes_s,
            counts: growth.counts,
        };
        self.add_state((name, begin_ns), state);
        self.hops.add(node, reported, begin_ns);
        let key = |limited| LimitSumKey {
            begin_ns,
            node,
            peer: reported.peer(),
            limited,
        };
        for limited in Limit::ALL {
            let us = growth.times.of(limited);
            if us > 0 {
                self.add_sum(key(limited), (us, ConnectionCounts::default()));
            }
        }
        if growth.counts != ConnectionCounts::default() {
            self.add_sum(key(growth.limited), (0, growth.counts));
        }
    }

    fn add_state(&mut self, key: (ConnectionName, u64), mut state: PeriodState) {
        if let Some(before) = self.states.get(&key) {
            state.counts.add(&before.counts);
        } else if self.states.len() >= MOST_WAITING {
            return;
        }
        self.states.insert(key, state);
    }

    fn add_sum(&mut self, key: LimitSumKey, (us, counts): (u64, ConnectionCounts)) {
        if self.sums.len() < MOST_WAITING || self.sums.contains_key(&key) {
            let sum = self.sums.entry(key).or_default();
            sum.0 = sum.0.saturating_add(us);
            sum.1.add(&counts);
        }
    }

    /// Adds an older one that could not be written.
    pub fn merge(&mut self, older: Self) {
        self.last.merge(older.last);
        for (key, state) in older.states {
            match self.states.get_mut(&key) {
                Some(newer) => newer.counts.add(&state.counts),
                None => self.add_state(key, state),
            }
        }
        for (key, sum) in older.sums {
            self.add_sum(key, sum);
        }
        self.hops.merge(older.hops);
    }
}

/// Writes connections, and removes the oldest.
#[derive(Debug, Default)]
pub struct ConnectionsWriter {
    since_counted: RowsWritten,
}

impl ConnectionsWriter {
    /// Writes in one transaction, and removes rows that are older than `before_ns`.
    pub fn write(
        &mut self,
        conn: &mut Connection,
        reported: &WaitingConnections,
        before_ns: u64,
    ) -> rusqlite::Result<()> {
        let transaction = conn.transaction()?;
        create(&transaction)?;
        write_last(&transaction, reported)?;
        write_states(&transaction, reported)?;
        write_sums(&transaction, reported)?;
        reported.hops.write(&transaction)?;
        let rows =
            reported.last.len() + reported.states.len() + reported.sums.len() + reported.hops.len();
        let count = self.since_counted.add(rows);
        for table in TABLES {
            table.forget(&transaction, before_ns)?;
            if count {
                table.shorten(&transaction)?;
            }
        }
        transaction.commit()
    }
}

fn write_last(
    transaction: &Transaction<'_>,
    reported: &WaitingConnections,
) -> rusqlite::Result<()> {
    let mut put = transaction.prepare_cached(
        "INSERT INTO tcp_connection VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET first_ns = min(first_ns, excluded.first_ns), last_ns = excluded.last_ns,
             ended = excluded.ended, limited = excluded.limited, retransmitted = excluded.retransmitted,
             bytes = excluded.bytes, srtt_us = excluded.srtt_us, told = excluded.told",
    )?;
    for (node, reported, time_ns) in reported.last.iter() {
        let tcp = &reported.sample.tcp;
        let age_ns = reported
            .sample
            .time_ns
            .saturating_sub(reported.known_since_ns());
        let Ok(text) = serde_json::to_string(reported) else {
            continue;
        };
        put.execute(rusqlite::params![
            i64::from(node.0),
            signed(reported.id),
            name_bytes(&(reported.sample.flow.without_vlans(), None, None)),
            address_bytes(reported.peer()),
            signed(time_ns.saturating_sub(age_ns)),
            signed(time_ns),
            reported.why.is_last(),
            reported.limited.number(),
            tcp.total_retrans,
            signed(tcp.bytes_acked.saturating_add(tcp.bytes_received)),
            tcp.srtt_us,
            text,
        ])?;
    }
    Ok(())
}

fn write_states(
    transaction: &Transaction<'_>,
    reported: &WaitingConnections,
) -> rusqlite::Result<()> {
    let mut put = transaction.prepare_cached(
        "INSERT INTO tcp_state VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET limited = excluded.limited, srtt_us = excluded.srtt_us,
             min_rtt_us = excluded.min_rtt_us, cwnd = excluded.cwnd, rate = excluded.rate,
             acked = acked + excluded.acked, received = received + excluded.received,
             retransmitted = retransmitted + excluded.retransmitted, spurious = spurious + excluded.spurious,
             timeouts = timeouts + excluded.timeouts",
    )?;
    for (((node, id), begin_ns), state) in &reported.states {
        let counts = &state.counts;
        put.execute(rusqlite::params![
            i64::from(node.0),
            signed(*id),
            signed(*begin_ns),
            state.limited.number(),
            state.srtt_us,
            state.min_rtt_us,
            state.cwnd_segments,
            state.delivery_rate_bytes_s.map(signed),
            signed(counts.bytes_acked),
            signed(counts.bytes_received),
            signed(counts.retransmitted_segments),
            signed(counts.spurious_segments),
            signed(counts.timeouts),
        ])?;
    }
    Ok(())
}

fn write_sums(
    transaction: &Transaction<'_>,
    reported: &WaitingConnections,
) -> rusqlite::Result<()> {
    let mut put = transaction.prepare_cached(
        "INSERT INTO tcp_sum VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET us = us + excluded.us, acked = acked + excluded.acked,
             received = received + excluded.received, retransmitted = retransmitted + excluded.retransmitted,
             spurious = spurious + excluded.spurious, timeouts = timeouts + excluded.timeouts",
    )?;
    for (key, (us, counts)) in &reported.sums {
        put.execute(rusqlite::params![
            signed(key.begin_ns),
            i64::from(key.node.0),
            address_bytes(key.peer),
            key.limited.number(),
            signed(*us),
            signed(counts.bytes_acked),
            signed(counts.bytes_received),
            signed(counts.retransmitted_segments),
            signed(counts.spurious_segments),
            signed(counts.timeouts),
        ])?;
    }
    Ok(())
}

fn create(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS tcp_connection (
             node INTEGER NOT NULL,
             id INTEGER NOT NULL,
             flow BLOB NOT NULL,
             peer BLOB NOT NULL,
             first_ns INTEGER NOT NULL,
             last_ns INTEGER NOT NULL,
             ended INTEGER NOT NULL,
             limited INTEGER NOT NULL,
             retransmitted INTEGER NOT NULL,
             bytes INTEGER NOT NULL,
             srtt_us INTEGER,
             told TEXT NOT NULL,
             PRIMARY KEY (node, id)
         );
         CREATE INDEX IF NOT EXISTS tcp_connection_time ON tcp_connection (last_ns);
         CREATE INDEX IF NOT EXISTS tcp_connection_flow ON tcp_connection (flow);
         CREATE TABLE IF NOT EXISTS tcp_state (
             node INTEGER NOT NULL,
             id INTEGER NOT NULL,
             begin_ns INTEGER NOT NULL,
             limited INTEGER NOT NULL,
             srtt_us INTEGER,
             min_rtt_us INTEGER,
             cwnd INTEGER NOT NULL,
             rate INTEGER,
             acked INTEGER NOT NULL,
             received INTEGER NOT NULL,
             retransmitted INTEGER NOT NULL,
             spurious INTEGER NOT NULL,
             timeouts INTEGER NOT NULL,
             PRIMARY KEY (node, id, begin_ns)
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS tcp_state_time ON tcp_state (begin_ns);
         CREATE TABLE IF NOT EXISTS tcp_sum (
             begin_ns INTEGER NOT NULL,
             node INTEGER NOT NULL,
             peer BLOB NOT NULL,
             limited INTEGER NOT NULL,
             us INTEGER NOT NULL,
             acked INTEGER NOT NULL,
             received INTEGER NOT NULL,
             retransmitted INTEGER NOT NULL,
             spurious INTEGER NOT NULL,
             timeouts INTEGER NOT NULL,
             PRIMARY KEY (begin_ns, node, peer, limited)
         ) WITHOUT ROWID;",
    )?;
    connection_hops::create(conn)
}

/// True if any connections were ever written.
pub fn exist(conn: &Connection) -> rusqlite::Result<bool> {
    has_table(conn, "tcp_sum")
}
