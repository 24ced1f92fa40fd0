//! What the roles share of the kernel: programs loaded and linked to hooks, maps, pins, walks, and what the kernel can do.

pub(super) mod batches;
pub mod clsact;
pub mod handover;
mod held_maps;
pub mod hook_choice;
pub mod hooks;
pub(super) mod iterator;
pub mod kernel_parts;
pub(super) mod libbpf_log;
pub mod links;
pub mod load;
pub mod map_names;
pub mod maps;
pub mod namespaces;
mod orphans;
pub mod pins;
pub mod probe;
pub(super) mod run;
pub mod stale_pins;
pub mod tasks;
pub(super) mod token_rate;
pub mod whole_reading;
