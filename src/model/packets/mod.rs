//! A packet that carries INT: its headers, its hops, and what each of them says.

mod headers;
mod hop;
mod hop_queue;
pub(super) mod int_header;
mod metadata;
mod mx_notice;
mod packet;
mod packet_pods;
mod quirk;

pub use headers::{BadHeaders, QuotedHeaders};
pub use hop::{Hop, HopStack};
pub use hop_queue::{HopQueue, HopQueueFigures};
pub use int_header::{IntDomain, IntHeader, IntType, IntVersion};
pub use metadata::{Metadata, ReservedWord};
pub use mx_notice::MxNotice;
pub use packet::{FirstHeader, Packet};
pub use packet_pods::PacketPods;
pub use quirk::Quirk;
