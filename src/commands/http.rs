//! What daemons serve by HTTP, and what they say there of their own state.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result, anyhow};

use super::give_up;
use crate::config::ConfigError;
use crate::model::CollectStatus;
use crate::model::metrics::Family;
use crate::os::{clock, log, resolve};
use crate::views;
use crate::views::metrics::Rising;
use crate::web::{self, Listener, Reading, Router, Server};

/// A daemon whose loop gave no sign of life for so long is taken for dead.
const ALIVE_NS: u64 = 5_000_000_000;

/// Binds the address of `--http`, while that takes no more than the privileges to begin with.
pub fn bind(given: Option<&str>, default_port: u16) -> Result<Option<Listener>> {
    let Some(text) = given else {
        return Ok(None);
    };
    let address = resolve::socket_address(text, default_port)
        .map_err(|err| ConfigError::one(format!("cannot serve HTTP on {text}: {err}")))?;
    let listener = Listener::bind(address)
        .with_context(|| format!("cannot serve HTTP on {text} (try another address or port)"))?;
    if !address.ip().is_loopback() {
        log::warning(format_args!(
            "HTTP on {address}: whoever reaches it may read it, for nobody is asked who they are (see --http)"
        ));
    }
    Ok(Some(listener))
}

/// Serves from now on. What strangers send is read by a thread that may do nothing.
pub fn serve(listener: Listener, routes: Router) -> Result<Server> {
    let begin = move || -> Result<Server> {
        give_up(&[])?;
        Ok(listener.serve(routes)?)
    };
    let begun = thread::Builder::new()
        .spawn(begin)
        .map(|begin| begin.join());
    let server = match begun.context("cannot begin to serve HTTP")? {
        Ok(server) => server.context("cannot begin to serve HTTP")?,
        Err(_) => return Err(anyhow!("cannot begin to serve HTTP")),
    };
    log::info(format_args!("serving http://{}", server.address()));
    Ok(server)
}

/// `/metrics` of a collector, from what it has counted so far.
pub fn collector_metrics(status: impl FnMut() -> CollectStatus + Send + 'static) -> Result<Router> {
    let mut families = collector_families(status);
    let read = move || families().map(|families| views::metrics::text(&families));
    let reading = Reading::start("metrics", read).context("cannot begin to read metrics")?;
    Ok(web::metrics(reading))
}

/// The metrics of a collector, for one reader.
pub fn collector_families(
    mut status: impl FnMut() -> CollectStatus + Send + 'static,
) -> impl FnMut() -> Result<Vec<Family>, String> + Send + 'static {
    let mut rising = Rising::default();
    move || Ok(views::metrics::collect::families(&status(), &mut rising))
}

/// How a daemon is, as its loop says.
#[derive(Debug)]
pub struct Health {
    alive_ns: AtomicU64,
    lacking: Mutex<Vec<String>>,
}

impl Health {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            alive_ns: AtomicU64::new(clock::monotonic_ns()),
            lacking: Mutex::new(vec!["it only begins".to_owned()]),
        })
    }

    /// To be called by the daemon's loop, every second or more often.
    pub fn is_alive(&self) {
        self.alive_ns
            .store(clock::monotonic_ns(), Ordering::Relaxed);
    }

    /// What lacks for the daemon to do its work.
    pub fn lacks(&self, lacking: Vec<String>) {
        *self.lacking.lock().unwrap_or_else(PoisonError::into_inner) = lacking;
    }

    fn dead(&self) -> Vec<String> {
        let alive_ns = self.alive_ns.load(Ordering::Relaxed);
        let silent_ns = clock::monotonic_ns().saturating_sub(alive_ns);
        if silent_ns < ALIVE_NS {
            return Vec::new();
        }
        vec![format!(
            "the daemon gave no sign of life for {} s",
            silent_ns / 1_000_000_000
        )]
    }

    fn not_ready(&self) -> Vec<String> {
        let mut lacking = self.dead();
        let others = self.lacking.lock().unwrap_or_else(PoisonError::into_inner);
        lacking.extend(others.iter().cloned());
        lacking
    }

    /// `/healthz` and `/readyz`.
    pub fn routes(self: &Arc<Self>) -> Router {
        let (alive, ready) = (Arc::clone(self), Arc::clone(self));
        web::health(move || alive.dead(), move || ready.not_ready())
    }
}
