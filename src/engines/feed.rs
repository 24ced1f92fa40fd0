//! The feed: it takes reports from the decoding thread and hands them to all engines in batches.

use std::sync::Arc;

use super::outlet::Outlet;
use super::parcel::{FedBatch, FedReport, RunId};
use crate::model::{Arrival, LatencyClocks, Report, is_whole_batch};

/// The decoding thread's way to hand reports to the engines. There is one in a run, because it numbers the reports.
pub struct Feed {
    run: RunId,
    number: u64,
    outlets: Vec<Outlet>,
    entries: Vec<FedReport>,
    bytes: usize,
    class: Option<Arc<str>>,
}

impl Feed {
    pub(super) fn new(run: RunId, outlets: Vec<Outlet>) -> Self {
        Self {
            run,
            number: 0,
            outlets,
            entries: Vec::new(),
            bytes: 0,
            class: None,
        }
    }

    /// Takes a report that was received in `bytes`, with the name of its drop reason and the class of its flow.
    pub fn take(
        &mut self,
        report: &Report,
        arrival: Option<Arrival>,
        clocks: LatencyClocks,
        drop_reason: Option<&str>,
        class: Option<&str>,
        bytes: usize,
    ) {
        self.number += 1;
        if self.class.as_deref() != class {
            self.class = class.map(Arc::from);
        }
        self.entries.push(FedReport {
            number: self.number,
            report: report.clone(),
            arrival,
            clocks,
            class: self.class.clone(),
            drop_reason: drop_reason.map(Box::from),
        });
        self.bytes += size_of::<FedReport>() + bytes;
        if is_whole_batch(self.entries.len(), self.bytes) {
            self.flush();
        }
    }

    /// Hands on the present batch.
    pub fn flush(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        let batch = Arc::new(FedBatch {
            run: self.run,
            entries: std::mem::take(&mut self.entries),
            bytes: std::mem::take(&mut self.bytes),
        });
        for outlet in &self.outlets {
            outlet.put(&batch);
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.flush();
    }
}
