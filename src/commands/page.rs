//! The page of a collector: what of it the history, the counts and the sockets tell.

use std::net::SocketAddr;

use anyhow::{Context, Result};

use super::keeping;
use crate::model::{CollectStatus, DropReasons, History};
use crate::os::clock;
use crate::store::{Reader, Store};
use crate::web::{self, Listener, Page, Router};

/// Questions to the history that are answered at once: more would only take turns on the disk.
const READERS: usize = 2;

/// The page's routes; without a store, exporters alone are shown.
pub(super) fn routes(
    listener: &Listener,
    store: Option<&Store>,
    reasons: &DropReasons,
    collects_on: Vec<SocketAddr>,
    status: impl Fn() -> CollectStatus + Send + Sync + 'static,
) -> Result<Router> {
    let readers = store.iter().flat_map(|store| {
        let open = || -> Result<Box<dyn History>> {
            let decoder = keeping::decoder(reasons.clone());
            Ok(Box::new(Reader::open(store.path(), decoder)?))
        };
        std::iter::repeat_with(open).take(READERS)
    });
    let histories = readers.collect::<Result<_>>();
    Ok(web::page(Page {
        histories: histories.context("cannot show the history")?,
        status: Box::new(status),
        now_ns: clock::realtime_ns,
        bound: listener.address().context("cannot serve the page")?,
        collects_on,
    }))
}
