//! Pushes a daemon's metrics to the receivers that its settings name.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};

use super::privileges::give_up_all_but;
use crate::config::PushConfig;
use crate::engines::push::{Push, PushLimits, PushTimes, Pushers};
use crate::model::EngineStatus;
use crate::model::metrics::{Identity, MetricFamily};
use crate::os::{hostname, log};

/// PushLimits of what waits for a receiver that is down.
const MOST_BYTES: usize = 64 << 20;
const MOST_TIME: Duration = Duration::from_secs(3600);

/// Names this daemon among others that send to the same receiver.
pub fn identity(config: &PushConfig, node: Option<u32>) -> Result<Identity> {
    let host = hostname::get().context("cannot find out this host's name")?;
    let instance = config.instance.clone().unwrap_or_else(|| match node {
        Some(node) => format!("{host}/{node}"),
        None => host.clone(),
    });
    Ok(Identity { host, instance })
}

/// Makes the receivers, while the daemon still has the privileges to read their secrets.
pub fn prepare(config: &PushConfig, node: Option<u32>) -> Result<Vec<Arc<dyn Push>>> {
    let Some(url) = &config.otlp else {
        return Ok(Vec::new());
    };
    let identity = identity(config, node)?;
    let receiver = otlp(url, config, &identity).map_err(|why| anyhow!("otlp: {why}"))?;
    Ok(vec![receiver])
}

#[cfg(feature = "otlp")]
fn otlp(url: &str, config: &PushConfig, identity: &Identity) -> Result<Arc<dyn Push>, String> {
    let headers = config.headers.0.clone();
    let made = crate::engines::otlp::OtlpMetrics::new(url, headers, identity)?;
    Ok(Arc::new(made))
}

#[cfg(not(feature = "otlp"))]
fn otlp(_: &str, _: &PushConfig, _: &Identity) -> Result<Arc<dyn Push>, String> {
    Err("this hostint was built without it".to_owned())
}

/// Starts the threads that deliver, which have no privileges; `start` gives them something to deliver.
pub fn begin(ready: Vec<Arc<dyn Push>>, config: &PushConfig) -> Result<Pushers> {
    let interval = config.interval.0.as_secs().max(1);
    let limits = PushLimits {
        bytes: MOST_BYTES,
        snapshots: (MOST_TIME.as_secs() / interval).max(1) as usize,
    };
    let give_up = || give_up_all_but(&[]).map_err(|err| format!("{err:#}"));
    let mut pushers = Pushers::new(limits, give_up, |trouble| log::warning(trouble));
    for push in ready {
        let name = push.name();
        pushers
            .add(push)
            .with_context(|| format!("cannot begin to push metrics ({name})"))?;
    }
    Ok(pushers)
}

/// Reads metrics from now on, whose counts began at `since_ns`.
pub fn start(
    pushers: &mut Pushers,
    config: &PushConfig,
    since_ns: u64,
    read: impl FnMut() -> Result<Vec<MetricFamily>, String> + Send + 'static,
) -> Result<()> {
    if pushers.is_empty() {
        return Ok(());
    }
    let times = PushTimes {
        interval: config.interval.0,
        since_ns,
    };
    let started = pushers.start(times, read);
    started.context("cannot begin to read metrics")
}

/// Gives receivers this time to take what is left, and says what they took and what they did not.
pub fn finish(pushers: Pushers, patience: Duration) {
    pushers.finish(patience).iter().for_each(say);
}

/// Says what an engine took and what it did not.
pub fn say(status: &EngineStatus) {
    let unit = status.unit.name();
    let mut line = format!("{} {unit} delivered", status.delivered);
    for (count, what) in [
        (status.queue_drops, "not, because too many waited"),
        (status.refused, "refused"),
        (status.abandoned, "not by the end"),
    ] {
        if count > 0 {
            line += &format!(", {count} {what}");
        }
    }
    log::info(format_args!(
        "{line}: {} {}",
        status.engine, status.destination
    ));
}
