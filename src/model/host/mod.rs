//! A host and its roles: the names of nodes, ports and containers, its kernel, and the statuses that it shows.

pub mod container;
mod counter_status;
pub mod host_names;
mod host_status;
mod kernel_part;
mod kernel_parts;
mod machine_id;
mod node;
pub mod node_identity;
mod node_names;
mod port_names;
mod postcards_status;
pub mod preflight;
mod recent_counts;
mod sink_settings;
mod subsystem;
mod surroundings;
mod tcp_status;
mod transit_status;

pub use counter_status::{CounterStatus, DaemonCounter};
pub use host_names::{ClaimOrigin, HostName, NameClaim};
pub use host_status::{
    ArrivedProbes, AstrayStatus, Attachment, BudgetStatus, CollectorStatus, DestStatus, FlowSort,
    FlowStatus, GrantStatus, HostStatus, PeerStatus, STATUS_SCHEMA, SinkStatus, SourceStatus,
    StrippedPackets,
};
pub use kernel_part::{KERNEL_PARTS, KernelPart, PartFacts, Without};
pub use kernel_parts::{KernelLack, KernelParts, PartsFound};
pub use machine_id::{MachineId, NoMachineId, node_of_name};
pub use node::{HostNode, NodeId, NodeOrigin};
pub use node_identity::NodeIdentity;
pub use node_names::{NodeNames, NodeText, RecordName};
pub use port_names::{PortNames, RecordPort, port_names};
pub use postcards_status::{DropsStatus, HopsStatus, PostcardsStatus, QueuesStatus};
pub use recent_counts::RecentCounts;
pub use sink_settings::{BucketEdge, SinkSettings};
pub use subsystem::{HwId, Subsystem};
pub use surroundings::Surroundings;
pub use tcp_status::TcpStatus;
pub use transit_status::{TransitInterface, TransitStatus};
