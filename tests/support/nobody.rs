//! A collector's taker of reports for tests that look at the collector itself.

use std::io;

use hostint::collector::{ReportNews, ReportTaker};

/// Takes nothing.
pub struct Nobody;

impl ReportTaker for Nobody {
    fn accept(&mut self, _news: ReportNews<'_>) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
