//! The sums of reports, as they are stored in a row of a roll-up.

use rusqlite::Row;

use crate::model::{ClockSums, Figures, FlowSquares, LatencyHistogram, Measured, MeasuredFigures};

/// A row of a roll-up.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Sums {
    pub reports: u64,
    pub packets: u64,
    pub lost: u64,
    /// The packets out of order, according to summaries.
    pub reordered: u64,
    /// The number of summaries.
    pub summaries: u64,
    /// All its single reports have ids from this one to `last_id`; 0 without any.
    pub first_id: i64,
    pub last_id: i64,
    /// The reported latencies.
    pub latency: LatencyHistogram,
    /// The packets that summaries tell of. Their number of summaries is 0 if none does.
    pub measured: Measured,
    /// The end and the beginning of the newest period that was read into it. It is not stored.
    pub newest_period_ns: (u64, u64),
}

/// The columns of a row after its key.
pub const COLUMNS: &str = "reports, packets, lost, reordered, summaries, first_id, last_id, latency, measured, \
     measured_packets, measured_bytes, measured_lost, measured_recovered, measured_reordered, \
     measured_duplicates, lost_squares, lost_sent_squares, sent_squares, measured_latency, corrected_packets, corrected_latency, corrected_error, \
     corrected_less, corrected_more";

/// A parameter for the key and for each of the [`COLUMNS`].
pub const PARAMETERS: &str =
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?";

impl Sums {
    /// Adds a report.
    pub fn report(&mut self, packets: u64, lost: u64, latency: Option<i64>) {
        self.reports += 1;
        self.packets += packets;
        self.lost += lost;
        if let Some(latency) = latency {
            self.latency.add(latency);
        }
    }

    /// Records a single report. Its id is larger than those of all before.
    pub fn single(&mut self, id: i64) {
        if self.first_id == 0 {
            self.first_id = id;
        }
        self.last_id = id;
    }

    /// Adds the packets out of order of a summary that the one before it did not include.
    pub fn summary(&mut self, reordered: u64) {
        self.reordered += reordered;
        self.summaries += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        if other.reports == 0 && other.measured.summaries == 0 {
            return;
        }
        self.first_id = match (self.first_id, other.first_id) {
            (0, id) | (id, 0) => id,
            (one, other) => one.min(other),
        };
        self.last_id = self.last_id.max(other.last_id);
        self.reports = self.reports.saturating_add(other.reports);
        self.packets = self.packets.saturating_add(other.packets);
        self.lost = self.lost.saturating_add(other.lost);
        self.reordered = self.reordered.saturating_add(other.reordered);
        self.summaries = self.summaries.saturating_add(other.summaries);
        self.latency.merge(&other.latency);
        self.measured.merge(&other.measured);
        self.newest_period_ns = self.newest_period_ns.max(other.newest_period_ns);
    }

    /// Reads the [`COLUMNS`], which begin at this place. A damaged histogram is read as an empty one.
    pub fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<Self> {
        let count =
            |column: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at + column)? as u64);
        let square = |column: usize| row.get::<_, f64>(at + column).map(|sum| sum as i128);
        let latency = |column: usize| {
            let bytes = row.get_ref(at + column)?.as_blob_or_null()?;
            let read = LatencyHistogram::decode(bytes.unwrap_or_default());
            Ok::<_, rusqlite::Error>(read.unwrap_or_default())
        };
        Ok(Self {
            reports: count(0)?,
            packets: count(1)?,
            lost: count(2)?,
            reordered: count(3)?,
            summaries: count(4)?,
            first_id: row.get(at + 5)?,
            last_id: row.get(at + 6)?,
            latency: latency(7)?,
            measured: Measured {
                summaries: count(8)?,
                packets: count(9)?,
                bytes: count(10)?,
                lost: count(11)?,
                recovered: count(12)?,
                reordered: count(13)?,
                duplicates: count(14)?,
                squares: FlowSquares::from_all([square(15)?, square(16)?, square(17)?]),
                latency: latency(18)?,
                corrected: ClockSums {
                    packets: count(19)?,
                    latency_ns: row.get(at + 20)?,
                    error_ns: count(21)?,
                    less_ns: count(22)?,
                    more_ns: count(23)?,
                },
            },
            newest_period_ns: (0, 0),
        })
    }

    pub fn figures(&self) -> Figures {
        Figures {
            reports: self.reports,
            packets: self.packets,
            lost: self.lost,
            reordered: (self.summaries > 0).then_some(self.reordered),
            latency: self.latency.figures(),
            measured: (self.measured.summaries > 0).then(|| MeasuredFigures::from(&self.measured)),
        }
    }
}
