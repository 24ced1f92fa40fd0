//! The feed: it takes reports from the decoding thread and hands them to all engines in batches.

use std::sync::{Arc, Mutex, PoisonError};

use super::outlet::Outlet;
use super::parcel::{FedBatch, FedReport, RunId};
use crate::model::{
    Arrival, DropCount, LatencyClocks, Measured, NodeNames, PodBook, RecordPod, Report,
    is_whole_batch,
};

/// The decoding thread's way to hand reports to the engines. There is one in a run, because it numbers the reports.
pub struct Feed {
    run: RunId,
    number: u64,
    outlets: Vec<Outlet>,
    entries: Vec<FedReport>,
    bytes: usize,
    class: Option<Arc<str>>,
    names: Arc<NodeNames>,
    pods: Option<Arc<Mutex<PodBook>>>,
}

/// A report for the engines, with all that is known about it.
#[derive(Clone, Copy, Debug)]
pub struct FeedReport<'a> {
    pub report: &'a Report,
    pub arrival: Option<Arrival>,
    pub clocks: LatencyClocks,
    /// The name of its drop reason.
    pub drop_reason: Option<&'a str>,
    /// The class of its flow, or of its group.
    pub class: Option<&'a str>,
    /// The packets that a summary adds to those that earlier ones told of.
    pub added: Option<&'a Measured>,
    /// The packets that a report about drops adds to those that earlier ones told of.
    pub dropped: Option<DropCount>,
    /// The length of the datagram, or of the line of JSON.
    pub bytes: usize,
}

impl Feed {
    pub(super) fn new(run: RunId, outlets: Vec<Outlet>, pods: Option<Arc<Mutex<PodBook>>>) -> Self {
        Self {
            run,
            number: 0,
            outlets,
            entries: Vec::new(),
            bytes: 0,
            class: None,
            names: Arc::default(),
            pods,
        }
    }

    /// Calls nodes and interfaces by these names from now on.
    pub fn set_names(&mut self, names: &Arc<NodeNames>) {
        if self.names != *names {
            self.names = Arc::clone(names);
        }
    }

    /// Takes a report.
    pub fn take(&mut self, report: &FeedReport<'_>) {
        self.number += 1;
        if self.class.as_deref() != report.class {
            self.class = report.class.map(Arc::from);
        }
        self.entries.push(FedReport {
            number: self.number,
            report: report.report.clone(),
            arrival: report.arrival,
            clocks: report.clocks,
            class: self.class.clone(),
            names: Arc::clone(&self.names),
            pods: Vec::new(),
            drop_reason: report.drop_reason.map(Box::from),
            added: report.added.cloned().map(Box::new),
            dropped: report.dropped.map(Box::new),
        });
        let added = report.added.map_or(0, Measured::bytes);
        let dropped = report.dropped.map_or(0, |dropped| size_of_val(&dropped));
        self.bytes += size_of::<FedReport>() + report.bytes + added + dropped;
        if is_whole_batch(self.entries.len(), self.bytes) {
            self.flush();
        }
    }

    /// Hands on the present batch.
    pub fn flush(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        self.name_pods();
        let batch = Arc::new(FedBatch {
            run: self.run,
            entries: std::mem::take(&mut self.entries),
            bytes: std::mem::take(&mut self.bytes),
        });
        for outlet in &self.outlets {
            outlet.put(&batch);
        }
    }

    /// Names the pods of the present batch.
    fn name_pods(&mut self) {
        let Some(book) = &self.pods else {
            return;
        };
        let book = book.lock().unwrap_or_else(PoisonError::into_inner);
        for entry in &mut self.entries {
            entry.pods = entry.report.pods(entry.arrival, &book);
            self.bytes += entry.pods.iter().map(RecordPod::bytes).sum::<usize>();
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.flush();
    }
}
