//! The engines that a collector's settings name.

#[cfg(feature = "clickhouse")]
mod clickhouse;
#[cfg(feature = "ipfix")]
mod ipfix;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "otlp")]
mod otlp;

use anyhow::{Context, Result, ensure};

use crate::config::EnginesConfig;
use crate::daemon::metrics_push;
use crate::engines::{Engine, Engines, Patience, RunId};
use crate::os::log;

/// Makes the engines, while the collector still has the privileges to read their secrets.
pub fn prepare(config: &EnginesConfig) -> Result<Vec<Box<dyn Engine>>> {
    #[allow(unused_mut)] // in a build without engines
    let mut ready: Vec<Box<dyn Engine>> = Vec::new();
    if let Some(config) = &config.clickhouse {
        #[cfg(feature = "clickhouse")]
        ready.push(Box::new(clickhouse::make(config)?));
        #[cfg(not(feature = "clickhouse"))]
        return built_without("--clickhouse", config);
    }
    if let Some(ipfix) = &config.ipfix {
        #[cfg(feature = "ipfix")]
        ready.push(Box::new(ipfix::make(ipfix, config.queue)));
        #[cfg(not(feature = "ipfix"))]
        return built_without("--ipfix", ipfix);
    }
    if let Some(config) = &config.kafka {
        #[cfg(feature = "kafka")]
        ready.push(Box::new(kafka::make(config)?));
        #[cfg(not(feature = "kafka"))]
        return built_without("--kafka", config);
    }
    if let (Some(url), true) = (&config.push.otlp, config.otlp_reports) {
        #[cfg(feature = "otlp")]
        ready.push(Box::new(otlp::make(url, &config.push)?));
        #[cfg(not(feature = "otlp"))]
        return built_without("--otlp", url);
    }
    Ok(ready)
}

/// Refuses an option that this build cannot serve.
#[allow(dead_code)] // in a build with all engines
fn built_without<T>(option: &str, _: T) -> Result<Vec<Box<dyn Engine>>> {
    let feature = option.trim_start_matches('-');
    anyhow::bail!(
        "cannot use {option}: this hostint was built without it (try a build with the feature {feature})"
    )
}

/// Gives each engine a thread.
pub fn start(
    ready: Vec<Box<dyn Engine>>,
    config: &EnginesConfig,
    patience: Patience,
) -> Result<Engines> {
    let mut run = [0; 8];
    getrandom::fill(&mut run).context("cannot get random bytes")?;
    let run = RunId(u64::from_ne_bytes(run));
    let mut engines = Engines::new(run, config.queue, patience, |trouble| log::warning(trouble));
    for engine in ready {
        engines.add(engine).context("cannot start a thread")?;
    }
    Ok(engines)
}

/// Delivers the reports that are left, and says how many were delivered and how many were not.
pub fn finish(engines: Engines, all_wanted: bool) -> Result<()> {
    let mut missing = 0;
    for status in engines.finish() {
        metrics_push::say(&status);
        missing += status.lost();
    }
    // A file that is read in has to be delivered whole.
    ensure!(
        !all_wanted || missing == 0,
        "{missing} reports could not be delivered"
    );
    Ok(())
}
