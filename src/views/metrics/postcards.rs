//! The metrics of postcards: drops, hops and queues.

use super::page::MetricsPage;
use super::{build_info, drops, passages, queues, text as render};
use crate::model::{DropTotals, PassageTotals, QueueTotals};

/// The page of a daemon that tells these.
pub fn text(
    drops: Option<&DropTotals>,
    timed: Option<&PassageTotals>,
    watched: Option<&QueueTotals>,
) -> String {
    let mut page = MetricsPage::default();
    build_info(&mut page);
    if let Some(totals) = drops {
        drops::add(&mut page, totals);
    }
    if let Some(totals) = timed {
        passages::add(&mut page, totals);
    }
    if let Some(totals) = watched {
        queues::add(&mut page, totals);
    }
    render(&page.0)
}
