//! What this host's source, sink and transit hop share: settings, names, counters, and the counts of what came by.

pub mod collectors;
pub mod counters;
pub mod crossings;
pub mod daemon_counters;
pub mod host_names;
pub mod host_times;
pub mod recent;
pub mod serial;
pub mod settings_status;
pub mod shared_settings;
pub mod step;
pub(super) mod tunnel;
