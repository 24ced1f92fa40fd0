//! A report as engines get it, of which nothing is known besides its body.

use std::sync::Arc;

use hostint::engines::FedReport;
use hostint::model::{Body, Flags, HwId, LatencyClocks, Observation, Report};

pub fn fed(body: Body) -> FedReport {
    FedReport {
        number: 1,
        report: Report {
            sequence: 1,
            observation: Observation {
                hw_id: HwId::default(),
                flags: Flags::default(),
                clock: None,
                body,
            },
        },
        arrival: None,
        clocks: LatencyClocks::Untold,
        class: None,
        drop_reason: None,
        names: Arc::default(),
        added: None,
        dropped: None,
    }
}
