//! What an invented host reports of itself as an end of flows: its queue, how late it reads, and what limits its connections.

use std::collections::BTreeMap;

use hostint::model::*;
use hostint::wire::{report_path, report_v05};

use super::SLOT_NS;
use super::telling::{address, port_of};

/// The packets of a slot whose waiting is counted.
const SAMPLES: u64 = 200;
/// The interface of each host.
const PORT: u16 = 2;
const SLOT_US: u64 = SLOT_NS / 1_000;

/// What a host counted since it began.
#[derive(Default)]
struct Counted {
    queue: LatencyHistogram,
    read: LatencyHistogram,
    answer: LatencyHistogram,
    limited: LimitedTimes,
}

/// What hosts count, and report again and again.
#[derive(Default)]
pub struct EndReports {
    hosts: BTreeMap<NodeId, Counted>,
}

fn count(to: &mut LatencyHistogram, mean_ns: u64) {
    let mean_ns = mean_ns as i64;
    let sum = i128::from(mean_ns) * i128::from(SAMPLES);
    let ends = (mean_ns, mean_ns);
    to.merge(&LatencyHistogram::of_counts(
        LatencyResolution::Fine,
        ends,
        sum,
        [(mean_ns, SAMPLES)],
    ));
}

impl EndReports {
    /// A host's daemons begin to count.
    pub fn begin(&mut self, node: NodeId) {
        self.hosts.remove(&node);
    }

    /// The datagrams of a slot that a host sends. The last number that they have is its last one.
    pub fn slot(
        &mut self,
        (node, host): (NodeId, &HostInSlot),
        (epoch_ns, end_ns): (u64, u64),
        number: &mut u32,
    ) -> Vec<Vec<u8>> {
        let counted = self.hosts.entry(node).or_default();
        let time_s = (end_ns / 1_000_000_000) as u32;
        let end = NodePort { node, port: PORT };
        let mut datagrams = Vec::new();
        let mut path = |path, place, latency: &LatencyHistogram| {
            datagrams.extend(report_path::emit(&PathTotalsReport {
                time_s,
                period_ns: SLOT_NS,
                totals: PathTotals {
                    path,
                    times: vec![PlaceTotals {
                        place,
                        epoch_ns,
                        last_ns: end_ns - 1,
                        latency: latency.clone(),
                    }],
                },
            }));
        };
        if let Some(queue_ns) = host.queue_ns {
            count(&mut counted.queue, queue_ns);
            path(Path::to_queue(node, end), QUEUE_PLACE, &counted.queue);
        }
        let behind = Path::to_application(NodeId(node.0 ^ 1), end);
        if let Some(read_ns) = host.read_ns {
            count(&mut counted.read, read_ns);
            path(behind.clone(), WITHIN_PLACE, &counted.read);
        }
        if let Some(answer_ns) = host.answer_ns {
            count(&mut counted.answer, answer_ns);
            path(behind, ANSWER_PLACE, &counted.answer);
        }
        if let Some(share) = host.receiver_limited {
            let limited_us = (share * SLOT_US as f64) as u64;
            counted.limited.add(Limit::Receiver, limited_us);
            counted
                .limited
                .add(Limit::Application, SLOT_US - limited_us);
            *number += 1;
            datagrams.push(connection(
                node,
                (epoch_ns, end_ns),
                counted.limited,
                *number,
            ));
        }
        datagrams
    }
}

fn connection(
    node: NodeId,
    (epoch_ns, end_ns): (u64, u64),
    times: LimitedTimes,
    sequence: u32,
) -> Vec<u8> {
    let flow = FlowKey {
        src: address(node).into(),
        dst: address(NodeId(node.0 ^ 1)).into(),
        sport: 50_000,
        dport: port_of(None),
        protocol: 6,
        vlans: Vlans::NONE,
    };
    let report = ConnectionReport {
        time_s: (end_ns / 1_000_000_000) as u32,
        node,
        connection: TcpReport {
            id: epoch_ns,
            why: TcpNews::Sample,
            limited: times.most(),
            class: None,
            times,
            samples: 10,
            sample: TcpSample {
                flow,
                time_ns: end_ns - 1,
                begun_ns: Some(epoch_ns),
                cgroup: None,
                socket: 0,
                monotonic_ns: 0,
                begun_monotonic_ns: None,
                class: 0,
                tcp: TcpFigures {
                    state: TcpPhase(1),
                    ..TcpFigures::default()
                },
                option: None,
            },
        },
    };
    let report = Report {
        sequence,
        observation: Observation {
            hw_id: Subsystem::Connections.into(),
            flags: Flags {
                tracked_flow: true,
                ..Flags::default()
            },
            clock: None,
            body: Body::Connection(Box::new(report)),
        },
    };
    let mut out = Vec::new();
    report_v05::emit(&report, &mut out);
    out
}
