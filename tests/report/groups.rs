//! Reports of v1.0 and v2.0 are numbered and grouped into datagrams, and each is counted.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use hostint::collector::{Exporters, ReportGroup, decode};
use hostint::model::*;
use hostint::report::{Builder, Destinations, Emitter, ReportForm};
use hostint_testing::random_reports::Random;

const NOW_NS: u64 = 1_700_000_000_987_654_321;

const BUILDER: Builder = Builder {
    sink_node: NodeId(3),
    node_id_word: true,
    packet_headers: true,
    host_int: false,
    clock: None,
};

fn flow(random: &mut Random) -> FlowKey {
    FlowKey {
        protocol: random.transport().protocol(),
        ..random.flow()
    }
}

fn latency(random: &mut Random) -> Observation {
    let sink_ns = NOW_NS - u64::from(random.u32() >> 8);
    let event = LatencyEvent {
        reasons: Reasons::default(),
        encapsulation: Encapsulation::OverTcpUdp,
        flow: flow(random),
        headers: None,
        source: random.hop(),
        transit: Vec::new(),
        sink_port: random.u16(),
        sink_ns,
        by_nic: false,
        sequence: random.u32(),
        latency_ns: 1,
        queue: random.bool().then(|| random.queue()),
    };
    BUILDER.build(&SinkEvent::Latency(event), NOW_NS).unwrap()
}

fn loss(random: &mut Random) -> Observation {
    let event = LossEvent {
        flow: flow(random),
        source_node: NodeId(random.u32()),
        source_port: random.u16(),
        sink_port: random.u16(),
        before_ns: NOW_NS,
        before_seq: random.u32(),
        count: random.u32(),
    };
    BUILDER.build(&SinkEvent::Loss(event), NOW_NS).unwrap()
}

/// Latency and loss, mixed.
fn observations(count: usize) -> Vec<Observation> {
    let mut random = Random(99);
    (0..count)
        .map(|_| match random.u8() % 4 {
            0 => loss(&mut random),
            _ => latency(&mut random),
        })
        .collect()
}

fn emitter(version: ReportVersion, collectors: &[SocketAddr]) -> Emitter {
    Emitter::new(Destinations {
        collectors: collectors.to_vec(),
        form: ReportForm { version, dscp: 1 },
        ..Destinations::default()
    })
    .unwrap()
}

fn socket(address: &str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// The next datagrams.
fn receive(socket: &UdpSocket, count: u64) -> Vec<Vec<u8>> {
    let mut buffer = vec![0; 65_536];
    (0..count)
        .map(|number| {
            let received = socket.recv(&mut buffer);
            let length = received.unwrap_or_else(|e| panic!("datagram {number} of {count}: {e}"));
            buffer[..length].to_vec()
        })
        .collect()
}

fn groups(datagrams: &[Vec<u8>]) -> Vec<ReportGroup> {
    datagrams
        .iter()
        .map(|bytes| decode(bytes).unwrap())
        .collect()
}

/// From there, when does not matter.
fn arrival(exporter: SocketAddr) -> Arrival {
    Arrival {
        exporter,
        received_ns: 0,
    }
}

/// The observation as v2.0 tells it.
fn as_v20(mut observation: Observation) -> Observation {
    match &mut observation.body {
        Body::Latency(report) => report.version = ReportVersion::V20,
        Body::DropSummary(summary) => summary.version = ReportVersion::V20,
        _ => {}
    }
    observation
}

#[test]
fn reports_of_v20_fill_datagrams_and_leave_with_the_flush() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let (socket, to) = socket(address);
        let mut emitter = emitter(ReportVersion::V20, &[to]);
        let all = observations(500);
        for observation in &all {
            emitter.emit(observation.clone());
        }
        let before = emitter.counts();
        assert!(before.sent < 500, "{address}: the last ones wait");
        emitter.flush();
        emitter.flush();
        let counts = emitter.counts();
        assert_eq!((counts.sent, counts.lost), (500, 0), "{address}");
        assert_eq!(counts.datagrams.lost, 0);
        let datagrams = receive(&socket, counts.datagrams.sent);
        let (last, full) = datagrams.split_last().unwrap();
        assert!(full.len() >= 2 && last.len() <= 8972, "{address}");
        for datagram in full {
            assert!(
                (8972 - 256..=8972).contains(&datagram.len()),
                "{}",
                datagram.len()
            );
        }
        let groups = groups(&datagrams);
        let numbers: Vec<_> = groups.iter().map(|group| group.sequence).collect();
        assert_eq!(
            numbers,
            (1..=counts.datagrams.sent as u32).collect::<Vec<_>>()
        );
        let found: Vec<_> = groups
            .into_iter()
            .flat_map(|group| group.reports)
            .map(|report| report.observation)
            .collect();
        let expected: Vec<_> = all.into_iter().map(as_v20).collect();
        assert_eq!(found, expected, "{address}: each once, in order");
    }
}

#[test]
fn a_datagram_that_is_lost_loses_its_reports_and_one_number() {
    let (socket, to) = socket("127.0.0.1:0");
    let nowhere: SocketAddr = "255.255.255.255:9".parse().unwrap();
    let mut emitter = emitter(ReportVersion::V20, &[nowhere, to]);
    let mut exporters = Exporters::default();
    for (round, count) in [(1, 7), (2, 5)] {
        for observation in observations(count) {
            emitter.emit(observation);
        }
        emitter.flush();
        for group in groups(&receive(&socket, 1)) {
            assert_eq!((group.sequence, group.reports.len()), (round, count));
            exporters.received(arrival(to), &group);
        }
    }
    let counts = emitter.counts();
    let of = |index: usize| {
        let to = &counts.collectors[index];
        (
            to.sent,
            to.lost,
            to.lost_by_cause.total(),
            to.datagrams.sent,
            to.datagrams.lost,
        )
    };
    assert_eq!(of(0), (0, 12, 12, 0, 2), "reports and datagrams apart");
    assert_eq!(of(1), (12, 0, 0, 2, 0));
    assert_eq!((counts.sent, counts.lost), (12, 12));
    assert_eq!((counts.datagrams.sent, counts.datagrams.lost), (2, 2));
    let seen = exporters.counts();
    assert_eq!(
        (seen.reports, seen.numbers.lost),
        (12, 0),
        "the receiver's side"
    );
}

#[test]
fn v10_tells_losses_as_v05_with_numbers_of_their_own() {
    let (socket, to) = socket("127.0.0.1:0");
    let mut emitter = emitter(ReportVersion::V10, &[to]);
    let all = observations(60);
    for observation in &all {
        emitter.emit(observation.clone());
    }
    emitter.flush();
    assert_eq!(emitter.counts().datagrams.sent, 60, "one report each");
    let mut exporters = Exporters::default();
    let mut next = [1, 1];
    for (datagram, observation) in receive(&socket, 60).iter().zip(&all) {
        let group = decode(datagram).unwrap();
        exporters.received(arrival(to), &group);
        let seen = &group.reports[0].observation;
        let is_loss = matches!(observation.body, Body::DropSummary(_));
        let version = if is_loss {
            ReportVersion::V05
        } else {
            ReportVersion::V10
        };
        assert_eq!(seen.version(), version);
        let number = &mut next[usize::from(is_loss)];
        assert_eq!(group.sequence, *number);
        *number += 1;
        assert_eq!(seen.flow(), observation.flow());
        assert_eq!(seen.latency_ns(), observation.latency_ns());
        match is_loss {
            true => assert_eq!(seen, observation),
            false => assert_eq!(seen.reporter(), Some(NodeId(3))),
        }
    }
    assert_eq!(
        exporters.counts().numbers.lost,
        0,
        "no gap in either numbering"
    );
}

#[test]
fn senders_of_packets_get_v05_whatever_collectors_get() {
    for version in [ReportVersion::V10, ReportVersion::V20] {
        let (collector, to) = socket("127.0.0.1:0");
        let (sender, back) = socket("127.0.0.2:0");
        let mut emitter = Emitter::new(Destinations {
            collectors: vec![to],
            form: ReportForm { version, dscp: 1 },
            report_to_sender: Some(back.port()),
            ..Destinations::default()
        })
        .unwrap();
        let mut observation = latency(&mut Random(1));
        if let Body::Latency(report) = &mut observation.body
            && let ReportedPacket::Named { flow, .. } = &mut report.packet
        {
            (flow.src, flow.dst) = (back.ip(), to.ip());
        }
        emitter.emit(observation);
        emitter.flush();
        let versions = [&collector, &sender].map(|socket| receive(socket, 1)[0][0] >> 4);
        assert_eq!(
            versions,
            [if version == ReportVersion::V10 { 1 } else { 2 }, 0]
        );
        let counts = emitter.counts();
        assert_eq!((counts.sent, counts.datagrams.sent), (2, 2));
    }
}

#[test]
fn another_emitter_sends_what_waited_and_goes_on_in_each_numbering() {
    let (socket, to) = socket("127.0.0.1:0");
    let mut current = emitter(ReportVersion::V20, &[to]);
    let mut sent = Vec::new();
    for version in [
        ReportVersion::V20,
        ReportVersion::V05,
        ReportVersion::V10,
        ReportVersion::V20,
    ] {
        let mut next = emitter(version, &[to]);
        next.inherit(current);
        current = next;
        current.emit(latency(&mut Random(4)));
        sent.push(version);
    }
    current.flush();
    let found: Vec<_> = groups(&receive(&socket, 4))
        .iter()
        .map(|group| (group.reports[0].observation.version(), group.sequence))
        .collect();
    let expected: Vec<_> = sent.into_iter().zip([1, 1, 1, 2]).collect();
    assert_eq!(found, expected);
    let counts = current.counts();
    assert_eq!((counts.sent, counts.datagrams.sent), (4, 4));
}
