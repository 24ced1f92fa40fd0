//! The metrics of a sink, served and pushed: threads of their own read them, which the daemon never waits for.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::datapath::kernel::pins::Pins;
use crate::engines::push::PushCounts;
use crate::host::state::{StatusQuery, read_and_visit};
use crate::model::metrics::MetricFamily;
use crate::model::{Classes, FlowSort, Tally};
use crate::views;
use crate::web::CachedText;

/// The state that the daemon and the reading threads share.
#[derive(Clone)]
pub struct Metrics {
    /// It is locked while flows are read: flows that idle meanwhile are removed in a later pass.
    pub tally: Arc<Mutex<Tally>>,
    /// The classes for the next reading, if they are to change.
    classes: Arc<Mutex<Option<Classes>>>,
    /// The counts of the receivers that metrics are pushed to.
    pub pushed: PushCounts,
}

impl Metrics {
    pub fn new(tally: Arc<Mutex<Tally>>) -> Self {
        Self {
            tally,
            classes: Arc::default(),
            pushed: PushCounts::default(),
        }
    }

    /// Changes the classes, from the next reading on.
    pub fn set_classes(&self, classes: Classes) {
        let mut next = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        *next = Some(classes);
    }

    /// Reads the counts of flows so far, and then the metrics for each request.
    pub fn start(&self, pins: &Pins) -> Result<CachedText> {
        let mut families = self.families(pins);
        let read = move || families().map(|families| views::metrics::text(&families));
        CachedText::start("metrics", read).context("cannot begin to read metrics")
    }

    /// Reads the metrics again and again, for one reader.
    pub fn families(
        &self,
        pins: &Pins,
    ) -> impl FnMut() -> Result<Vec<MetricFamily>, String> + Send + 'static {
        let (metrics, pins) = (self.clone(), pins.clone());
        move || metrics.read(&pins).map_err(|err| format!("{err:#}"))
    }

    fn read(&self, pins: &Pins) -> Result<Vec<MetricFamily>> {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(classes) = next.take() {
            tally.set_classes(classes);
        }
        drop(next);
        let query = StatusQuery {
            flows: 0,
            peers: usize::MAX,
            sort: FlowSort::Packets,
        };
        tally.begin();
        let mut look = |key, counts| tally.look(key, counts);
        let status = read_and_visit(pins, query, None, Some(&mut look))
            .context("cannot read the state of this host")?;
        tally.complete();
        let pushed = self.pushed.statuses();
        Ok(views::metrics::sink::families(&status, &tally, &pushed))
    }
}
