//! Telemetry reports, and the JSON records made of them.

mod arrival;
mod hop_record;
mod observed;
mod packet_report;
pub(super) mod record;
mod record_names;
mod record_parser;
mod report;
mod report_facts;
mod report_flags;

pub use arrival::Arrival;
pub use hop_record::HopRecord;
pub use observed::REPORT_KINDS;
pub use packet_report::{Extension, PacketReport, ReportDomain, ReportVersion};
pub use record::{EndRecord, FlagsRecord, GapRecord, RECORD_SCHEMA, Record};
pub use record_parser::BadRecord;
pub use report::{
    Body, DropSummary, LatencyReport, Observation, QueueDepth, REPORT_PORT, Report, ReportedPacket,
};
pub use report_facts::{ReportFacts, SequenceEvidence};
pub use report_flags::Flags;
