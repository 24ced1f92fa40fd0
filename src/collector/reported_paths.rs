//! The paths that reports told of: each is made once, and looked up for the next report.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{Body, KnownPath, Observation, Path, PathKey};

/// The most paths that are remembered. When there are more, all are forgotten, and made again with other numbers.
const MOST: usize = 16_384;

/// A path is news when this time is over since it was. Paths are forgotten after a much longer one.
const NEWS_NS: u64 = 1_000_000_000;

/// The path of a report.
#[derive(Clone, Debug)]
pub struct ReportedPath {
    pub path: Arc<KnownPath>,
    /// It was none in the last second.
    pub is_news: bool,
}

/// The paths of reports, and the time when each was news.
#[derive(Debug, Default)]
pub struct ReportedPaths(HashMap<PathKey, (Arc<KnownPath>, u64)>);

impl ReportedPaths {
    /// The path of a reported packet; `None` if it has none, as [`Path::of`] says.
    pub fn of(&mut self, observation: &Observation, now_ns: u64) -> Option<ReportedPath> {
        let Body::Latency(report) = &observation.body else {
            return None;
        };
        let key = PathKey::of(report)?;
        if let Some((path, told_ns)) = self.0.get_mut(&key) {
            // Times may go back.
            let is_news = now_ns.abs_diff(*told_ns) >= NEWS_NS;
            if is_news {
                *told_ns = now_ns;
            }
            return Some(ReportedPath {
                path: Arc::clone(path),
                is_news,
            });
        }
        let path = KnownPath::new(Path::of(report)?);
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(key, (Arc::clone(&path), now_ns));
        Some(ReportedPath {
            path,
            is_news: true,
        })
    }
}
