//! Figures of paths and their segments, as a history knows them.

use clap::ValueEnum;
use serde::Serialize;

use crate::model::{
    ClockSums, CorrectedMean, HopQueueFigures, LEAST_SAMPLES, LatencyFigures, LatencyHistogram,
    NodeId, Path, Segment, SegmentKind,
};

/// The least number of reports of which it is said where their time was spent.
pub const LEAST_TAIL_REPORTS: u64 = 20;

/// The paths that a query is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PathQuery {
    Pair {
        source: NodeId,
        sink: NodeId,
    },
    /// The flow with this number in the store.
    Flow(i64),
}

/// The order of segments, largest first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum SegmentOrder {
    /// highest p99 latency first
    #[default]
    P99,
    /// largest share of the mean latency of their paths first
    Share,
    /// most lost packets first
    Lost,
}

/// The times of a segment, or of a whole path, in a span: of all packets if the sink told of them, else of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SegmentTimes {
    /// Reports that have a time for it.
    pub reports: u64,
    /// All packets that the sink counted. `None`: the figures are of the reports.
    pub packets: Option<u64>,
    /// Without the difference of clocks; `None` if that was unknown for some of them.
    pub latency: Option<LatencyFigures>,
    /// The mean with its error, where two clocks stamped; `None` if they were unknown for all.
    pub corrected: Option<CorrectedMean>,
    /// The packets that were lost there; `None` if that is not known.
    pub loss: Option<SegmentLoss>,
}

/// Packets of a pair that came to the begin of a segment, and how many of them did not come to its end, by the counts of
/// hosts on both ends. A wire's are those of its queue, too.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct SegmentLoss {
    pub packets: u64,
    pub lost: u64,
}

/// The times of a segment since a collector started.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SegmentTally {
    pub segment: Segment,
    /// The times are those of all packets, else those of reports.
    pub of_packets: bool,
    pub latency: LatencyHistogram,
    /// The packets that were lost there; `None` if that is not known.
    pub loss: Option<SegmentLoss>,
}

/// A segment of one path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SegmentFigures {
    #[serde(flatten)]
    pub segment: Segment,
    #[serde(flatten)]
    pub times: SegmentTimes,
    /// The segment's part of the path's mean latency, from 0 to 1.
    pub share: Option<f64>,
    /// The routers on a wire that pushed no entry, by the difference of the TTL; `None` if that is not known.
    pub unseen_hops: Option<u8>,
    /// The queue that packets met at a hop, by the path's newest reports; `None` if none of them says it.
    pub queue_depth: Option<HopQueueFigures>,
}

/// Where the slowest reported packets lost their time: the part of the hops in what these took longer than the median.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TailShares {
    /// The newest reports of the path that were looked at, and the slowest of them.
    pub of_reports: u64,
    pub slowest: u64,
    /// What the slowest took longer than the median, on average.
    pub excess_ns: i64,
    /// For each segment, from 0 to 1; `None` for wires, whose clocks may have drifted meanwhile.
    pub shares: Vec<Option<f64>>,
}

/// One path and its figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathFigures {
    #[serde(flatten)]
    pub path: Path,
    /// The hops of another path of the answer that are all that this one lacks: they told nothing of its packets.
    pub lacking: Vec<NodeId>,
    /// The times are those of one flow. Losses are of all packets of the pair even then.
    pub of_flow: bool,
    /// The begin of the first period with a report, and the end of the last one.
    pub first_ns: u64,
    pub until_ns: u64,
    /// The length of a period.
    pub period_ns: u64,
    pub whole: SegmentTimes,
    /// The mean time that is in no segment with a known time: the wires whose clocks are unknown, together.
    pub unknown_mean_ns: Option<i64>,
    pub segments: Vec<SegmentFigures>,
    /// The queues of the source and of transit hops, each a part of the wire behind it, as far as hosts tell them: of all packets from this
    /// source through the queue, on whatever path.
    pub queues: Vec<SegmentFigures>,
    /// What is in front of the path and behind it, in the hosts at its ends, as far as these tell: of all packets from this
    /// source that left, or came, by the same interface.
    pub host_segments: Vec<SegmentFigures>,
    /// The beginning of each period with reports, and how many.
    pub presence: Vec<(u64, u64)>,
    pub tail: Option<TailShares>,
}

impl SegmentTimes {
    /// The figures of the reports' stamped times and their corrections. A segment of one clock has no error.
    pub fn of_reports(stamped: &LatencyHistogram, sums: &ClockSums, one_clock: bool) -> Self {
        let (latency, corrected) = figures_of(stamped, sums, one_clock);
        Self {
            reports: stamped.samples(),
            packets: None,
            latency,
            corrected,
            loss: None,
        }
    }

    /// The same of all packets, besides which there were some reports.
    pub fn of_packets(
        reports: u64,
        stamped: &LatencyHistogram,
        sums: &ClockSums,
        one_clock: bool,
    ) -> Self {
        let (latency, corrected) = figures_of(stamped, sums, one_clock);
        Self {
            reports,
            packets: Some(stamped.samples()),
            latency,
            corrected,
            loss: None,
        }
    }

    /// The number of packets that the figures are of.
    pub fn samples(&self) -> u64 {
        self.packets.unwrap_or(self.reports)
    }
}

fn figures_of(
    stamped: &LatencyHistogram,
    sums: &ClockSums,
    one_clock: bool,
) -> (Option<LatencyFigures>, Option<CorrectedMean>) {
    if one_clock {
        return (stamped.figures(), None);
    }
    let corrected = sums.mean();
    let latency = corrected
        .filter(|corrected| corrected.packets == stamped.samples())
        .and_then(|corrected| Some(stamped.figures()?.shifted_to(corrected.mean_ns)));
    (latency, corrected)
}

/// Finds the hops that paths lack of the longest one that has all of theirs.
pub fn set_lacking(paths: &mut [PathFigures]) {
    let ways: Vec<Path> = paths.iter().map(|one| one.path.clone()).collect();
    for figures in paths {
        let path = &figures.path;
        let whole = ways.iter().filter(|way| path.lacks_hops_of(way));
        let Some(whole) = whole.max_by_key(|way| way.hops.len()) else {
            continue;
        };
        let lacking = whole.hops.iter().filter(|hop| !path.hops.contains(hop));
        figures.lacking = lacking.map(|hop| hop.node).collect();
    }
}

impl PathFigures {
    fn unknown_mean_ns(&self) -> Option<i64> {
        let whole = self.whole.latency?;
        let known = self.segments.iter().filter_map(|one| one.times.latency);
        let (mut sum, mut count) = (0, 0);
        for latency in known {
            // Means of other packets cannot be subtracted. A sink's counts of segments may differ by the last ones.
            if latency.samples.abs_diff(whole.samples) > whole.samples / 100 {
                return None;
            }
            sum += latency.mean_ns;
            count += 1;
        }
        (count < self.segments.len()).then_some((whole.mean_ns - sum).max(0))
    }

    /// The segment in which the slowest packets lost half or more of their time, and its part.
    pub fn responsible(&self) -> Option<(&SegmentFigures, f64)> {
        let shares = &self.tail.as_ref()?.shares;
        let each = self.segments.iter().zip(shares);
        each.filter_map(|(segment, share)| Some((segment, (*share)?)))
            .filter(|(_, share)| *share >= 0.5)
            .max_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// The queue whose waits vary as much as half of what the slowest packets took longer, and by how much: its 99th
    /// percentile less its median.
    pub fn responsible_queue(&self) -> Option<(&SegmentFigures, i64)> {
        let queues = varying(self.queues.iter(), self.tail.as_ref()?.excess_ns);
        queues.into_iter().next()
    }

    /// By how much the whole way's 99th percentile is above its median, and the hops and queues whose times vary as much as
    /// half of that, by how much: what is known where there are too few single reports.
    pub fn spread(&self) -> Option<(i64, Vec<(&SegmentFigures, i64)>)> {
        let latency = self.whole.latency?;
        let excess_ns = varies_ns(&self.whole).filter(|_| latency.samples >= LEAST_SAMPLES)?;
        let has_one_clock = |one: &&SegmentFigures| {
            matches!(one.segment.kind, SegmentKind::Hop | SegmentKind::Guest)
        };
        let segments = self.segments.iter().filter(has_one_clock);
        let parts = varying(segments.chain(&self.queues), excess_ns);
        (excess_ns > 0).then_some((excess_ns, parts))
    }

    /// The segments that lost packets, and how many, those with most first. What a queue lost is not the rest of its wire's.
    pub fn lost_at(&self) -> Vec<(&SegmentFigures, u64)> {
        let lost = |one: &SegmentFigures| one.times.loss.map_or(0, |loss| loss.lost);
        let in_queue = |wire: &SegmentFigures| {
            let mut queues = self.queues.iter();
            let queue = queues.find(|queue| queue.segment.from == wire.segment.from);
            queue
                .filter(|_| wire.segment.kind.begins_with_queue())
                .map_or(0, lost)
        };
        let own = |one| (one, lost(one).saturating_sub(in_queue(one)));
        let queues = self.queues.iter().map(|queue| (queue, lost(queue)));
        let all = self.segments.iter().map(own).chain(queues);
        let mut at: Vec<_> = all.filter(|(_, lost)| *lost > 0).collect();
        at.sort_by_key(|(_, lost)| std::cmp::Reverse(*lost));
        at
    }

    /// Sets each segment's part of the mean latency, and what is left.
    pub fn set_shares(&mut self) {
        self.unknown_mean_ns = self.unknown_mean_ns();
        let whole = self.whole.latency.map(|latency| latency.mean_ns);
        for one in self.segments.iter_mut().chain(&mut self.queues) {
            let mean = one.times.latency.map(|latency| latency.mean_ns);
            one.share = match (mean, whole) {
                (Some(mean), Some(whole)) if whole > 0 => {
                    Some((mean as f64 / whole as f64).clamp(0.0, 1.0))
                }
                _ => None,
            };
        }
    }
}

/// The 99th percentile less the median.
fn varies_ns(times: &SegmentTimes) -> Option<i64> {
    let latency = times.latency?;
    Some(latency.p99_ns? - latency.p50_ns?)
}

/// The parts that vary by half of this or more, those that vary most first.
fn varying<'a>(
    parts: impl Iterator<Item = &'a SegmentFigures>,
    excess_ns: i64,
) -> Vec<(&'a SegmentFigures, i64)> {
    let known = parts.filter_map(|part| Some((part, varies_ns(&part.times)?)));
    let mut found: Vec<_> = known
        .filter(|(_, varies_ns)| *varies_ns >= excess_ns / 2)
        .collect();
    found.sort_by_key(|(_, varies_ns)| std::cmp::Reverse(*varies_ns));
    found
}

/// Finds where the slowest packets lost their time, from the times of reports of one path: the whole, and each segment.
pub fn tail_shares(
    kinds: &[SegmentKind],
    reports: &[(i64, Vec<Option<i64>>)],
) -> Option<TailShares> {
    let count = reports.len();
    if (count as u64) < LEAST_TAIL_REPORTS {
        return None;
    }
    let median = |mut values: Vec<i64>| {
        values.sort_unstable();
        values.get(values.len() / 2).copied()
    };
    let middle = median(reports.iter().map(|(whole, _)| *whole).collect())?;
    let mut slowest: Vec<_> = reports.iter().collect();
    slowest.sort_by_key(|(whole, _)| std::cmp::Reverse(*whole));
    slowest.truncate(count.div_ceil(100));
    let excess: i64 = slowest.iter().map(|(whole, _)| whole - middle).sum();
    if excess <= 0 {
        return None;
    }
    let shares = kinds.iter().enumerate().map(|(at, kind)| {
        if !matches!(kind, SegmentKind::Hop | SegmentKind::Guest) {
            return None;
        }
        let times = reports
            .iter()
            .filter_map(|(_, segments)| *segments.get(at)?);
        let usual = median(times.collect())?;
        let more: Option<i64> = (slowest.iter())
            .map(|(_, segments)| Some(((*segments.get(at)?)? - usual).max(0)))
            .sum();
        Some((more? as f64 / excess as f64).clamp(0.0, 1.0))
    });
    Some(TailShares {
        of_reports: count as u64,
        slowest: slowest.len() as u64,
        excess_ns: excess / slowest.len() as i64,
        shares: shares.collect(),
    })
}
