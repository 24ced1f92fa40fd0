//! Makes a report's content from a sink event.

use crate::model::{
    Body, ClockSource, ClockState, DropSummary, Encapsulation, Flags, FlowSummary, Hop, HopStack,
    HwId, LatencyEvent, LatencyReport, LossEvent, NodeId, Observation, ReportVersion,
    ReportedPacket, SinkEvent, SummaryEvent, Vlans,
};

/// The ToS bit of DSCP value 1, which Host-INT forces on in reports about extension-udp packets,
/// whatever DSCP its configuration says.
const DEFAULT_DSCP_TOS: u8 = 0x04;

const NS_PER_S: u64 = 1_000_000_000;

/// What a report says besides its event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Builder {
    /// The sink's own node ID.
    pub sink_node: NodeId,
    /// Whether latency reports carry the sink's node ID behind the report header, as Host-INT's
    /// do by default.
    pub node_id_word: bool,
    /// Whether reports are for programs of Host-INT, whose latency report has no room for a queue's depth.
    pub host_int: bool,
    /// The clock of the sink's host at present, if known.
    pub clock: Option<ClockState>,
}

impl Builder {
    /// The observation to report, at `now_ns` since the Unix epoch.
    ///
    /// `None` for a gap, which is no news yet.
    pub fn build(&self, event: &SinkEvent, now_ns: u64) -> Option<Observation> {
        let (body, dropped, by_nic) = match event {
            SinkEvent::Latency(event) => {
                let body = Body::Latency(self.latency(event, now_ns));
                (body, false, event.by_nic)
            }
            SinkEvent::Loss(event) => (Body::DropSummary(self.loss(event, now_ns)), true, false),
            SinkEvent::Gap(_) => return None,
        };
        Some(Observation {
            clock: self.clock(by_nic),
            ..self.observation(body, dropped)
        })
    }

    /// A flow's totals to report, at `now_ns` since the Unix epoch.
    pub fn summary(&self, event: &SummaryEvent, now_ns: u64) -> Observation {
        let summary = FlowSummary {
            time_s: whole_seconds(now_ns),
            source_node: event.source_node,
            sink_node: self.sink_node,
            source_port: event.source_port,
            sink_port: event.sink_port,
            flow: event.flow,
            totals: event.totals,
        };
        self.observation(Body::FlowSummary(Box::new(summary)), false)
    }

    fn observation(&self, body: Body, dropped: bool) -> Observation {
        Observation {
            hw_id: HwId::default(),
            flags: Flags {
                dropped,
                congested_queue: false,
                tracked_flow: true,
                intermediate: false,
            },
            clock: self.clock,
            body,
        }
    }

    /// The network card stamped this packet itself. Whether its clock is synchronised, nobody says: it is near the
    /// host's.
    fn clock(&self, by_nic: bool) -> Option<ClockState> {
        self.clock.map(|clock| ClockState {
            source: if by_nic {
                ClockSource::Nic
            } else {
                clock.source
            },
            ..clock
        })
    }

    fn latency(&self, event: &LatencyEvent, now_ns: u64) -> LatencyReport {
        // The low 32 bits, as everywhere in a stack.
        let arrival_ts = event.sink_ns as u32;
        let sink = Hop {
            node: self.sink_node,
            ingress_port: event.sink_port,
            egress_port: event.sink_port,
            ingress_ts: arrival_ts,
            egress_ts: arrival_ts,
        };
        LatencyReport {
            version: ReportVersion::V05,
            time_s: whole_seconds(now_ns),
            arrival_ns: Some(event.sink_ns),
            packet: self.packet(event),
            hops: HopStack::between(event.source, sink),
            sequence: event.sequence,
        }
    }

    /// Host-INT's form, unless there is something that it cannot say.
    fn packet(&self, event: &LatencyEvent) -> ReportedPacket {
        let queue = event.queue.filter(|_| !self.host_int);
        match event.headers {
            Some(headers) if event.flow.vlans == Vlans::NONE && queue.is_none() => {
                ReportedPacket::Quoted {
                    reporter: self.node_id_word.then_some(self.sink_node),
                    headers: match event.encapsulation {
                        Encapsulation::OverTcpUdp | Encapsulation::VxlanGpe => headers,
                        Encapsulation::ExtensionUdp => headers.relabelled(DEFAULT_DSCP_TOS),
                    },
                }
            }
            _ => ReportedPacket::Named {
                flow: event.flow,
                queue,
            },
        }
    }

    fn loss(&self, event: &LossEvent, now_ns: u64) -> DropSummary {
        DropSummary {
            version: ReportVersion::V05,
            time_s: whole_seconds(now_ns),
            source_node: event.source_node,
            sink_node: self.sink_node,
            source_port: event.source_port,
            sink_port: event.sink_port,
            gap_time_s: whole_seconds(event.before_ns),
            before_seq: event.before_seq,
            count: event.count,
            flow: event.flow,
        }
    }
}

/// Seconds since the Unix epoch in 32 bits, which wrap in 2106.
fn whole_seconds(ns: u64) -> u32 {
    (ns / NS_PER_S) as u32
}
