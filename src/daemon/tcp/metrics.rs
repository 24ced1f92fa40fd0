//! The metrics of TCP connections: the daemon sums them up, a thread of its own serves them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::TcpDaemon;
use crate::daemon::duty::Duty;
use crate::daemon::http;
use crate::model::TcpTotals;
use crate::views;
use crate::web::{self, CachedText, HttpListener, HttpServer};

/// The age of counts that are served.
const PERIOD: Duration = Duration::from_secs(1);

/// The duty to sum up, if the sums are served.
pub struct ServeConnections {
    totals: Arc<Mutex<TcpTotals>>,
    _server: HttpServer,
}

impl ServeConnections {
    /// Serves metrics and health from now on.
    pub fn start(listener: HttpListener, daemon: &mut TcpDaemon) -> Result<Self> {
        let totals = Arc::new(Mutex::new(daemon.totals()?));
        let shown = Arc::clone(&totals);
        let read = move || {
            let totals = shown.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(views::metrics::tcp::text(&totals))
        };
        let text = CachedText::start("metrics", read).context("cannot begin to read metrics")?;
        let routes = daemon.signs.health.routes().merge(web::metrics(text));
        Ok(Self {
            totals,
            _server: http::serve(listener, routes)?,
        })
    }
}

impl Duty<TcpDaemon> for ServeConnections {
    fn task(&self) -> &'static str {
        "sum up connections"
    }

    fn period(&self, _daemon: &TcpDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut TcpDaemon, _now: Instant) -> Result<()> {
        let totals = daemon.totals()?;
        *self.totals.lock().unwrap_or_else(PoisonError::into_inner) = totals;
        Ok(())
    }
}
