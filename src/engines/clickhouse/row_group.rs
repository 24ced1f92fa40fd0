//! The groups of rows: few rows have figures of hosts, and all others go without the columns of those.

use crate::engines::{FedReport, Parcel};
use crate::model::Body;

/// Rows that are inserted together, with the columns that they have values for. The server fills in its defaults for the
/// others, which are the values of a report that has none: 0, '', NULL or an empty array.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowGroup {
    /// Packets, flows, paths and connections: nearly all rows.
    Measurements,
    /// What hosts drop, forward and queue.
    Hosts,
}

impl RowGroup {
    pub const ALL: [Self; 2] = [Self::Measurements, Self::Hosts];

    fn of(entry: &FedReport) -> Self {
        match entry.report.observation.body {
            Body::HostDrop(_) | Body::HostDropSum(_) | Body::FlowPassage(_) | Body::Queue(_) => {
                Self::Hosts
            }
            Body::Packet(_)
            | Body::DropSummary(_)
            | Body::Latency(_)
            | Body::Summary(_)
            | Body::Connection(_)
            | Body::PathPart(_) => Self::Measurements,
        }
    }

    /// Iterates over the reports of a parcel that are rows of this group.
    pub fn entries(self, parcel: &Parcel) -> impl Iterator<Item = &FedReport> {
        parcel
            .entries()
            .filter(move |entry| Self::of(entry) == self)
    }
}
