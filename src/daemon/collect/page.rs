//! The page of a collector: it shows the history, the board, and where the collector listens.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::board::Board;
use super::stored_reports::decoder;
use super::wall;
use crate::daemon::history;
use crate::model::{DropReasons, History};
use crate::store::{HistoryReader, Store};
use crate::web::{self, EventEntry, PageSources, Router};

/// The number of questions to the history that are answered at the same time: more would take turns on the disk.
const READERS: usize = 2;

/// What the page shows, and where events go.
pub type Shown<'a> = (
    Option<&'a Store>,
    &'a DropReasons,
    Vec<SocketAddr>,
    EventEntry,
);

/// The routes of the page. Without a store it shows exporters only.
pub fn routes(
    bound: SocketAddr,
    (store, reasons, collects_on, events): Shown<'_>,
    board: &Arc<Board>,
) -> Result<Router> {
    let readers = store.iter().flat_map(|store| {
        let open = || -> Result<Box<dyn History>> {
            let decoder = decoder(reasons.clone());
            Ok(Box::new(HistoryReader::open(store.path(), decoder)?))
        };
        std::iter::repeat_with(open).take(READERS)
    });
    let board = Arc::clone(board);
    let histories = readers.collect::<Result<_>>();
    Ok(web::page(PageSources {
        histories: histories.context("cannot show the history")?,
        status: Box::new(move || board.status()),
        now_ns: wall::now_ns,
        bound,
        collects_on,
        events,
        answer_call: history::answer_call,
    }))
}
