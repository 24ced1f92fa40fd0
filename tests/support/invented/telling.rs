//! Slots of an invented network as the datagrams that its hosts would have sent to a collector.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hostint::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use hostint::model::drop_totals_report::{DropSubject, DropSum, DropTotalsReport};
use hostint::model::*;
use hostint::wire::{
    report_coverage, report_drop_totals, report_identity, report_v05, summary_totals,
};

use super::SLOT_NS;
use super::ends::EndReports;

/// Totals that changed are sent again this number of times.
const REPEATED: u64 = 2;
const PACKET_BYTES: u64 = 400;
/// The reason of packets that are not measured: the sink granted no lease.
const NO_LEASE: u8 = 21;
/// Packets of a class in a slot for which there is no lease.
const UNMEASURED: u64 = 100;
/// Ports of flows by class, for a collector whose classes know them.
pub const CLASS_PORTS: [(Option<&str>, u16); 3] =
    [(None, 443), (Some("storage"), 3260), (Some("voice"), 5060)];

/// A datagram as a collector would have received it.
pub struct InventedDatagram {
    pub arrival: Arrival,
    pub bytes: Vec<u8>,
}

/// What a sink counted of a subject since it began.
struct Totals {
    totals: SubjectTotals,
    changed: u64,
}

/// All that hosts count, and send again and again.
#[derive(Default)]
pub struct InventedReports {
    groups: BTreeMap<CellId, Totals>,
    flows: BTreeMap<(CellId, usize), Totals>,
    dropped: BTreeMap<NodeId, (u64, [u64; 2])>,
    /// What sources tagged, and what they did not.
    covered: BTreeMap<CellId, [u64; 2]>,
    numbers: BTreeMap<NodeId, u32>,
    /// The numbers of reports about connections, which are counted apart.
    connections: BTreeMap<NodeId, u32>,
    ends: EndReports,
    /// Since when hosts count, ns since the Unix epoch.
    epochs: BTreeMap<NodeId, u64>,
    slot: u64,
}

/// The address of a node, from which it sends packets and reports.
pub fn address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0000 | node.0)
}

/// The port of a class's flows.
pub fn port_of(class: Option<&str>) -> u16 {
    let known = CLASS_PORTS.iter().find(|one| one.0 == class);
    known.map_or(443, |one| one.1)
}

/// The flow of a cell whose packets are those of a part.
pub fn flow(id: &CellId, part: usize) -> FlowKey {
    FlowKey {
        src: address(id.source).into(),
        dst: address(id.sink).into(),
        sport: 40_000 + part as u16,
        dport: port_of(id.class.as_deref()),
        protocol: 6,
        vlans: Vlans::NONE,
    }
}

impl InventedReports {
    /// The datagrams that tell of a slot, in the order in which they arrive: up to three seconds after its end.
    pub fn slot(&mut self, slot: &VerdictSlot) -> Vec<InventedDatagram> {
        self.slot += 1;
        for (node, host) in &slot.hosts {
            let known = self.epochs.contains_key(node);
            if !known || host.restarted {
                self.begin(*node, slot.end_ns - SLOT_NS);
            }
        }
        self.count(slot);
        let mut datagrams = Vec::new();
        for (node, host) in &slot.hosts {
            let is_lost = !host.reports && !host.is_gone && slot.reports_lost > 0.0;
            if !host.reports && !is_lost {
                continue;
            }
            // What is lost has numbers, too.
            let bytes = self.of_host(*node, host, slot);
            if is_lost {
                continue;
            }
            let late_ns = 100_000_000 + u64::from(node.0) * 37_000_000 % 2_900_000_000;
            let arrival = Arrival {
                exporter: SocketAddr::new(IpAddr::V4(address(*node)), 40_000),
                received_ns: slot.end_ns + late_ns,
            };
            let datagram = |bytes| InventedDatagram { arrival, bytes };
            datagrams.extend(bytes.into_iter().map(datagram));
        }
        datagrams.sort_by_key(|one| one.arrival.received_ns);
        datagrams
    }

    /// A host's daemons begin to count.
    fn begin(&mut self, node: NodeId, now_ns: u64) {
        self.epochs.insert(node, now_ns);
        self.groups.retain(|id, _| id.sink != node);
        self.flows.retain(|(id, _), _| id.sink != node);
        self.covered.retain(|id, _| id.source != node);
        self.dropped.insert(node, (now_ns, [0; 2]));
        self.numbers.insert(node, 0);
        self.connections.insert(node, 0);
        self.ends.begin(node);
    }

    fn count(&mut self, slot: &VerdictSlot) {
        for (id, growth) in &slot.cells {
            let epoch_ns = self.epochs.get(&id.sink).copied().unwrap_or_default();
            let (now, last_ns) = (self.slot, slot.end_ns - 1);
            let fresh = || Totals {
                totals: SubjectTotals {
                    epoch_ns,
                    ..SubjectTotals::default()
                },
                changed: now,
            };
            let add = |to: &mut Totals, counts: CellCounts, latency: &LatencyHistogram| {
                let arrived = counts.sent - counts.lost;
                to.totals.packets += arrived;
                to.totals.bytes += arrived * PACKET_BYTES;
                to.totals.lost += counts.lost;
                to.totals.last_ns = last_ns;
                to.totals.latency.merge(latency);
                to.changed = now;
            };
            let group = self.groups.entry(id.clone()).or_insert_with(fresh);
            add(group, growth.counts, &growth.latency);
            for (part, counts) in growth.parts.iter().enumerate().filter(|one| one.1.sent > 0) {
                let flow = self.flows.entry((id.clone(), part)).or_insert_with(fresh);
                add(
                    flow,
                    *counts,
                    &as_median(&growth.latency, counts.sent - counts.lost),
                );
            }
            let covered = slot.hosts.get(&id.source).and_then(|host| host.covered);
            let covered = covered.unwrap_or(1.0).max(0.01);
            let missed = growth.counts.sent as f64 * (1.0 / covered - 1.0);
            let [tagged, not] = self.covered.entry(id.clone()).or_default();
            *tagged += growth.counts.sent;
            *not += missed.round() as u64;
        }
        for (id, [_, not]) in &mut self.covered {
            let reach = slot.reach.get(&NodePair::of(id.source, id.sink));
            if reach.is_some_and(|reach| !reach.reached) {
                *not += UNMEASURED;
            }
        }
        for (node, host) in &slot.hosts {
            if let (Some(more), Some((_, sum))) = (host.dropped, self.dropped.get_mut(node)) {
                sum.iter_mut()
                    .zip(more)
                    .for_each(|(sum, more)| *sum += more);
            }
        }
    }

    fn of_host(&mut self, node: NodeId, host: &HostInSlot, slot: &VerdictSlot) -> Vec<Vec<u8>> {
        let time_s = (slot.end_ns / 1_000_000_000) as u32;
        let mut datagrams = vec![identity(node, host, time_s)];
        let due = |totals: &&Totals| self.slot - totals.changed <= REPEATED;
        let groups = self
            .groups
            .iter()
            .filter(|(id, one)| id.sink == node && due(one));
        let groups = groups.map(|(id, one)| {
            let class = id.class.as_deref().map(str::to_owned);
            (id.source, SummarySubject::Group { class }, &one.totals)
        });
        let flows = self
            .flows
            .iter()
            .filter(|((id, _), one)| id.sink == node && due(one));
        let flows = flows.map(|((id, part), one)| {
            let subject = SummarySubject::Flow {
                flow: flow(id, *part),
                source_port: 2,
                sink_port: 2,
            };
            (id.source, subject, &one.totals)
        });
        let number = self.numbers.entry(node).or_default();
        for (source_node, subject, totals) in groups.chain(flows) {
            let whole = Summary {
                time_s,
                period_ns: SLOT_NS,
                source_node,
                sink_node: node,
                subject,
                totals: totals.clone(),
            };
            for part in summary_totals::parts(&whole) {
                *number += 1;
                datagrams.push(summary(part, *number));
            }
        }
        if let (Some(_), Some(dropped)) = (host.dropped, self.dropped.get(&node)) {
            datagrams.extend(drops(node, *dropped, host, time_s));
        }
        let epoch_ns = self.epochs.get(&node).copied().unwrap_or_default();
        let number = self.connections.entry(node).or_default();
        datagrams.extend(
            self.ends
                .slot((node, host), (epoch_ns, slot.end_ns), number),
        );
        if host.covered.is_some() {
            datagrams.extend(self.coverage(node, time_s));
        }
        datagrams
    }

    fn coverage(&self, node: NodeId, time_s: u32) -> Vec<Vec<u8>> {
        let own = self.covered.iter().filter(|(id, _)| id.source == node);
        let missed = own.map(|(id, counts)| {
            let reasons = [MissedReason::TAGGED, MissedReason::Source(NO_LEASE)];
            let volume = |packets: u64| Volume {
                packets,
                bytes: Some(packets * PACKET_BYTES),
            };
            let by_reason = reasons.into_iter().zip(counts.map(volume));
            MissedPackets {
                other: PairEnd::ToSink(Some(id.sink)),
                class: id.class.as_deref().map(str::to_owned),
                by_reason: by_reason.filter(|(_, volume)| volume.packets > 0).collect(),
            }
        });
        let report = CoverageReport {
            node,
            period_s: 10,
            epoch_ns: self.epochs.get(&node).copied().unwrap_or_default(),
            missed: missed.collect(),
        };
        emitted(&report_coverage::parts(&report), |part, out| {
            report_coverage::emit(part, time_s, out)
        })
    }
}

fn emitted<T>(parts: &[T], emit: impl Fn(&T, &mut Vec<u8>)) -> Vec<Vec<u8>> {
    let datagram = |part| {
        let mut out = Vec::new();
        emit(part, &mut out);
        out
    };
    parts.iter().map(datagram).collect()
}

/// So many packets with the median of these.
fn as_median(latency: &LatencyHistogram, packets: u64) -> LatencyHistogram {
    let median = latency.quantile(0.5).unwrap_or(0);
    let sum = i128::from(median) * i128::from(packets);
    LatencyHistogram::of_counts(
        latency.resolution(),
        (median, median),
        sum,
        [(median, packets)],
    )
}

fn identity(node: NodeId, host: &HostInSlot, time_s: u32) -> Vec<u8> {
    let identity = NodeIdentity {
        node,
        period_s: 10,
        name: format!("host-{}", node.0),
        version: "0.2.0".to_owned(),
        labels: host.labels.clone(),
        interfaces: [(2, "eth0".to_owned())].into(),
        ..NodeIdentity::default()
    };
    let mut out = Vec::new();
    report_identity::emit(&identity, time_s, &mut out);
    out
}

fn summary(part: Summary, sequence: u32) -> Vec<u8> {
    let report = Report {
        sequence,
        observation: Observation {
            hw_id: HwId::default(),
            flags: Flags {
                tracked_flow: true,
                ..Flags::default()
            },
            clock: None,
            body: Body::Summary(Box::new(part)),
        },
    };
    let mut out = Vec::new();
    report_v05::emit(&report, &mut out);
    out
}

fn drops(
    node: NodeId,
    (epoch_ns, sums): (u64, [u64; 2]),
    host: &HostInSlot,
    time_s: u32,
) -> Vec<Vec<u8>> {
    let sum = |(position, packets): (DropPosition, u64)| DropSum {
        subject: DropSubject {
            reason: KernelReason {
                number: 8,
                name: host
                    .drop_reason
                    .clone()
                    .or(Some("NETFILTER_DROP".to_owned())),
            },
            place: Some("nf_hook_slow".to_owned()),
            interface: Some("eth0".to_owned()),
            position,
            ..DropSubject::default()
        },
        count: DropCount {
            packets,
            segments: packets,
            bytes: packets * PACKET_BYTES,
        },
    };
    let positions = [DropPosition::BehindTag, DropPosition::BeforeStrip];
    let sums = positions.into_iter().zip(sums).filter(|one| one.1 > 0);
    let report = DropTotalsReport {
        node,
        period_s: 10,
        epoch_ns,
        sums: sums.map(sum).collect(),
    };
    emitted(&report_drop_totals::parts(&report), |part, out| {
        report_drop_totals::emit(part, time_s, out)
    })
}
