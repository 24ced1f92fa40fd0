//! Reports on their way to engines.

use std::sync::Arc;

use crate::model::{Arrival, Report};

/// A collector from its start to its end: a random number. With [`Entry::number`] it names a report for good, so that
/// a report that is delivered twice can be told from two.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Run(pub u64);

/// One report.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Counts the reports of a run, from 1. Where numbers are missing in an engine, it does not have those reports.
    pub number: u64,
    pub report: Report,
    pub arrival: Option<Arrival>,
    pub class: Option<Arc<str>>,
    /// The name of its drop reason.
    pub drop_reason: Option<Box<str>>,
}

/// Reports that came one after another. All engines share it.
#[derive(Debug)]
pub struct Batch {
    pub run: Run,
    pub entries: Vec<Entry>,
    /// The memory that it takes, about.
    pub bytes: usize,
}

/// What an engine is given at once; it stays the same until the engine has it.
#[derive(Debug)]
pub struct Parcel {
    /// Counts the parcels of an engine, from 1.
    pub number: u64,
    pub(super) batches: Vec<Arc<Batch>>,
    pub(super) len: usize,
    pub(super) bytes: usize,
}

impl Parcel {
    pub(super) fn new(number: u64, first: Arc<Batch>) -> Self {
        let mut parcel = Self {
            number,
            batches: Vec::new(),
            len: 0,
            bytes: 0,
        };
        parcel.add(first);
        parcel
    }

    pub(super) fn add(&mut self, batch: Arc<Batch>) {
        self.len += batch.entries.len();
        self.bytes += batch.bytes;
        self.batches.push(batch);
    }

    /// A parcel with this in it, for tests and benchmarks.
    pub fn of(number: u64, batch: Batch) -> Self {
        Self::new(number, Arc::new(batch))
    }

    /// Its reports; there is at least one.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.batches.iter().flat_map(|batch| &batch.entries)
    }

    /// How many reports it has.
    #[allow(clippy::len_without_is_empty)] // it never is
    pub fn len(&self) -> usize {
        self.len
    }

    /// Of all its reports.
    pub fn run(&self) -> Run {
        self.batches.first().map_or(Run(0), |batch| batch.run)
    }
}
