//! The nouns of hostint: pure values, without I/O and without clocks.

mod clock;
mod dest;
mod diagnosis;
mod encapsulation;
mod flow;
mod frame;
mod headers;
mod hop;
mod host_status;
mod lease;
mod log_line;
mod node;
mod prefix;
pub mod preflight;
pub mod reasons;
mod record;
mod report;
mod sink_event;
mod watch;

pub use clock::{ClockSource, ClockState};
pub use dest::Dest;
pub use diagnosis::{Reason, diagnose};
pub use encapsulation::{Encapsulation, UnknownEncapsulation};
pub use flow::{FlowKey, Transport, Vlans};
pub use frame::TruncatedFrame;
pub use headers::{BadHeaders, QuotedHeaders};
pub use hop::{Hop, HopStack};
pub use host_status::{
    Attachment, BucketEdge, ClockStatus, CounterStatus, DaemonCounter, DestStatus, FlowStatus,
    HostStatus, PeerStatus, STATUS_SCHEMA, SinkSettings, SinkStatus, SourceStatus,
};
pub use lease::{
    AddressPair, ClockOffset, Encapsulations, Lease, LeaseAnswer, LeaseEcho, LeaseKey,
    LeaseQuestion, LeaseState, Marks,
};
pub use log_line::LogLine;
pub use node::NodeId;
pub use prefix::{BadPrefix, Prefix};
pub use record::{Arrival, RECORD_SCHEMA, Record};
pub use report::{
    Body, DropSummary, Flags, HwId, LatencyReport, LocalReport, Observation, PacketDropReport,
    QueueDepth, QueueOccupancy, REPORT_PORT, Report, ReportedPacket,
};
pub use sink_event::{LatencyEvent, LossEvent, Reasons, SinkEvent};
pub use watch::{BadPortRange, DEFAULT_PRIORITY, Place, PortRange, WatchAction, WatchRule};
