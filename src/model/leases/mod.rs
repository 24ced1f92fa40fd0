//! Leases: questions, answers, probes, and the forms of packets that a path lets through.

mod capabilities;
mod encapsulation;
mod fleet_order;
mod lease;
mod lease_messages;
mod lease_probe;
mod ways;

pub use capabilities::{Capabilities, MOST_TRANSIT_HOPS};
pub use encapsulation::{Encapsulation, UnknownEncapsulation};
pub use fleet_order::{FleetOrder, ORDER_NS, OrderVerdict};
pub use lease::{
    AddressPair, Encapsulations, Lease, LeaseAnswer, LeaseCounts, LeaseKey, LeaseState, Marks,
    SinkClock,
};
pub use lease_messages::{
    FullAnswer, FullEcho, FullQuestion, LeaseWitness, ShortEcho, ShortQuestion,
};
pub use lease_probe::{LeaseProbe, ProbeForm};
pub use ways::{PathProof, ProbeForms, Ways};
