//! Reads a JSON line back into the report that it was made from.

use std::net::SocketAddr;

use crate::model::node_identity::printable;
use crate::model::record::{EndRecord, RECORD_SCHEMA};
use crate::model::{
    Arrival, Body, ClockSource, ClockState, ConnectionReport, DropReasons, DropSummary,
    FirstHeader, Flags, FlowKey, FlowPassageReport, Hop, HopStack, HostDropReport, HwId,
    LatencyReport, MOST_QUEUE_FLOWS, NodeId, Observation, Packet, PacketReport, QueueReport,
    QuotedHeaders, Record, Report, ReportVersion, ReportedPacket, Summary, SummarySubject,
    Transport, Vlans,
};

/// Why a line is not a report.
#[derive(Debug, thiserror::Error)]
pub enum BadRecord {
    #[error("not the JSON object of a report: {0}")]
    Json(#[from] serde_json::Error),
    #[error("schema {0:?}, expected \"hostint.report/1\"")]
    Schema(String),
    #[error("{what} of a {kind} report {problem}")]
    Value {
        kind: String,
        what: &'static str,
        problem: &'static str,
    },
}

impl Record {
    /// Reads one line, with or without its line feed; unknown keys are ignored.
    pub fn read_line(line: &[u8]) -> Result<Self, BadRecord> {
        let record: Self = serde_json::from_slice(line)?;
        if record.schema != RECORD_SCHEMA {
            return Err(BadRecord::Schema(record.schema.into_owned()));
        }
        Ok(record)
    }

    /// Exporter and arrival time, if the line has them.
    pub fn arrival(&self) -> Option<Arrival> {
        Some(Arrival {
            exporter: SocketAddr::new(self.exporter?, self.exporter_port?),
            received_ns: self.received_ns?,
        })
    }

    /// The name of the drop reason in the line, for its code alone.
    pub fn reported_reason(&self) -> Option<DropReasons> {
        let name = self.drop_reason_name.as_ref()?;
        let known = (self.metadata.drop_reason?, name.clone());
        (!name.chars().any(char::is_control)).then(|| DropReasons::from_iter([known]))
    }

    /// The report, equal in everything that records hold; the packet's bytes are not among it.
    pub fn report(&self) -> Result<Report, BadRecord> {
        let hw_id = HwId::new(self.hw_id);
        Ok(Report {
            sequence: self.report_seq,
            observation: Observation {
                hw_id: hw_id.ok_or_else(|| self.bad("hw_id", "needs more than 6 bits"))?,
                flags: Flags {
                    dropped: self.flags.dropped,
                    congested_queue: self.flags.congested_queue,
                    tracked_flow: self.flags.tracked_flow,
                    intermediate: self.flags.intermediate,
                },
                clock: self.clock()?,
                body: self.body()?,
            },
        })
    }

    fn clock(&self) -> Result<Option<ClockState>, BadRecord> {
        let source = match self.sink_clock.as_deref() {
            None => ClockSource::Unknown,
            Some("tai") => ClockSource::Tai,
            Some("realtime") => ClockSource::Realtime,
            Some("nic") => ClockSource::Nic,
            Some(_) => return Err(self.bad("sink_clock", "is not tai, realtime or nic")),
        };
        Ok(self.sink_clock_synchronised.map(|synchronised| ClockState {
            source,
            synchronised,
        }))
    }

    fn body(&self) -> Result<Body, BadRecord> {
        match self.kind.as_ref() {
            "latency" => self.latency().map(Body::Latency),
            "drop-summary" => self.drop_summary().map(Body::DropSummary),
            "flow-summary" | "group-summary" => {
                (self.summary()).map(|summary| Body::Summary(Box::new(summary)))
            }
            "host-drop" => self
                .host_drop()
                .map(|report| Body::HostDrop(Box::new(report))),
            "host-hop" => (self.host_hop()).map(|report| Body::FlowPassage(Box::new(report))),
            "queue" => (self.queue_episode()).map(|report| Body::Queue(Box::new(report))),
            "tcp" => (self.connection()).map(|report| Body::Connection(Box::new(report))),
            "packet" | "local" | "drop" | "intermediate" | "ethernet" => {
                Ok(Body::Packet(Box::new(self.packet_report())))
            }
            _ => Err(self.bad("kind", "is unknown")),
        }
    }

    fn latency(&self) -> Result<LatencyReport, BadRecord> {
        let (source, queue) = self.hop(self.source, "source")?;
        let (sink, _) = self.hop(self.sink, "sink")?;
        let between = self.transit.iter().map(Hop::from);
        // A stack of one hop is written both as source and as sink.
        let hops: Vec<_> = match self.latency_ns.flatten() {
            None => vec![sink],
            Some(_) => std::iter::once(sink)
                .chain(between)
                .chain(std::iter::once(source))
                .collect(),
        };
        let flow = self.flow.ok_or_else(|| self.bad("flow", "is missing"))?;
        Ok(LatencyReport {
            version: self.version,
            time_s: self.needed(self.report_time_s, "report_time_s")?,
            arrival_ns: self.arrival_ns,
            packet: match quoted(&flow) {
                Some(headers) if queue.is_none() && self.version == ReportVersion::V05 => {
                    ReportedPacket::Quoted {
                        reporter: self.reporter_node,
                        headers,
                    }
                }
                _ => ReportedPacket::Named { flow, queue },
            },
            hops: HopStack::newest_first(&hops)
                .ok_or_else(|| self.bad("transit", "is too long"))?,
            sequence: self.needed(self.seq, "seq")?,
        })
    }

    fn drop_summary(&self) -> Result<DropSummary, BadRecord> {
        let (source_node, source_port) = self.port(self.source)?;
        let (sink_node, sink_port) = self.port(self.sink)?;
        let gap = self.needed(self.gap, "gap")?;
        Ok(DropSummary {
            version: self.version,
            time_s: self.needed(self.report_time_s, "report_time_s")?,
            source_node,
            sink_node,
            source_port,
            sink_port,
            gap_time_s: gap.time_s,
            before_seq: gap.first_seq.wrapping_sub(1),
            count: gap.count,
            flow: self.needed(self.flow, "flow")?,
        })
    }

    fn host_drop(&self) -> Result<HostDropReport, BadRecord> {
        let drop = self.host_drop.as_deref();
        let mut drop = self.needed(drop.cloned(), "host_drop")?;
        // Lines may come from strangers, as datagrams may.
        for text in [
            &mut drop.reason.name,
            &mut drop.place,
            &mut drop.in_interface,
            &mut drop.out_interface,
        ] {
            *text = text.take().map(|text| printable(&text));
        }
        Ok(HostDropReport {
            time_s: self.needed(self.report_time_s, "report_time_s")?,
            node: self.needed(self.reporter_node, "reporter_node")?,
            drop,
        })
    }

    fn host_hop(&self) -> Result<FlowPassageReport, BadRecord> {
        let hop = self.host_hop.as_deref();
        let mut hop = self.needed(hop.cloned(), "host_hop")?;
        for text in [&mut hop.in_interface, &mut hop.out_interface] {
            *text = text.take().map(|text| printable(&text));
        }
        Ok(FlowPassageReport {
            time_s: self.needed(self.report_time_s, "report_time_s")?,
            node: self.needed(self.reporter_node, "reporter_node")?,
            hop,
        })
    }

    fn queue_episode(&self) -> Result<QueueReport, BadRecord> {
        let episode = self.queue_episode.as_deref();
        let mut episode = self.needed(episode.cloned(), "queue_episode")?;
        let name = episode.interface.take();
        episode.interface = name.map(|text| printable(&text));
        episode.flows.truncate(MOST_QUEUE_FLOWS);
        Ok(QueueReport {
            time_s: self.needed(self.report_time_s, "report_time_s")?,
            node: self.needed(self.reporter_node, "reporter_node")?,
            episode,
        })
    }

    fn connection(&self) -> Result<ConnectionReport, BadRecord> {
        let connection = self.connection.as_deref();
        let mut connection = self.needed(connection.cloned(), "connection")?;
        connection.class = connection.class.take().map(|class| printable(&class));
        Ok(ConnectionReport {
            time_s: self.needed(self.report_time_s, "report_time_s")?,
            node: self.needed(self.reporter_node, "reporter_node")?,
            connection,
        })
    }

    fn packet_report(&self) -> PacketReport {
        PacketReport {
            version: self.version,
            node: self.reporter_node,
            metadata: self.metadata.clone(),
            domain: self.domain,
            packet: self.frame_bytes.map(|length| Packet {
                first: FirstHeader::default(),
                length,
                bytes: Vec::new(),
                flow: self.flow,
                inner_flow: self.inner_flow,
                int: self.int.clone(),
            }),
            extensions: self.extensions.clone(),
            quirk: self.quirk,
        }
    }

    fn summary(&self) -> Result<Summary, BadRecord> {
        let missing = || self.bad("summary", "is missing");
        let reported = self.summary.as_deref().ok_or_else(missing)?;
        let (source_node, source_port) = self.port(self.source)?;
        let (sink_node, sink_port) = self.port(self.sink)?;
        let class = reported.class.as_deref().map(printable);
        Ok(Summary {
            time_s: self.needed(self.report_time_s, "report_time_s")?,
            period_ns: reported.period_ns,
            source_node,
            sink_node,
            subject: match self.flow {
                None => SummarySubject::Group { class },
                Some(flow) => SummarySubject::Flow {
                    flow,
                    source_port,
                    sink_port,
                },
            },
            totals: reported
                .totals()
                .map_err(|_| self.bad("summary", "has latencies that are no histogram"))?,
        })
    }

    fn hop(
        &self,
        end: Option<EndRecord>,
        what: &'static str,
    ) -> Result<(Hop, Option<crate::model::QueueDepth>), BadRecord> {
        match end {
            Some(EndRecord::Hop { hop, queue }) => Ok((Hop::from(&hop), queue)),
            _ => Err(self.bad(what, "is not a hop")),
        }
    }

    fn port(&self, end: Option<EndRecord>) -> Result<(NodeId, u16), BadRecord> {
        match end {
            Some(EndRecord::Port { node, port }) => Ok((node, port)),
            _ => Err(self.bad("source or sink", "is not a node and port")),
        }
    }

    fn needed<T>(&self, value: Option<T>, what: &'static str) -> Result<T, BadRecord> {
        value.ok_or_else(|| self.bad(what, "is missing"))
    }

    fn bad(&self, what: &'static str, problem: &'static str) -> BadRecord {
        BadRecord::Value {
            kind: self.kind.to_string(),
            what,
            problem,
        }
    }
}

/// Headers that hold nothing but the flow, if the flow can be quoted.
fn quoted(flow: &FlowKey) -> Option<QuotedHeaders> {
    let (src, dst) = match (flow.src, flow.dst) {
        (std::net::IpAddr::V4(src), std::net::IpAddr::V4(dst)) => (src, dst),
        _ => return None,
    };
    let transport = Transport::from_protocol(flow.protocol)?;
    if flow.vlans != Vlans::NONE {
        return None;
    }
    let mut ip = [0; 20];
    (ip[0], ip[9]) = (0x45, flow.protocol);
    ip[12..16].copy_from_slice(&src.octets());
    ip[16..].copy_from_slice(&dst.octets());
    let mut l4 = [0; 20];
    l4[..2].copy_from_slice(&flow.sport.to_be_bytes());
    l4[2..4].copy_from_slice(&flow.dport.to_be_bytes());
    QuotedHeaders::new(ip, &l4[..transport.quoted_bytes()]).ok()
}
