//! The sink, the source and the transit hop of this host: read or asked for, changed, and what to try when that fails.
//!
//! Nothing here loops and nothing prints: `commands` prints what these functions return, and `daemon` calls them
//! again and again.

pub mod advice;
pub mod ask;
pub mod containers;
mod derived_node;
mod detachment;
pub mod events;
pub mod fleet;
pub mod history;
pub mod interfaces;
mod kept_files;
pub mod node;
pub mod node_seed;
pub mod off;
pub mod pins;
pub mod preflight;
pub mod sink;
pub mod source;
pub mod state;
pub mod transit;
