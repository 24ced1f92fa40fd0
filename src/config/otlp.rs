//! Settings of OTLP.

use clap::Args;

use super::heading::ENGINES;

/// The receiver of OTLP.
#[derive(Args, Clone, Debug, Default)]
pub struct OtlpOptions {
    /// Push metrics by OTLP/HTTP to this URL, such as http://192.0.2.9:4318; /v1/metrics is appended
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
}

/// A collector's further OTLP options.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = ENGINES)]
pub struct OtlpReportsOptions {
    /// Hand reports on to the receiver of --otlp as logs; /v1/logs is appended to its URL
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub otlp_reports: Option<bool>,
}
