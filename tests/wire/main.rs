//! Bytes to values and back: telemetry reports, INT blocks, tunnels, and Wireshark's dissector of them.

mod clocks;
mod collector_probes;
mod connections;
mod coverage;
mod crossings;
mod devices;
mod dissector;
mod drops;
mod formats;
mod hops;
mod identity;
mod int_block;
mod manual;
mod option_hops;
mod paths;
mod postcards;
mod queues;
mod reports;
mod standard_reports;
mod tunnels;
