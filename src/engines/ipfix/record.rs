//! What the reports of a parcel say of each flow, together.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use super::traffic::Traffic;
use crate::engines::{Entry, Parcel};
use crate::model::{Body, FlowKey, NodeId, ReportFacts};

/// One Data Record: reports of one flow between the same nodes that tell the same.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct FlowRecord {
    /// No other record has it, and the same record has it when it is sent again.
    pub(super) id: u64,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) flow: FlowKey,
    pub(super) source: Option<NodeId>,
    pub(super) sink: Option<NodeId>,
    /// Each report is in one record.
    pub(super) reports: u64,
    pub(super) figures: Figures,
}

/// What reports tell, besides that packets came.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Figures {
    Seen,
    Delay {
        min_ns: u64,
        max_ns: u64,
        sum_ns: u64,
    },
    Loss {
        packets: u64,
        /// As forwardingStatus has it.
        status: u8,
    },
    Traffic {
        packets: u64,
        octets: u64,
    },
}

/// All that a parcel comes to.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) flows: Vec<FlowRecord>,
    /// Reports that show no flow.
    pub(super) without_flow: usize,
}

/// Reports of one key share a record.
type Key = (FlowKey, Option<NodeId>, Option<NodeId>, Kind);

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Kind {
    Seen,
    Delay,
    Loss(u8),
    Traffic,
}

impl Records {
    /// Times that nothing tells are `now_ns`.
    pub(super) fn of(parcel: &Parcel, traffic: &mut Traffic, now_ns: u64) -> Self {
        let mut records = Self::default();
        let mut places: HashMap<Key, usize> = HashMap::new();
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
    fn add(&mut self, time_ns: u64, figures: Figures) {
        self.first_ns = self.first_ns.min(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        self.reports += 1;
        self.figures = self.figures.with(figures);
    }
}

impl Figures {
    fn kind(self) -> Kind {
        match self {
            Self::Seen => Kind::Seen,
            Self::Delay { .. } => Kind::Delay,
            Self::Loss { status, .. } => Kind::Loss(status),
            Self::Traffic { .. } => Kind::Traffic,
        }
    }

    /// Both together, which are of one kind.
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

fn figures(entry: &Entry, observed: &ReportFacts, traffic: &mut Traffic) -> Figures {
    if let Body::FlowSummary(summary) = &entry.report.observation.body {
        let (packets, octets) = traffic.news(summary);
        return Figures::Traffic { packets, octets };
    }
    if observed.lost > 0 {
        return Figures::Loss {
            packets: u64::from(observed.lost),
            status: forwarding_status(entry.drop_reason.as_deref()),
        };
    }
    // Delay elements have no sign: what clocks that differ make negative is no delay.
    match observed.latency_ns.map(u64::try_from) {
        Some(Ok(ns)) => Figures::Delay {
            min_ns: ns,
            max_ns: ns,
            sum_ns: ns,
        },
        _ => Figures::Seen,
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
