//! A batch of reports on its way to the store's writer.

use std::ops::Range;
use std::sync::Arc;

use crate::model::{KnownPath, Measured, PassedPath, ReportFacts};

/// The places of a report's subjects among those gathered with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportRows {
    /// `None`: it shows no flow, or there is no room to track it.
    pub flow: Option<usize>,
    pub pair: Option<usize>,
    pub class: Option<usize>,
    pub all: usize,
}

/// One report on its way to the writer.
#[derive(Debug)]
pub struct QueuedReport {
    pub observed: ReportFacts,
    pub class: Option<Arc<str>>,
    /// The packets that it adds to those that earlier summaries told of, if it is a summary.
    pub measured: Option<Box<Measured>>,
    /// The packet's way among those of the batch, if transit hops told it.
    pub path: Option<u32>,
    /// Where it was gathered.
    pub rows: ReportRows,
    /// Its number among its datagram's reports.
    pub part: u32,
    /// The place of its datagram in the batch's bytes. All reports of a datagram have the same.
    pub evidence: Range<usize>,
}

/// The ways of packets, and the words of their times one behind the other.
#[derive(Debug, Default)]
pub struct PassedPaths {
    paths: Vec<(Arc<KnownPath>, Range<u32>)>,
    words: Vec<i32>,
}

/// Reports on their way to the writer. Those of a datagram stay together.
#[derive(Debug, Default)]
pub struct ReportBatch {
    pub entries: Vec<QueuedReport>,
    pub evidence: Vec<u8>,
    /// The ways of packets until they are gathered.
    pub paths: PassedPaths,
}

impl PassedPaths {
    /// Adds a packet's way. Returns its place.
    pub fn push(&mut self, passed: PassedPath<'_>) -> u32 {
        let begin = self.words.len() as u32;
        self.words.extend_from_slice(passed.times);
        let words = begin..self.words.len() as u32;
        self.paths.push((Arc::clone(passed.path), words));
        self.paths.len() as u32 - 1
    }

    /// The way at a place.
    pub fn get(&self, place: u32) -> Option<PassedPath<'_>> {
        let (path, words) = self.paths.get(place as usize)?;
        let times = self.words.get(words.start as usize..words.end as usize)?;
        Some(PassedPath { path, times })
    }

    /// Returns an empty one with room for as much.
    fn as_large(&self) -> Self {
        Self {
            paths: Vec::with_capacity(self.paths.len()),
            words: Vec::with_capacity(self.words.len()),
        }
    }

    /// Returns the approximate memory.
    fn bytes(&self) -> usize {
        size_of_val(self.paths.as_slice()) + size_of_val(self.words.as_slice())
    }
}

impl ReportBatch {
    /// Takes what is in it, and leaves room for as much.
    pub fn take(&mut self) -> Self {
        let next = Self {
            entries: Vec::with_capacity(self.entries.len()),
            evidence: Vec::with_capacity(self.evidence.len()),
            paths: self.paths.as_large(),
        };
        std::mem::replace(self, next)
    }

    /// Returns the approximate memory of the batch.
    pub fn bytes(&self) -> usize {
        let measured = self.entries.iter().flat_map(|entry| &entry.measured);
        self.entries.len() * size_of::<QueuedReport>()
            + self.evidence.len()
            + measured.map(|sums| sums.bytes()).sum::<usize>()
            + self.paths.bytes()
    }
}
