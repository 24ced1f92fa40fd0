//! Parcels of reports that tests make up, and an engine that takes them.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use hostint::engines::ipfix::{Ipfix, IpfixSettings, MessageTransport};
use hostint::engines::{Engine, FedBatch, FedReport, Parcel, RunId};
use hostint::model::*;
use hostint_testing::fed_reports::numbered;
use hostint_testing::report_samples::of_body as report;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::RcvBufForce;

use super::decoder::Session;
use super::listeners::datagrams;

pub const TIME_NS: u64 = 1_800_000_000_000_000_000;
pub const RUN: RunId = RunId(0x0123_4567_89ab_cdef);

pub fn entry(number: u64, report: Report, received_ns: u64) -> FedReport {
    let arrival = Arrival {
        exporter: "192.0.2.1:40000".parse().unwrap(),
        received_ns,
    };
    numbered(number, report, Some(arrival))
}

pub fn parcel(number: u64, entries: Vec<FedReport>) -> Parcel {
    let bytes = 100 * entries.len();
    let batch = FedBatch {
        run: RUN,
        entries,
        bytes,
    };
    Parcel::of(number, batch)
}

pub fn flow(src: &str, dst: &str) -> FlowKey {
    FlowKey {
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        sport: 40_000,
        dport: 443,
        protocol: 6,
        vlans: Vlans::NONE,
    }
}

pub fn flow4() -> FlowKey {
    flow("10.0.0.1", "10.0.0.2")
}

pub fn latency(flow: FlowKey, ns: i32) -> Report {
    let hop = |node, ts: u32| Hop {
        node: NodeId(node),
        ingress_port: 1,
        egress_port: 2,
        ingress_ts: ts,
        egress_ts: ts,
        queue: None,
    };
    let sink_ts: u32 = 5_000_000;
    report(Body::Latency(LatencyReport {
        version: ReportVersion::V05,
        arrival_ns: None,
        time_s: 1_800_000_000,
        packet: ReportedPacket::Named { flow, queue: None },
        hops: HopStack::over(
            hop(1, sink_ts.wrapping_sub(ns.cast_unsigned())),
            &[],
            hop(2, sink_ts),
        ),
        sequence: 7,
    }))
}

pub fn loss(flow: FlowKey, count: u32) -> Report {
    report(Body::DropSummary(DropSummary {
        version: ReportVersion::V05,
        time_s: 1_800_000_000,
        source_node: NodeId(1),
        sink_node: NodeId(2),
        source_port: 1,
        sink_port: 2,
        gap_time_s: 1_800_000_000,
        before_seq: 7,
        count,
        flow,
    }))
}

pub fn summary(flow: FlowKey, epoch_ns: u64, packets: u64, bytes: u64) -> Report {
    report(Body::Summary(Box::new(Summary {
        time_s: 1_800_000_000,
        period_ns: 10_000_000_000,
        source_node: NodeId(1),
        sink_node: NodeId(2),
        subject: SummarySubject::Flow {
            flow,
            source_port: 1,
            sink_port: 2,
        },
        totals: SubjectTotals {
            epoch_ns,
            packets,
            bytes,
            ..SubjectTotals::default()
        },
    })))
}

/// An engine that sends to a socket of the test.
pub struct Sending {
    pub engine: Ipfix,
    pub socket: UdpSocket,
    pub session: Session,
    pub messages: Vec<Vec<u8>>,
}

pub fn settings(collector: SocketAddr, transport: MessageTransport) -> IpfixSettings {
    IpfixSettings {
        collector: collector.to_string(),
        transport,
        domain: 9,
        interval: Duration::from_millis(100),
        queue: 64 << 20,
    }
}

impl Sending {
    pub fn new() -> Self {
        Self::to("127.0.0.1".parse().unwrap())
    }

    pub fn to(address: IpAddr) -> Self {
        let socket = UdpSocket::bind((address, 0)).unwrap();
        let settings = settings(socket.local_addr().unwrap(), MessageTransport::Udp);
        Self {
            engine: Ipfix::new(settings),
            socket,
            session: Session::default(),
            messages: Vec::new(),
        }
    }

    /// Room for a large parcel, which waits in the socket until it is read. Needs root.
    pub fn make_room(&self) {
        setsockopt(&self.socket, RcvBufForce, &(64 << 20)).unwrap();
    }

    /// Has a parcel delivered; gives how many reports were refused.
    pub fn deliver(&mut self, parcel: &Parcel) -> usize {
        let accepted = self.engine.deliver(parcel).unwrap();
        for message in datagrams(&self.socket) {
            self.session.read(&message);
            self.messages.push(message);
        }
        accepted.refused
    }
}
