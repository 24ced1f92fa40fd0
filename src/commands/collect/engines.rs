//! The engines that a collector's settings name.

use anyhow::{Context, Result, ensure};

use crate::config::EnginesConfig;
use crate::engines::{Engine, Engines, Patience, Run};
use crate::os::log;

/// What is there before the first report; reads what only the privileges to begin with may read.
pub fn prepare(_config: &EnginesConfig) -> Result<Vec<Box<dyn Engine>>> {
    Ok(Vec::new())
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
        let mut line = format!("{} reports delivered", status.delivered);
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
        missing += status.lost();
    }
    // Who reads a file in wants all of it.
    ensure!(
        !all_wanted || missing == 0,
        "{missing} reports could not be delivered"
    );
    Ok(())
}
