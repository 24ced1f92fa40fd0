//! The packets that a summary adds to those that earlier summaries of its subject told of.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;

use super::run_start::{SLACK_NS, begins_in_run};
use super::summary_counts::Counts;
use crate::model::{
    Arrival, Body, LatencyHistogram, Measured, NodeId, PathTotalsReport, Report, SlotRange,
    SubjectTotals, Summary, SummaryBase, SummaryBases, SummaryName,
};

/// The most flows and groups that are followed, and the most senders.
const MOST_SUBJECTS: usize = 1 << 20;
const MOST_SENDERS: usize = 1 << 16;

/// Subjects without a summary for this time are forgotten, looked for once in a period: flows come and go.
const QUIET_NS: u64 = 3600 * NS_PER_S;
const PERIOD_NS: u64 = 60 * NS_PER_S;

/// When there is no room, this time is enough, and they are looked for more often.
const CROWDED_QUIET_NS: u64 = 120 * NS_PER_S;
const CROWDED_PERIOD_NS: u64 = NS_PER_S;

const NS_PER_S: u64 = 1_000_000_000;

/// The sender of summaries: two sinks behind one address translation have different nodes.
type Sender = (Option<IpAddr>, NodeId);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct SubjectKey {
    sender: Sender,
    source: NodeId,
    name: SummaryName,
}

/// A sender of summaries.
#[derive(Debug)]
struct SenderSight {
    /// The time of its first summary.
    first_ns: u64,
    /// The newest epoch of those that were forgotten: the first summary of one that old may tell of packets that were
    /// counted already.
    forgotten_ns: Option<u64>,
}

/// The totals of a subject in its last summary.
#[derive(Debug)]
struct LastTotals {
    epoch_ns: u64,
    counts: Counts,
    /// The encoded histogram.
    latency: Box<[u8]>,
    seen_ns: u64,
}

/// The number of summaries that could not be counted, by reason.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct IncrementCounts {
    /// They were older than others of their subject that came before.
    pub late: u64,
    /// They were the first of their subject, which is older than this collector's sight of it.
    pub begun_before: u64,
    /// Some of their parts did not arrive. The next summary has their packets.
    pub incomplete: u64,
    /// More subjects are not followed.
    pub no_room: u64,
    /// They repeated the totals of what fell silent.
    pub repeated: u64,
}

/// The last totals of all subjects.
#[derive(Debug)]
pub struct Increments {
    /// Packets before this time may have been counted by an earlier run.
    started_ns: u64,
    senders: HashMap<Sender, SenderSight>,
    subjects: HashMap<SubjectKey, LastTotals>,
    /// Summaries of which some parts have arrived.
    parts: HashMap<SubjectKey, Box<Summary>>,
    most: usize,
    /// The time when quiet subjects were last forgotten.
    swept_ns: u64,
    counts: IncrementCounts,
}

impl Default for Increments {
    fn default() -> Self {
        Self::new(MOST_SUBJECTS)
    }
}

impl Increments {
    /// Follows at most `most` flows and groups.
    pub fn new(most: usize) -> Self {
        Self {
            started_ns: 0,
            senders: HashMap::new(),
            subjects: HashMap::new(),
            parts: HashMap::new(),
            most,
            swept_ns: 0,
            counts: IncrementCounts::default(),
        }
    }

    /// The number of flows and groups that are followed.
    pub fn followed(&self) -> usize {
        self.subjects.len()
    }

    /// Leaves packets out that sinks counted before this time.
    pub fn start_at(&mut self, started_ns: u64) {
        self.started_ns = started_ns;
    }

    /// The last totals of at most `most` subjects, those with the newest summaries, for the next run.
    pub fn bases(&self, most: usize, now_ns: u64) -> SummaryBases {
        let mut subjects: Vec<_> = self.subjects.iter().collect();
        subjects.sort_unstable_by_key(|(_, last)| std::cmp::Reverse(last.seen_ns));
        subjects.truncate(most);
        SummaryBases {
            until_ns: (subjects.len() == self.subjects.len()).then_some(now_ns),
            bases: subjects.into_iter().map(base).collect(),
        }
    }

    /// Goes on where an earlier run ended.
    pub fn resume(&mut self, kept: SummaryBases) {
        self.started_ns = kept.until_ns.unwrap_or(self.started_ns);
        for base in kept.bases {
            let sender = (base.exporter, base.sink_node);
            self.see(sender, base.seen_ns);
            if self.subjects.len() < self.most {
                let (key, last) = last_totals(base);
                self.subjects.insert(key, last);
            }
        }
    }

    pub fn counts(&self) -> IncrementCounts {
        self.counts
    }

    /// Returns the packets that a report adds. Returns `None` for other reports than summaries, and for summaries that
    /// cannot be counted.
    pub fn of(&mut self, report: &Report, arrival: Option<Arrival>) -> Option<Measured> {
        let part = match &report.observation.body {
            Body::Summary(part) => Cow::Borrowed(&**part),
            Body::Packet(_)
            | Body::DropSummary(_)
            | Body::Latency(_)
            | Body::HostDrop(_)
            | Body::FlowPassage(_)
            | Body::Queue(_)
            | Body::Connection(_)
            | Body::PathPart(_)
            | Body::HostDropSum(_) => return None,
        };
        let key = SubjectKey::new(arrival.map(|arrival| arrival.exporter.ip()), &part);
        let now_ns = match arrival {
            Some(arrival) if arrival.received_ns > 0 => arrival.received_ns,
            _ => u64::from(part.time_s) * NS_PER_S,
        };
        self.see(key.sender, now_ns);
        let whole = self.assemble(&key, part)?;
        let now = Counts::from(&whole.totals);
        self.add(key, (&whole.totals, whole.period_ns), now, now_ns)
    }

    /// True for a summary that adds nothing. A sink reports the totals of what fell silent again, groups at once and
    /// flows when it forgets them, in case that a report was lost.
    pub fn is_repetition(&mut self, report: &Report, measured: Option<&Measured>) -> bool {
        let body = &report.observation.body;
        let is_summary = matches!(body, Body::Summary(_));
        let repeats = is_summary && measured.is_some_and(Measured::is_nothing);
        self.counts.repeated += u64::from(repeats);
        repeats
    }

    /// Returns the packets that a report about a path adds, by the place of the path.
    pub fn of_path(&mut self, report: &PathTotalsReport, arrival: Arrival) -> Vec<(u8, Measured)> {
        let path = &report.totals.path;
        let sender = (Some(arrival.exporter.ip()), path.sink.node);
        let now_ns = match arrival.received_ns {
            0 => u64::from(report.time_s) * NS_PER_S,
            received_ns => received_ns,
        };
        self.see(sender, now_ns);
        let way: Box<[u8]> = path.to_bytes().into();
        let mut added = Vec::new();
        for time in &report.totals.times {
            let key = SubjectKey {
                sender,
                source: path.source.node,
                name: SummaryName::Path {
                    way: way.clone(),
                    place: time.place,
                },
            };
            let totals = SubjectTotals {
                epoch_ns: time.epoch_ns,
                last_ns: time.last_ns,
                packets: time.latency.samples(),
                latency: time.latency.clone(),
                ..SubjectTotals::default()
            };
            let counts = Counts::from(&totals);
            let measured = self.add(key, (&totals, report.period_ns), counts, now_ns);
            // What repeats totals only makes up for a report that was lost.
            let measured = measured.filter(|measured| !measured.is_nothing());
            added.extend(measured.map(|measured| (time.place, measured)));
        }
        added
    }

    /// Joins the parts of a summary. Returns it when it is whole.
    fn assemble<'a>(
        &mut self,
        key: &SubjectKey,
        part: Cow<'a, Summary>,
    ) -> Option<Cow<'a, Summary>> {
        let begun = self.parts.remove(key);
        if part.is_whole() {
            self.counts.incomplete += u64::from(begun.is_some());
            return Some(part);
        }
        if let Some(mut begun) = begun {
            match begun.join(&part) {
                Ok(true) if begun.is_whole() => return Some(Cow::Owned(*begun)),
                Ok(true) => {
                    self.parts.insert(key.clone(), begun);
                    return None;
                }
                Ok(false) | Err(_) => self.counts.incomplete += 1,
            }
        }
        let first = part.totals.slots.from == SlotRange::ALL.from;
        if first && self.parts.len() < self.most {
            self.parts.insert(key.clone(), Box::new(part.into_owned()));
        }
        None
    }

    fn add(
        &mut self,
        key: SubjectKey,
        (totals, period_ns): (&SubjectTotals, u64),
        now: Counts,
        now_ns: u64,
    ) -> Option<Measured> {
        let added = match self.subjects.get(&key) {
            Some(last) if totals.epoch_ns < last.epoch_ns => {
                self.counts.late += 1;
                return None;
            }
            Some(last) if totals.epoch_ns == last.epoch_ns => {
                if now.are_before(&last.counts) {
                    self.counts.late += 1;
                    return None;
                }
                let before = LatencyHistogram::decode(&last.latency).unwrap_or_default();
                Some(now.since(&last.counts, totals.latency.since(&before)))
            }
            // The sink began to count anew.
            Some(_) => Some(now.since(&Counts::default(), Some(totals.latency.clone()))),
            None => {
                if !self.has_room(now_ns) {
                    self.counts.no_room += 1;
                    return None;
                }
                let whole = self.is_new(&key.sender, totals.epoch_ns, period_ns);
                self.counts.begun_before += u64::from(!whole);
                whole.then(|| now.since(&Counts::default(), Some(totals.latency.clone())))
            }
        };
        let mut latency = Vec::new();
        totals.latency.encode(&mut latency);
        let last = LastTotals {
            epoch_ns: totals.epoch_ns,
            counts: now,
            latency: latency.into(),
            seen_ns: now_ns,
        };
        self.subjects.insert(key, last);
        added
    }

    /// Records when a sender was seen first. Parts of summaries count, even if the others are lost.
    fn see(&mut self, sender: Sender, now_ns: u64) {
        if self.senders.len() < MOST_SENDERS || self.senders.contains_key(&sender) {
            let sight = self.senders.entry(sender).or_insert(SenderSight {
                first_ns: now_ns,
                forgotten_ns: None,
            });
            sight.first_ns = sight.first_ns.min(now_ns);
        }
    }

    /// True if no packet since the epoch of a subject's first summary can have been counted before: this collector ran,
    /// and the sink told it of all that it counted.
    fn is_new(&self, sender: &Sender, epoch_ns: u64, period_ns: u64) -> bool {
        let Some(sight) = self.senders.get(sender) else {
            return false;
        };
        // A summary may be late, too.
        let told_ns = epoch_ns.saturating_add(period_ns).saturating_add(SLACK_NS);
        begins_in_run(epoch_ns, self.started_ns)
            && told_ns >= sight.first_ns
            && sight
                .forgotten_ns
                .is_none_or(|forgotten_ns| epoch_ns > forgotten_ns)
    }

    /// Forgets quiet subjects, if it is time to look for them. Returns true if there is room.
    fn has_room(&mut self, now_ns: u64) -> bool {
        let (quiet_ns, period_ns) = match self.subjects.len() < self.most {
            true => (QUIET_NS, PERIOD_NS),
            false => (CROWDED_QUIET_NS, CROWDED_PERIOD_NS),
        };
        if now_ns.abs_diff(self.swept_ns) > period_ns {
            self.swept_ns = now_ns;
            let quiet = self
                .subjects
                .extract_if(|_, last| last.seen_ns.saturating_add(quiet_ns) < now_ns);
            for (key, last) in quiet {
                self.parts.remove(&key);
                if let Some(sight) = self.senders.get_mut(&key.sender) {
                    sight.forgotten_ns = sight.forgotten_ns.max(Some(last.epoch_ns));
                }
            }
            if self.subjects.len() < self.subjects.capacity() / 4 {
                self.subjects.shrink_to(2 * self.subjects.len());
            }
        }
        self.subjects.len() < self.most
    }
}

fn base((key, last): (&SubjectKey, &LastTotals)) -> SummaryBase {
    SummaryBase {
        exporter: key.sender.0,
        sink_node: key.sender.1,
        source_node: key.source,
        name: key.name.clone(),
        epoch_ns: last.epoch_ns,
        seen_ns: last.seen_ns,
        counts: last.counts.all(),
        squares: last.counts.squares,
        latency: last.latency.clone(),
    }
}

fn last_totals(base: SummaryBase) -> (SubjectKey, LastTotals) {
    let [packets, bytes, lost, recovered, reordered, duplicates] = base.counts;
    let key = SubjectKey {
        sender: (base.exporter, base.sink_node),
        source: base.source_node,
        name: base.name,
    };
    let last = LastTotals {
        epoch_ns: base.epoch_ns,
        counts: Counts {
            packets,
            bytes,
            lost,
            recovered,
            reordered,
            duplicates,
            squares: base.squares,
        },
        latency: base.latency,
        seen_ns: base.seen_ns,
    };
    (key, last)
}

impl SubjectKey {
    fn new(exporter: Option<IpAddr>, summary: &Summary) -> Self {
        Self {
            sender: (exporter, summary.sink_node),
            source: summary.source_node,
            name: summary.into(),
        }
    }
}
