//! Encoding and decoding: bytes to model values and back, total over untrusted input, without I/O.

mod cursor;
mod error;
mod fragment;
mod int_header;
mod int_stack;
pub mod int_v05;
pub mod lease;
mod metadata_items;
pub mod packet;
pub mod probe;
pub mod report;
pub mod report_clock;
mod report_connection;
pub mod report_coverage;
pub mod report_crossings;
pub mod report_drop_totals;
mod report_extended;
mod report_framed;
mod report_group;
mod report_host_drop;
mod report_host_hop;
mod report_hostint;
pub mod report_identity;
mod report_names;
mod report_option;
pub mod report_option_hops;
pub mod report_path;
mod report_queue;
pub mod report_standard;
mod report_summary;
pub mod report_v05;
pub mod report_v10;
pub mod report_v20;
pub mod summary_totals;
mod tunnel;

pub use error::{DecodeError, DecodeErrorKind};
