//! The parts of a row: most rows lack most parts, whose columns are then written at once.

use super::row::TableRow;
use crate::model::Body;

/// What a row may have values of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RowPart {
    /// What all rows have.
    Always,
    /// What a switch or a transit hop tells of a packet.
    Packets,
    Gaps,
    Hops,
    /// The totals of a summary.
    Totals,
    /// What a report adds to those before it.
    Added,
    Paths,
    Pods,
    Hosts,
}

impl RowPart {
    pub(super) fn is_in(self, row: &TableRow<'_>) -> bool {
        let body = &row.entry.report.observation.body;
        match self {
            Self::Always | Self::Hosts => true,
            Self::Packets => matches!(body, Body::Packet(_)),
            Self::Gaps => row.record.gap.is_some(),
            Self::Hops => !row.hops.is_empty(),
            Self::Totals => matches!(body, Body::Summary(_)),
            Self::Added => row.entry.added.is_some(),
            Self::Paths => row.path_part().is_some(),
            Self::Pods => !row.entry.pods.is_empty(),
        }
    }
}
