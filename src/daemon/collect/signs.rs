//! How a collector is: its summary in the log, its signs to the service manager, what it lacks.

use std::time::Instant;

use anyhow::Result;

use super::collector::Collector;
use super::summary;
use crate::daemon::signs::{ShowsSigns, Signs};
use crate::model::{CollectStatus, EngineStatus, EngineUnit};
use crate::os::log;
use crate::views::digits::Grouped;

impl ShowsSigns for Collector {
    fn signs(&mut self) -> &mut Signs {
        &mut self.signs
    }

    fn lacking(&mut self) -> Vec<String> {
        let takers = &self.hub.taker;
        let lines = takers.lines.output().trouble().map(str::to_owned);
        let store = takers.history.as_ref();
        let store = store.and_then(|keeper| keeper.counts().trouble());
        let mut lacking = Vec::from_iter(lines.into_iter().chain(store));
        lacking.extend(self.readiness.look(&self.board.status(), Instant::now()));
        lacking
    }

    fn state_line(&mut self) -> Result<String> {
        Ok(state_line(&self.board.status()))
    }
}

impl Collector {
    /// Logs what each exporter and all of them sent, and what of it was lost or could not be read.
    pub fn summarize(&self) {
        let (status, exporters) = (self.board.status(), &self.hub.ledgers.exporters);
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
        (
            status.told_drops,
            "times reported of paths or coverage not stored",
        ),
        (lost(true), "not delivered"),
        (lost(false), "values of metrics not delivered"),
    ] {
        if count > 0 {
            line += &format!(", {} {what}", Grouped(count));
        }
    }
    line
}
