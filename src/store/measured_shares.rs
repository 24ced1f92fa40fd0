//! The shares of packets that were measured where budgets and samples left flows out.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::bounds::has_table;
use super::coverage::periods_of;
use crate::model::coverage::{TAGGED, by_chance};
use crate::model::{ALIKE, LossOfAll, Measured, NodeId, Span};

/// The share of fewer packets, in ten minutes of a pair and a class, is not compared with others.
const LEAST_PACKETS: u64 = 1000;

/// What of the packets of a pair or a class was measured.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredShare {
    /// As sinks told, with what was lost on the way; `None`: none told.
    measured: Option<u64>,
    /// As sources told, which leave out the first packets of flows.
    tagged: Option<u64>,
    left_out: u64,
    /// The least and the greatest share of ten minutes, of a pair and a class.
    ends: Option<(f64, f64)>,
}

/// The shares of each pair and of each class.
#[derive(Debug, Default)]
pub struct MeasuredShares {
    pairs: BTreeMap<(NodeId, NodeId), MeasuredShare>,
    classes: BTreeMap<String, MeasuredShare>,
}

impl MeasuredShare {
    /// Adds ten minutes of a pair and a class.
    fn add(&mut self, more: &Self) {
        let sum = |one: Option<u64>, more: Option<u64>| match (one, more) {
            (Some(one), Some(more)) => Some(one.saturating_add(more)),
            (one, more) => one.or(more),
        };
        self.measured = sum(self.measured, more.measured);
        self.tagged = sum(self.tagged, more.tagged);
        self.left_out = self.left_out.saturating_add(more.left_out);
        if let Some((share, packets)) = more.share()
            && packets >= LEAST_PACKETS as f64
        {
            let (least, most) = self.ends.unwrap_or((share, share));
            self.ends = Some((least.min(share), most.max(share)));
        }
    }

    /// The share, and of how many packets.
    fn share(&self) -> Option<(f64, f64)> {
        let measured = self.measured.or(self.tagged)? as f64;
        let all = measured + self.left_out as f64;
        (all > 0.0).then(|| (measured / all, all))
    }

    fn loss_of_all(&self, measured: &Measured) -> Option<LossOfAll> {
        let (share, _) = self.share().filter(|_| self.left_out > 0)?;
        let are_alike = self.ends.is_none_or(|(least, most)| most <= ALIKE * least);
        let counts = (measured.missing(), measured.sent());
        Some(LossOfAll::new(share, counts, measured.squares, are_alike))
    }
}

impl MeasuredShares {
    /// Reads those of all periods that the span touches.
    pub fn read(conn: &Connection, span: Span) -> rusqlite::Result<Self> {
        let mut shares = Self::default();
        if !has_table(conn, "coverage")? {
            return Ok(shares);
        }
        let mut ask = conn.prepare_cached(
            "SELECT source, sink, class, max(0, sum(CASE reason WHEN '' THEN packets END)),
                 max(0, sum(CASE reason WHEN ? THEN packets END)), max(0, sum(CASE WHEN reason IN (?, ?) THEN packets ELSE 0 END))
             FROM coverage WHERE period >= ? AND period < ? GROUP BY period, source, sink, class",
        )?;
        let [budget, sample] = by_chance();
        let (from, until) = periods_of(span);
        let mut rows = ask.query((TAGGED, budget, sample, from, until))?;
        while let Some(row) = rows.next()? {
            let count = |column: usize| {
                let packets = row.get::<_, Option<i64>>(column);
                packets.map(|packets| packets.map(i64::cast_unsigned))
            };
            let more = MeasuredShare {
                measured: count(3)?,
                tagged: count(4)?,
                left_out: count(5)?.unwrap_or(0),
                ends: None,
            };
            let source = NodeId(row.get(0)?);
            if let Ok(sink) = u32::try_from(row.get::<_, i64>(1)?) {
                let pair = shares.pairs.entry((source, NodeId(sink))).or_default();
                pair.add(&more);
            }
            let class = shares.classes.entry(row.get(2)?).or_default();
            // Of each pair what its sink told, or else its source.
            class.add(&MeasuredShare {
                measured: more.measured.or(more.tagged),
                ..more
            });
        }
        Ok(shares)
    }

    /// The loss of all flows of a pair; `None` if none was left out.
    pub fn of_pair(&self, pair: (NodeId, NodeId), measured: &Measured) -> Option<LossOfAll> {
        self.pairs.get(&pair)?.loss_of_all(measured)
    }

    /// The same of a class.
    pub fn of_class(&self, class: &str, measured: &Measured) -> Option<LossOfAll> {
        self.classes.get(class)?.loss_of_all(measured)
    }
}
