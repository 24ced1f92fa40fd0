//! How a host's state and its reports read: tables, lines, JSON, metrics, dashboards and the full-screen view.

mod below_zero;
mod dashboards;
mod diagnosis;
mod history_drops;
mod history_hops;
mod hosts;
mod joined_metrics;
mod known_digits;
mod matrix;
mod metrics;
mod path;
mod reports;
mod schemas;
mod silent_host;
mod status_text;
mod table;
mod verdict;
mod watch;
