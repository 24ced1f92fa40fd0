//! What a sink's metrics say, served and pushed: read by threads of their own, which the daemon never waits for.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::cli::FlowOrder;
use crate::commands::status::{self, Wanted};
use crate::datapath::pins::Pins;
use crate::engines::push::PushCounts;
use crate::model::metrics::Family;
use crate::model::{Classes, Tally};
use crate::views;
use crate::web::Reading;

/// What the daemon and the reading threads share.
#[derive(Clone, Default)]
pub struct Metrics {
    /// Held while flows are read: flows that idle meanwhile are removed in a later pass.
    pub tally: Arc<Mutex<Tally>>,
    /// For the next reading.
    classes: Arc<Mutex<Option<Classes>>>,
    /// What became of what is pushed.
    pub pushed: PushCounts,
}

impl Metrics {
    /// Other classes, from the next reading on.
    pub fn set_classes(&self, classes: Classes) {
        let mut next = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        *next = Some(classes);
    }

    /// Reads what flows have counted so far, and then whatever somebody asks for.
    pub fn start(&self, pins: &Pins) -> Result<Reading> {
        let mut families = self.families(pins);
        let read = move || families().map(|families| views::metrics::text(&families));
        Reading::start("metrics", read).context("cannot begin to read metrics")
    }

    /// Reads them, each time.
    pub fn families(
        &self,
        pins: &Pins,
    ) -> impl FnMut() -> Result<Vec<Family>, String> + Send + 'static {
        let (metrics, pins) = (self.clone(), pins.clone());
        move || metrics.read(&pins).map_err(|err| format!("{err:#}"))
    }

    fn read(&self, pins: &Pins) -> Result<Vec<Family>> {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = self.classes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(classes) = next.take() {
            tally.set_classes(classes);
        }
        drop(next);
        let wanted = Wanted {
            flows: 0,
            peers: usize::MAX,
            sort: FlowOrder::Packets,
        };
        tally.begin();
        let status = status::read_and_visit(pins, wanted, |key, flow| {
            tally.look(key.into(), flow.into());
        })
        .context("cannot read the state of this host")?;
        tally.complete();
        let pushed = self.pushed.statuses();
        Ok(views::metrics::sink::families(&status, &tally, &pushed))
    }
}
