//! Reports as engines get them, of which nothing more is known than what a test says.

use std::sync::Arc;

use hostint::engines::FedReport;
use hostint::model::{Arrival, Body, LatencyClocks, Report};

use crate::report_samples;

/// One of which nothing is known besides its body.
pub fn fed(body: Body) -> FedReport {
    numbered(1, report_samples::of_body(body), None)
}

/// One with this number, and with its arrival if it came from an exporter.
pub fn numbered(number: u64, report: Report, arrival: Option<Arrival>) -> FedReport {
    FedReport {
        number,
        report,
        arrival,
        clocks: LatencyClocks::Unreported,
        class: None,
        drop_reason: None,
        names: Arc::default(),
        added: None,
        dropped: None,
    }
}
