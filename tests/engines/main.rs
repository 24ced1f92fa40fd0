//! Engines: each report and metric is delivered exactly or counted, whatever the engine does.

mod clickhouse;
mod delivery;
mod ipfix;
mod kafka;
mod otlp;
mod remote_write;
