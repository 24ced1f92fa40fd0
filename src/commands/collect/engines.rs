//! The engines that a collector's settings name.

use anyhow::{Context, Result, ensure};

use crate::commands::pushing;
use crate::config::EnginesConfig;
use crate::engines::{Engine, Engines, Patience, Run};
use crate::os::log;

/// What is there before the first report; reads what only the privileges to begin with may read.
pub fn prepare(config: &EnginesConfig) -> Result<Vec<Box<dyn Engine>>> {
    #[allow(unused_mut)] // if all were left out
    let mut ready: Vec<Box<dyn Engine>> = Vec::new();
    if let Some(config) = &config.clickhouse {
        #[cfg(feature = "clickhouse")]
        ready.push(Box::new(super::clickhouse::make(config)?));
        #[cfg(not(feature = "clickhouse"))]
        return built_without("--clickhouse", config);
    }
    if let Some(ipfix) = &config.ipfix {
        #[cfg(feature = "ipfix")]
        ready.push(Box::new(super::ipfix::make(ipfix, config.queue)));
        #[cfg(not(feature = "ipfix"))]
        return built_without("--ipfix", ipfix);
    }
    if let Some(config) = &config.kafka {
        #[cfg(feature = "kafka")]
        ready.push(Box::new(super::kafka::make(config)?));
        #[cfg(not(feature = "kafka"))]
        return built_without("--kafka", config);
    }
    if let (Some(url), true) = (&config.push.otlp, config.otlp_reports) {
        #[cfg(feature = "otlp")]
        ready.push(Box::new(super::otlp::make(url, &config.push)?));
        #[cfg(not(feature = "otlp"))]
        return built_without("--otlp", url);
    }
    Ok(ready)
}

/// Tells what option, which has this value, cannot be used.
#[allow(dead_code)] // if nothing was left out
fn built_without<T>(option: &str, _: T) -> Result<Vec<Box<dyn Engine>>> {
    let feature = option.trim_start_matches('-');
    anyhow::bail!(
        "cannot use {option}: this hostint was built without it (try a build with the feature {feature})"
    )
}

/// Each gets a thread.
pub fn start(
    ready: Vec<Box<dyn Engine>>,
    config: &EnginesConfig,
    patience: Patience,
) -> Result<Engines> {
    let mut run = [0; 8];
    getrandom::fill(&mut run).context("cannot get random bytes")?;
    let run = Run(u64::from_ne_bytes(run));
    let mut engines = Engines::new(run, config.queue, patience, |trouble| log::warning(trouble));
    for engine in ready {
        engines.add(engine).context("cannot start a thread")?;
    }
    Ok(engines)
}

/// Delivers what is left, and says what was delivered and what was not.
pub fn finish(engines: Engines, all_wanted: bool) -> Result<()> {
    let mut missing = 0;
    for status in engines.finish() {
        pushing::say(&status);
        missing += status.lost();
    }
    // Who reads a file in wants all of it.
    ensure!(
        !all_wanted || missing == 0,
        "{missing} reports could not be delivered"
    );
    Ok(())
}
