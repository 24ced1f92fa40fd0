//! The engines that a collector's settings name.

use anyhow::{Context, Result, anyhow, ensure};

use crate::commands::pushing;
use crate::config::{EnginesConfig, IpfixConfig, KafkaConfig, PushConfig};
#[cfg(feature = "otlp")]
use crate::engines::otlp::OtlpLogs;
use crate::engines::{Engine, Engines, Patience, Run};
use crate::os::log;

/// What is there before the first report; reads what only the privileges to begin with may read.
pub fn prepare(config: &EnginesConfig) -> Result<Vec<Box<dyn Engine>>> {
    let mut ready: Vec<Box<dyn Engine>> = Vec::new();
    if let Some(config) = &config.kafka {
        ready.push(kafka(config)?);
    }
    if let Some(ipfix) = &config.ipfix {
        ready.push(prepare_ipfix(ipfix, config.queue)?);
    }
    if let (Some(url), true) = (&config.push.otlp, config.otlp_reports) {
        ready.push(otlp(url, &config.push)?);
    }
    Ok(ready)
}

#[cfg(feature = "kafka")]
fn kafka(config: &KafkaConfig) -> Result<Box<dyn Engine>> {
    Ok(Box::new(super::kafka::make(config)?))
}

#[cfg(not(feature = "kafka"))]
fn kafka(_: &KafkaConfig) -> Result<Box<dyn Engine>> {
    anyhow::bail!(
        "cannot use --kafka: this hostint was built without Kafka (try a build with its feature kafka)"
    )
}

#[cfg(feature = "ipfix")]
#[allow(clippy::unnecessary_wraps)] // what cannot be prepared is the other one
fn prepare_ipfix(config: &IpfixConfig, queue: usize) -> Result<Box<dyn Engine>> {
    use crate::config::IpfixTransport;
    use crate::engines::ipfix::{Ipfix, Settings, Transport};

    Ok(Box::new(Ipfix::new(Settings {
        collector: config.collector.clone(),
        transport: match config.transport {
            IpfixTransport::Tcp => Transport::Tcp,
            IpfixTransport::Udp => Transport::Udp,
        },
        domain: config.domain,
        interval: config.interval.0,
        queue,
    })))
}

#[cfg(not(feature = "ipfix"))]
fn prepare_ipfix(_config: &IpfixConfig, _queue: usize) -> Result<Box<dyn Engine>> {
    anyhow::bail!("this hostint was built without IPFIX (try a build with the feature ipfix)")
}

#[cfg(feature = "otlp")]
fn otlp(url: &str, config: &PushConfig) -> Result<Box<dyn Engine>> {
    let identity = pushing::identity(config, None)?;
    let made = OtlpLogs::new(url, config.headers.0.clone(), &identity);
    Ok(Box::new(made.map_err(|why| anyhow!("otlp: {why}"))?))
}

#[cfg(not(feature = "otlp"))]
fn otlp(_: &str, _: &PushConfig) -> Result<Box<dyn Engine>> {
    Err(anyhow!("otlp: this hostint was built without it"))
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
