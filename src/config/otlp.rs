//! What can be set of OTLP.

use clap::Args;

/// Where OTLP goes.
#[derive(Args, Clone, Debug, Default)]
pub struct OtlpOptions {
    /// Push metrics by OTLP/HTTP to this URL, /v1/metrics behind it, such as http://192.0.2.9:4318
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
}

/// What else of a collector.
#[derive(Args, Clone, Debug, Default)]
pub struct OtlpReportsOptions {
    /// Hand reports on to the receiver of --otlp, as logs, /v1/logs behind its URL
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub otlp_reports: Option<bool>,
}
