//! Whether the network is to blame: what is judged each ten seconds, and what is said of it.

mod cause_kind;
mod network_cause;
mod network_event;
mod network_verdict;
mod pair_hour;
mod pair_reach;
mod pair_usual;
mod traffic_limit;
mod usual_figures;
mod verdict_slot;

pub use cause_kind::{CauseKind, CauseSide};
pub use network_cause::{
    CauseEvidence, CauseMetric, CauseSubject, Confidence, NetworkCause, OtherCause, SharedBy,
};
pub use network_event::{EventKind, EventRefusal, NetworkEvent};
pub use network_verdict::{
    FirstCause, JudgedTraffic, NetworkVerdict, PastVerdict, UnknownReason, VerdictState,
};
pub use pair_hour::{HOUR_NS, PairHour};
pub use pair_reach::{NodePair, PairReach};
pub use pair_usual::{BesideUsual, PairUsual, PairUsuals};
pub use traffic_limit::{CauseLimit, LimitEnd, LimitInForce, TrafficLimit};
pub use usual_figures::{TrafficFigures, UsualFigures, UsualOrigin};
pub use verdict_slot::{
    CellCounts, CellGrowth, CellId, FLOW_PARTS, HostInSlot, VERDICT_SLOT_NS, VerdictSlot,
};
