//! The paths over transit hops on which packets came to this host: their times of the last minute, and when each one had
//! packets.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use crate::model::{
    LatencyHistogram, LatencyResolution, NodeId, Path, PathFigures, PathStatus, SegmentFigures,
    SegmentTimes,
};
use crate::views::hosts::KnownHosts;

/// Figures are of half of this time at least, and of all of it at most.
const WINDOW: Duration = Duration::from_secs(60);

/// Number of refreshes that are kept for a path.
const LONGEST: usize = 600;

/// A path as it is shown.
#[derive(Debug)]
pub struct ShownPath {
    pub figures: PathFigures,
    /// Its packets of one interval after the other, the latest at the end.
    pub marks: Vec<Option<f64>>,
    /// The time that the figures are of.
    pub span: ShownSpan,
}

/// The time that figures are of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ShownSpan {
    /// The last ones of the time in which this host is watched.
    Last(Duration),
    /// Since the first packet of the path.
    Whole,
}

/// Paths as a collector's history has them.
#[derive(Clone, Debug, Default)]
pub struct SentPaths {
    pub source: NodeId,
    pub paths: Vec<PathFigures>,
    /// The time that they are of.
    pub since_ns: u64,
    pub until_ns: u64,
    pub hosts: KnownHosts,
    /// Why the history could not be read.
    pub trouble: Option<String>,
}

impl SentPaths {
    pub fn shown(&self) -> Vec<ShownPath> {
        let span = Duration::from_nanos(self.until_ns.saturating_sub(self.since_ns));
        let shown = |figures: &PathFigures| ShownPath {
            marks: self.marks(figures),
            figures: figures.clone(),
            span: ShownSpan::Last(span),
        };
        self.paths.iter().map(shown).collect()
    }

    fn marks(&self, figures: &PathFigures) -> Vec<Option<f64>> {
        let period_ns = figures.period_ns.max(1);
        let periods = self
            .until_ns
            .saturating_sub(self.since_ns)
            .div_ceil(period_ns);
        let first_ns = self.until_ns - self.until_ns % period_ns;
        let mut marks = vec![Some(0.0); usize::try_from(periods).unwrap_or(0).min(LONGEST)];
        for (begin_ns, packets) in &figures.presence {
            let ago = first_ns.saturating_sub(*begin_ns) / period_ns;
            let at = usize::try_from(ago)
                .ok()
                .and_then(|ago| marks.len().checked_sub(ago + 1));
            if let Some(mark) = at.and_then(|at| marks.get_mut(at)) {
                *mark = Some(*packets as f64);
            }
        }
        marks
    }
}

/// The times of a path at one refresh.
#[derive(Clone, Debug)]
struct PathTimes {
    at: Duration,
    whole: LatencyHistogram,
    segments: Vec<LatencyHistogram>,
}

impl PathTimes {
    fn of(status: &PathStatus, at: Duration) -> Self {
        // Negative times are not known so well as slots of others are wide.
        let coarse = |times: &LatencyHistogram| times.clone().coarsened(LatencyResolution::Middle);
        Self {
            at,
            whole: coarse(&status.whole.0),
            segments: (status.segments.iter())
                .map(|times| coarse(&times.0))
                .collect(),
        }
    }
}

/// A path since it was first seen on the screen.
#[derive(Debug)]
struct WatchedPath {
    path: Path,
    first_ns: u64,
    last_ns: u64,
    now: PathTimes,
    /// What figures are the difference from, and what they will be the difference from.
    base: Option<PathTimes>,
    next: Option<PathTimes>,
    marks: VecDeque<Option<f64>>,
    look: u64,
}

impl WatchedPath {
    fn new(status: &PathStatus, at: Duration, look: u64) -> Self {
        Self {
            path: status.path(),
            first_ns: status.first_ns,
            last_ns: status.last_ns,
            now: PathTimes::of(status, at),
            base: None,
            next: None,
            marks: VecDeque::new(),
            look,
        }
    }

    fn take(&mut self, status: &PathStatus, at: Duration, look: u64) {
        let now = PathTimes::of(status, at);
        let packets = now.whole.samples().checked_sub(self.now.whole.samples());
        let is_same = self.first_ns == status.first_ns && packets.is_some();
        if !is_same {
            self.base = None;
            self.next = None;
            self.first_ns = status.first_ns;
        } else if self.base.is_none() {
            self.base = Some(self.now.clone());
        } else if at.saturating_sub(self.next_at()) >= WINDOW / 2 {
            // The window is never shorter than its half.
            if let Some(next) = self.next.replace(self.now.clone()) {
                self.base = Some(next);
            }
        }
        self.mark(packets.filter(|_| is_same));
        self.last_ns = status.last_ns;
        self.now = now;
        self.look = look;
    }

    /// The time of the refresh that becomes the base when the window is full.
    fn next_at(&self) -> Duration {
        let next = self.next.as_ref().or(self.base.as_ref());
        next.map_or(Duration::ZERO, |next| next.at)
    }

    fn mark(&mut self, packets: Option<u64>) {
        if self.marks.len() == LONGEST {
            self.marks.pop_front();
        }
        self.marks.push_back(packets.map(|packets| packets as f64));
    }

    fn shown(&self) -> ShownPath {
        let base = self.base.as_ref();
        let of = |place: usize, now| since(now, base.and_then(|base| base.segments.get(place)));
        let segments = self
            .path
            .segments()
            .into_iter()
            .zip(self.now.segments.iter());
        let segments = segments.enumerate().map(|(place, (segment, now))| {
            let latency = of(place, now);
            let has_one_clock = segment.kind.has_one_clock();
            SegmentFigures {
                segment,
                // A host does not know the clocks of hops.
                times: SegmentTimes {
                    packets: Some(latency.samples()),
                    latency: latency.figures().filter(|_| has_one_clock),
                    ..SegmentTimes::default()
                },
                share: None,
                unseen_hops: None,
                queue_depth: None,
            }
        });
        let whole = since(&self.now.whole, base.map(|base| &base.whole));
        let mut figures = PathFigures {
            path: self.path.clone(),
            lacking: Vec::new(),
            of_flow: false,
            first_ns: self.first_ns,
            until_ns: self.last_ns,
            period_ns: 0,
            whole: SegmentTimes {
                packets: Some(whole.samples()),
                latency: whole.figures(),
                ..SegmentTimes::default()
            },
            unknown_mean_ns: None,
            segments: segments.collect(),
            queues: Vec::new(),
            host_segments: Vec::new(),
            presence: Vec::new(),
            tail: None,
        };
        figures.set_shares();
        // The whole time has the difference of two clocks in it, and so would the rest of it have.
        figures.unknown_mean_ns = None;
        ShownPath {
            figures,
            marks: self.marks.iter().copied().collect(),
            span: match base {
                Some(base) => ShownSpan::Last(self.now.at.saturating_sub(base.at)),
                None => ShownSpan::Whole,
            },
        }
    }
}

/// The times that came after a refresh, or all of them.
fn since(now: &LatencyHistogram, before: Option<&LatencyHistogram>) -> LatencyHistogram {
    match before {
        // Counters that fell tell nothing until the next refresh.
        Some(before) => now.since(before).unwrap_or_default(),
        None => now.clone(),
    }
}

/// The paths of all sources.
#[derive(Debug, Default)]
pub struct WatchedPaths {
    known: HashMap<Vec<u8>, WatchedPath>,
    looks: u64,
}

impl WatchedPaths {
    /// Takes the next refresh. A path that the host forgot is forgotten.
    pub fn update(&mut self, paths: &[PathStatus], at: Duration) {
        self.looks += 1;
        let looks = self.looks;
        for status in paths {
            let name = status.path().to_bytes();
            match self.known.get_mut(&name) {
                Some(known) => known.take(status, at, looks),
                None => drop(self.known.insert(name, WatchedPath::new(status, at, looks))),
            }
        }
        self.known.retain(|_, known| known.look == looks);
    }

    /// The paths from this node, those that had most packets lately first.
    pub fn shown(&self, source: NodeId) -> Vec<ShownPath> {
        let mut from: Vec<_> = (self.known.values())
            .filter(|known| known.path.source.node == source)
            .collect();
        from.sort_by(|one, other| one.path.cmp(&other.path));
        let mut shown: Vec<_> = from.into_iter().map(WatchedPath::shown).collect();
        shown.sort_by_key(|path| std::cmp::Reverse(path.figures.whole.samples()));
        shown
    }
}
