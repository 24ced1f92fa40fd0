//! Which rows of which roll-ups answer a question about a span.

use rusqlite::Connection;

use super::period::{Level, Table};
use super::rollups::fact;
use crate::model::Span;

/// Rows that a question may look at before its answer gets coarser.
const MOST_ROWS: usize = 300_000;

const SECOND: u64 = 1_000_000_000;

/// What the points of a series may be apart.
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

/// Rows of a level, of whole periods.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment {
    pub level: Level,
    pub from_ns: u64,
    pub until_ns: u64,
}

impl Segment {
    /// The keys of its rows: from the first to before the last.
    pub fn keys(&self) -> (i64, i64) {
        (
            self.level.key(self.from_ns, 0),
            self.level.key(self.until_ns, 0),
        )
    }

    /// When its periods begin, oldest first.
    pub fn periods(&self) -> impl DoubleEndedIterator<Item = u64> + use<> {
        let ns = self.level.ns();
        (self.from_ns / ns..self.until_ns / ns).map(move |index| index * ns)
    }
}

/// What the roll-ups of a table reach back to.
pub struct Horizons {
    /// Minutes and hours have all before; ten seconds have all.
    rolled_ns: u64,
    /// Where the oldest rows begin, by level.
    oldest_ns: [Option<u64>; 3],
    /// What began before is gone, by level.
    gone_ns: [u64; 3],
    newest_ns: u64,
}

impl Horizons {
    pub fn read(conn: &Connection, table: Table) -> rusqlite::Result<Self> {
        let (mut oldest_ns, mut gone_ns) = ([None; 3], [0; 3]);
        for (oldest, level) in oldest_ns.iter_mut().zip(Level::EACH) {
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

    fn oldest(&self, level: Level) -> Option<u64> {
        self.oldest_ns[level as usize]
    }

    /// The span as far as there is anything in it.
    fn clip(&self, span: Span) -> Option<Span> {
        let oldest_ns = self.oldest_ns.iter().flatten().min()?;
        let clipped = Span {
            since_ns: span.since_ns.max(*oldest_ns),
            until_ns: span.until_ns.min(self.newest_ns.saturating_add(1)),
        };
        (clipped.since_ns < clipped.until_ns).then_some(clipped)
    }

    /// Whether a level still has what was there at a time.
    fn reaches(&self, level: Level, time_ns: u64) -> bool {
        time_ns >= self.gone_ns[level as usize]
    }

    /// Whole periods around a span, of the coarsest levels that have them, but not coarser than `edge` at its ends
    /// unless finer rows are gone.
    fn cut(&self, span: Span, edge: Level) -> Vec<Segment> {
        let Some(span) = self.clip(span) else {
            return Vec::new();
        };
        let (from, until) = (edge.floor(span.since_ns), edge.ceil(span.until_ns));
        let mut segments = Vec::new();
        self.fill(from, until.min(self.rolled_ns), Level::Hour, &mut segments);
        let tail = Segment {
            level: Level::TenSeconds,
            from_ns: from.max(self.rolled_ns),
            until_ns: until,
        };
        segments.extend((tail.from_ns < until).then_some(tail));
        segments
    }

    fn fill(&self, from: u64, until: u64, level: Level, segments: &mut Vec<Segment>) {
        if from >= until {
            return;
        }
        let finer = match level {
            Level::Hour => Level::Minute,
            _ => Level::TenSeconds,
        };
        // What began last has all until then.
        let ends = if until == self.rolled_ns {
            level.ceil(until)
        } else {
            level.floor(until)
        };
        let (mut first, mut last) = (level.ceil(from), ends);
        if level == Level::TenSeconds || !self.reaches(finer, from) {
            (first, last) = (level.floor(from), level.ceil(until));
        }
        if first >= last {
            self.fill(from, until, finer, segments);
            return;
        }
        if from < first {
            self.fill(from, first, finer, segments);
        }
        segments.push(Segment {
            level,
            from_ns: first,
            until_ns: last,
        });
        if last < until {
            self.fill(last, until, finer, segments);
        }
    }

    /// For the figures of one subject.
    pub fn of_one(&self, span: Span) -> Vec<Segment> {
        self.cut(span, Level::TenSeconds)
    }

    /// For the figures of all subjects: ends are coarser where there are many rows.
    pub fn of_all(
        &self,
        conn: &Connection,
        table: Table,
        span: Span,
    ) -> rusqlite::Result<Vec<Segment>> {
        for edge in Level::EACH {
            let segments = self.cut(span, edge);
            if edge == Level::Hour || count(conn, table, &segments)? <= MOST_ROWS {
                return Ok(segments);
            }
        }
        Ok(Vec::new())
    }

    /// For a series of about so many points: how far they are apart, and the rows.
    pub fn of_series(&self, span: Span, points: usize) -> (u64, Vec<Segment>) {
        let Some(span) = self.clip(span) else {
            return (STEPS[0], Vec::new());
        };
        let least = (span.until_ns - span.since_ns) / points.max(1) as u64;
        let last = STEPS[STEPS.len() - 1];
        let mut steps = STEPS.into_iter().filter(|step| *step >= least);
        let fits = |step: &u64| self.reaches(level_of(*step), span.since_ns);
        let step = steps.find(fits).unwrap_or(last.max(least - least % last));
        let level = level_of(step);
        let (from, until) = (level.floor(span.since_ns), level.ceil(span.until_ns));
        let mut segments = Vec::new();
        if level != Level::TenSeconds && from < self.rolled_ns {
            segments.push(Segment {
                level,
                from_ns: from,
                until_ns: until.min(level.ceil(self.rolled_ns)),
            });
        }
        let tail_ns = match level {
            Level::TenSeconds => from,
            _ => from.max(self.rolled_ns),
        };
        segments.extend((tail_ns < until).then_some(Segment {
            level: Level::TenSeconds,
            from_ns: tail_ns,
            until_ns: until,
        }));
        (step, segments)
    }

    /// When ten seconds begin that single reports may be of, newest first.
    pub fn of_reports(&self, span: Span) -> impl Iterator<Item = u64> + use<> {
        let level = Level::TenSeconds;
        let oldest_ns = self.oldest(level).unwrap_or(u64::MAX);
        let since_ns = span.since_ns.max(oldest_ns);
        let segment = self.clip(Span { since_ns, ..span }).map(|span| Segment {
            level,
            from_ns: level.floor(span.since_ns),
            until_ns: level.ceil(span.until_ns),
        });
        segment
            .into_iter()
            .flat_map(|segment| segment.periods().rev())
    }
}

fn level_of(step: u64) -> Level {
    let mut levels = Level::EACH.into_iter().rev();
    let level = levels.find(|level| step.is_multiple_of(level.ns()));
    level.unwrap_or(Level::TenSeconds)
}

/// How many rows there are, but not further than is asked for.
fn count(conn: &Connection, table: Table, segments: &[Segment]) -> rusqlite::Result<usize> {
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
