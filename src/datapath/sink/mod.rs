//! The sink: its programs and links, its events, its flow table and what is read from it.

pub mod astray;
pub(super) mod bound_program;
mod chosen_flow;
pub mod event_ring;
pub mod events;
mod fine_returns;
pub mod fine_slots;
pub mod flow_counts;
pub mod flow_status;
mod judged_flows;
pub mod kernel_half;
pub mod minima;
pub mod paths;
mod reported_losses;
pub mod sink_links;
pub mod sink_programs;
mod sink_settings;
pub mod sink_status;
mod summaries;
pub mod sweeper;
pub mod unmeasured;
mod walker;
