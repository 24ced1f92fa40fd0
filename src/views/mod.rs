//! Views: model values as text, JSON, metrics and terminal screens.

mod collectors;
mod coverage;
pub mod dests;
pub mod diagnosis;
pub mod drops;
pub mod drops_json;
mod grants;
pub mod history;
mod history_csv;
pub mod history_drops;
pub mod hosts;
pub mod known_digits;
pub mod matrix;
pub mod metrics;
pub mod path;
pub mod paths;
pub mod peers;
pub mod preflight;
pub mod rules;
pub mod status;
pub mod table;
pub mod tcp;
pub mod tcp_json;
pub mod text;
pub mod watch;
