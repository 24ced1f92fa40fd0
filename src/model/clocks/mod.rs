//! Clocks of hosts: how they are kept, what is known of their difference, and times corrected by it.

mod clock;
pub mod clock_evidence;
mod clock_status;
mod clock_steering;
mod clock_sums;
mod corrected_latency;
mod wall_time;

pub use clock::{ClockSource, ClockState};
pub use clock_evidence::{ClockEvidence, ClockReading, LeaseExchange, PeerEvidence, QuickPacket};
pub use clock_status::ClockStatus;
pub use clock_steering::ClockSteering;
pub use clock_sums::{ClockSums, CorrectedMean};
pub use corrected_latency::{CorrectedLatency, LatencyClocks};
pub use wall_time::WallTime;
