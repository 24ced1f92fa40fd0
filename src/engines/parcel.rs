//! Batches and parcels: reports on their way to engines.

use std::sync::Arc;

use crate::model::{Arrival, DropCount, LatencyClocks, Measured, NodeNames, RecordPod, Report};

/// A random number for one run of a collector. With [`FedReport::number`] it identifies a report, so that a report that
/// is delivered twice can be told from two reports.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct RunId(pub u64);

/// A report, with all that engines need to know.
#[derive(Clone, Debug)]
pub struct FedReport {
    /// The report's number in its run, counted from 1. Numbers that an engine lacks belong to reports that it did not
    /// get.
    pub number: u64,
    pub report: Report,
    pub arrival: Option<Arrival>,
    /// What is known of the clocks that stamped its latency.
    pub clocks: LatencyClocks,
    pub class: Option<Arc<str>>,
    /// The names of nodes when it came.
    pub names: Arc<NodeNames>,
    /// The names of the pods that it is about.
    pub pods: Vec<RecordPod>,
    /// The name of its drop reason.
    pub drop_reason: Option<Box<str>>,
    /// The packets that a summary adds to those that earlier ones told of.
    pub added: Option<Box<Measured>>,
    /// The packets that a report about drops adds to those that earlier ones told of.
    pub dropped: Option<Box<DropCount>>,
}

/// Consecutive reports. All engines share a batch.
#[derive(Debug)]
pub struct FedBatch {
    pub run: RunId,
    pub entries: Vec<FedReport>,
    /// The approximate memory of the batch.
    pub bytes: usize,
}

/// The reports that an engine is given at once. A parcel stays the same until the engine has it.
#[derive(Debug)]
pub struct Parcel {
    /// The parcel's number, counted from 1 for each engine.
    pub number: u64,
    pub(super) batches: Vec<Arc<FedBatch>>,
    pub(super) len: usize,
    pub(super) bytes: usize,
}

impl Parcel {
    pub(super) fn new(number: u64, first: Arc<FedBatch>) -> Self {
        let mut parcel = Self {
            number,
            batches: Vec::new(),
            len: 0,
            bytes: 0,
        };
        parcel.add(first);
        parcel
    }

    pub(super) fn add(&mut self, batch: Arc<FedBatch>) {
        self.len += batch.entries.len();
        self.bytes += batch.bytes;
        self.batches.push(batch);
    }

    /// Makes a parcel of one batch, for tests and benchmarks.
    pub fn of(number: u64, batch: FedBatch) -> Self {
        Self::new(number, Arc::new(batch))
    }

    /// Iterates over its reports. There is at least one.
    pub fn entries(&self) -> impl Iterator<Item = &FedReport> {
        self.batches.iter().flat_map(|batch| &batch.entries)
    }

    /// Returns the number of reports.
    #[allow(clippy::len_without_is_empty)] // a parcel is never empty
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the run of all its reports.
    pub fn run(&self) -> RunId {
        self.batches.first().map_or(RunId(0), |batch| batch.run)
    }
}
