//! Heeds the signals to a collector: SIGHUP and SIGUSR1.

use std::time::Instant;

use anyhow::Result;

use super::collector::Collector;
use crate::daemon::duty::Duty;
use crate::os::signals;

/// The duty to heed them: both reopen the output; SIGHUP also reads the config file again, and SIGUSR1 logs a summary.
pub struct HeedSignals;

impl Duty<Collector> for HeedSignals {
    fn task(&self) -> &'static str {
        "heed signals"
    }

    fn turn(&mut self, collector: &mut Collector, _now: Instant) -> Result<()> {
        let (usr1, hup) = (signals::usr1_received(), signals::reload_asked());
        if usr1 || hup {
            collector.output_mut().reopen();
        }
        if hup && collector.args.config.is_some() {
            collector.reload.ask();
        }
        if usr1 {
            collector.publish();
            collector.summarize();
        }
        Ok(())
    }
}
