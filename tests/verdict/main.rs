//! The verdict: whether loss or delay is the network's, where, and since when, in incidents of an invented network.

mod bounds;
mod by_wire;
mod capture;
mod events;
mod expected;
mod figures;
mod hosts;
mod incident;
mod incidents;
mod limits;
mod network;
mod quiet;
mod referee;
mod same;
mod sequence;
mod subjects;
mod usuals;
