//! The records of a parcel: its reports, summed up by flow.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use super::traffic::TotalsMemory;
use crate::engines::{FedReport, Parcel};
use crate::model::{FlowKey, NodeId, ReportFacts};

/// One Data Record: the reports of one kind about one flow between the same nodes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct FlowRecord {
    /// A number that no other record has. The record keeps it when it is sent again.
    pub(super) id: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) flow: FlowKey,
    pub(super) source: Option<NodeId>,
    pub(super) sink: Option<NodeId>,
    /// The number of reports. Each report is in one record.
    pub(super) reports: u64,
    pub(super) figures: RecordFigures,
}

/// The figures of reports, besides the fact that packets were seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RecordFigures {
    Seen,
    Delay {
        min_ns: u64,
        max_ns: u64,
        sum_ns: u64,
    },
    Loss {
        packets: u64,
        /// The value of forwardingStatus.
        status: u8,
    },
    Traffic {
        packets: u64,
        octets: u64,
    },
}

/// All records of a parcel.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) flows: Vec<FlowRecord>,
    /// The number of reports that show no flow.
    pub(super) without_flow: usize,
}

/// Reports of one key share a record.
type RecordKey = (FlowKey, Option<NodeId>, Option<NodeId>, RecordKind);

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum RecordKind {
    Seen,
    Delay,
    Loss(u8),
    Traffic,
}

impl Records {
    /// Makes the records of a parcel. Reports without a time get `now_ns`.
    pub(super) fn of(parcel: &Parcel, traffic: &mut TotalsMemory, now_ns: u64) -> Self {
        let mut records = Self::default();
        let mut places: HashMap<RecordKey, usize> = HashMap::new();
        for entry in parcel.entries() {
            let observed = ReportFacts::new(&entry.report, entry.arrival, || now_ns);
            traffic.begin(observed.time_ns);
            let Some(flow) = observed.flow else {
                records.without_flow += 1;
                continue;
            };
            let figures = figures(entry, &observed, traffic);
            let key = (flow, observed.source, observed.sink, figures.kind());
            match places.entry(key) {
                Slot::Vacant(place) => {
                    place.insert(records.flows.len());
                    records.flows.push(FlowRecord {
                        id: parcel.run().0.wrapping_add(entry.number),
                        first_ns: observed.time_ns,
                        last_ns: observed.time_ns,
                        flow,
                        source: observed.source,
                        sink: observed.sink,
                        reports: 1,
                        figures,
                    });
                }
                Slot::Occupied(place) => {
                    if let Some(record) = records.flows.get_mut(*place.get()) {
                        record.add(observed.time_ns, figures);
                    }
                }
            }
        }
        records
    }
}

impl FlowRecord {
    fn add(&mut self, time_ns: u64, figures: RecordFigures) {
        self.first_ns = self.first_ns.min(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        self.reports += 1;
        self.figures = self.figures.with(figures);
    }
}

impl RecordFigures {
    fn kind(self) -> RecordKind {
        match self {
            Self::Seen => RecordKind::Seen,
            Self::Delay { .. } => RecordKind::Delay,
            Self::Loss { status, .. } => RecordKind::Loss(status),
            Self::Traffic { .. } => RecordKind::Traffic,
        }
    }

    /// Adds figures of the same kind.
    fn with(self, more: Self) -> Self {
        match (self, more) {
            (
                Self::Delay {
                    min_ns,
                    max_ns,
                    sum_ns,
                },
                Self::Delay {
                    min_ns: min,
                    max_ns: max,
                    sum_ns: sum,
                },
            ) => Self::Delay {
                min_ns: min_ns.min(min),
                max_ns: max_ns.max(max),
                sum_ns: sum_ns.saturating_add(sum),
            },
            (Self::Loss { packets, status }, Self::Loss { packets: more, .. }) => Self::Loss {
                packets: packets.saturating_add(more),
                status,
            },
            (
                Self::Traffic { packets, octets },
                Self::Traffic {
                    packets: more_packets,
                    octets: more_octets,
                },
            ) => Self::Traffic {
                packets: packets.saturating_add(more_packets),
                octets: octets.saturating_add(more_octets),
            },
            (own, _) => own,
        }
    }
}

fn figures(entry: &FedReport, observed: &ReportFacts, traffic: &mut TotalsMemory) -> RecordFigures {
    if let Some((packets, octets)) = traffic.news(&entry.report.observation.body) {
        return RecordFigures::Traffic { packets, octets };
    }
    if observed.lost > 0 {
        return RecordFigures::Loss {
            packets: u64::from(observed.lost),
            status: forwarding_status(entry.drop_reason.as_deref()),
        };
    }
    // Delay elements have no sign, so a latency that differing clocks make negative is not a delay.
    match observed.latency_ns.map(u64::try_from) {
        Some(Ok(ns)) => RecordFigures::Delay {
            min_ns: ns,
            max_ns: ns,
            sum_ns: ns,
        },
        _ => RecordFigures::Seen,
    }
}

/// The registry's "Forwarding Status (Value 89)": 128 is "dropped, unknown".
fn forwarding_status(drop_reason: Option<&str>) -> u8 {
    match drop_reason {
        Some("acl deny" | "routed acl deny") => 129,
        Some("outer ip routing miss") => 131,
        Some("mtu check fail") => 133,
        Some("ip checksum invalid") => 134,
        Some("ip header length invalid") => 136,
        Some("ip ttl zero" | "outer ip ttl zero") => 137,
        Some("urpf check fail") => 140,
        _ => 128,
    }
}
