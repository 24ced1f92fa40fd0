//! Where a collector's reports go as logs, as its settings say.

use anyhow::{Result, anyhow};

use crate::commands::pushing;
use crate::config::PushConfig;
use crate::engines::otlp::OtlpLogs;

pub fn make(url: &str, config: &PushConfig) -> Result<OtlpLogs> {
    let identity = pushing::identity(config, None)?;
    let made = OtlpLogs::new(url, config.headers.0.clone(), &identity);
    made.map_err(|why| anyhow!("cannot use --otlp: {why}"))
}
