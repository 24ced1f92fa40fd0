//! Reports of an invented network: nodes, flows between them, latency with a tail, occasional losses.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hostint::model::*;

use crate::random::Random;

use crate::report_samples;

const CLASSES: [Option<&str>; 4] = [None, Some("storage"), Some("web"), Some("backup")];

/// A network whose flows report.
pub struct Synthetic {
    random: Random,
    flows: Vec<Flow>,
}

struct Flow {
    key: FlowKey,
    source: NodeId,
    sink: NodeId,
    class: Option<&'static str>,
    base_ns: u32,
    /// One report in so many is of a loss.
    lossy: usize,
    sequence: u32,
    reports: u32,
}

/// One report, as it came.
pub struct Sample {
    pub report: Report,
    pub arrival: Arrival,
    pub class: Option<&'static str>,
}

impl Synthetic {
    /// `flows` flows from each of `nodes` nodes to each other in turn.
    pub fn new(seed: u64, nodes: u32, flows: usize) -> Self {
        let mut random = Random::seeded(seed);
        let flows = (0..flows as u32).map(|n| {
            let source = n % nodes;
            let sink = (source + 1 + n / nodes % (nodes - 1).max(1)) % nodes;
            let address = |node: u32| IpAddr::from(Ipv4Addr::from(0x0a00_0000 | node << 8 | 1));
            Flow {
                key: FlowKey {
                    src: address(source),
                    dst: address(sink),
                    sport: (1024 + n % 60_000) as u16,
                    dport: [443, 3260, 5001][n as usize % 3],
                    protocol: if n % 5 == 0 { 17 } else { 6 },
                    vlans: Vlans {
                        outer: 0,
                        inner: (n / 60_000) as u16,
                    },
                },
                source: NodeId(source + 1),
                sink: NodeId(sink + 1),
                class: CLASSES[n as usize % CLASSES.len()],
                base_ns: 10_000 + (source * 7 + sink * 13) % 50 * 1000,
                lossy: if source % 10 == 3 { 20 } else { 2000 },
                sequence: random.u32(),
                reports: 0,
            }
        });
        let flows = flows.collect();
        Self { random, flows }
    }

    /// The next report of a flow.
    pub fn report(&mut self, flow: usize, time_ns: u64) -> Sample {
        let random = &mut self.random;
        let flow = &mut self.flows[flow];
        flow.reports += 1;
        let before = flow.sequence;
        flow.sequence = before.wrapping_add(1 + random.below(1000) as u32);
        let time_s = (time_ns / 1_000_000_000) as u32;
        let body = if random.one_in(flow.lossy) {
            Body::DropSummary(DropSummary {
                version: ReportVersion::V05,
                time_s,
                source_node: flow.source,
                sink_node: flow.sink,
                source_port: 2,
                sink_port: 3,
                gap_time_s: time_s,
                before_seq: before,
                count: flow.sequence.wrapping_sub(before).min(5),
                flow: flow.key,
            })
        } else {
            let tail = if random.one_in(100) { 50 } else { 1 };
            let latency = flow.base_ns + random.below(5_000) as u32 * tail;
            let hop = |node, ingress_ts: u32| Hop {
                node,
                ingress_port: 2,
                egress_port: 3,
                ingress_ts,
                egress_ts: ingress_ts,
                queue: None,
            };
            let sink_ts = time_ns as u32;
            Body::Latency(LatencyReport {
                version: ReportVersion::V05,
                arrival_ns: None,
                time_s,
                packet: ReportedPacket::Named {
                    flow: flow.key,
                    queue: None,
                },
                hops: HopStack::over(
                    hop(flow.source, sink_ts.wrapping_sub(latency)),
                    &[],
                    hop(flow.sink, sink_ts),
                ),
                sequence: flow.sequence,
            })
        };
        Sample {
            report: Report {
                sequence: flow.reports,
                observation: Observation {
                    hw_id: HwId::default(),
                    flags: Flags {
                        tracked_flow: true,
                        ..Flags::default()
                    },
                    clock: None,
                    body,
                },
            },
            arrival: Arrival {
                exporter: SocketAddr::new(flow.key.dst, 40_000),
                received_ns: time_ns,
            },
            class: flow.class,
        }
    }
}

impl Sample {
    /// The same over so many transit hops, which are those of the pair of hosts.
    pub fn over_hops(mut self, hops: u32) -> Self {
        if let Body::Latency(latency) = &mut self.report.observation.body {
            let (source, sink) = (*latency.hops.source(), *latency.hops.sink());
            let whole = sink.ingress_ts.wrapping_sub(source.egress_ts);
            let step = whole / (2 * hops + 1);
            let transit: Vec<Hop> = (1..=hops)
                .rev()
                .map(|number| Hop {
                    node: NodeId(1000 + 10 * source.node.0 + number),
                    ingress_ts: source.egress_ts.wrapping_add((2 * number - 1) * step),
                    egress_ts: source.egress_ts.wrapping_add(2 * number * step),
                    ..source
                })
                .collect();
            latency.hops = HopStack::over(source, &transit, sink);
        }
        self
    }

    /// The datagram.
    pub fn datagram(&self) -> Vec<u8> {
        report_samples::datagram(&self.report)
    }

    /// The JSON line, without its line feed.
    pub fn line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        let record = Record::new(&self.report, Some(self.arrival)).in_class(self.class);
        record.append_line(&mut line).unwrap();
        line.pop();
        line
    }
}
