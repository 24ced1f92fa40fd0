//! The metrics of a collector, from what its board shows.

use std::sync::Arc;

use anyhow::{Context, Result};

use super::board::Board;
use crate::model::metrics::MetricFamily;
use crate::views;
use crate::views::metrics::Rising;
use crate::web::{self, CachedText, Router};

/// `/metrics`
pub fn route(board: &Arc<Board>) -> Result<Router> {
    let mut families = families(board);
    let read = move || families().map(|families| views::metrics::text(&families));
    let reading = CachedText::start("metrics", read).context("cannot begin to read metrics")?;
    Ok(web::metrics(reading))
}

/// Reads the metrics again and again, for one reader.
pub fn families(
    board: &Arc<Board>,
) -> impl FnMut() -> Result<Vec<MetricFamily>, String> + Send + 'static {
    let board = Arc::clone(board);
    let mut rising = Rising::default();
    move || {
        Ok(views::metrics::collect::families(
            &board.status(),
            &mut rising,
        ))
    }
}
