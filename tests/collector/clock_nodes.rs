//! Nodes that tell a collector what they know of clocks, and reports of packets between them.

use std::io;

use hostint::collector::{ReportHub, ReportNews, ReportTaker};
use hostint::model::*;
use hostint::wire::report_clock;
use hostint_testing::report_samples;

pub const SECOND: u64 = 1_000_000_000;
pub const US: i64 = 1_000;
/// True time of the beginning.
pub const START: u64 = 1_700_000_000 * SECOND;
/// What a lease question, an answer and the quickest packets take.
const PING: u64 = 30_000;
const QUICK: u64 = 8_000;

/// A node whose clock is ahead of true time by this, and whose raw clock shows this at the beginning.
#[derive(Clone, Copy)]
pub struct Node {
    pub id: u32,
    pub ahead_ns: i64,
    pub raw_ns: u64,
}

impl Node {
    pub fn clock(&self, t: u64) -> u64 {
        t.wrapping_add_signed(self.ahead_ns)
    }

    pub fn raw(&self, t: u64) -> u64 {
        self.raw_ns + (t - START)
    }

    /// What it tells at this time about packets of the last second from the other node, whose question it answered.
    pub fn evidence(&self, other: &Node, t: u64) -> ClockEvidence {
        let reading = |ago: u64| ClockReading {
            raw_ns: self.raw(t - ago * SECOND),
            took_ns: 100,
            clock_ns: self.clock(t - ago * SECOND) + 50,
            steered_ppb: (0, 0),
            is_after_set: false,
        };
        let asked = t - SECOND / 2;
        let arrived = t - SECOND / 4;
        let stamps = (self.clock(arrived), other.clock(arrived - QUICK));
        ClockEvidence {
            node: NodeId(self.id),
            instance: u64::from(self.id),
            readings: [3, 2, 1, 0].map(reading).to_vec(),
            peers: vec![PeerEvidence {
                node: NodeId(other.id),
                packets: vec![QuickPacket {
                    arrived_ns: stamps.0,
                    latency_ns: stamps.0.wrapping_sub(stamps.1) as i32,
                }],
                exchanges: vec![LeaseExchange {
                    asked_raw_ns: self.raw(asked),
                    received_raw_ns: self.raw(asked + 2 * PING),
                    answered_ns: other.clock(asked + PING),
                }],
            }],
            ..ClockEvidence::default()
        }
    }
}

#[derive(Default)]
pub struct Corrected(pub Vec<Option<CorrectedLatency>>);

impl ReportTaker for Corrected {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        if let ReportNews::Report(received) = news {
            self.0.push(received.clocks.corrected());
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A collector, to which both nodes tell on after a report, or nobody.
pub struct Collector(pub ReportHub<Corrected>, pub bool);

pub fn arrival(t: u64) -> Arrival {
    Arrival {
        exporter: "192.0.2.2:4000".parse().unwrap(),
        received_ns: t,
    }
}

impl Collector {
    pub fn new() -> Self {
        let hub = ReportHub::new(Corrected::default(), None, Classes::default());
        Self(hub, true)
    }

    pub fn tell(&mut self, evidence: &ClockEvidence, t: u64) {
        for datagram in report_clock::emit(evidence, (t / SECOND) as u32) {
            self.0.datagram(&datagram, arrival(t)).unwrap();
        }
    }

    /// Both nodes tell for this many seconds.
    pub fn tell_both(&mut self, one: &Node, other: &Node, seconds: u64) -> u64 {
        for second in 4..4 + seconds {
            let t = START + second * SECOND;
            self.tell(&one.evidence(other, t), t);
            self.tell(&other.evidence(one, t), t);
        }
        START + (3 + seconds) * SECOND
    }

    /// A packet takes this long from one node to the other, where it arrives at this time. What is found of its latency
    /// in the end?
    pub fn report(
        &mut self,
        from: &Node,
        to: &Node,
        took_ns: u64,
        t: u64,
        clock: ClockSource,
    ) -> Option<CorrectedLatency> {
        self.send(from, to, took_ns, t, clock);
        if self.1 {
            self.tell(&from.evidence(to, t + SECOND), t + SECOND);
            self.tell(&to.evidence(from, t + SECOND), t + SECOND);
        }
        self.0.finish().unwrap();
        self.0.taker.0.pop().unwrap()
    }

    pub fn send(&mut self, from: &Node, to: &Node, took_ns: u64, t: u64, clock: ClockSource) {
        let hop = |node: &Node, at: u64| Hop {
            node: NodeId(node.id),
            ingress_port: 1,
            egress_port: 1,
            ingress_ts: node.clock(at) as u32,
            egress_ts: node.clock(at) as u32,
            queue: None,
        };
        let report = Report {
            sequence: 1,
            observation: Observation {
                hw_id: HwId::default(),
                flags: Flags {
                    tracked_flow: true,
                    ..Flags::default()
                },
                clock: Some(ClockState {
                    source: clock,
                    synchronised: false,
                }),
                body: Body::Latency(LatencyReport {
                    version: ReportVersion::V05,
                    time_s: (to.clock(t) / SECOND) as u32,
                    arrival_ns: None,
                    packet: ReportedPacket::Named {
                        flow: FlowKey {
                            src: "192.0.2.1".parse().unwrap(),
                            dst: "192.0.2.2".parse().unwrap(),
                            sport: 1,
                            dport: 2,
                            protocol: 17,
                            vlans: Vlans::NONE,
                        },
                        queue: None,
                    },
                    hops: HopStack::over(hop(from, t - took_ns), &[], hop(to, t)),
                    sequence: 1,
                }),
            },
        };
        let datagram = report_samples::datagram(&report);
        self.0.datagram(&datagram, arrival(t)).unwrap();
    }
}

pub const ONE: Node = Node {
    id: 1,
    ahead_ns: 0,
    raw_ns: 500 * SECOND,
};

pub fn other(ahead_ns: i64) -> Node {
    Node {
        id: 2,
        ahead_ns,
        raw_ns: 90_000 * SECOND,
    }
}
