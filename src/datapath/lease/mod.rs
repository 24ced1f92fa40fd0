//! Leases on both sides: those that the source holds and renews, and those that the sink granted.

pub mod grant_status;
pub mod grants;
pub mod leases;
pub mod renewal;
