//! What a report costs in each version of Telemetry Report: bytes on the wire, and CPU time to make and send it.
//! `cargo bench --bench reports`.

use std::hint::black_box;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use hostint::collector::ReportListener;
use hostint::model::*;
use hostint::os::clock;
use hostint::report::{Builder, Destinations, Emitter, PROBE_PERIOD, ReportForm, rendezvous};
use hostint::wire::{report_standard, report_v05, report_v10, report_v20};

const ROUNDS: u32 = 7;
const REPORTS: u32 = 100_000;
const PROBES: u32 = 2_000;
/// Reports that one look at the ring finds.
const POLL: u32 = 100;

const IP_UDP: usize = 28;
const MTU: usize = 1500;

fn event(ipv6: bool, queue: bool, n: u32) -> SinkEvent {
    let (src, dst) = match ipv6 {
        false => ("192.0.2.1", "198.51.100.2"),
        true => ("2001:db8::1", "2001:db8:1::2"),
    };
    let hop = Hop {
        node: NodeId(1),
        ingress_port: 2,
        egress_port: 2,
        ingress_ts: n,
        egress_ts: n,
        queue: None,
    };
    SinkEvent::Latency(LatencyEvent {
        reasons: Reasons::default(),
        encapsulation: Encapsulation::OverTcpUdp,
        flow: FlowKey {
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            sport: n as u16,
            dport: 5001,
            protocol: 17,
            vlans: Vlans::NONE,
        },
        headers: (!ipv6 && !queue).then(|| quoted(n as u16)),
        source: hop,
        transit: Vec::new(),
        sink_port: 3,
        sink_ns: 1_700_000_000_000_000_000 + u64::from(n),
        by_nic: false,
        sequence: n,
        latency_ns: 1,
        queue: queue.then_some(QueueDepth {
            packets: 1,
            bytes: 1500,
        }),
    })
}

fn quoted(sport: u16) -> QuotedHeaders {
    let mut ip = [0; 20];
    (ip[0], ip[9]) = (0x45, 17);
    ip[12..16].copy_from_slice(&[192, 0, 2, 1]);
    ip[16..].copy_from_slice(&[198, 51, 100, 2]);
    let mut udp = [0; 8];
    udp[..2].copy_from_slice(&sport.to_be_bytes());
    udp[2..4].copy_from_slice(&5001_u16.to_be_bytes());
    QuotedHeaders::new(ip, &udp).unwrap()
}

fn observations(ipv6: bool, queue: bool) -> Vec<Observation> {
    let builder = Builder {
        sink_node: NodeId(2),
        node_id_word: true,
        host_int: false,
        packet_headers: true,
        clock: None,
    };
    (0..POLL)
        .map(|n| {
            builder
                .build(&event(ipv6, queue, n), 1_700_000_000_000_000_000)
                .unwrap()
        })
        .collect()
}

/// IP bytes of a report, its share of the datagram's headers included.
fn bytes(version: ReportVersion, observation: &Observation) -> f64 {
    let mut out = Vec::new();
    match version {
        ReportVersion::V05 => {
            let report = Report {
                sequence: 1,
                observation: observation.clone(),
            };
            report_v05::emit(&report, &mut out);
            (out.len() + IP_UDP) as f64
        }
        ReportVersion::V10 => {
            let packet = report_standard::v10(observation, 1).unwrap();
            report_v10::emit(observation, &packet, &mut out);
            (out.len() + IP_UDP) as f64
        }
        ReportVersion::V20 => {
            let packet = report_standard::v20(observation, 1).unwrap();
            report_v20::append(observation.flags, &packet, &mut out).unwrap();
            let around = IP_UDP + report_v20::GROUP_BYTES;
            let together = (MTU - around) / out.len();
            out.len() as f64 + around as f64 / together as f64
        }
    }
}

/// Nanoseconds to choose one of so many collectors for a report.
fn choice(collectors: u16, all: &[Observation]) -> f64 {
    let addresses = (0..collectors).map(|n| SocketAddr::from(([192, 0, 2, 1], 1 + n)));
    let identities: Vec<_> = addresses.map(rendezvous::identity).collect();
    let begin = Instant::now();
    for _ in 0..REPORTS / POLL {
        for observation in all {
            let key = rendezvous::key_of(black_box(observation));
            black_box(rendezvous::choose(key, identities.iter().copied()));
        }
    }
    begin.elapsed().as_nanos() as f64 / f64::from(REPORTS)
}

/// Nanoseconds of a probe: asked, answered and read, by loopback.
fn probe() -> f64 {
    let listener = ReportListener::bind(&["127.0.0.1:0".parse().unwrap()], 1).unwrap();
    let address = listener.local_addresses()[0];
    let _reception = listener.start(1 << 20, clock::realtime_ns).unwrap();
    let mut emitter = Emitter::new(Destinations {
        collectors: vec![address],
        spread: Some(NodeId(2)),
        ..Destinations::default()
    })
    .unwrap();
    let begin = Instant::now();
    let mut now = begin;
    for _ in 0..PROBES {
        now += PROBE_PERIOD;
        emitter.probe(now);
        while emitter.standings(now)[0].awaited {
            emitter.probe(now);
        }
    }
    begin.elapsed().as_nanos() as f64 / f64::from(PROBES)
}

/// Nanoseconds of a report: encoded only, and sent over loopback.
fn cost(version: ReportVersion, all: &[Observation], to: Option<SocketAddr>) -> f64 {
    let mut emitter = Emitter::new(Destinations {
        collectors: to.into_iter().collect(),
        form: ReportForm { version, dscp: 1 },
        ..Destinations::default()
    })
    .unwrap();
    let begin = Instant::now();
    for _ in 0..REPORTS / POLL {
        for observation in all {
            emitter.emit(observation.clone());
        }
        emitter.flush();
    }
    begin.elapsed().as_nanos() as f64 / f64::from(REPORTS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let versions = [
        ("v0.5", ReportVersion::V05),
        ("v1.0", ReportVersion::V10),
        ("v2.0", ReportVersion::V20),
    ];
    for (flow, ipv6, queue) in [
        ("UDP over IPv4", false, false),
        ("with the source's queue", false, true),
        ("UDP over IPv6", true, false),
    ] {
        let all = observations(ipv6, queue);
        for (name, version) in versions {
            println!(
                "{flow}, {name}: {:.1} bytes a report",
                bytes(version, &all[0])
            );
        }
    }
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = receiver.local_addr().unwrap();
    let all = observations(false, false);
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (times, (_, version)) in times.iter_mut().zip(versions) {
            times.push(cost(version, &all, Some(to)));
        }
    }
    let times = times.map(median);
    for ((name, _), time) in versions.iter().zip(times) {
        println!(
            "{name}, {POLL} reports a poll, sent over loopback: {time:.0} ns a report, {:.2} of v0.5",
            time / times[0]
        );
    }
    for collectors in [3, 16, 64] {
        let times = (0..ROUNDS).map(|_| choice(collectors, &all)).collect();
        let time = median(times);
        println!("one of {collectors} collectors is chosen: {time:.0} ns a report");
    }
    let times = (0..ROUNDS).map(|_| probe()).collect();
    println!(
        "a probe and its answer over loopback: {:.0} ns",
        median(times)
    );
}
