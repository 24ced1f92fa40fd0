//! The metrics of postcards: drops and hops.

use super::page::MetricsPage;
use super::{build_info, drops, hops, text as render};
use crate::model::{DropTotals, HopTotals};

/// The page of a daemon that tells these.
pub fn text(told: Option<&DropTotals>, timed: Option<&HopTotals>) -> String {
    let mut page = MetricsPage::default();
    build_info(&mut page);
    if let Some(totals) = told {
        drops::add(&mut page, totals);
    }
    if let Some(totals) = timed {
        hops::add(&mut page, totals);
    }
    render(&page.0)
}
