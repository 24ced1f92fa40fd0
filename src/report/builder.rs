//! The builder: it makes a report's content from a sink event.

use crate::model::{
    Body, ClockSource, ClockState, DropSummary, Encapsulation, Flags, Hop, HopStack, LatencyEvent,
    LatencyReport, LossEvent, NodeId, Observation, ReportVersion, ReportedPacket, SinkEvent,
    Subsystem, Summary, SummaryEvent, Vlans,
};
use crate::wire::summary_totals;

/// The ToS bit of DSCP value 1. Host-INT sets it in reports about extension-udp packets, even if its configuration
/// names another DSCP value.
const DEFAULT_DSCP_TOS: u8 = 0x04;

const NS_PER_S: u64 = 1_000_000_000;

/// The values that a report takes from the sink rather than from the event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Builder {
    /// The sink's own node ID.
    pub sink_node: NodeId,
    /// Latency reports carry the sink's node ID behind the report header, as Host-INT's do by default.
    pub node_id_word: bool,
    /// Latency reports of v0.5 quote the packet's headers.
    pub packet_headers: bool,
    /// Reports are for programs of Host-INT, whose latency report has no room for a queue's depth.
    pub host_int: bool,
    /// The present state of the sink's clock, if it is known.
    pub clock: Option<ClockState>,
}

impl Builder {
    /// Returns the observation to report at `now_ns` since the Unix epoch.
    ///
    /// Returns `None` for a gap, which is not reported until its packets count as lost.
    pub fn build(&self, event: &SinkEvent, now_ns: u64) -> Option<Observation> {
        let (body, dropped) = match event {
            SinkEvent::Latency(event) => (Body::Latency(self.latency(event, now_ns)), false),
            SinkEvent::Loss(event) => (Body::DropSummary(self.loss(event, now_ns)), true),
            SinkEvent::Gap(_) => return None,
        };
        let mut observation = self.observation(body, dropped);
        if let SinkEvent::Latency(event) = event {
            observation.clock = self.clock(event.by_nic);
            observation.flags.intermediate = event.reasons.sample;
        }
        Some(observation)
    }

    /// Returns totals to report at `now_ns` since the Unix epoch, in parts that fit into datagrams.
    pub fn summary(&self, event: &SummaryEvent, now_ns: u64) -> Vec<Observation> {
        let summary = Summary {
            time_s: whole_seconds(now_ns),
            period_ns: event.period_ns,
            source_node: event.source_node,
            sink_node: self.sink_node,
            subject: event.subject.clone(),
            totals: event.totals.clone(),
        };
        let parts = summary_totals::parts(&summary).into_iter();
        parts
            .map(|part| self.observation(Body::Summary(Box::new(part)), false))
            .collect()
    }

    fn observation(&self, body: Body, dropped: bool) -> Observation {
        Observation {
            hw_id: Subsystem::Int.into(),
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

    /// Returns the clock that stamped the packet. The card's clock counts as synchronised if the host's is: nothing
    /// tells the card's state, but it was close to the host's clock.
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
        // A metadata stack has the low 32 bits of timestamps.
        let arrival_ts = event.sink_ns as u32;
        let sink = Hop {
            node: self.sink_node,
            ingress_port: event.sink_port,
            egress_port: event.sink_port,
            ingress_ts: arrival_ts,
            egress_ts: arrival_ts,
            queue: None,
        };
        let mut transit = event.transit.clone();
        if self.host_int {
            transit.iter_mut().for_each(|hop| hop.queue = None);
        }
        LatencyReport {
            version: ReportVersion::V05,
            time_s: whole_seconds(now_ns),
            arrival_ns: Some(event.sink_ns),
            packet: self.packet(event),
            hops: HopStack::over(event.source, &transit, sink),
            sequence: event.sequence,
        }
    }

    /// Quotes the packet's headers, as Host-INT does, unless they are not to be reported, or the report has to name
    /// VLANs or queues.
    fn packet(&self, event: &LatencyEvent) -> ReportedPacket {
        let queue = event.queue.filter(|_| !self.host_int);
        let sends_hops = !self.host_int && event.transit.iter().any(|hop| hop.queue.is_some());
        match event.headers.filter(|_| self.packet_headers) {
            Some(headers) if event.flow.vlans == Vlans::NONE && queue.is_none() && !sends_hops => {
                ReportedPacket::Quoted {
                    reporter: self.node_id_word.then_some(self.sink_node),
                    headers: match event.encapsulation {
                        Encapsulation::OverTcpUdp
                        | Encapsulation::VxlanGpe
                        | Encapsulation::IntMd
                        | Encapsulation::Ioam
                        | Encapsulation::Options => headers,
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

/// Returns seconds in 32 bits, which overflow in 2106.
fn whole_seconds(ns: u64) -> u32 {
    (ns / NS_PER_S) as u32
}
