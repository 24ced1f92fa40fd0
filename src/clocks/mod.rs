//! Clocks of hosts: the interval in which the difference of two clocks lies, and the best estimate within it.
//!
//! ```text
//! readings of one host's clocks ─► OwnClock (slews, steps) ─┐
//! stamps of the quickest packets ─► RawMinimum ─────────────┴─► ClockLink ─► Mesh ─► Bounds: intervals, false stamps
//!                                                                 │                │ clip
//!                                                                 └─► corridor ─► estimates
//!
//! what all hosts tell ─► HostClocks ─► ClockLinks ─► ClockDifferences: of any two raw clocks, at any time
//!                            └─► OwnClocks, as far as they are told ──┴─► of the clocks that stamped a packet
//!
//! questions and answers of a lease ─► Answers ─► interval and estimate of one sink's clock
//! ```
//!
//! A packet cannot arrive before it was sent: its latency, as the two clocks tell it, bounds their difference from one
//! side, and packets of the reverse direction bound it from the other. Such a bound ages, because crystals drift. A raw
//! clock (CLOCK_MONOTONIC_RAW) is neither slewed nor set, so that only its crystal's drift has to be allowed for.

mod answers;
mod corridor;
mod differences;
mod drift;
mod estimates;
mod groups;
mod hosts;
mod interval;
mod known_until;
mod link;
mod mesh;
mod own_clock;
mod stated_error;
mod steady_wall;

pub use answers::{Answers, Exchange, SinkAhead};
pub use corridor::{Corridor, corridor};
pub use differences::{ClockDifference, ClockDifferences};
pub use drift::Drift;
pub use estimates::{Estimates, estimates};
pub use hosts::{HostClocks, Stamp, StampedPacket, Statement};
pub use interval::ClockInterval;
pub use link::{ClockLink, RawMinimum};
pub use mesh::{Bounds, FalseStamps, Mesh};
pub use own_clock::{OwnClock, Reading};
pub use stated_error::StatedErrors;
pub use steady_wall::{SteadyTime, SteadyWall};
