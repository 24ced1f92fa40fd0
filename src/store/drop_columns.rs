//! The columns that tables of drops have in common.

use rusqlite::Row;

use crate::model::DropCount;

/// The sums over a column of counts. They end at the greatest number, because hosts may tell anything.
pub const COUNTS: &str =
    "CAST(min(total(packets), 9e18) AS INTEGER), CAST(min(total(segments), 9e18) AS INTEGER),
     CAST(min(total(bytes), 9e18) AS INTEGER)";

pub fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<DropCount> {
    let number = |at| row.get::<_, i64>(at).map(i64::unsigned_abs);
    Ok(DropCount {
        packets: number(at)?,
        segments: number(at + 1)?,
        bytes: number(at + 2)?,
    })
}

pub fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    let text: String = row.get(at)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}
