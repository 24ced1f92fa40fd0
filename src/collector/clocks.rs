//! The clocks of nodes, by the evidence that they tell: latencies are corrected by them.

use std::num::NonZeroU32;

use crate::clocks::{
    ClockDifference, ClockDifferences, ClockInterval, HostClocks, Reading, Stamp, StampedPacket,
    Statement,
};
use crate::model::{
    Body, ClockEvidence, ClockSource, ClockSums, CorrectedLatency, LatencyHistogram, LatencyReport,
    Measured, NodeId, Observation, PathGrowth, PathTotalsReport, PeerEvidence, PlaceGrowth,
    TimeWords,
};

/// The differences of clocks are computed at most this often.
const PERIOD_NS: u64 = 900_000_000;
/// They are computed less often if there are many: 20 us for each direction between two hosts are a twentieth of this.
const OF_DIRECTION_NS: u64 = 400_000;
/// A report is made at most this long after the packet's arrival.
const MADE_NS: i128 = NS_PER_S;
const NS_PER_S: i128 = 1_000_000_000;
/// Stamps of packets have 32 bits.
const WRAPS_NS: i128 = 1 << 32;

/// The clocks of all nodes that tell evidence.
#[derive(Debug, Default)]
pub struct NodeClocks {
    hosts: HostClocks,
    differences: ClockDifferences,
    computed_ns: u64,
    counts: ClockCounts,
}

/// What is known of clocks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ClockCounts {
    /// Nodes that tell evidence, and those whose difference to another one is known.
    pub reporting: usize,
    pub known: usize,
    /// Contradictions between stamps, so far.
    pub contradictions: u64,
    /// The nodes that the last contradiction is between.
    pub contradicting: Vec<NodeId>,
}

impl NodeClocks {
    /// Takes what a node reports.
    pub fn learn(&mut self, evidence: &ClockEvidence, now_ns: u64) {
        let host = evidence.node.0;
        let readings = evidence.readings.iter().map(|reading| Reading {
            raw_ns: reading.raw_ns.into(),
            took_ns: reading.took_ns.into(),
            clock_ns: reading.clock_ns.into(),
            steered_ppb: (reading.steered_ppb.0.into(), reading.steered_ppb.1.into()),
            is_after_set: reading.is_after_set,
        });
        let said = Statement {
            instance: evidence.instance,
            kernel: evidence.kernel,
            stamps_by_kernel: evidence.clock.source == ClockSource::Tai,
            arrivals_by_card: evidence.arrivals_by_card,
            error_ns: evidence.stated_error_ns.map(NonZeroU32::get),
        };
        self.hosts.note_readings(host, said, readings, now_ns);
        for peer in &evidence.peers {
            self.note_peer(host, peer, now_ns);
        }
        // The collector's clock may be set back.
        let rest_ns = PERIOD_NS + self.hosts.directions() as u64 * OF_DIRECTION_NS;
        if now_ns.abs_diff(self.computed_ns) >= rest_ns {
            self.computed_ns = now_ns;
            self.compute(now_ns);
        }
    }

    fn note_peer(&mut self, host: u32, peer: &PeerEvidence, now_ns: u64) {
        let other = peer.node.0;
        for packet in &peer.packets {
            let stamps = StampedPacket::Wrapped {
                arrived_ns: packet.arrived_ns.into(),
                latency_ns: packet.latency_ns,
            };
            self.hosts.note_packet(other, host, stamps, now_ns);
        }
        for exchange in &peer.exchanges {
            let answered = Stamp::Clock(exchange.answered_ns.into());
            let question = StampedPacket::Whole {
                sent: Stamp::Raw(exchange.asked_raw_ns.into()),
                arrived: answered,
            };
            let answer = StampedPacket::Whole {
                sent: answered,
                arrived: Stamp::Raw(exchange.received_raw_ns.into()),
            };
            self.hosts.note_packet(host, other, question, now_ns);
            self.hosts.note_packet(other, host, answer, now_ns);
        }
    }

    fn compute(&mut self, now_ns: u64) {
        self.hosts.settle(now_ns);
        self.differences = ClockDifferences::compute(&self.hosts, now_ns);
        let counts = &mut self.counts;
        counts.reporting = self.hosts.len();
        counts.known = self.differences.known_hosts();
        for cycle in &self.differences.false_stamps {
            counts.contradictions += 1;
            counts.contradicting = cycle.iter().map(|host| NodeId(*host)).collect();
        }
    }

    /// True if readings of these nodes' clocks are still to come that show whether they were set until now.
    pub fn awaits(&self, mut nodes: impl Iterator<Item = NodeId>, until_ns: u64) -> bool {
        let awaited = |node: NodeId| {
            self.hosts.sends_readings(node.0) && !self.hosts.has_reported(node.0, until_ns)
        };
        !self.hosts.is_empty() && nodes.any(awaited)
    }

    fn have_reported(&self, nodes: &[NodeId], until_ns: u64) -> bool {
        nodes
            .iter()
            .all(|node| self.hosts.has_reported(node.0, until_ns))
    }

    /// How often a node's clock was set since it was first heard of.
    pub fn steps(&self, node: NodeId) -> u64 {
        self.hosts.steps(node.0)
    }

    pub fn counts(&self) -> &ClockCounts {
        &self.counts
    }

    /// Corrects the latency in a report, which arrived at this time; `None`: it tells none, or clocks are
    /// unknown.
    pub fn correct(&self, observation: &Observation, until_ns: u64) -> Option<CorrectedLatency> {
        let Body::Latency(report) = &observation.body else {
            return None;
        };
        // Nothing is known about the clocks of network cards.
        if observation.clock.map(|clock| clock.source) == Some(ClockSource::Nic) {
            return None;
        }
        let stamped_ns = observation.latency_ns()?;
        let (source, sink) = (report.hops.source().node, report.hops.sink().node);
        if !self.have_reported(&[source, sink], until_ns) {
            return None;
        }
        let arrived_ns = self.arrival_ns(report)?;
        let ends = (source.0, sink.0);
        let found = self
            .differences
            .of_packet(&self.hosts, ends, arrived_ns, stamped_ns)?;
        corrected(stamped_ns, &found)
    }

    /// The arrival by the sink's clock: the stamp has its low 32 bits, and the report was made a little later.
    fn arrival_ns(&self, report: &LatencyReport) -> Option<i128> {
        if let Some(arrival_ns) = report.arrival_ns {
            return Some(arrival_ns.into());
        }
        let sink = report.hops.sink();
        let latest_ns = i128::from(report.time_s) * NS_PER_S + MADE_NS;
        let arrived_ns = latest_ns - (latest_ns - i128::from(sink.ingress_ts)).rem_euclid(WRAPS_NS);
        self.hosts
            .is_steady_since(sink.node.0, arrived_ns)
            .then_some(arrived_ns)
    }

    /// Writes the times of a reported packet on its path: in hops by their own clocks, between nodes without the difference
    /// of theirs, where that is known. Returns false if there are none. `whole` is what [`Self::correct`] returns.
    pub fn put_times(
        &self,
        times: &mut TimeWords,
        observation: &Observation,
        whole: Option<CorrectedLatency>,
        until_ns: u64,
    ) -> bool {
        let Body::Latency(report) = &observation.body else {
            return false;
        };
        let by_nic = observation.clock.map(|clock| clock.source) == Some(ClockSource::Nic);
        let sink = report.hops.sink().node;
        let took_ns = whole.map_or(WRAPS_NS / 2, |whole| whole.bound_ns[1].into());
        let arrived_ns = self.arrival_ns(report);
        times.set(report, whole, |from, to, stamped_ns| {
            // Nothing is known about the clocks of network cards.
            if by_nic && to == sink || !self.have_reported(&[from, to, sink], until_ns) {
                return None;
            }
            let on_the_way = ClockInterval::new(arrived_ns? - took_ns, arrived_ns?);
            let ends = (from.0, to.0);
            let found = self
                .differences
                .during(&self.hosts, ends, sink.0, on_the_way)?;
            corrected(stamped_ns, &found.for_latency(took_ns))
        })
    }

    /// The packets that a report about a path adds, without the difference of the clocks where that is known.
    pub fn growth_of(
        &self,
        report: &PathTotalsReport,
        added: Vec<(u8, Measured)>,
        until_ns: u64,
    ) -> PathGrowth {
        let path = &report.totals.path;
        let segments = path.segments();
        let ends = |place: u8| match usize::from(place).checked_sub(1) {
            None => Some((path.source.node, path.sink.node)),
            Some(at) => segments.get(at).map(|one| (one.from.node, one.to.node)),
        };
        let time = Period {
            by: path.sink.node,
            end_s: report.time_s,
            length_ns: report.period_ns,
            until_ns,
        };
        let times = added.into_iter().filter_map(|(place, measured)| {
            let corrected = self.sums_between(ends(place)?, &measured.latency, &time);
            Some(PlaceGrowth {
                place,
                latency: measured.latency,
                corrected: corrected.unwrap_or_default(),
            })
        });
        PathGrowth {
            path: path.clone(),
            times: times.collect(),
        }
    }

    /// Corrects the latencies that a summary adds, which arrived at this time, by the clocks during its period.
    pub fn correct_measured(
        &self,
        observation: &Observation,
        measured: &mut Measured,
        until_ns: u64,
    ) {
        let corrected = self.sums(observation, measured, until_ns);
        measured.corrected = corrected.unwrap_or_default();
    }

    fn sums(
        &self,
        observation: &Observation,
        measured: &Measured,
        until_ns: u64,
    ) -> Option<ClockSums> {
        let Body::Summary(summary) = &observation.body else {
            return None;
        };
        if measured.latency.samples() != measured.packets {
            return None;
        }
        let nodes = (summary.source_node, summary.sink_node);
        let time = Period {
            by: summary.sink_node,
            end_s: summary.time_s,
            length_ns: summary.period_ns,
            until_ns,
        };
        self.sums_between(nodes, &measured.latency, &time)
    }

    /// The sums of times between the stamps of two nodes in a period.
    fn sums_between(
        &self,
        (from, to): (NodeId, NodeId),
        latency: &LatencyHistogram,
        time: &Period,
    ) -> Option<ClockSums> {
        let packets = i128::from(latency.samples());
        if packets == 0 || !self.have_reported(&[from, to, time.by], time.until_ns) {
            return None;
        }
        // Nothing is known about the clocks of network cards.
        if to == time.by && self.hosts.said(to.0).arrivals_by_card {
            return None;
        }
        let (least, most) = latency.ends()?;
        if i128::from(most) - i128::from(least) > WRAPS_NS / 2 {
            return None;
        }
        let (ends, by, during) = ((from.0, to.0), time.by.0, time.stamps());
        let found = self.differences.during(&self.hosts, ends, by, during)?;
        let stamped_ns = latency.whole_sum_ns() - packets * found.estimate_ns;
        // All packets of a period wrap alike.
        let wraps = (stamped_ns / packets + WRAPS_NS / 2).div_euclid(WRAPS_NS);
        let latency_ns = stamped_ns - packets * wraps * WRAPS_NS;
        let most_ns = latency_ns / packets + found.estimate_ns - found.bound.low_ns;
        let bound = found.for_latency(most_ns.max(0)).bound;
        let more_ns = packets * (found.estimate_ns - bound.low_ns);
        if latency_ns + more_ns < 0 {
            return None;
        }
        let whole = |ns: i128| u64::try_from(ns).ok().filter(|ns| *ns <= i64::MAX as u64);
        Some(ClockSums {
            packets: latency.samples(),
            latency_ns: i64::try_from(latency_ns).ok()?,
            error_ns: whole(packets * found.error_ns)?,
            less_ns: whole(packets * (bound.high_ns - found.estimate_ns))?,
            more_ns: whole(more_ns)?,
        })
    }
}

/// The period of a summary, by a sink's clock, and the time when it was received.
struct Period {
    by: NodeId,
    end_s: u32,
    length_ns: u64,
    until_ns: u64,
}

impl Period {
    /// The time in which its packets were stamped: they were on their way for a little.
    fn stamps(&self) -> ClockInterval {
        let end_ns = (i128::from(self.end_s) + 1) * NS_PER_S;
        let begin_ns = end_ns - i128::from(self.length_ns) - NS_PER_S;
        ClockInterval::new(begin_ns - WRAPS_NS / 2, end_ns)
    }
}

fn corrected(stamped_ns: i64, found: &ClockDifference) -> Option<CorrectedLatency> {
    let bound_ns = [found.bound.low_ns, found.bound.high_ns];
    CorrectedLatency::new(stamped_ns, found.estimate_ns, found.error_ns, bound_ns)
}
