//! What is told of packets beside INT: those that the host dropped, the time through it, and its queues.

pub mod drop_reasons;
pub mod drops;
mod interface_passages;
pub mod measured_here;
mod passage_hooks;
mod passage_plan;
pub mod passages;
pub mod queues;
