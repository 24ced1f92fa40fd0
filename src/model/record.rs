//! The JSON object that a report becomes, wherever it is written.

use std::net::{IpAddr, SocketAddr};

use serde::Serialize;

use super::{Body, ClockState, FlowKey, Hop, NodeId, QueueDepth, Report};

/// Names the shape of [`Record`]; a change that breaks readers changes it.
pub const RECORD_SCHEMA: &str = "hostint.report/1";

/// Where a report came from and when it was received, as a collector knows it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrival {
    pub exporter: SocketAddr,
    /// Nanoseconds since the Unix epoch.
    pub received_ns: u64,
}

/// One report as flat JSON; what a kind of report does not have is left out.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    schema: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exporter: Option<IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exporter_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received_ns: Option<u64>,
    hw_id: u8,
    report_seq: u32,
    #[serde(flatten)]
    time: HeaderTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    reporter_node: Option<NodeId>,
    #[serde(flatten)]
    clock: Option<ClockRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<FlowKey>,
    #[serde(flatten)]
    detail: Detail,
}

#[derive(Clone, Debug, Serialize)]
enum HeaderTime {
    #[serde(rename = "report_time_s")]
    Seconds(u32),
    #[serde(rename = "ingress_ts_ns")]
    Nanoseconds(u32),
}

/// The reporting sink's clock.
#[derive(Clone, Copy, Debug, Serialize)]
struct ClockRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    sink_clock: Option<&'static str>,
    sink_clock_synchronised: bool,
}

impl From<ClockState> for ClockRecord {
    fn from(clock: ClockState) -> Self {
        Self {
            sink_clock: clock.source.name(),
            sink_clock_synchronised: clock.synchronised,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Detail {
    Latency {
        source: SourceRecord,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        transit: Vec<HopRecord>,
        sink: HopRecord,
        latency_ns: Option<i64>,
        seq: u32,
    },
    DropSummary {
        source: PortRecord,
        sink: PortRecord,
        gap: GapRecord,
    },
    Drop {
        ingress_port: u16,
        egress_port: u16,
        queue_id: u8,
        drop_reason: u8,
        frame_bytes: usize,
    },
    Local {
        ingress_port: u16,
        egress_port: u16,
        queue_id: u8,
        queue_occupancy: u32,
        egress_ts_ns: u32,
        frame_bytes: usize,
    },
    Ethernet {
        frame_bytes: usize,
    },
}

/// A hop; timestamps are the low 32 bits of nanoseconds since the Unix epoch.
#[derive(Clone, Debug, Serialize)]
struct HopRecord {
    node: NodeId,
    ingress_port: u16,
    egress_port: u16,
    ingress_ts_ns: u32,
    egress_ts_ns: u32,
}

/// The source's hop, and the state of its queue if it tells.
#[derive(Clone, Debug, Serialize)]
struct SourceRecord {
    #[serde(flatten)]
    hop: HopRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueDepth>,
}

#[derive(Clone, Debug, Serialize)]
struct PortRecord {
    node: NodeId,
    port: u16,
}

/// `last_seq` is `first_seq + count - 1`: exact for one hole, a lower bound for several.
#[derive(Clone, Debug, Serialize)]
struct GapRecord {
    first_seq: u32,
    last_seq: u32,
    count: u32,
    time_s: u32,
}

impl From<&Hop> for HopRecord {
    fn from(hop: &Hop) -> Self {
        Self {
            node: hop.node,
            ingress_port: hop.ingress_port,
            egress_port: hop.egress_port,
            ingress_ts_ns: hop.ingress_ts,
            egress_ts_ns: hop.egress_ts,
        }
    }
}

impl Record {
    /// The record of a report: received with `arrival`, or about to be sent without.
    pub fn new(report: &Report, arrival: Option<Arrival>) -> Self {
        let observation = &report.observation;
        Self {
            schema: RECORD_SCHEMA,
            kind: observation.kind(),
            exporter: arrival.map(|arrival| arrival.exporter.ip()),
            exporter_port: arrival.map(|arrival| arrival.exporter.port()),
            received_ns: arrival.map(|arrival| arrival.received_ns),
            hw_id: observation.hw_id.get(),
            report_seq: report.sequence,
            time: match observation.body {
                Body::Latency(_) | Body::DropSummary(_) => {
                    HeaderTime::Seconds(observation.timestamp)
                }
                _ => HeaderTime::Nanoseconds(observation.timestamp),
            },
            reporter_node: observation.reporter(),
            clock: observation.clock.map(ClockRecord::from),
            flow: observation.flow(),
            detail: Detail::new(&observation.body),
        }
    }

    /// Appends the record and a line feed.
    pub fn append_line(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.push(b'\n');
        Ok(())
    }
}

impl Detail {
    fn new(body: &Body) -> Self {
        match body {
            Body::Latency(report) => Self::Latency {
                source: SourceRecord {
                    hop: report.hops.source().into(),
                    queue: report.queue(),
                },
                transit: report.hops.transit().iter().map(HopRecord::from).collect(),
                sink: report.hops.sink().into(),
                latency_ns: report.hops.latency_ns(),
                seq: report.sequence,
            },
            Body::DropSummary(summary) => Self::DropSummary {
                source: PortRecord {
                    node: summary.source_node,
                    port: summary.source_port,
                },
                sink: PortRecord {
                    node: summary.sink_node,
                    port: summary.sink_port,
                },
                gap: GapRecord {
                    first_seq: summary.before_seq.wrapping_add(1),
                    last_seq: summary.before_seq.wrapping_add(summary.count),
                    count: summary.count,
                    time_s: summary.gap_time_s,
                },
            },
            Body::Drop(report) => Self::Drop {
                ingress_port: report.ingress_port,
                egress_port: report.egress_port,
                queue_id: report.queue_id,
                drop_reason: report.reason,
                frame_bytes: report.frame.0.len(),
            },
            Body::Local(report) => Self::Local {
                ingress_port: report.ingress_port,
                egress_port: report.egress_port,
                queue_id: report.queue_id,
                queue_occupancy: report.queue_occupancy.get(),
                egress_ts_ns: report.egress_ts,
                frame_bytes: report.frame.0.len(),
            },
            Body::Ethernet(frame) => Self::Ethernet {
                frame_bytes: frame.0.len(),
            },
        }
    }
}
