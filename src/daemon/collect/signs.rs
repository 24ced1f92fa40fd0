//! How a collector is: its summary in the log, its signs to the service manager, what it lacks.

use anyhow::Result;

use super::collector::Collector;
use super::summary;
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::model::{CollectStatus, EngineStatus, EngineUnit};
use crate::os::log;
use crate::views::text::Grouped;

impl ShowsSigns for Collector {
    fn signs(&mut self) -> &mut Signs {
        &mut self.signs
    }

    fn lacking(&mut self) -> Vec<String> {
        let now = self.board.status();
        let lacking = not_kept(&now, &self.shown);
        self.shown = now;
        lacking
    }

    fn state_line(&mut self) -> Result<String> {
        Ok(state_line(&self.board.status()))
    }
}

impl Collector {
    /// Logs what each exporter and all of them sent, and what of it was lost or could not be read.
    pub fn summarize(&self) {
        let (status, exporters) = (self.board.status(), self.hub.exporters());
        summary::say_exporters(exporters);
        let mut line = format!(
            "{} datagrams, {}, {} dropped by the socket, {} dropped at the queue",
            status.datagrams,
            summary::sums(exporters),
            status.socket_drops,
            status.queue_drops
        );
        if status.probes > 0 {
            line += &format!(", {} probes", status.probes);
        }
        if status.lines_lost > 0 {
            line += &format!(", {} lines not written", status.lines_lost);
        }
        log::info(line);
    }
}

/// Sentences about reports since the last look that are not where they should be.
fn not_kept(now: &CollectStatus, before: &CollectStatus) -> Vec<String> {
    let mut lacking = Vec::new();
    let dropped = now.store_drops - before.store_drops;
    if dropped > 0 {
        lacking.push(format!(
            "{dropped} reports were not stored in the last second"
        ));
    }
    let only = now.rolled_up_only - before.rolled_up_only;
    if only > 0 {
        lacking.push(format!(
            "{only} reports were stored in figures only in the last second"
        ));
    }
    for (at, engine) in now.engines.iter().enumerate() {
        let lost = engine.lost() - before.engines.get(at).map_or(0, EngineStatus::lost);
        // Metrics that were not pushed keep no collector from its work.
        if lost > 0 && engine.unit == EngineUnit::Reports {
            lacking.push(format!(
                "{lost} reports were not delivered to {} in the last second",
                engine.engine
            ));
        }
    }
    lacking
}

/// `3 exporters; 1,234 reports, 2 lost on the way`, and what else went wrong.
fn state_line(status: &CollectStatus) -> String {
    let mut line = format!(
        "{} exporter{}; {} reports, {} lost on the way",
        Grouped(status.exporters_total as u64),
        if status.exporters_total == 1 { "" } else { "s" },
        Grouped(status.reports),
        Grouped(status.reports_lost)
    );
    let lost = |of_reports: bool| -> u64 {
        status
            .engines
            .iter()
            .filter(|engine| (engine.unit == EngineUnit::Reports) == of_reports)
            .map(EngineStatus::lost)
            .sum()
    };
    for (count, what) in [
        (status.undecodable, "undecodable"),
        (status.socket_drops, "dropped by the socket"),
        (status.queue_drops, "dropped at the queue"),
        (status.lines_lost, "not written"),
        (status.rolled_up_only, "in figures only"),
        (status.store_drops, "not stored"),
        (lost(true), "not delivered"),
        (lost(false), "values of metrics not delivered"),
    ] {
        if count > 0 {
            line += &format!(", {} {what}", Grouped(count));
        }
    }
    line
}
