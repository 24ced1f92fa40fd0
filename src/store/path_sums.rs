//! The sums of a path and of its segments in one period, which are one row: the whole path, its segments, and its queues, by
//! place.

use rusqlite::Row;

use super::path_ids::ALL_PACKETS;
use super::sums::Sums;
use crate::model::number_code::{put, put_signed, take, take_signed};
use crate::model::{ClockSums, LatencyHistogram};

/// The columns of a roll-up of paths: the sums of all places are one value.
pub const COLUMNS: &str = "key INTEGER PRIMARY KEY, places BLOB NOT NULL";

/// The bits of a subject that name the place, which are 0 in the key of a row.
const PLACE_MASK: i64 = ALL_PACKETS - 1;

/// What a place has beside its times.
const HAS_CLOCKS: u8 = 1;
const HAS_CROSSED: u8 = 2;

/// The sums of places, ascending.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PathSums(Vec<(u8, Sums)>);

/// The subject or key of the row that has all places of a path, from that of any of them.
pub fn row_of(subject: i64) -> i64 {
    subject & !PLACE_MASK
}

/// The subject or key behind those of all rows of a path.
pub fn after(subject: i64) -> i64 {
    row_of(subject) + ALL_PACKETS
}

/// Writes a row of which both columns are given.
pub fn put_row(table: &str) -> String {
    format!("INSERT OR REPLACE INTO {table} VALUES (?, ?)")
}

impl PathSums {
    /// The sums of a place, which are none at first.
    pub fn at(&mut self, place: u8) -> &mut Sums {
        let found = self.0.binary_search_by_key(&place, |(known, _)| *known);
        let at = found.unwrap_or_else(|at| {
            self.0.insert(at, (place, Sums::default()));
            at
        });
        &mut self.0[at].1
    }

    /// The sums of a place; `None` if there are none.
    pub fn of(&self, place: i64) -> Option<&Sums> {
        let mut each = self.0.iter();
        let found = each.find(|(known, _)| i64::from(*known) == place);
        found.map(|(_, sums)| sums)
    }

    /// All places that have sums.
    pub fn into_places(self) -> impl Iterator<Item = (i64, Sums)> {
        self.0.into_iter().map(|(place, sums)| (place.into(), sums))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn merge(&mut self, other: &Self) {
        for (place, sums) in &other.0 {
            self.at(*place).merge(sums);
        }
    }

    /// Reads a row with all columns.
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let mut sums = Self::default();
        sums.add_encoded(row.get_ref(1)?.as_blob()?);
        Ok(sums)
    }

    /// Appends the sums of all places.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut latency = Vec::new();
        for (place, sums) in &self.0 {
            let (clocks, crossed) = (&sums.measured.corrected, &sums.measured);
            let has_clocks = *clocks != ClockSums::default();
            let has_crossed = crossed.summaries > 0;
            let bit = |has: bool, bit| if has { bit } else { 0 };
            let has = bit(has_clocks, HAS_CLOCKS) | bit(has_crossed, HAS_CROSSED);
            out.extend([*place, has]);
            latency.clear();
            sums.latency.encode(&mut latency);
            put(out, latency.len() as u128);
            out.extend_from_slice(&latency);
            if has_clocks {
                put_signed(out, clocks.latency_ns.into());
                for sum in [
                    clocks.packets,
                    clocks.error_ns,
                    clocks.less_ns,
                    clocks.more_ns,
                ] {
                    put(out, sum.into());
                }
            }
            if has_crossed {
                for sum in [
                    crossed.summaries,
                    crossed.packets,
                    crossed.lost,
                    crossed.recovered,
                ] {
                    put(out, sum.into());
                }
            }
        }
    }

    /// Adds what [`Self::encode`] appended. Of a damaged row it adds what is in front of the damage.
    pub fn add_encoded(&mut self, mut bytes: &[u8]) {
        while let Some((place, sums, rest)) = take_place(bytes) {
            self.at(place).merge(&sums);
            bytes = rest;
        }
    }
}

fn take_place(bytes: &[u8]) -> Option<(u8, Sums, &[u8])> {
    let (&[place, has], mut rest) = bytes.split_first_chunk::<2>()?;
    let number = |rest: &mut &[u8]| u64::try_from(take(rest)?).ok();
    let length = usize::try_from(number(&mut rest)?).ok()?;
    let (latency, mut rest) = rest.split_at_checked(length)?;
    let latency = LatencyHistogram::decode(latency).ok()?;
    let mut sums = Sums {
        reports: latency.samples(),
        packets: latency.samples(),
        latency,
        ..Sums::default()
    };
    if has & HAS_CLOCKS != 0 {
        sums.measured.corrected = ClockSums {
            latency_ns: i64::try_from(take_signed(&mut rest)?).ok()?,
            packets: number(&mut rest)?,
            error_ns: number(&mut rest)?,
            less_ns: number(&mut rest)?,
            more_ns: number(&mut rest)?,
        };
    }
    if has & HAS_CROSSED != 0 {
        sums.measured.summaries = number(&mut rest)?;
        sums.measured.packets = number(&mut rest)?;
        sums.measured.lost = number(&mut rest)?;
        sums.measured.recovered = number(&mut rest)?;
    }
    (i64::from(place) < ALL_PACKETS).then_some((place, sums, rest))
}
