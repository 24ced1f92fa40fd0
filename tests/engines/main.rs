//! The engines: each report and metric is delivered exactly once or counted, whatever the receiver does.

mod added;
mod clickhouse;
mod delivery;
mod drops;
mod hop_queues;
mod host_reports;
mod ipfix;
mod kafka;
mod named_pods;
mod otlp;
mod push;
mod webhook;
