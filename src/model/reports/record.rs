//! A report as a JSON object, the same wherever it is written.

use std::borrow::Cow;
use std::net::IpAddr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::model::int_header::is_false;
use crate::model::node_identity::is_plain;
use crate::model::{
    Arrival, Body, ClockState, CorrectedLatency, DropReasons, DropSubject, Extension, FlowKey,
    FlowPassage, HopRecord, HostDrop, IntHeader, LatencyClocks, Metadata, NodeId, PathPartRecord,
    QueueDepth, QueueEpisode, Quirk, RecordName, RecordPod, RecordPort, Report, ReportDomain,
    ReportVersion, Summary, SummaryRecord, SummarySubject, TcpReport,
};

/// The name of [`Record`]'s schema; it changes if a change breaks readers.
pub const RECORD_SCHEMA: &str = "hostint.report/1";

/// One report as flat JSON; keys that a kind of report does not have are left out.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct Record {
    pub schema: Cow<'static, str>,
    pub kind: Cow<'static, str>,
    #[serde(default)]
    pub version: ReportVersion,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exporter: Option<IpAddr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exporter_port: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_ns: Option<u64>,
    pub hw_id: u8,
    pub report_seq: u32,
    #[serde(flatten)]
    pub flags: FlagsRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_time_s: Option<u32>,
    /// The packet's arrival at the sink, in reports that carry more than its low 32 bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter_node: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_clock: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink_clock_synchronised: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner_flow: Option<FlowKey>,
    /// The names of the nodes of this record, as far as the process that writes it knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<RecordName>,
    /// The same of the interfaces on a path over transit hops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interfaces: Vec<RecordPort>,
    /// The pods of a cluster that the record is about, as the API server of the process that writes it names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<RecordPod>,
    /// The class of the traffic, by the rules of the process that writes the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<EndRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transit: Vec<HopRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sink: Option<EndRecord>,
    /// `null` in a latency report with a single hop.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub latency_ns: Option<Option<i64>>,
    /// The latency without the difference of the two clocks, as a collector estimates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_corrected_ns: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_error_ns: Option<u64>,
    /// The least and the greatest that the true latency can be; `null` if the clocks are unknown to the collector.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub latency_bound_ns: Option<Option<[i64; 2]>>,
    /// "unknown" where the bound is `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Cow<'static, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<GapRecord>,
    /// All totals of a summary, since its epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Box<SummaryRecord>>,
    /// What a host dropped of the flow, with the kernel's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_drop: Option<Box<HostDrop>>,
    /// A sum of a host's drops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_drop_sum: Option<Box<DropSubject>>,
    /// The time that packets of the flow take through a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_hop: Option<Box<FlowPassage>>,
    /// An episode of a host's queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_episode: Option<Box<QueueEpisode>>,
    /// The state of a host's TCP connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Box<TcpReport>>,
    /// The part of a path that packets were added up for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_part: Option<Box<PathPartRecord>>,
    #[serde(flatten)]
    pub metadata: Metadata,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_reason_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<ReportDomain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_bytes: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub int: Vec<IntHeader>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
    /// What the report's header states otherwise than the standard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quirk: Option<Quirk>,
}

/// The flags of the report header that are set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct FlagsRecord {
    #[serde(skip_serializing_if = "is_false")]
    pub dropped: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub congested_queue: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub tracked_flow: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub intermediate: bool,
}

/// Source or sink: a hop in a latency report, a node and port in summaries.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum EndRecord {
    Hop {
        #[serde(flatten)]
        hop: HopRecord,
        /// The source's queue, if the report has it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        queue: Option<QueueDepth>,
    },
    Port {
        node: NodeId,
        port: u16,
    },
}

/// The missing numbers. `last_seq` is `first_seq + count - 1`: exact for one hole, a lower bound for several.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct GapRecord {
    pub first_seq: u32,
    pub last_seq: u32,
    pub count: u32,
    pub time_s: u32,
}

/// Distinguishes `null` from a missing key.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl EndRecord {
    pub fn node(&self) -> NodeId {
        match self {
            Self::Hop { hop, .. } => hop.node,
            Self::Port { node, .. } => *node,
        }
    }

    /// The hop, which summaries do not have.
    pub fn hop(&self) -> Option<&HopRecord> {
        match self {
            Self::Hop { hop, .. } => Some(hop),
            Self::Port { .. } => None,
        }
    }
}

impl Record {
    /// The record of a report, received with `arrival` or, without one, about to be sent.
    pub fn new(report: &Report, arrival: Option<Arrival>) -> Self {
        let observation = &report.observation;
        let mut record = Self {
            schema: RECORD_SCHEMA.into(),
            kind: observation.kind().into(),
            version: observation.version(),
            exporter: arrival.map(|arrival| arrival.exporter.ip()),
            exporter_port: arrival.map(|arrival| arrival.exporter.port()),
            received_ns: arrival.map(|arrival| arrival.received_ns),
            hw_id: observation.hw_id.get(),
            report_seq: report.sequence,
            flags: FlagsRecord {
                dropped: observation.flags.dropped,
                congested_queue: observation.flags.congested_queue,
                tracked_flow: observation.flags.tracked_flow,
                intermediate: observation.flags.intermediate,
            },
            reporter_node: observation.reporter(),
            flow: observation.flow(),
            latency_ns: match observation.body {
                Body::Latency(_) => Some(observation.latency_ns()),
                _ => observation.latency_ns().map(Some),
            },
            ..Self::default()
        };
        record.send_clock(observation.clock);
        record.report_body(&observation.body);
        record
    }

    /// The same record with the name of its drop reason, if the code has one.
    #[must_use]
    pub fn with_names(mut self, reasons: &DropReasons) -> Self {
        let code = self.metadata.drop_reason;
        self.drop_reason_name = code.and_then(|code| reasons.name(code)).map(str::to_owned);
        self
    }

    /// The same record with the class of its flow.
    #[must_use]
    pub fn in_class(mut self, class: Option<&str>) -> Self {
        self.class = class.map(str::to_owned);
        self
    }

    /// The same record with what a collector knows of the clocks that stamped its latency.
    #[must_use]
    pub fn with_clocks(mut self, clocks: LatencyClocks) -> Self {
        if self.latency_ns.flatten().is_none() || clocks == LatencyClocks::Unreported {
            return self;
        }
        let corrected = clocks.corrected();
        self.latency_corrected_ns = corrected.map(|one| one.latency_ns);
        self.latency_error_ns = corrected.map(|one| one.error_ns);
        self.latency_bound_ns = Some(corrected.map(|one| one.bound_ns));
        self.clock = corrected.is_none().then(|| "unknown".into());
        self
    }

    /// What the collector that wrote the record knew of the clocks that stamped its latency.
    pub fn clocks(&self) -> LatencyClocks {
        let known = |bound_ns| {
            Some(CorrectedLatency {
                latency_ns: self.latency_corrected_ns?,
                error_ns: self.latency_error_ns?,
                bound_ns,
            })
        };
        match self.latency_bound_ns {
            None => LatencyClocks::Unreported,
            Some(bound_ns) => bound_ns.and_then(known).into(),
        }
    }

    /// The class that the record was written with. Lines may come from strangers: a name that does not show is none.
    pub fn class(&self) -> Option<&str> {
        let class = self.class.as_deref();
        class.filter(|class| class.chars().all(is_plain))
    }

    fn send_clock(&mut self, clock: Option<ClockState>) {
        let Some(clock) = clock else { return };
        self.sink_clock = clock.source.name().map(Cow::from);
        self.sink_clock_synchronised = Some(clock.synchronised);
    }

    fn report_body(&mut self, body: &Body) {
        self.report_time_s = body.time_s();
        match body {
            Body::Latency(report) => {
                self.arrival_ns = report.arrival_ns;
                self.source = Some(EndRecord::Hop {
                    hop: report.hops.source().into(),
                    queue: report.queue(),
                });
                self.transit = report.hops.transit().iter().map(HopRecord::from).collect();
                self.sink = Some(EndRecord::Hop {
                    hop: report.hops.sink().into(),
                    queue: None,
                });
                self.seq = Some(report.sequence);
            }
            Body::DropSummary(summary) => {
                self.source = Some(EndRecord::Port {
                    node: summary.source_node,
                    port: summary.source_port,
                });
                self.sink = Some(EndRecord::Port {
                    node: summary.sink_node,
                    port: summary.sink_port,
                });
                self.gap = Some(GapRecord {
                    first_seq: summary.before_seq.wrapping_add(1),
                    last_seq: summary.before_seq.wrapping_add(summary.count),
                    count: summary.count,
                    time_s: summary.gap_time_s,
                });
            }
            Body::Summary(summary) => self.report_summary(summary),
            Body::HostDrop(report) => self.host_drop = Some(Box::new(report.drop.clone())),
            Body::HostDropSum(sum) => self.host_drop_sum = Some(Box::new(sum.subject.clone())),
            Body::FlowPassage(report) => self.host_hop = Some(Box::new(report.hop.clone())),
            Body::Queue(report) => self.queue_episode = Some(Box::new(report.episode.clone())),
            Body::Connection(report) => {
                self.connection = Some(Box::new(report.connection.clone()));
            }
            Body::PathPart(part) => self.path_part = Some(Box::new(part.record())),
            Body::Packet(report) => {
                self.metadata = report.metadata.clone();
                self.inner_flow = report.inner_flow();
                self.domain = report.domain;
                self.extensions.clone_from(&report.extensions);
                self.quirk = report.quirk;
                if let Some(packet) = &report.packet {
                    self.frame_bytes = Some(packet.length);
                    self.int.clone_from(&packet.int);
                }
            }
        }
    }

    fn report_summary(&mut self, summary: &Summary) {
        let (source_port, sink_port) = match summary.subject {
            SummarySubject::Flow {
                source_port,
                sink_port,
                ..
            } => (source_port, sink_port),
            SummarySubject::Group { .. } => (0, 0),
        };
        self.source = Some(EndRecord::Port {
            node: summary.source_node,
            port: source_port,
        });
        self.sink = Some(EndRecord::Port {
            node: summary.sink_node,
            port: sink_port,
        });
        self.summary = Some(Box::new(summary.into()));
    }

    /// Appends the record and a line feed.
    pub fn append_line(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.push(b'\n');
        Ok(())
    }
}
