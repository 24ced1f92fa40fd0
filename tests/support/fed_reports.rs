//! Reports as engines get them, of which nothing more is known than what a test says.

use std::sync::Arc;

use hostint::engines::FedReport;
use hostint::model::{Arrival, Body, LatencyClocks, PodName, RecordPod, Report};

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
        pods: Vec::new(),
        added: None,
        dropped: None,
    }
}

/// A pod by its address, and one by the uid that its host told.
pub fn record_pods() -> [RecordPod; 2] {
    let name = |pod: &str, workload: &str, kind: &str| PodName {
        namespace: "shop".to_owned(),
        pod: pod.to_owned(),
        workload: workload.to_owned(),
        workload_kind: kind.to_owned(),
    };
    [
        RecordPod {
            address: Some([192, 0, 2, 1].into()),
            uid: None,
            name: name("web-5d9c-x7k2p", "web", "Deployment"),
        },
        RecordPod {
            address: None,
            uid: Some("pod/5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11".to_owned()),
            name: name("db-0", "db", "StatefulSet"),
        },
    ]
}
