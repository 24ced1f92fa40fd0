//! Flows under INT: what names them, their counts, their totals, and what was not measured of them.

mod classes;
pub mod coverage;
pub mod crossing_tally;
pub mod crossings;
mod flow;
pub(super) mod flow_growth;
mod flow_hash;
mod flow_slots;
mod flow_squares;
pub(super) mod group_totals;
mod measured;
pub mod missed_tally;
mod reason;
mod share;
mod sink_event;
mod summary;
mod summary_base;
mod summary_budget;
mod tally;
mod tunnel;
mod tunnel_obstacle;
mod volume;

pub use classes::{Classes, Classifier, class_number};
pub use flow::{FlowKey, Transport, Vlans};
pub use flow_growth::FlowCounts;
pub use flow_hash::FlowHash;
pub use flow_slots::{FINE_SLOTS, FlowSlots, LATENCY_SLOTS, latency_of, power_of};
pub use flow_squares::FlowSquares;
pub use group_totals::{GroupTotals, TOTALS_TOLD};
pub use measured::Measured;
pub use reason::{Reason, ReasonSeverity, ReasonTopic};
pub use share::{CpuBudget, HostWork, MOST_SHIFT, Share, Spent};
pub use sink_event::{LatencyEvent, LossEvent, Reasons, SinkEvent};
pub use summary::{
    MOST_CLASS_BYTES, SubjectTotals, Summary, SummaryEvent, SummaryRecord, SummarySubject,
};
pub use summary_base::{SummaryBase, SummaryBases, SummaryName};
pub use summary_budget::SummaryBudget;
pub use tally::{MOST_CLASSES, MOST_GROUPS, MOST_NODES, Tally, TallyNews, Traffic};
pub use tunnel::{Tunnel, TunnelId, TunnelKind};
pub use tunnel_obstacle::TunnelObstacle;
pub use volume::Volume;
