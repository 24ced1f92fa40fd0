//! Observations written as Telemetry Report v1.0 and v2.0 are read back, but for what the standard cannot say.

use hostint::model::*;
use hostint::wire::{report, report_standard, report_v10, report_v20};
use hostint_testing::golden::{decode, udp_payload};
use hostint_testing::random_reports::Random;

const DSCP: u8 = 0x01;

/// An observation as a sink makes it: of TCP or UDP, latency or loss.
fn observed(random: &mut Random) -> Observation {
    let mut flow = random.flow();
    flow.protocol = random.transport().protocol();
    let (flags, body) = match random.bool() {
        true => {
            let mut report = random.latency();
            match &mut report.packet {
                ReportedPacket::Named { flow: named, .. } => *named = flow,
                ReportedPacket::Quoted { .. } => {}
            }
            if random.bool() {
                report.hops = HopStack::over(random.hop(), &[], passed(random.hop()));
            }
            if random.bool() {
                let low = report.hops.sink().ingress_ts;
                report.arrival_ns = Some(random.next() >> 3 << 32 | u64::from(low));
            }
            (
                Flags {
                    tracked_flow: true,
                    ..Flags::default()
                },
                Body::Latency(report),
            )
        }
        false => {
            let summary = DropSummary {
                flow,
                ..random.drop_summary()
            };
            let flags = Flags {
                dropped: true,
                tracked_flow: true,
                ..Flags::default()
            };
            (flags, Body::DropSummary(summary))
        }
    };
    Observation {
        hw_id: HwId::default(),
        flags,
        clock: random.bool().then(|| random.clock()),
        body,
    }
}

/// A hop of a host, where a packet does not stay.
fn passed(hop: Hop) -> Hop {
    Hop {
        egress_ts: hop.ingress_ts,
        ..hop
    }
}

fn v20(observations: &[Observation], sequence: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for observation in observations {
        let individual = report_standard::v20(observation, DSCP).expect("v2.0 tells it");
        if out.is_empty() {
            report_v20::begin(HwId::default(), individual.node.unwrap(), &mut out);
        }
        report_v20::append(observation.flags, &individual, &mut out).unwrap();
    }
    report_v20::renumber(&mut out, sequence);
    out
}

/// What is left of it in v2.0: the quoted headers are lost, but for the flow.
fn as_v20(mut observation: Observation) -> Observation {
    match &mut observation.body {
        Body::Latency(report) => {
            report.version = ReportVersion::V20;
            report.packet = ReportedPacket::Named {
                flow: report.flow(),
                queue: report.queue(),
            };
        }
        Body::DropSummary(summary) => summary.version = ReportVersion::V20,
        _ => {}
    }
    observation
}

#[test]
fn an_observation_arrives_in_v20_but_for_the_headers_that_it_quoted() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..50_000 {
        let observation = observed(&mut random);
        let datagram = v20(std::slice::from_ref(&observation), round);
        assert_eq!(datagram.len() % 4, 0, "round {round}");
        let expected = Report {
            sequence: round,
            observation: as_v20(observation),
        };
        assert_eq!(decode(&datagram), Ok(expected), "round {round}");
    }
}

#[test]
fn the_queues_of_hops_arrive_in_v20_as_far_as_24_bits_go() {
    let mut random = Random(11);
    for round in 0..20_000 {
        let mut latency = random.passed();
        if let ReportedPacket::Named { flow, .. } = &mut latency.packet {
            flow.protocol = 17;
        }
        if round == 0 {
            let hops = [Hop {
                queue: Some(HopQueue::Bytes(u32::MAX - 1)),
                ..*latency.hops.source()
            }];
            latency.hops = HopStack::over(*latency.hops.source(), &hops, *latency.hops.sink());
        }
        let queues = |latency: &LatencyReport| -> Vec<Option<HopQueue>> {
            latency.hops.iter().map(|hop| hop.queue).collect()
        };
        let expected = match round {
            0 => vec![None, Some(HopQueue::Bytes(0x00ff_fffe)), None],
            _ => queues(&latency),
        };
        let observation = Observation {
            hw_id: HwId::default(),
            flags: Flags::default(),
            clock: None,
            body: Body::Latency(latency),
        };
        let told = decode(&v20(std::slice::from_ref(&observation), round)).expect("a report");
        let Body::Latency(told) = told.observation.body else {
            panic!("round {round}: no latency");
        };
        assert_eq!(queues(&told), expected, "round {round}");
    }
}

#[test]
fn a_group_brings_each_of_its_observations() {
    let mut random = Random(7);
    for round in 0..2_000_u32 {
        let sink = NodeId(random.u32());
        let observations: Vec<_> = (0..1 + random.u8() % 16)
            .map(|_| with_sink(observed(&mut random), sink))
            .collect();
        let group = report::decode(&v20(&observations, 0x3f_fff0 + round)).unwrap();
        assert_eq!(group.refused, []);
        assert_eq!((group.node, group.sequence_bits()), (Some(sink), 22));
        assert_eq!(
            group.sequence,
            (0x3f_fff0 + round) % (1 << 22),
            "numbers wrap"
        );
        let found = group.reports.into_iter().map(|report| report.observation);
        let expected = observations.into_iter().map(as_v20);
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

fn with_sink(mut observation: Observation, node: NodeId) -> Observation {
    match &mut observation.body {
        Body::Latency(report) => {
            let sink = Hop {
                node,
                ..*report.hops.sink()
            };
            report.hops = HopStack::over(*report.hops.source(), &[], sink);
            if let ReportedPacket::Quoted { reporter, .. } = &mut report.packet {
                *reporter = None;
            }
        }
        Body::DropSummary(summary) => summary.sink_node = node,
        _ => {}
    }
    observation
}

fn v10(observation: &Observation, sequence: u32) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    report_v10::emit(
        observation,
        &report_standard::v10(observation, DSCP)?,
        &mut out,
    );
    report_v10::renumber(&mut out, sequence);
    Some(out)
}

#[test]
fn v10_tells_flow_nodes_ports_and_timestamps_and_no_more() {
    let mut random = Random(0xdead_beef);
    for round in 0..50_000 {
        let observation = observed(&mut random);
        let datagram = v10(&observation, round);
        let Body::Latency(latency) = &observation.body else {
            assert_eq!(
                datagram, None,
                "v1.0 has no place for a number of lost packets"
            );
            continue;
        };
        let report = decode(&datagram.unwrap()).unwrap();
        assert_eq!(report.sequence, round);
        let seen = &report.observation;
        assert_eq!(seen.flags, observation.flags);
        assert_eq!(seen.clock, None, "v1.0 does not tell the clock");
        assert_eq!(seen.version(), ReportVersion::V10);
        assert_eq!(seen.flow(), observation.flow(), "round {round}");
        assert_eq!(seen.reporter(), Some(latency.hops.sink().node));
        assert_eq!(seen.latency_ns(), observation.latency_ns(), "round {round}");
        let Body::Packet(packet) = &seen.body else {
            panic!("{seen:?}");
        };
        let sink = latency.hops.sink();
        assert_eq!(packet.metadata.ingress_ts, Some(sink.ingress_ts.into()));
        let header = &packet.packet.as_ref().unwrap().int[0];
        assert_eq!(
            (header.version, header.kind),
            (IntVersion::V10, IntType::Md)
        );
        let stays = latency
            .hops
            .iter()
            .any(|hop| hop.egress_ts != hop.ingress_ts);
        for (index, (hop, told)) in latency.hops.iter().zip(&header.hops).enumerate() {
            let queue = latency.queue().filter(|_| index == 1);
            let expected = Metadata {
                node: Some(hop.node),
                ingress_port: Some(hop.ingress_port),
                egress_port: Some(hop.egress_port),
                ingress_ts: Some(hop.ingress_ts.into()),
                egress_ts: stays.then_some(hop.egress_ts.into()),
                queue_id: queue.map(|_| 0),
                queue_occupancy: queue.map(|queue| queue.packets),
                ..Metadata::default()
            };
            assert_eq!(*told, expected, "round {round}");
        }
    }
}

#[test]
fn a_latency_report_of_v20_has_both_hops_for_any_collector() {
    let mut random = Random(3);
    let mut observation = observed(&mut random);
    while !matches!(observation.body, Body::Latency(_)) {
        observation = observed(&mut random);
    }
    let Body::Latency(latency) = &mut observation.body else {
        return;
    };
    let arrival_ns = 1_700_000_000_987_654_321;
    latency.arrival_ns = Some(arrival_ns);
    let sink = passed(Hop {
        ingress_ts: arrival_ns as u32,
        ..random.hop()
    });
    let source = passed(Hop {
        ingress_ts: (arrival_ns as u32).wrapping_sub(52_000),
        ..random.hop()
    });
    latency.hops = HopStack::over(source, &[], sink);
    // Another domain's words: what is hostint's own is not understood.
    let mut datagram = v20(&[observation], 1);
    datagram[14] = 0x77;
    let Body::Packet(packet) = decode(&datagram).unwrap().observation.body else {
        panic!("taken for hostint's");
    };
    assert_eq!(packet.latency_ns(), Some(52_000));
    assert_eq!(packet.path(), [source.node, sink.node]);
    assert_eq!(packet.metadata.ingress_ts, Some(arrival_ns));
    let hops = &packet.packet.as_ref().unwrap().int[0].hops;
    let times: Vec<_> = hops.iter().map(|hop| hop.ingress_ts).collect();
    assert_eq!(
        times,
        [Some(arrival_ns), Some(arrival_ns - 52_000)],
        "all 64 bits"
    );
}

#[test]
fn a_time_that_is_told_in_32_bits_is_completed_by_when_the_report_was_made() {
    let mut random = Random(5);
    for (sentence, before_ns) in [
        ("just now", 1_000_i64),
        ("three seconds ago", 3_000_000_000),
        ("in the same second, later", -900_000_000),
    ] {
        let made_ns: i64 = 1_700_000_000_950_000_000;
        let arrival = (made_ns - before_ns) as u64;
        let mut report = random.latency();
        report.time_s = (made_ns / 1_000_000_000) as u32;
        report.arrival_ns = None;
        let sink = passed(Hop {
            ingress_ts: arrival as u32,
            ..random.hop()
        });
        report.hops = HopStack::over(passed(random.hop()), &[], sink);
        let observation = Observation {
            hw_id: HwId::default(),
            flags: Flags::default(),
            clock: None,
            body: Body::Latency(report),
        };
        let individual = report_standard::v20(&observation, DSCP);
        let Some(mut individual) = individual else {
            continue;
        };
        individual.domain = None;
        let mut out = Vec::new();
        report_v20::begin(HwId::default(), NodeId(1), &mut out);
        report_v20::append(Flags::default(), &individual, &mut out).unwrap();
        let Body::Packet(packet) = decode(&out).unwrap().observation.body else {
            panic!("{sentence}");
        };
        let hops = &packet.packet.as_ref().unwrap().int[0].hops;
        assert_eq!(hops[0].ingress_ts, Some(arrival), "{sentence}");
    }
}

#[test]
fn what_the_standard_cannot_tell_is_left_to_v05() {
    let mut random = Random(11);
    for (sentence, change) in [
        (
            "a protocol without INT",
            (|flow| flow.protocol = 132) as fn(&mut FlowKey),
        ),
        ("addresses of two families", |flow| {
            flow.src = "192.0.2.1".parse().unwrap();
            flow.dst = "2001:db8::1".parse().unwrap();
        }),
    ] {
        let mut flow = FlowKey {
            protocol: 17,
            ..random.flow()
        };
        change(&mut flow);
        let bodies = [
            Body::DropSummary(DropSummary {
                flow,
                ..random.drop_summary()
            }),
            Body::Latency(LatencyReport {
                packet: ReportedPacket::Named { flow, queue: None },
                ..random.latency()
            }),
        ];
        for body in bodies {
            let observation = Observation {
                body,
                ..observed(&mut random)
            };
            assert_eq!(report_standard::v20(&observation, DSCP), None, "{sentence}");
            assert_eq!(report_standard::v10(&observation, DSCP), None, "{sentence}");
        }
    }
}

/// Reports of others that have no extensions, and whose packets are whole words.
const OF_OTHERS: [&str; 7] = [
    "tr10_drop",
    "tr10_flow_int10",
    "tr20_baseline_ipv4",
    "tr20_coalesced",
    "tr20_drop",
    "tr20_intermediate",
    "tr20_mx_export",
];

#[test]
fn golden_reports_of_others_are_emitted_as_they_were_read() {
    for name in OF_OTHERS {
        let bytes = udp_payload(name);
        let group = report::decode(&bytes).unwrap();
        let mut out = Vec::new();
        for report in &group.reports {
            let Body::Packet(packet) = &report.observation.body else {
                panic!("{name}");
            };
            match packet.version {
                ReportVersion::V10 => {
                    report_v10::emit(&report.observation, packet, &mut out);
                    report_v10::renumber(&mut out, group.sequence);
                }
                _ => {
                    if out.is_empty() {
                        report_v20::begin(group.hw_id, group.node.unwrap(), &mut out);
                        report_v20::renumber(&mut out, group.sequence);
                    }
                    report_v20::append(report.observation.flags, packet, &mut out).unwrap();
                }
            }
        }
        assert_eq!(out, bytes, "{name}");
    }
}

#[test]
fn any_flow_over_udp_is_read_back_though_its_port_be_a_tunnels() {
    let mut random = Random(17);
    for port in [4789, 8472, 4790, 6081, 2152, 51966, 33122] {
        let mut report = random.latency();
        report.version = ReportVersion::V20;
        let flow = FlowKey {
            protocol: 17,
            dport: port,
            ..random.flow()
        };
        report.packet = ReportedPacket::Named { flow, queue: None };
        let observation = Observation {
            body: Body::Latency(report),
            ..observed(&mut random)
        };
        let seen = decode(&v20(std::slice::from_ref(&observation), 1)).unwrap();
        assert_eq!(seen.observation, observation, "port {port}");
        let seen = decode(&v10(&observation, 1).unwrap()).unwrap().observation;
        assert_eq!(seen.flow(), Some(flow), "port {port}");
        assert_eq!(seen.latency_ns(), observation.latency_ns(), "port {port}");
    }
}

/// The name of a golden report, what it tells, and how it is made.
type Golden = (&'static str, Observation, fn(&Observation) -> Vec<u8>);

fn golden() -> [Golden; 3] {
    let arrival_ns = 1_700_000_000_987_654_321;
    let hop = |node, port, ns: u64| Hop {
        node: NodeId(node),
        ingress_port: port,
        egress_port: port,
        ingress_ts: ns as u32,
        egress_ts: ns as u32,
        queue: None,
    };
    let flow = FlowKey {
        src: "2001:db8::1".parse().unwrap(),
        dst: "2001:db8:1::2".parse().unwrap(),
        sport: 40000,
        dport: 5001,
        protocol: 17,
        vlans: Vlans {
            outer: 100,
            inner: 7,
        },
    };
    let tcp = FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 49152,
        dport: 80,
        protocol: 6,
        vlans: Vlans::NONE,
    };
    let latency = |flow, queue| LatencyReport {
        version: ReportVersion::V20,
        time_s: 1_700_000_001,
        arrival_ns: Some(arrival_ns),
        packet: ReportedPacket::Named { flow, queue },
        hops: HopStack::over(
            hop(2, 13, arrival_ns - 254_321),
            &[],
            hop(3, 12, arrival_ns),
        ),
        sequence: 42,
    };
    let queue = QueueDepth {
        packets: 12,
        bytes: 18_000,
    };
    let loss = DropSummary {
        version: ReportVersion::V20,
        time_s: 1_700_000_001,
        source_node: NodeId(2),
        sink_node: NodeId(3),
        source_port: 13,
        sink_port: 12,
        gap_time_s: 1_700_000_000,
        before_seq: 41,
        count: 5,
        flow: tcp,
    };
    let observation = |dropped, body| Observation {
        hw_id: HwId::default(),
        flags: Flags {
            dropped,
            tracked_flow: true,
            ..Flags::default()
        },
        clock: Some(ClockState {
            source: ClockSource::Tai,
            synchronised: true,
        }),
        body,
    };
    [
        (
            "hostint_report_v20_udp6",
            observation(false, Body::Latency(latency(flow, Some(queue)))),
            |seen| v20(std::slice::from_ref(seen), 1),
        ),
        (
            "hostint_drop_summary_v20_tcp",
            observation(true, Body::DropSummary(loss)),
            |seen| v20(std::slice::from_ref(seen), 2),
        ),
        (
            "hostint_report_v10_tcp",
            observation(false, Body::Latency(latency(tcp, None))),
            |seen| v10(seen, 1).unwrap(),
        ),
    ]
}

#[test]
fn golden_observations_become_golden_reports() {
    for (name, observation, emit) in golden() {
        let bytes = emit(&observation);
        assert_eq!(bytes, udp_payload(name), "{name}");
        let seen = decode(&bytes).unwrap().observation;
        match name.contains("v20") {
            true => assert_eq!(seen, observation, "{name}"),
            false => assert_eq!(seen.latency_ns(), Some(254_321), "{name}"),
        }
    }
}
