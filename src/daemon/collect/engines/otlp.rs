//! Makes the OTLP engine of a collector, which sends reports as logs, from its settings.

use anyhow::{Result, anyhow};

use crate::config::PushConfig;
use crate::daemon::metrics_push;
use crate::engines::otlp::OtlpLogs;

pub fn make(url: &str, config: &PushConfig) -> Result<OtlpLogs> {
    let identity = metrics_push::identity(config, None)?;
    let made = OtlpLogs::new(url, config.headers.0.clone(), &identity);
    made.map_err(|why| anyhow!("cannot use --otlp: {why}"))
}
