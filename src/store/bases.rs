//! The table of the last totals of summaries, which the next run of the collector goes on with.

use rusqlite::{Connection, Row, Statement, TransactionBehavior};

use super::bounds::has_table;
use super::ids::{name_bytes, name_of};
use super::rollups::{fact, set_fact};
use crate::model::{FlowSquares, NodeId, SummaryBase, SummaryBases, SummaryName};

/// The name of the fact until when summaries were counted; 0: not all of their subjects were kept.
const UNTIL: &str = "summaries_until_ns";

/// Writes the last totals, in one transaction.
pub fn write(conn: &mut Connection, kept: &SummaryBases) -> rusqlite::Result<()> {
    let transaction = conn.transaction()?;
    transaction.execute_batch(
        "DROP TABLE IF EXISTS summary_base;
         CREATE TABLE summary_base (
             exporter TEXT,
             source INTEGER NOT NULL,
             sink INTEGER NOT NULL,
             flow BLOB,
             class TEXT,
             coarse INTEGER NOT NULL,
             way BLOB,
             place INTEGER NOT NULL,
             epoch_ns INTEGER NOT NULL,
             seen_ns INTEGER NOT NULL,
             packets INTEGER NOT NULL,
             bytes INTEGER NOT NULL,
             lost INTEGER NOT NULL,
             recovered INTEGER NOT NULL,
             reordered INTEGER NOT NULL,
             duplicates INTEGER NOT NULL,
             lost_squares REAL NOT NULL,
             lost_sent_squares REAL NOT NULL,
             sent_squares REAL NOT NULL,
             latency BLOB NOT NULL
         );",
    )?;
    {
        let mut put = transaction.prepare(
            "INSERT INTO summary_base VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        for base in &kept.bases {
            insert(&mut put, base)?;
        }
    }
    set_fact(&transaction, UNTIL, kept.until_ns.unwrap_or(0))?;
    transaction.commit()
}

fn insert(put: &mut Statement<'_>, base: &SummaryBase) -> rusqlite::Result<usize> {
    let nodes = (Some(base.source_node), Some(base.sink_node));
    let (mut flow, mut group, mut path) = (None, (None, false), (None, 0));
    match &base.name {
        SummaryName::Flow(name) => flow = Some(name_bytes(&(*name, nodes.0, nodes.1))),
        SummaryName::Group { class, coarse } => group = (class.as_deref(), *coarse),
        SummaryName::Path { way, place } => path = (Some(way), *place),
    }
    let [packets, bytes, lost, recovered, reordered, duplicates] =
        base.counts.map(u64::cast_signed);
    let squares = base.squares.all().map(|sum| sum as f64);
    put.execute(rusqlite::params![
        base.exporter.map(|address| address.to_string()),
        base.source_node.0,
        base.sink_node.0,
        flow,
        group.0,
        group.1,
        path.0,
        path.1,
        base.epoch_ns.cast_signed(),
        base.seen_ns.cast_signed(),
        packets,
        bytes,
        lost,
        recovered,
        reordered,
        duplicates,
        squares[0],
        squares[1],
        squares[2],
        base.latency,
    ])
}

/// Takes the last totals out of the store: a run that does not end in order must not leave old ones to its next.
pub fn take(conn: &mut Connection) -> rusqlite::Result<SummaryBases> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !has_table(&transaction, "summary_base")? {
        return Ok(SummaryBases::default());
    }
    let mut kept = SummaryBases {
        until_ns: Some(fact(&transaction, UNTIL)?).filter(|until_ns| *until_ns != 0),
        bases: Vec::new(),
    };
    {
        let mut ask = transaction.prepare("SELECT * FROM summary_base")?;
        for row in ask.query_map([], |row| Ok(base(row)))? {
            match row? {
                Ok(base) => kept.bases.push(base),
                // A row that cannot be read is a subject without its last totals.
                Err(_) => kept.until_ns = None,
            }
        }
    }
    transaction.execute_batch("DROP TABLE summary_base;")?;
    transaction.commit()?;
    Ok(kept)
}

fn base(row: &Row<'_>) -> rusqlite::Result<SummaryBase> {
    let exporter: Option<String> = row.get("exporter")?;
    let flow: Option<Vec<u8>> = row.get("flow")?;
    let way: Option<Vec<u8>> = row.get("way")?;
    let count = |name| row.get::<_, i64>(name).map(i64::cast_unsigned);
    let square = |name| row.get::<_, f64>(name).map(|sum| sum as i128);
    let unreadable = |name: &str| rusqlite::Error::InvalidColumnName(name.to_owned());
    Ok(SummaryBase {
        exporter: match exporter {
            Some(address) => Some(address.parse().map_err(|_| unreadable("exporter"))?),
            None => None,
        },
        source_node: NodeId(row.get("source")?),
        sink_node: NodeId(row.get("sink")?),
        name: match (flow, way) {
            (Some(bytes), _) => {
                SummaryName::Flow(name_of(&bytes).ok_or_else(|| unreadable("flow"))?.0)
            }
            (None, Some(way)) => SummaryName::Path {
                way: way.into(),
                place: row.get("place")?,
            },
            (None, None) => SummaryName::Group {
                class: row.get::<_, Option<String>>("class")?.map(Box::from),
                coarse: row.get("coarse")?,
            },
        },
        epoch_ns: count("epoch_ns")?,
        seen_ns: count("seen_ns")?,
        counts: [
            count("packets")?,
            count("bytes")?,
            count("lost")?,
            count("recovered")?,
            count("reordered")?,
            count("duplicates")?,
        ],
        squares: FlowSquares::from_all([
            square("lost_squares")?,
            square("lost_sent_squares")?,
            square("sent_squares")?,
        ]),
        latency: row.get::<_, Vec<u8>>("latency")?.into(),
    })
}
