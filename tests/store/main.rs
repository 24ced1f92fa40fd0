//! The collector's history on disk: roll-ups, limits, crashes, full disks and damaged files.

mod bases;
mod connections;
mod coverage;
mod crashes;
mod disk;
mod drops;
mod files;
mod freshness;
mod history;
mod hops;
mod hosts;
mod limits;
mod lives;
mod many_paths;
mod numbers;
mod passages;
mod path_names;
mod path_sums;
mod paths;
mod pressure;
mod queues;
mod rollups;
mod totals;
mod usual;
mod verdicts;
mod wrong_clocks;
