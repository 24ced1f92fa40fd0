//! The collector's history: roll-ups against a plain model, limits, crashes, full disks, strangers' files.

#[allow(dead_code)] // other tests use the rest
#[path = "support/random.rs"]
mod random;
#[allow(dead_code)] // other tests use the rest
#[path = "support/synthetic.rs"]
mod synthetic;

#[path = "store/crashes.rs"]
mod crashes;
#[path = "store/disk.rs"]
mod disk;
#[path = "store/files.rs"]
mod files;
#[path = "store/limits.rs"]
mod limits;
#[path = "store/numbers.rs"]
mod numbers;
#[path = "store/pressure.rs"]
mod pressure;
#[path = "store/rollups.rs"]
mod rollups;
#[path = "store/totals.rs"]
mod totals;
