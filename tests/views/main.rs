//! How a host's state and its reports read: tables, lines, JSON, metrics, dashboards and the full-screen view.

mod dashboards;
mod diagnosis;
mod metrics;
mod reports;
mod schemas;
mod status_text;
mod watch;
