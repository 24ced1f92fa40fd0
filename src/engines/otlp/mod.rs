//! OTLP/HTTP in protobuf (OTLP 1.5.0): metrics, and reports as logs.

mod added;
mod answer;
mod logs;
pub mod messages;
mod metrics;
mod sender;

pub use logs::OtlpLogs;
pub use metrics::OtlpMetrics;
