//! The verdict: whether loss or delay is the network's, where, and since when.
//!
//! Slots of ten seconds come in, and what is to be said goes out. Nothing here reads a clock, a file or the network.
//!
//! ```text
//! VerdictSlot ─► Trust (do hosts report? is traffic measured?)
//!            └─► Cells (packets: lost, slow against Usual) ─► Places (a CUSUM for each) ─► explain ─► side ─► words
//! ```
//!
//! A packet is bad if it was lost, or slower than the slowest usual ones. Bad packets are counted against all packets,
//! summed over every place that could be at fault, and a place is named if the packets of four slots at least are
//! more likely with a fault there than without one, by a factor that chance does not reach.

mod cells;
mod engine;
mod evidence;
mod explain;
mod host_causes;
mod hours;
mod in_force;
mod likelihood;
mod limits;
mod named;
mod past;
mod place;
mod places;
mod reach;
mod recent;
mod side;
mod trust;
mod usual;

pub use engine::VerdictEngine;
pub use hours::PastQuestion;
pub use in_force::in_force;
pub use past::{HourUsual, KnownPast, LastHours, hour_of};
