//! Reports of packets that passed transit hops, with known times in hops and between them.

use std::net::SocketAddr;

use hostint::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use hostint::model::*;

use crate::synthetic::Sample;

/// A transit hop, the time that a packet stays in it, and how far its clock is ahead.
#[derive(Clone, Copy, Debug)]
pub struct PassedHop {
    pub node: u32,
    pub ports: (u16, u16),
    pub stay_ns: u32,
    pub ahead_ns: i32,
    /// What it says of its queue.
    pub queue: Option<HopQueue>,
}

/// The way of a packet, in its order.
#[derive(Clone, Debug)]
pub struct PassedWay {
    pub source: u32,
    pub hops: Vec<PassedHop>,
    pub sink: u32,
    /// The time on each link, one more than hops.
    pub links_ns: Vec<u32>,
}

/// From node 1 over 28673 and 28674 to node 2: 1 us in the first hop, 2 us in the second, 10 us on each link. The clocks
/// of the hops are 5 ms ahead and 3 ms behind.
pub fn two_hops() -> PassedWay {
    let hop = |node, ports, stay_ns, ahead_ns| PassedHop {
        node,
        ports,
        stay_ns,
        ahead_ns,
        queue: None,
    };
    PassedWay {
        source: 1,
        hops: vec![
            hop(28673, (2, 3), 1_000, 5_000_000),
            hop(28674, (4, 5), 2_000, -3_000_000),
        ],
        sink: 2,
        links_ns: vec![10_000; 3],
    }
}

impl PassedWay {
    pub fn whole_ns(&self) -> u32 {
        let stays = self.hops.iter().map(|hop| hop.stay_ns);
        stays.chain(self.links_ns.iter().copied()).sum()
    }

    /// A latency report of a packet that arrived at this time, of the UDP flow from this port.
    pub fn report(&self, sequence: u32, sport: u16, arrival_ns: u64) -> LatencyReport {
        let end = |node, port, ts| Hop {
            node: NodeId(node),
            ingress_port: port,
            egress_port: port,
            ingress_ts: ts,
            egress_ts: ts,
            queue: None,
        };
        let mut now = (arrival_ns as u32).wrapping_sub(self.whole_ns());
        let source = end(self.source, 7, now);
        let mut transit = Vec::new();
        for (hop, link_ns) in self.hops.iter().zip(&self.links_ns) {
            let ingress = now.wrapping_add(*link_ns);
            now = ingress.wrapping_add(hop.stay_ns);
            transit.push(Hop {
                node: NodeId(hop.node),
                ingress_port: hop.ports.0,
                egress_port: hop.ports.1,
                ingress_ts: ingress.wrapping_add_signed(hop.ahead_ns),
                egress_ts: now.wrapping_add_signed(hop.ahead_ns),
                queue: hop.queue,
            });
        }
        transit.reverse();
        LatencyReport {
            version: ReportVersion::V05,
            time_s: (arrival_ns / 1_000_000_000) as u32,
            arrival_ns: None,
            packet: ReportedPacket::Named {
                flow: FlowKey {
                    src: "192.0.2.1".parse().unwrap(),
                    dst: "192.0.2.2".parse().unwrap(),
                    sport,
                    dport: 9000,
                    protocol: 17,
                    vlans: Vlans::NONE,
                },
                queue: None,
            },
            hops: HopStack::over(source, &transit, end(self.sink, 8, arrival_ns as u32)),
            sequence,
        }
    }

    /// The same as the sink sends it.
    pub fn sample(&self, sequence: u32, sport: u16, arrival_ns: u64) -> Sample {
        Sample {
            report: Report {
                sequence,
                observation: Observation {
                    hw_id: HwId::default(),
                    flags: Flags {
                        tracked_flow: true,
                        ..Flags::default()
                    },
                    clock: None,
                    body: Body::Latency(self.report(sequence, sport, arrival_ns)),
                },
            },
            arrival: Arrival {
                exporter: SocketAddr::new("192.0.2.2".parse().unwrap(), 40_000),
                received_ns: arrival_ns,
            },
            class: None,
        }
    }
}

/// A sink's totals of a path from node 1 over this many hops to node 2: `times` has those of each place.
pub fn path_totals(hops: u16, mut times: impl FnMut(u8) -> Vec<i64>) -> PathTotals {
    let end = |node, port| NodePort {
        node: NodeId(node),
        port,
    };
    let hop = |n: u16| PathHop {
        node: NodeId(28_673 + u32::from(n)),
        ingress_port: 2 * n + 2,
        egress_port: 2 * n + 3,
    };
    let path = Path {
        source: end(1, 7),
        hops: (0..hops).map(hop).collect(),
        sink: end(2, 8),
    };
    let place = |place| {
        let mut latency = LatencyHistogram::default();
        for ns in times(place) {
            latency.add(ns);
        }
        PlaceTotals {
            place,
            epoch_ns: 1_699_999_000_000_000_000,
            last_ns: 1_699_999_999_000_000_000,
            latency: latency.coarsened(LatencyResolution::Middle),
        }
    };
    PathTotals {
        times: (0..=path.segment_count() as u8).map(place).collect(),
        path,
    }
}

/// Times of a hop, and losses of the queue behind it, as a collector adds them up for its engines.
pub fn path_parts() -> [(PathPart, Measured); 2] {
    let totals = path_totals(2, |place| match place {
        2 => vec![1_000, 2_000, 60_000],
        _ => Vec::new(),
    });
    let growth = PathGrowth {
        times: (totals.times.iter())
            .map(|time| PlaceGrowth {
                place: time.place,
                latency: time.latency.clone(),
                corrected: ClockSums::default(),
            })
            .collect(),
        path: totals.path.clone(),
    };
    let crossed = PathCrossed {
        path: totals.path,
        places: vec![(
            CrossedPlace::Queue(0),
            Crossed {
                packets: 100,
                lost: 7,
            },
        )],
        unseen: Vec::new(),
    };
    let one = |parts: Vec<(PathPart, Measured)>| {
        let [part] = parts.try_into().expect("one part has packets");
        part
    };
    [
        one(PathPart::of_growth(&growth, 1_700_000_000)),
        one(PathPart::of_crossed(&crossed, 1_700_000_000)),
    ]
}
