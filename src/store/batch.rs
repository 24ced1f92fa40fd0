//! A batch of reports on its way to the store's writer.

use std::ops::Range;
use std::sync::Arc;

use crate::model::{Measured, PathSample, ReportFacts};

/// One report on its way to the writer.
#[derive(Debug)]
pub struct QueuedReport {
    pub observed: ReportFacts,
    pub class: Option<Arc<str>>,
    /// The packets that it adds to those that earlier summaries told of, if it is a summary.
    pub measured: Option<Box<Measured>>,
    /// The packet's way, if transit hops told it, until it is gathered.
    pub path: Option<Box<PathSample>>,
    /// Its flow is not tracked because there is no room.
    pub beyond: bool,
    /// Its number among its datagram's reports.
    pub part: u32,
    /// The place of its datagram in the batch's bytes. All reports of a datagram have the same.
    pub evidence: Range<usize>,
}

/// Reports on their way to the writer. Those of a datagram stay together.
#[derive(Debug, Default)]
pub struct ReportBatch {
    pub entries: Vec<QueuedReport>,
    pub evidence: Vec<u8>,
}

impl ReportBatch {
    /// Returns the approximate memory of the batch.
    pub fn bytes(&self) -> usize {
        let measured = self.entries.iter().flat_map(|entry| &entry.measured);
        let paths = self.entries.iter().flat_map(|entry| &entry.path);
        self.entries.len() * size_of::<QueuedReport>()
            + self.evidence.len()
            + measured.map(|sums| sums.bytes()).sum::<usize>()
            + paths.map(|path| path.bytes()).sum::<usize>()
    }
}
