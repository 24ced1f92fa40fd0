//! The kernel programs, loaded into the kernel, run on single packets and compared with a model in plain Rust.

mod damage;
mod flood;
mod flow_record;
mod instructions;
mod losses;
mod map_batches;
mod merged_segments;
mod nic_stamp;
mod peer_errors;
mod peer_mss;
mod random_frames;
mod restarts;
mod sequence;
mod several_cpus;
mod sink;
mod sink_events;
mod sink_refusals;
mod source;
mod source_numbers;
mod source_refusals;
mod tracking;
mod verifier;
mod vxlan_gpe;
mod watchlist;
