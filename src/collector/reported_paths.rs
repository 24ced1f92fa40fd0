//! The paths that reports told of: each is made once, and looked up for the next report.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::model::{
    Body, KnownPath, Observation, PassedPath, Path, PathKey, SeededHash, TimeWords,
};

/// The most paths that are remembered. When there are more, all are forgotten, and made again with other numbers.
const MOST: usize = 16_384;

/// A path is news when this time is over since it was. Paths are forgotten after a much longer one.
const NEWS_NS: u64 = 1_000_000_000;

/// The path of a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportedPath<'a> {
    pub path: &'a Arc<KnownPath>,
    /// It was none in the last second.
    pub is_news: bool,
}

impl<'a> ReportedPath<'a> {
    /// The path with the times that `set` writes; `None` if it returns false, as there are none.
    pub fn with_times(
        self,
        times: &'a mut TimeWords,
        set: impl FnOnce(&mut TimeWords) -> bool,
    ) -> Option<PassedPath<'a>> {
        set(times).then_some(PassedPath {
            path: self.path,
            times: times.as_slice(),
        })
    }
}

/// The paths of reports, and the time when each was news.
#[derive(Debug, Default)]
pub struct ReportedPaths(HashMap<PathKey, (Arc<KnownPath>, u64), SeededHash>);

impl ReportedPaths {
    /// The path of a reported packet; `None` if it has none, as [`Path::of`] says.
    pub fn of(&mut self, observation: &Observation, now_ns: u64) -> Option<ReportedPath<'_>> {
        let Body::Latency(report) = &observation.body else {
            return None;
        };
        let key = PathKey::of(report)?;
        if self.0.len() >= MOST && !self.0.contains_key(&key) {
            self.0.clear();
        }
        let (path, is_news) = match self.0.entry(key) {
            Entry::Occupied(known) => {
                let (path, told_ns) = known.into_mut();
                // Times may go back.
                let is_news = now_ns.abs_diff(*told_ns) >= NEWS_NS;
                if is_news {
                    *told_ns = now_ns;
                }
                (&*path, is_news)
            }
            Entry::Vacant(new) => {
                let path = KnownPath::new(Path::of(report)?);
                (&new.insert((path, now_ns)).0, true)
            }
        };
        Some(ReportedPath { path, is_news })
    }
}
