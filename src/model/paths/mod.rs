//! Paths over transit hops: their segments, times, totals and figures.

mod known_path;
mod path;
mod path_figures;
mod path_part;
pub(super) mod path_sample;
mod path_state;
mod path_status;
mod path_totals;
mod path_within;
mod sample_log;
mod time_columns;
pub(super) mod time_words;

pub use known_path::{KnownPath, PathKey};
pub use path::{NodePort, Path, PathHop, Segment, SegmentKind};
pub use path_figures::{
    PathFigures, PathQuery, SegmentFigures, SegmentLoss, SegmentOrder, SegmentTally, SegmentTimes,
    TailShares, set_lacking, tail_shares,
};
pub use path_part::{PathFact, PathPart, PathPartRecord};
pub use path_sample::{PassedPath, PathSample, SegmentTime};
pub use path_state::PathState;
pub use path_status::PathStatus;
pub use path_totals::{PathGrowth, PathTotals, PathTotalsReport, PlaceGrowth, PlaceTotals};
pub use path_within::{ANSWER_PLACE, BUFFER_PLACE, QUEUE_PLACE, WITHIN_PLACE};
pub use sample_log::{LoggedSample, SampleLog};
pub use time_columns::TimeColumns;
pub use time_words::TimeWords;
