//! The connections that are followed: the last sample of each, what limits it, and sums over all.

use std::collections::{BTreeMap, HashMap};

use crate::model::{
    Limit, LimitedCount, LimitedTimes, TcpInterval, TcpNews, TcpReport, TcpSample, TcpTotals,
    WatchRule, WorstHop, WorstSample, class_number,
};

/// A connection that this many walks did not find is gone: a walk may overlook a socket, because others come and go.
const WALKS_UNSEEN: u64 = 3;

struct FollowedConnection {
    id: u64,
    sample: TcpSample,
    limit: Limit,
    times: LimitedTimes,
    samples: u64,
    /// The walk that found it last.
    walk: u64,
    reported: ReportedState,
}

/// What collectors were told of a connection last.
#[derive(Clone, Copy, Default)]
struct ReportedState {
    /// `None`: nothing yet.
    at_ns: Option<u64>,
    segments: u32,
    bytes_received: u64,
    limit: Limit,
    /// The worst that option 114 told since then, and when the request was sent (monotonic clock).
    worst: Option<(WorstHop, u64)>,
    /// It waits to be reported.
    waits: bool,
}

impl ReportedState {
    /// Keeps the worse of what is known and of what a sample says.
    fn note(&mut self, sample: &TcpSample) {
        let Some(worst) = sample.option.and_then(|option| option.worst) else {
            return;
        };
        let asked_ns = sample.monotonic_ns.saturating_sub(worst.age_ns);
        if self
            .worst
            .is_none_or(|(known, _)| worst.sample.is_worse_than(&known))
        {
            self.worst = Some((worst.sample, asked_ns));
        }
    }

    /// Puts the worst into a sample that is to be reported.
    fn put_worst(&self, sample: &mut TcpSample) {
        let now_ns = sample.monotonic_ns;
        if let Some(option) = &mut sample.option {
            option.worst = self.worst.map(|(sample, asked_ns)| WorstSample {
                sample,
                age_ns: now_ns.saturating_sub(asked_ns),
                node: None,
            });
        }
    }
}

/// A connection without news is reported once in this many periods, as a sign that it is open.
const QUIET_PERIODS: u64 = 6;

impl FollowedConnection {
    fn is_due(&self, period_ns: u64) -> bool {
        let (reported, now) = (&self.reported, &self.sample);
        let Some(at_ns) = reported.at_ns else {
            return true;
        };
        let elapsed_ns = now.monotonic_ns.saturating_sub(at_ns);
        let is_quiet = reported.segments == now.tcp.segments_out
            && reported.bytes_received == now.tcp.bytes_received
            && reported.limit == self.limit;
        let periods = if is_quiet { QUIET_PERIODS } else { 1 };
        elapsed_ns >= period_ns.saturating_mul(periods)
    }
}

/// The table of connections.
pub struct Connections {
    most: usize,
    known: HashMap<u64, FollowedConnection>,
    classes: HashMap<u32, String>,
    walk: u64,
    next_id: u64,
    sums: TcpTotals,
}

impl Connections {
    /// A table for at most this many connections, which are numbered from `first_id` on.
    pub fn new(most: usize, first_id: u64) -> Self {
        Self {
            most,
            next_id: first_id,
            known: HashMap::new(),
            classes: HashMap::new(),
            walk: 0,
            sums: TcpTotals::default(),
        }
    }

    /// Knows the classes of these rules by their numbers from now on.
    pub fn set_rules(&mut self, rules: &[WatchRule]) {
        let names = rules.iter().filter_map(|rule| rule.class.clone());
        self.classes = names.map(|name| (class_number(&name), name)).collect();
    }

    /// To be called before the samples of a walk.
    pub fn begin_walk(&mut self) {
        self.walk += 1;
    }

    /// Takes a sample of a walk, and returns what is new.
    pub fn take(&mut self, sample: TcpSample) -> Option<TcpNews> {
        if let Some(srtt_us) = sample.tcp.srtt_us {
            self.sums.srtt.add(i64::from(srtt_us) * 1000);
        }
        if let Some(worst) = sample.option.and_then(|option| option.worst) {
            let latency_ns = i64::try_from(worst.sample.latency_ns).unwrap_or(i64::MAX);
            self.sums.path_latency.add(latency_ns);
            if let Some(steps) = worst.sample.queue_steps() {
                self.sums.path_queue_steps.add(steps.into());
            }
        }
        let before = self.known.get(&sample.socket);
        let before = before.filter(|known| sample.continues(&known.sample));
        let Some(before) = before else {
            return self.begin(sample);
        };
        let interval = TcpInterval::between(&before.sample, &sample);
        let limit = interval.limit();
        let has_news = limit != before.limit || sample.tcp.rto_count > before.sample.tcp.rto_count;
        let last = before.sample;
        self.sum_growth(Some(&last), &sample);
        let known = self.known.get_mut(&sample.socket)?;
        known.times.add(limit, interval.elapsed_us);
        known.limit = limit;
        known.reported.note(&sample);
        known.sample = sample;
        known.samples += 1;
        known.walk = self.walk;
        Some(match has_news {
            true => TcpNews::Change,
            false => TcpNews::Sample,
        })
    }

    fn begin(&mut self, sample: TcpSample) -> Option<TcpNews> {
        if self.known.len() >= self.most && !self.known.contains_key(&sample.socket) {
            self.sums.beyond += 1;
            return None;
        }
        self.sum_growth(None, &sample);
        let (limit, times) = since_begin(&sample);
        let before = self.known.get(&sample.socket);
        let mut reported = ReportedState {
            // The connection that had the socket before waits in the queue by the socket.
            waits: before.is_some_and(|before| before.reported.waits),
            ..ReportedState::default()
        };
        reported.note(&sample);
        let connection = FollowedConnection {
            id: self.next_id,
            sample,
            limit,
            times,
            samples: 1,
            walk: self.walk,
            reported,
        };
        self.next_id += 1;
        self.known.insert(sample.socket, connection);
        Some(TcpNews::Open)
    }

    /// To be called after the samples of a walk. Returns the connections that are gone.
    pub fn end_walk(&mut self) -> Vec<TcpReport> {
        self.sums.walks += 1;
        let unseen = |known: &FollowedConnection| known.walk + WALKS_UNSEEN <= self.walk;
        let gone: Vec<u64> = self
            .known
            .iter()
            .filter(|(_, known)| unseen(known))
            .map(|(socket, _)| *socket)
            .collect();
        self.sums.gone += gone.len() as u64;
        let gone = gone.iter().filter_map(|socket| self.known.remove(socket));
        let gone: Vec<FollowedConnection> = gone.collect();
        gone.iter()
            .map(|known| self.report(TcpNews::Gone, known))
            .collect()
    }

    /// Takes the last state of a connection.
    pub fn end(&mut self, sample: TcpSample) -> TcpReport {
        let known = self.known.remove(&sample.socket);
        let known = known.filter(|known| sample.continues(&known.sample));
        self.sum_growth(known.as_ref().map(|known| &known.sample), &sample);
        let mut reported = known
            .as_ref()
            .map_or_else(ReportedState::default, |known| known.reported);
        reported.note(&sample);
        let (id, times, samples) = match &known {
            Some(known) => {
                let interval = TcpInterval::between(&known.sample, &sample);
                let mut times = known.times;
                times.add(interval.limit(), interval.elapsed_us);
                (known.id, times, known.samples)
            }
            None => {
                self.sums.short += 1;
                self.next_id += 1;
                (self.next_id - 1, since_begin(&sample).1, 0)
            }
        };
        let mut sample = sample;
        reported.put_worst(&mut sample);
        let ended = FollowedConnection {
            id,
            sample,
            limit: times.most(),
            times,
            samples,
            walk: self.walk,
            reported: ReportedState::default(),
        };
        self.report(TcpNews::End, &ended)
    }

    /// Adds what the kernel's counts grew by. Of a connection that began before the daemon, the first sample adds
    /// nothing.
    fn sum_growth(&mut self, before: Option<&TcpSample>, now: &TcpSample) {
        let Some(old) = before.map_or_else(
            || now.begun_ns.map(|_| Default::default()),
            |sample| Some(sample.tcp),
        ) else {
            return;
        };
        let grown = |old: Option<u32>, new: Option<u32>| {
            u64::from(new.unwrap_or(0).saturating_sub(old.unwrap_or(0)))
        };
        let (sums, new) = (&mut self.sums, &now.tcp);
        sums.retransmitted_segments += grown(Some(old.total_retrans), Some(new.total_retrans));
        sums.spurious_segments += grown(old.dsack_dups, new.dsack_dups);
        sums.timeouts += grown(old.rto_count, new.rto_count);
        sums.bytes_acked += new.bytes_acked.saturating_sub(old.bytes_acked);
        sums.bytes_received += new.bytes_received.saturating_sub(old.bytes_received);
    }

    /// The report about a socket's connection.
    pub fn report_of(&self, why: TcpNews, socket: u64) -> Option<TcpReport> {
        let known = self.known.get(&socket)?;
        Some(self.report(why, known))
    }

    fn report(&self, why: TcpNews, known: &FollowedConnection) -> TcpReport {
        TcpReport {
            id: known.id,
            why,
            limited: known.limit,
            class: self.classes.get(&known.sample.class).cloned(),
            times: known.times,
            samples: known.samples,
            sample: known.sample,
        }
    }

    /// Returns the sockets of the connections that collectors are to be told of, unless they wait to be reported
    /// already.
    pub fn due(&mut self, period_ns: u64) -> Vec<u64> {
        let known = self.known.iter_mut();
        let due = known.filter(|(_, known)| !known.reported.waits && known.is_due(period_ns));
        let due = due.map(|(socket, known)| {
            known.reported.waits = true;
            *socket
        });
        due.collect()
    }

    /// The report about a socket's connection for collectors. `None`: it ended while it waited.
    pub fn next_report(&mut self, socket: u64) -> Option<TcpReport> {
        let known = self.known.get_mut(&socket)?;
        let why = match known.reported.at_ns {
            None => TcpNews::Open,
            Some(_) => TcpNews::Sample,
        };
        let before = std::mem::replace(
            &mut known.reported,
            ReportedState {
                at_ns: Some(known.sample.monotonic_ns),
                segments: known.sample.tcp.segments_out,
                bytes_received: known.sample.tcp.bytes_received,
                limit: known.limit,
                worst: None,
                waits: false,
            },
        );
        let mut report = self.report_of(why, socket)?;
        before.put_worst(&mut report.sample);
        Some(report)
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The connections with most retransmissions, and of those with as many, those that sent most.
    pub fn top(&self, most: usize) -> Vec<TcpReport> {
        let mut all: Vec<&FollowedConnection> = self.known.values().collect();
        let worst = |known: &&FollowedConnection| {
            let tcp = &known.sample.tcp;
            std::cmp::Reverse((tcp.total_retrans, tcp.bytes_sent))
        };
        all.sort_by_key(worst);
        all.truncate(most);
        all.iter()
            .map(|known| self.report(TcpNews::Sample, known))
            .collect()
    }

    /// Sums over all connections, without the counts of the programs.
    pub fn sums(&self) -> TcpTotals {
        let mut counts: BTreeMap<(Limit, u32), u64> = BTreeMap::new();
        for known in self.known.values() {
            *counts.entry((known.limit, known.sample.class)).or_default() += 1;
        }
        let limited = counts.into_iter().map(|((limited, class), connections)| {
            let class = self.classes.get(&class).cloned();
            LimitedCount {
                limited,
                class,
                connections,
            }
        });
        TcpTotals {
            limited: limited.collect(),
            open: self.known.len() as u64,
            ..self.sums.clone()
        }
    }
}

/// What limited a connection before its first sample, if it began since the programs were attached.
fn since_begin(sample: &TcpSample) -> (Limit, LimitedTimes) {
    let mut times = LimitedTimes::default();
    let Some(interval) = TcpInterval::since_begin(sample) else {
        return (Limit::Unknown, times);
    };
    times.add(interval.limit(), interval.elapsed_us);
    (interval.limit(), times)
}
