//! The receiving side of a collector: datagrams from sockets and capture files, and their senders' numbering.

pub mod capture;
pub mod captured_options;
mod clocks;
mod coverage;
mod crossed;
mod crossings;
pub mod datagram;
mod exporter;
mod exporters;
mod flow_summary;
mod freshness;
mod held_reports;
mod host_connections;
mod host_drops;
mod host_hops;
mod identities;
mod increments;
mod known_ways;
mod line_reader;
mod listener;
mod mx_join;
mod mx_pairs;
mod numbering;
mod option_hops;
mod probe_answers;
mod queue;
mod received;
mod receiver;
mod reception;
mod remembered;
mod report_taker;
mod reverse_names;
mod segments;
mod socket;
mod summary_counts;
mod tagged_balance;
mod undecodable;

pub use clocks::{ClockCounts, NodeClocks};
pub use coverage::Coverage;
pub use crossings::{CrossingLedger, SETTLED_NS};
pub use exporters::{
    ExporterCounts, Exporters, ExportersCounts, IDLE_NS, MAX_EXPORTERS, MAX_OF_ADDRESS,
};
pub use freshness::{GONE_NS, Hosts, SILENT_NS};
pub use host_connections::HostConnections;
pub use host_drops::HostDrops;
pub use host_hops::HostHops;
pub use increments::{IncrementCounts, Increments};
pub use line_reader::{LineReader, MAX_LINE_BYTES};
pub use listener::{ReportListener, default_addresses};
pub use mx_join::MxCounts;
pub use numbering::{Continuity, Numbering, NumberingCounts};
pub use option_hops::OptionHops;
pub use received::ReportHub;
pub use reception::{ListenerCounts, Reception, ReceptionCounts};
pub use report_taker::{ReceivedReport, ReportTaker};
pub use reverse_names::{AddressName, ReverseNames};
pub use segments::Segments;
pub use socket::ListenError;
pub use undecodable::{UndecodableCounts, UndecodableFrom};

// The border to the network: the collector, the store and tests take reports from here and from nowhere else.
pub use crate::wire::report::{ReportGroup, decode};
pub use crate::wire::{DecodeError, DecodeErrorKind};
