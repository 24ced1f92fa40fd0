//! The metrics of postcards: the daemon reads the counts, a thread of its own serves them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::{PostcardsDaemon, PostcardsTotals};
use crate::daemon::duty::Duty;
use crate::daemon::http;
use crate::views;
use crate::web::{self, CachedText, HttpListener, HttpServer};

/// The age of counts that are served.
const PERIOD: Duration = Duration::from_secs(1);

/// The duty to read the counts, if they are served.
pub struct ServeTotals {
    totals: Arc<Mutex<PostcardsTotals>>,
    _server: HttpServer,
}

impl ServeTotals {
    /// Serves metrics and health from now on.
    pub fn start(listener: HttpListener, daemon: &mut PostcardsDaemon) -> Result<Self> {
        let totals = Arc::new(Mutex::new(daemon.totals()?));
        let shown = Arc::clone(&totals);
        let read = move || {
            let totals = shown.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(views::metrics::postcards::text(
                totals.drops.as_ref(),
                totals.hops.as_ref(),
                totals.queues.as_ref(),
            ))
        };
        let text = CachedText::start("metrics", read).context("cannot begin to read metrics")?;
        let routes = daemon.signs.health.routes().merge(web::metrics(text));
        Ok(Self {
            totals,
            _server: http::serve(listener, routes)?,
        })
    }
}

impl Duty<PostcardsDaemon> for ServeTotals {
    fn task(&self) -> &'static str {
        "read the counts of postcards"
    }

    fn period(&self, _daemon: &PostcardsDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        if !daemon.knows_places()? {
            return Ok(());
        }
        let totals = daemon.totals()?;
        *self.totals.lock().unwrap_or_else(PoisonError::into_inner) = totals;
        Ok(())
    }
}
