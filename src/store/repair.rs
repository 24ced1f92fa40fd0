//! The repair of a store whose marks a wrong clock moved ahead: of its newest report, of roll-up, and of what was removed.

use rusqlite::Connection;

use super::bounds::signed;
use super::path_sums::PathSums;
use super::period::{ALL, RollUpLevel, RollUpTable, subject_of};
use super::rollup_row::RollUpRow;
use super::rollups::{fact, set_fact};
use super::sums::Sums;

/// A mark may be ahead of the clock by this much: another host's clock may have made it.
pub const AHEAD_NS: u64 = 3600 * 1_000_000_000;

/// So few periods ahead of the clock are none that a right clock made, if there are no others.
const FEW_PERIODS: i64 = 10;

/// What a repair is judged by.
#[derive(Clone, Copy, Debug)]
pub struct RepairClock {
    pub now_ns: u64,
    /// The time when the file was last written to, by the clock of then.
    pub written_ns: Option<u64>,
}

impl RepairClock {
    /// The file was just written to, by the same clock.
    pub fn now(now_ns: u64) -> Self {
        Self {
            now_ns,
            written_ns: None,
        }
    }
}

/// The reports on both sides of the clock's time.
struct Sides {
    past: u64,
    ahead: u64,
    newest_past_ns: Option<u64>,
    periods_ahead: i64,
}

/// Puts back marks that are ahead of the clock, if the clock is right: most reports are not ahead of it, or the marks are
/// ahead of the time when the file was written, too. The reports that moved them count with the newest ones before the
/// clock's time. Returns true if there was something to repair.
pub fn repair(conn: &Connection, clock: RepairClock) -> rusqlite::Result<bool> {
    // Whole hours: no period is on both sides.
    let limit_ns = RollUpLevel::Hour.ceil(clock.now_ns.saturating_add(AHEAD_NS));
    let marks = ["newest_ns", "rolled_ns", "forgot_ns"].into_iter();
    let gone = RollUpLevel::EACH.into_iter().map(RollUpLevel::gone);
    let mut furthest_ns = 0;
    for name in marks.chain(gone) {
        furthest_ns = furthest_ns.max(fact(conn, name)?);
    }
    if furthest_ns <= limit_ns {
        return Ok(false);
    }
    let sides = Sides::of(conn, limit_ns)?;
    let written = clock.written_ns;
    let is_after_writing =
        written.is_some_and(|ns| furthest_ns > RollUpLevel::Hour.ceil(ns.saturating_add(AHEAD_NS)));
    let is_clock_right = match sides.newest_past_ns {
        Some(_) => sides.past > sides.ahead || is_after_writing,
        None => is_after_writing && sides.periods_ahead <= FEW_PERIODS,
    };
    if !is_clock_right {
        return Ok(false);
    }
    let newest_ns = sides.newest_past_ns.unwrap_or(clock.now_ns);
    // Up to the end of this hour, all levels have all that was stored; what comes late counts in all of them.
    let rolled_ns = RollUpLevel::Hour.ceil(newest_ns.saturating_add(1));
    lower(conn, "newest_ns", newest_ns)?;
    lower(conn, "rolled_ns", rolled_ns)?;
    lower(conn, "forgot_ns", RollUpLevel::Hour.floor(newest_ns))?;
    lower_gone(conn, limit_ns, newest_ns)?;
    let to_ns = sides.newest_past_ns;
    for table in RollUpTable::OF_REPORTS {
        move_rows::<Sums>(conn, table, limit_ns, to_ns)?;
    }
    for table in RollUpTable::OF_PATHS {
        move_rows::<PathSums>(conn, table, limit_ns, to_ns)?;
    }
    if to_ns.is_some() {
        let (limit, newest) = (signed(limit_ns), signed(newest_ns));
        conn.execute(
            "UPDATE report SET time_ns = ? WHERE time_ns >= ?",
            (newest, limit),
        )?;
        conn.execute(
            "UPDATE flow SET first_ns = min(first_ns, ?1), until_ns = ?2 WHERE until_ns > ?3",
            (newest, signed(rolled_ns), limit),
        )?;
    }
    Ok(true)
}

/// The same in a transaction of its own, which is made if there is something to repair.
pub fn repair_alone(conn: &Connection, clock: RepairClock) -> rusqlite::Result<bool> {
    conn.execute_batch("SAVEPOINT repair")?;
    let repaired = repair(conn, clock);
    if repaired.is_err() {
        let _ = conn.execute_batch("ROLLBACK TO repair");
    }
    conn.execute_batch("RELEASE repair")?;
    repaired
}

fn lower(conn: &Connection, name: &str, to: u64) -> rusqlite::Result<()> {
    set_fact(conn, name, fact(conn, name)?.min(to))
}

/// Puts back the marks of what was removed to the first period that is there, or to the newest report.
fn lower_gone(conn: &Connection, limit_ns: u64, newest_ns: u64) -> rusqlite::Result<()> {
    for level in RollUpLevel::EACH {
        let first = RollUpTable::EACH.into_iter().map(|table| {
            let sql = format!("SELECT min(key) FROM {} WHERE key < ?", table.name(level));
            let limit = level.key(limit_ns, 0);
            conn.query_row(&sql, [limit], |row| row.get::<_, Option<i64>>(0))
        });
        let first: Vec<_> = first.collect::<rusqlite::Result<_>>()?;
        let first_ns = first.into_iter().flatten().min();
        let gone_ns = first_ns.map_or(level.floor(newest_ns), |key| level.begin_of(key));
        if fact(conn, level.gone())? > limit_ns {
            set_fact(conn, level.gone(), gone_ns)?;
        }
    }
    Ok(())
}

impl Sides {
    fn of(conn: &Connection, limit_ns: u64) -> rusqlite::Result<Self> {
        let mut sides = Self {
            past: 0,
            ahead: 0,
            newest_past_ns: None,
            periods_ahead: 0,
        };
        for level in RollUpLevel::EACH {
            let limit = level.key(limit_ns, 0);
            let name = RollUpTable::Class.name(level);
            let subject = format!("key & {} = {ALL}", super::period::MAX_SUBJECT);
            let (past, ahead, newest, periods) = conn.query_row(
                &format!(
                    "SELECT ifnull(sum(iif(key < ?1, reports, 0)), 0), ifnull(sum(iif(key < ?1, 0, reports)), 0),
                         max(iif(key < ?1, key, NULL)), ifnull(sum(key >= ?1), 0)
                     FROM {name} WHERE {subject}"
                ),
                [limit],
                |row| {
                    let newest: Option<i64> = row.get(2)?;
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, newest, row.get(3)?))
                },
            )?;
            // A report counts in one period of each level, of which the finest go first.
            sides.past = sides.past.max(past.cast_unsigned());
            sides.ahead = sides.ahead.max(ahead.cast_unsigned());
            sides.periods_ahead = sides.periods_ahead.max(periods);
            if sides.newest_past_ns.is_none() {
                sides.newest_past_ns = newest.map(|key| level.begin_of(key));
            }
        }
        Ok(sides)
    }
}

/// Moves the rows behind `limit_ns` to the periods of `to_ns`. Without it, the rows of ten seconds stay, and are rolled up
/// when it is time.
fn move_rows<R: RollUpRow>(
    conn: &Connection,
    table: RollUpTable,
    limit_ns: u64,
    to_ns: Option<u64>,
) -> rusqlite::Result<()> {
    let finest = RollUpLevel::TenSeconds;
    let keys = (finest.key(limit_ns, 0), i64::MAX);
    let mut ahead = Vec::new();
    if let Some(to_ns) = to_ns {
        let mut all = conn.prepare_cached(&R::range(table.name(finest)))?;
        R::each_of(&mut all, keys, |key, row: R| {
            ahead.push((subject_of(key), row))
        })?;
        let mut bytes = R::Bytes::default();
        for level in RollUpLevel::EACH {
            let name = table.name(level);
            let mut put = conn.prepare_cached(&R::put(name))?;
            for (subject, row) in &ahead {
                let key = level.key(to_ns, R::subject(*subject));
                let mut sums = R::stored(conn, name, key)?.unwrap_or_default();
                sums.merge(row);
                sums.write(key, &mut put, &mut bytes)?;
            }
        }
    }
    for level in RollUpLevel::EACH {
        if level == finest && to_ns.is_none() {
            continue;
        }
        let sql = format!("DELETE FROM {} WHERE key >= ?", table.name(level));
        conn.execute(&sql, [level.key(limit_ns, 0)])?;
    }
    Ok(())
}
