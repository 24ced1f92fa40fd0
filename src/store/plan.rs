//! The plan of an answer: the rows of roll-ups that cover a span of time.

use rusqlite::Connection;

use super::period::{RollUpLevel, RollUpTable};
use super::rollups::fact;
use crate::model::Span;

/// The most rows that a question reads before its answer becomes coarser. Those of paths have about ten places each.
const MOST_ROWS: usize = 300_000;
const MOST_PATH_ROWS: usize = MOST_ROWS / 10;

const SECOND: u64 = 1_000_000_000;

/// The possible distances between the points of a series.
const STEPS: [u64; 15] = [
    10 * SECOND,
    30 * SECOND,
    60 * SECOND,
    2 * 60 * SECOND,
    5 * 60 * SECOND,
    10 * 60 * SECOND,
    30 * 60 * SECOND,
    3600 * SECOND,
    2 * 3600 * SECOND,
    6 * 3600 * SECOND,
    12 * 3600 * SECOND,
    24 * 3600 * SECOND,
    2 * 24 * 3600 * SECOND,
    7 * 24 * 3600 * SECOND,
    28 * 24 * 3600 * SECOND,
];

/// Consecutive whole periods of a level.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PeriodRange {
    pub level: RollUpLevel,
    pub from_ns: u64,
    pub until_ns: u64,
}

impl PeriodRange {
    /// Returns the keys of the first row and of the end.
    pub fn keys(&self) -> (i64, i64) {
        (
            self.level.key(self.from_ns, 0),
            self.level.key(self.until_ns, 0),
        )
    }

    /// Iterates over the beginnings of its periods, oldest first.
    pub fn periods(&self) -> impl DoubleEndedIterator<Item = u64> + use<> {
        let ns = self.level.ns();
        (self.from_ns / ns..self.until_ns / ns).map(move |index| index * ns)
    }
}

/// The times that the roll-ups of a table cover.
pub struct Horizons {
    /// Minutes and hours cover all times before this one; ten seconds cover all times.
    rolled_ns: u64,
    /// The beginning of the oldest rows, by level.
    oldest_ns: [Option<u64>; 3],
    /// The time before which periods were removed, by level.
    gone_ns: [u64; 3],
    newest_ns: u64,
}

impl Horizons {
    pub fn read(conn: &Connection, table: RollUpTable) -> rusqlite::Result<Self> {
        let (mut oldest_ns, mut gone_ns) = ([None; 3], [0; 3]);
        for (oldest, level) in oldest_ns.iter_mut().zip(RollUpLevel::EACH) {
            let sql = format!("SELECT min(key) FROM {}", table.name(level));
            let key: Option<i64> = conn.prepare_cached(&sql)?.query_row([], |row| row.get(0))?;
            *oldest = key.map(|key| level.begin_of(key));
            gone_ns[level as usize] = fact(conn, level.gone())?;
        }
        Ok(Self {
            rolled_ns: fact(conn, "rolled_ns")?,
            oldest_ns,
            gone_ns,
            newest_ns: fact(conn, "newest_ns")?,
        })
    }

    fn oldest(&self, level: RollUpLevel) -> Option<u64> {
        self.oldest_ns[level as usize]
    }

    /// Cuts a span to the times that the store covers.
    fn clip(&self, span: Span) -> Option<Span> {
        let oldest_ns = self.oldest_ns.iter().flatten().min()?;
        let clipped = Span {
            since_ns: span.since_ns.max(*oldest_ns),
            until_ns: span.until_ns.min(self.newest_ns.saturating_add(1)),
        };
        (clipped.since_ns < clipped.until_ns).then_some(clipped)
    }

    /// True if a level still covers a time.
    fn reaches(&self, level: RollUpLevel, time_ns: u64) -> bool {
        time_ns >= self.gone_ns[level as usize]
    }

    /// Returns whole periods that cover a span, of the coarsest levels that fit. At the ends of the span they are not
    /// coarser than `edge`, unless finer rows were removed.
    fn cut(&self, span: Span, edge: RollUpLevel) -> Vec<PeriodRange> {
        let Some(span) = self.clip(span) else {
            return Vec::new();
        };
        let (from, until) = (edge.floor(span.since_ns), edge.ceil(span.until_ns));
        let mut segments = Vec::new();
        self.fill(
            from,
            until.min(self.rolled_ns),
            RollUpLevel::Hour,
            &mut segments,
        );
        let tail = PeriodRange {
            level: RollUpLevel::TenSeconds,
            from_ns: from.max(self.rolled_ns),
            until_ns: until,
        };
        segments.extend((tail.from_ns < until).then_some(tail));
        segments
    }

    fn fill(&self, from: u64, until: u64, level: RollUpLevel, segments: &mut Vec<PeriodRange>) {
        if from >= until {
            return;
        }
        let finer = match level {
            RollUpLevel::Hour => RollUpLevel::Minute,
            _ => RollUpLevel::TenSeconds,
        };
        // The last period covers all times until then, although it is not over.
        let ends = if until == self.rolled_ns {
            level.ceil(until)
        } else {
            level.floor(until)
        };
        let (mut first, mut last) = (level.ceil(from), ends);
        if level == RollUpLevel::TenSeconds || !self.reaches(finer, from) {
            (first, last) = (level.floor(from), level.ceil(until));
        }
        if first >= last {
            self.fill(from, until, finer, segments);
            return;
        }
        if from < first {
            self.fill(from, first, finer, segments);
        }
        segments.push(PeriodRange {
            level,
            from_ns: first,
            until_ns: last,
        });
        if last < until {
            self.fill(last, until, finer, segments);
        }
    }

    /// Returns the segments for the figures of one subject.
    pub fn of_one(&self, span: Span) -> Vec<PeriodRange> {
        self.cut(span, RollUpLevel::TenSeconds)
    }

    /// Returns the segments for the figures of all subjects. Where there are many rows, the ends are coarser.
    pub fn of_all(
        &self,
        conn: &Connection,
        table: RollUpTable,
        span: Span,
    ) -> rusqlite::Result<Vec<PeriodRange>> {
        let most = match RollUpTable::OF_PATHS.contains(&table) {
            true => MOST_PATH_ROWS,
            false => MOST_ROWS,
        };
        for edge in RollUpLevel::EACH {
            let segments = self.cut(span, edge);
            if edge == RollUpLevel::Hour || count(conn, table, &segments)? <= most {
                return Ok(segments);
            }
        }
        Ok(Vec::new())
    }

    /// Returns the distance of a series' points, about `points` of them, and the segments for it.
    pub fn of_series(&self, span: Span, points: usize) -> (u64, Vec<PeriodRange>) {
        let Some(span) = self.clip(span) else {
            return (STEPS[0], Vec::new());
        };
        let least = (span.until_ns - span.since_ns) / points.max(1) as u64;
        let last = STEPS[STEPS.len() - 1];
        let step = STEPS
            .into_iter()
            .filter(|step| *step >= least)
            .find(|step| self.reaches(level_of(*step), span.since_ns))
            .unwrap_or(last.max(least - least % last));
        let level = level_of(step);
        let (from, until) = (level.floor(span.since_ns), level.ceil(span.until_ns));
        let mut segments = Vec::new();
        if level != RollUpLevel::TenSeconds && from < self.rolled_ns {
            segments.push(PeriodRange {
                level,
                from_ns: from,
                until_ns: until.min(level.ceil(self.rolled_ns)),
            });
        }
        let tail_ns = match level {
            RollUpLevel::TenSeconds => from,
            _ => from.max(self.rolled_ns),
        };
        segments.extend((tail_ns < until).then_some(PeriodRange {
            level: RollUpLevel::TenSeconds,
            from_ns: tail_ns,
            until_ns: until,
        }));
        (step, segments)
    }

    /// Iterates over the beginnings of those ten seconds that may have single reports, newest first.
    pub fn of_reports(&self, span: Span) -> impl Iterator<Item = u64> + use<> {
        let level = RollUpLevel::TenSeconds;
        let oldest_ns = self.oldest(level).unwrap_or(u64::MAX);
        let since_ns = span.since_ns.max(oldest_ns);
        self.clip(Span { since_ns, ..span })
            .map(|span| PeriodRange {
                level,
                from_ns: level.floor(span.since_ns),
                until_ns: level.ceil(span.until_ns),
            })
            .into_iter()
            .flat_map(|segment| segment.periods().rev())
    }
}

fn level_of(step: u64) -> RollUpLevel {
    RollUpLevel::EACH
        .into_iter()
        .rev()
        .find(|level| step.is_multiple_of(level.ns()))
        .unwrap_or(RollUpLevel::TenSeconds)
}

/// Counts rows, but not beyond [`MOST_ROWS`].
fn count(
    conn: &Connection,
    table: RollUpTable,
    segments: &[PeriodRange],
) -> rusqlite::Result<usize> {
    let mut rows = 0;
    for segment in segments {
        let (from, until) = segment.keys();
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {} WHERE key >= ? AND key < ? LIMIT ?)",
            table.name(segment.level)
        );
        let limit = (MOST_ROWS + 1).saturating_sub(rows) as i64;
        rows += conn
            .prepare_cached(&sql)?
            .query_row((from, until, limit), |row| row.get::<_, i64>(0))? as usize;
    }
    Ok(rows)
}
