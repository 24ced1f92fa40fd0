//! What hosts tell beside INT: packets dropped, times through the host, and queues.

pub mod drop_codes;
mod drop_reasons;
pub mod drop_totals_report;
mod flow_passage;
mod host_drop;
mod host_passage;
mod host_queue;
mod queue_episode;
mod queue_rule;

pub use drop_reasons::DropReasons;
pub use drop_totals_report::{DropSubject, DropSum, DropTotalsReport, HostDropRow, HostDropSum};
pub use flow_passage::{
    FlowPassage, FlowPassageId, FlowPassageReport, InterfacePassage, PassageReason, PassageStart,
    PassageTimes, PassageTotals, SOCKETS_IFINDEX, SOCKETS_NAME, SOCKETS_PORT,
};
pub use host_drop::{
    DropCount, DropId, DropPosition, DropTotals, DroppedInt, DropsWithoutPacket, HostDrop,
    HostDropReport, KernelReason, PlaceDrops, ReasonDrops,
};
pub use host_passage::{PassageFigures, PassageId, QUEUED_PLACE, SENT_PLACE};
pub use host_queue::{EpisodeCounts, HostQueueRow};
pub use queue_episode::{
    EpisodeId, MOST_QUEUE_FLOWS, QueueEpisode, QueueFigures, QueueFlow, QueuePacket, QueueReport,
    QueueTotals,
};
pub use queue_rule::{QueueLimits, QueueMeasure, QueueRule};
