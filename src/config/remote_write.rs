//! Settings of Prometheus remote write.

use clap::Args;

/// The receiver of samples.
#[derive(Args, Clone, Debug, Default)]
pub struct RemoteWriteOptions {
    /// Push metrics by Prometheus remote write to this URL, such as http://192.0.2.9:9090/api/v1/write
    #[arg(long, value_name = "URL")]
    pub remote_write: Option<String>,
}
