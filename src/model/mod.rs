//! The nouns of hostint: pure values, without I/O and without clocks.

mod encapsulation;
mod flow;
mod frame;
mod headers;
mod hop;
mod host_status;
mod log_line;
mod node;
mod prefix;
mod record;
mod report;
mod sink_event;

pub use encapsulation::{Encapsulation, UnknownEncapsulation};
pub use flow::{FlowKey, Ipv4Flow, NotIpv4Transport, Transport};
pub use frame::TruncatedFrame;
pub use headers::{BadHeaders, QuotedHeaders};
pub use hop::{Hop, HopStack};
pub use host_status::{
    Attachment, BucketEdge, CounterStatus, DaemonCounter, DestStatus, FlowStatus, HostStatus,
    STATUS_SCHEMA, SinkSettings, SinkStatus, SourceStatus,
};
pub use log_line::LogLine;
pub use node::NodeId;
pub use prefix::{BadPrefix, Prefix};
pub use record::{Arrival, RECORD_SCHEMA, Record};
pub use report::{
    Body, DropSummary, Flags, HwId, LatencyReport, LocalReport, Observation, PacketDropReport,
    QueueOccupancy, REPORT_PORT, Report,
};
pub use sink_event::{LatencyEvent, LossEvent, Reasons, SinkEvent};
