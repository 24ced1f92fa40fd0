//! Reports as JSON, with as many and as few fields as there can be.

use hostint::collector::decode;
use hostint::model::*;
use hostint::wire::report_v05;
use hostint::wire::summary_totals;

use crate::golden;

/// Every report of the golden frames, and more that has or lacks what those do not.
pub fn all() -> Vec<Record> {
    let mut reports = Vec::new();
    for name in golden::with_reports() {
        let group = decode(&golden::udp_payload(&name));
        reports.extend(
            group
                .into_iter()
                .flat_map(|group| group.reports)
                .flat_map(variants),
        );
    }
    reports.extend(of_packets());
    reports.extend(summaries().into_iter().flat_map(variants));
    reports.extend(host_drops().into_iter().flat_map(variants));
    reports.extend(host_hops().into_iter().flat_map(variants));
    reports.extend(queue_episodes().into_iter().flat_map(variants));
    reports.extend(connections().into_iter().flat_map(variants));
    let arrival = Arrival {
        exporter: "203.0.113.3:43981".parse().unwrap(),
        received_ns: 1_700_000_000_123_456_789,
    };
    let reasons = DropReasons::profile(DropReasons::PROFILES[0]).unwrap();
    let records = reports.iter().flat_map(|report| {
        let received = Record::new(report, Some(arrival));
        let named = received.with_names(&reasons).in_class(Some("storage"));
        [named, Record::new(report, None)]
    });
    records.collect()
}

/// As a collector does that knows the hop.
fn name_worst_hop(told: &mut ConnectionReport) {
    let option = &mut told.connection.sample.option;
    if let Some(worst) = option.as_mut().and_then(|option| option.worst.as_mut()) {
        worst.node = Some(NodeId(7));
    }
}

/// As if the worst hop had told nothing but its number.
fn forget_worst_hop(told: &mut ConnectionReport) {
    let option = &mut told.connection.sample.option;
    if let Some(option) = option {
        option.off = None;
        if let Some(worst) = &mut option.worst {
            worst.sample.link_gbit_s = None;
            worst.sample.queue_bytes = None;
            worst.sample.free_gbit_s = None;
        }
    }
}

/// As if no hop had answered.
fn forget_answers(told: &mut ConnectionReport) {
    if let Some(option) = &mut told.connection.sample.option {
        option.worst = None;
    }
}

/// A report as it is; with all that its flow and hops can have; with as little as possible; by other clocks.
fn variants(report: Report) -> [Report; 5] {
    let clock = |source| {
        Some(ClockState {
            source,
            synchronised: true,
        })
    };
    let mut all = [(); 5].map(|()| report.clone());
    let [_, most, least, realtime, nic] = &mut all;
    if !matches!(report.observation.body, Body::Packet(_)) {
        most.observation.clock = clock(ClockSource::Tai);
        least.observation.clock = clock(ClockSource::Unknown);
        realtime.observation.clock = clock(ClockSource::Realtime);
        nic.observation.clock = clock(ClockSource::Nic);
    }
    most.observation.flags = flags(true);
    least.observation.flags = flags(false);
    let vlans = Vlans { outer: 2, inner: 1 };
    match &mut most.observation.body {
        Body::DropSummary(summary) => summary.flow.vlans = vlans,
        Body::Latency(latency) => {
            let sink = *latency.hops.sink();
            let queues = [HopQueue::Occupancy(7), HopQueue::Bytes(66_000)];
            let hops = queues.map(|queue| Hop {
                queue: Some(queue),
                ..sink
            });
            latency.hops = HopStack::over(sink, &hops, sink);
        }
        Body::Summary(summary) => {
            if let SummarySubject::Flow { flow, .. } = &mut summary.subject {
                flow.vlans = vlans;
            }
        }
        Body::HostDrop(report) => report.drop.flow.vlans = vlans,
        Body::FlowPassage(report) => report.hop.flow.vlans = vlans,
        Body::Queue(report) => {
            for one in &mut report.episode.flows {
                one.flow.vlans = vlans;
            }
        }
        Body::Connection(report) => {
            report.connection.sample.flow.vlans = vlans;
            name_worst_hop(report);
        }
        Body::Packet(_) | Body::PathPart(_) | Body::HostDropSum(_) => {}
    }
    if let Body::Connection(report) = &mut least.observation.body {
        forget_worst_hop(report);
    }
    if let Body::Connection(report) = &mut nic.observation.body {
        forget_answers(report);
    }
    if let Body::Latency(latency) = &mut least.observation.body {
        // One hop has no latency.
        latency.hops = HopStack::newest_first(&[*latency.hops.sink()]).unwrap();
    }
    all
}

fn flags(set: bool) -> Flags {
    Flags {
        dropped: set,
        congested_queue: set,
        tracked_flow: set,
        intermediate: set,
    }
}

/// About a packet: with all that there can be, and with nothing.
fn of_packets() -> [Report; 2] {
    let least = PacketReport {
        version: ReportVersion::V20,
        node: None,
        metadata: Metadata::default(),
        domain: None,
        packet: None,
        extensions: Vec::new(),
        quirk: None,
    };
    let extension = |kind, template| Extension {
        kind,
        template,
        data: vec![1],
    };
    let flow = |vlans| FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 40000,
        dport: 5001,
        protocol: 17,
        vlans,
    };
    let hop = Metadata {
        node: Some(NodeId(1)),
        congestion_queue_id: Some(1),
        queue_congestion: Some(1),
        checksum_complement: Some(1),
        drop_reason: None,
        drop_queue_id: None,
        ..metadata()
    };
    let types = [
        IntType::Md,
        IntType::Destination,
        IntType::Mx,
        IntType::HostInt,
    ];
    let mut int: Vec<IntHeader> = types
        .into_iter()
        .map(|kind| IntHeader::new(IntVersion::V2, kind, 0))
        .collect();
    int[0] = header(vec![hop, Metadata::default()]);
    let most = PacketReport {
        version: ReportVersion::V20,
        node: Some(NodeId(1)),
        metadata: metadata(),
        domain: Some(ReportDomain {
            id: 1,
            bits: 1,
            status: 1,
        }),
        packet: Some(Packet {
            first: FirstHeader::Ethernet,
            length: 64,
            bytes: Vec::new(),
            flow: Some(flow(Vlans { outer: 2, inner: 1 })),
            inner_flow: Some(flow(Vlans { outer: 2, inner: 1 })),
            int,
        }),
        extensions: vec![extension(Some(1), Some(1)), extension(None, None)],
        quirk: None,
    };
    [(least, false), (most, true)].map(|(report, set)| Report {
        sequence: 1,
        observation: Observation {
            hw_id: HwId::default(),
            flags: flags(set),
            clock: None,
            body: Body::Packet(Box::new(report)),
        },
    })
}

/// One of which nothing is known besides its body.
pub fn of_body(body: Body) -> Report {
    Report {
        sequence: 1,
        observation: Observation {
            hw_id: HwId::default(),
            flags: Flags::default(),
            clock: None,
            body,
        },
    }
}

/// Totals of a flow, of a class, and of packets without a class, with distributions of all resolutions; the last one
/// in parts.
pub fn summaries() -> Vec<Report> {
    let flow = FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 49152,
        dport: 80,
        protocol: 6,
        vlans: Vlans { outer: 0, inner: 7 },
    };
    let group = |class: Option<&str>| SummarySubject::Group {
        class: class.map(str::to_owned),
    };
    let subjects = [
        (
            SummarySubject::Flow {
                flow,
                source_port: 13,
                sink_port: 12,
            },
            LatencyResolution::Middle,
            900,
        ),
        (group(Some("storage")), LatencyResolution::Coarse, 5),
        (group(None), LatencyResolution::Fine, 1200),
    ];
    let summaries = subjects.into_iter().map(|(subject, resolution, step_ns)| {
        // Clocks that disagree make some latencies negative.
        let values = || {
            (1..=1500).map(move |n: i64| match (n % 2, resolution) {
                (0, LatencyResolution::Fine) => -n * n * step_ns / 64,
                _ => n * n * step_ns / 64,
            })
        };
        let ends = (values().min().unwrap(), values().max().unwrap());
        let latency = LatencyHistogram::of_counts(
            resolution,
            ends,
            values().map(i128::from).sum(),
            values().map(|ns| (resolution.bounds(ns).1, 1)),
        );
        let squares = match subject {
            SummarySubject::Flow { .. } => FlowSquares::default(),
            SummarySubject::Group { .. } => FlowSquares::from_all([10, 3_000, 1_000_000]),
        };
        Summary {
            time_s: 1_700_000_060,
            period_ns: 10_000_000_000,
            source_node: NodeId(2),
            sink_node: NodeId(3),
            subject,
            totals: SubjectTotals {
                epoch_ns: 1_700_000_000_123_456_789,
                last_ns: 1_700_000_059_123_456_789,
                packets: 1500,
                bytes: 1_500_000,
                lost: 5,
                recovered: 1,
                reordered: 12,
                duplicates: 3,
                late: 1,
                restarts: 2,
                squares,
                latency,
                slots: SlotRange::ALL,
            },
        }
    });
    let parts = summaries.flat_map(|summary| summary_totals::parts(&summary));
    parts
        .map(|part| Report {
            sequence: 3,
            observation: Observation {
                hw_id: HwId::default(),
                flags: flags(false),
                clock: Some(ClockState {
                    source: ClockSource::Realtime,
                    synchronised: false,
                }),
                body: Body::Summary(Box::new(part)),
            },
        })
        .collect()
}

/// The totals of a flow between two nodes.
pub fn flow_summary(time_s: u64, nodes: [u32; 2], flow: FlowKey, totals: SubjectTotals) -> Body {
    Body::Summary(Box::new(Summary {
        time_s: time_s as u32,
        period_ns: 10_000_000_000,
        source_node: NodeId(nodes[0]),
        sink_node: NodeId(nodes[1]),
        subject: SummarySubject::Flow {
            flow,
            source_port: 0,
            sink_port: 0,
        },
        totals,
    }))
}

/// A report about its own host.
fn postcard(subsystem: Subsystem, body: Body) -> Report {
    Report {
        sequence: 9,
        observation: Observation {
            hw_id: subsystem.into(),
            flags: flags(false),
            clock: None,
            body,
        },
    }
}

/// Packets of flows that a host dropped: with all that there can be, and with as little as possible.
pub fn host_drops() -> [Report; 2] {
    let flow = FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 49152,
        dport: 80,
        protocol: 6,
        vlans: Vlans::NONE,
    };
    let text = |text: &str| Some(text.to_owned());
    let most = HostDrop {
        flow,
        flow_before_nat: Some(FlowKey {
            src: "10.0.0.7".parse().unwrap(),
            ..flow
        }),
        tunnel: Some(tunnel(TunnelKind::Vxlan)),
        reason: KernelReason {
            number: 50,
            name: text("QDISC_DROP"),
        },
        place: text("__dev_queue_xmit"),
        in_interface: text("eth0"),
        out_interface: text("eth1"),
        in_ifindex: 2,
        out_ifindex: 3,
        pods: PacketPods {
            in_pod: text("podman/4f2a91c07be3"),
            out_pod: text("pod/5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11"),
            pod: text("netns/blue"),
        },
        count: DropCount {
            packets: 5,
            segments: 70,
            bytes: 100_000,
        },
        first_ns: 1_700_000_000_123_456_789,
        last_ns: 1_700_000_001_123_456_789,
        age_ns: Some(1_500),
        queue_packets: 1000,
        queue_bytes: 1_500_000,
        superpacket: true,
        netns: 4_026_531_840,
        cgroup: Some(4_242),
        position: DropPosition::BehindTag,
        int: Some(DroppedInt {
            source: NodeId(2),
            sequence: 4711,
        }),
        ifindex: 3,
        place_address: 0,
    };
    let least = HostDrop {
        flow: FlowKey {
            src: "2001:db8::1".parse().unwrap(),
            dst: "2001:db8::2".parse().unwrap(),
            sport: 0,
            dport: 0,
            protocol: 58,
            vlans: Vlans::NONE,
        },
        flow_before_nat: None,
        tunnel: None,
        reason: KernelReason::default(),
        place: None,
        in_interface: None,
        out_interface: None,
        age_ns: None,
        cgroup: None,
        position: DropPosition::Apart,
        int: None,
        superpacket: false,
        ..most.clone()
    };
    [most, least].map(|drop| {
        let body = Body::HostDrop(Box::new(HostDropReport {
            time_s: 1_700_000_002,
            node: NodeId(2),
            drop,
        }));
        postcard(Subsystem::Drops, body)
    })
}

/// Sums of a host's drops, as a collector tells them to its engines, and what they add: with all that there can be, and with as
/// little as possible.
pub fn host_drop_sums() -> [(Body, DropCount); 2] {
    let text = |text: &str| Some(text.to_owned());
    let most = DropSubject {
        reason: KernelReason {
            number: 50,
            name: text("QDISC_DROP"),
        },
        place: text("__dev_queue_xmit"),
        interface: text("eth1"),
        netns: 4_026_531_840,
        position: DropPosition::BehindTag,
        tagged_by: Some(NodeId(3)),
        ignored: true,
        without_packet: true,
    };
    let count = DropCount {
        packets: 3,
        segments: 9,
        bytes: 12_000,
    };
    [most, DropSubject::default()].map(|subject| {
        let sum = HostDropSum {
            time_s: 1_700_000_002,
            node: NodeId(2),
            subject,
        };
        (Body::HostDropSum(Box::new(sum)), count)
    })
}

fn tunnel(kind: TunnelKind) -> Tunnel {
    Tunnel {
        which: TunnelId { kind, id: 4_242 },
        outer: FlowKey {
            src: "203.0.113.1".parse().unwrap(),
            dst: "203.0.113.2".parse().unwrap(),
            sport: 51_000,
            dport: 4_789,
            protocol: 17,
            vlans: Vlans::NONE,
        },
    }
}

/// Packets of flows through a host: with all that there can be, and with as little as possible.
pub fn host_hops() -> [Report; 2] {
    let flow = FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 49152,
        dport: 80,
        protocol: 6,
        vlans: Vlans::NONE,
    };
    let most = FlowPassage {
        flow,
        flow_before_nat: Some(FlowKey {
            src: "10.0.0.7".parse().unwrap(),
            ..flow
        }),
        tunnel: Some(tunnel(TunnelKind::GtpU)),
        reasons: vec![PassageReason::Ports, PassageReason::Latency],
        start: PassageStart::Sender,
        in_interface: Some("eth0".to_owned()),
        out_interface: Some("eth1".to_owned()),
        in_ifindex: 2,
        out_ifindex: 3,
        pods: PacketPods {
            in_pod: Some("podman/4f2a91c07be3".to_owned()),
            out_pod: Some("netns/blue".to_owned()),
            pod: None,
        },
        packets: 70,
        bytes: 100_000,
        first_ns: 1_700_000_000_123_456_789,
        last_ns: 1_700_000_001_123_456_789,
        hop_ns: 12_345,
        mean_hop_ns: 9_000,
        max_hop_ns: 1_000_000,
    };
    let least = FlowPassage {
        flow_before_nat: None,
        tunnel: None,
        reasons: vec![PassageReason::Period],
        start: PassageStart::Interface,
        in_interface: None,
        out_interface: None,
        ..most.clone()
    };
    [most, least].map(|hop| {
        let body = Body::FlowPassage(Box::new(FlowPassageReport {
            time_s: 1_700_000_002,
            node: NodeId(2),
            hop,
        }));
        postcard(Subsystem::Hops, body)
    })
}

/// The same flows, as a history has them.
pub fn forwarded_flows(told_ns: u64) -> Vec<ForwardedFlow> {
    let reports = host_hops().into_iter();
    let flows = reports.filter_map(|report| match report.observation.body {
        Body::FlowPassage(report) => Some(ForwardedFlow {
            node: report.node,
            told_ns,
            hop: report.hop,
            ends: FlowPods::default(),
            behind: PassagePods::default(),
        }),
        _ => None,
    });
    flows.collect()
}

/// All packets between interfaces of a host, as a history has them: with all that there can be, and with as little as
/// possible.
pub fn passages() -> Vec<PassageFigures> {
    let times = |first_ns: i64| {
        let mut latency = LatencyHistogram::default();
        (0..100).for_each(|n| latency.add(first_ns + 100 * n));
        latency.figures()
    };
    let most = PassageFigures {
        node: NodeId(2),
        start: PassageStart::Sender,
        in_port: 2,
        out_port: 3,
        in_interface: Some("eth0".to_owned()),
        out_interface: Some("eth1".to_owned()),
        pods: PacketPods {
            in_pod: Some("podman/4f2a91c07be3".to_owned()),
            out_pod: Some("netns/blue".to_owned()),
            pod: None,
        },
        behind: PassagePods::default(),
        sent: times(40_000),
        queued: times(1_000),
        mean_queue_ns: Some(39_000),
    };
    let least = PassageFigures {
        start: PassageStart::Interface,
        in_interface: None,
        out_interface: None,
        pods: PacketPods::default(),
        sent: None,
        mean_queue_ns: None,
        ..most.clone()
    };
    vec![most, least]
}

/// Episodes of queues: one that ended, by time, with all that there can be, and one by bytes that goes on.
pub fn queue_episodes() -> [Report; 2] {
    let flow = FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 5000,
        dport: 7001,
        protocol: 17,
        vlans: Vlans::NONE,
    };
    let most = QueueEpisode {
        interface: Some("eth1".to_owned()),
        ifindex: 3,
        queue: 1,
        handle: 0x0010_0000,
        limits: QueueLimits {
            measure: QueueMeasure::Time,
            trigger: 200_000,
            reset: 100_000,
            quota: 40,
        },
        episode: 5,
        begin_ns: 1_700_000_000_123_456_789,
        last_ns: 1_700_000_000_323_456_789,
        end_ns: Some(1_700_000_000_423_456_789),
        packets: 50,
        bytes: 52_100,
        told: 40,
        suppressed: 10,
        drops: 7,
        max_bytes: 62_520,
        max_packets: 60,
        max_time_ns: Some(1_000_000),
        flows: vec![
            QueueFlow {
                flow,
                packets: 30,
                bytes: 31_260,
            },
            QueueFlow {
                flow: FlowKey {
                    sport: 5001,
                    ..flow
                },
                packets: 10,
                bytes: 10_420,
            },
        ],
    };
    let least = QueueEpisode {
        interface: None,
        limits: QueueLimits {
            measure: QueueMeasure::Bytes,
            ..most.limits
        },
        end_ns: None,
        max_time_ns: None,
        flows: Vec::new(),
        ..most.clone()
    };
    [most, least].map(|episode| {
        let body = Body::Queue(Box::new(QueueReport {
            time_s: 1_700_000_002,
            node: NodeId(2),
            episode,
        }));
        postcard(Subsystem::Queues, body)
    })
}

/// The same episodes, as a history has them.
pub fn reported_episodes(told_ns: u64) -> Vec<ReportedEpisode> {
    let reports = queue_episodes().into_iter();
    let episodes = reports.filter_map(|report| match report.observation.body {
        Body::Queue(report) => Some(ReportedEpisode {
            node: report.node,
            began_ns: told_ns,
            told_ns,
            episode: report.episode,
        }),
        _ => None,
    });
    episodes.collect()
}

/// The state of TCP connections: with all that there can be, and with as little as possible.
pub fn connections() -> [Report; 2] {
    let flow = FlowKey {
        src: "192.0.2.1".parse().unwrap(),
        dst: "198.51.100.2".parse().unwrap(),
        sport: 49152,
        dport: 80,
        protocol: 6,
        vlans: Vlans::NONE,
    };
    let least = TcpReport {
        id: 1_700_000_000_000_001,
        why: TcpNews::Open,
        limited: Limit::Unknown,
        class: None,
        times: LimitedTimes::default(),
        samples: 1,
        sample: TcpSample {
            flow: FlowKey {
                src: "2001:db8::1".parse().unwrap(),
                dst: "2001:db8::2".parse().unwrap(),
                ..flow
            },
            time_ns: 1_700_000_001_123_456_789,
            begun_ns: None,
            cgroup: None,
            socket: 0,
            monotonic_ns: 0,
            begun_monotonic_ns: None,
            class: 0,
            tcp: TcpFigures {
                state: TcpPhase(1),
                ..TcpFigures::default()
            },
            option: None,
        },
    };
    let mut times = LimitedTimes::default();
    for (us, limit) in (1_000_000..).zip(Limit::ALL) {
        times.add(limit, us);
    }
    let most = TcpReport {
        why: TcpNews::End,
        limited: Limit::Receiver,
        class: Some("web".to_owned()),
        times,
        samples: 60,
        sample: TcpSample {
            flow,
            begun_ns: Some(1_700_000_000_123_456_789),
            cgroup: Some(4_242),
            tcp: tcp_figures(),
            option: Some(option_figures()),
            ..least.sample
        },
        ..least.clone()
    };
    [most, least].map(|connection| {
        let body = Body::Connection(Box::new(ConnectionReport {
            time_s: 1_700_000_002,
            node: NodeId(2),
            connection,
        }));
        postcard(Subsystem::Connections, body)
    })
}

/// Option 114 of a connection, with more than any hop tells.
fn option_figures() -> OptionFigures {
    OptionFigures {
        requests: 301,
        samples: 302,
        echoes: 303,
        no_room: 304,
        off: Some(OptionOff::Timeout),
        worst: Some(WorstSample {
            sample: WorstHop {
                hop: 2,
                link_gbit_s: Some(100),
                queue_bytes: Some(40_960),
                free_gbit_s: Some(9),
                latency_ns: 305,
            },
            age_ns: 306,
            node: None,
        }),
    }
}

/// Each field has a value of its own.
fn tcp_figures() -> TcpFigures {
    TcpFigures {
        state: TcpPhase(7),
        congestion_state: CongestionPhase(3),
        congestion_control: CongestionControl::named("cubic").unwrap(),
        srtt_us: Some(201),
        rttvar_us: Some(202),
        min_rtt_us: Some(203),
        rto_us: 111,
        cwnd_segments: 204,
        ssthresh_segments: Some(205),
        mss_bytes: 206,
        packets_out: 207,
        sacked_out: 208,
        lost_out: 209,
        retrans_out: 210,
        total_retrans: 211,
        data_segments_out: 212,
        segments_out: 213,
        delivered: 214,
        delivered_ce: Some(215),
        dsack_dups: Some(216),
        reord_seen: Some(217),
        rto_count: Some(218),
        timeouts_in_a_row: 2,
        bytes_sent: 101,
        bytes_acked: 102,
        bytes_received: 103,
        bytes_retrans: Some(104),
        delivery_rate_bytes_s: Some(105),
        pacing_rate_bytes_s: Some(106),
        max_pacing_rate_bytes_s: Some(107),
        held_up: Some(HeldUp {
            busy_us: 108,
            receiver_us: 109,
            buffer_us: 110,
        }),
        notsent_bytes: 219,
        unread_bytes: 220,
        host_queue_bytes: 221,
        snd_wnd_bytes: 222,
        send_buffer_bytes: 223,
        cwnd_limited: true,
        app_limited: true,
        delivery_rate_app_limited: true,
        waits_for_room: true,
        paced: true,
        ecn: true,
        window_scaled: true,
        sack: true,
        timestamps: true,
    }
}

/// What hosts dropped since a collector started: with all that there can be, and with as little as possible.
pub fn drop_rows() -> Vec<HostDropRow> {
    let row = |subject, packets| HostDropRow {
        node: NodeId(1),
        subject,
        count: DropCount {
            packets,
            segments: packets,
            bytes: 100 * packets,
        },
    };
    let most = DropSubject {
        reason: KernelReason {
            number: 50,
            name: Some("QDISC_DROP".to_owned()),
        },
        place: Some("__dev_queue_xmit".to_owned()),
        interface: Some("eth1".to_owned()),
        position: DropPosition::BehindTag,
        tagged_by: Some(NodeId(1)),
        ..DropSubject::default()
    };
    let counter = DropSubject {
        place: Some("ListenOverflows".to_owned()),
        without_packet: true,
        ..DropSubject::default()
    };
    vec![
        row(most, 186),
        row(DropSubject::default(), 3),
        row(counter, 2),
    ]
}

/// The reporting node's.
fn metadata() -> Metadata {
    Metadata {
        node: None,
        ingress_port: Some(1),
        egress_port: Some(1),
        hop_latency_ns: Some(1),
        queue_id: Some(1),
        queue_occupancy: Some(1),
        ingress_ts: Some(1),
        egress_ts: Some(1),
        level2_ingress_port: Some(1),
        level2_egress_port: Some(1),
        congestion_queue_id: None,
        queue_congestion: None,
        tx_utilization: Some(1),
        buffer_id: Some(1),
        buffer_occupancy: Some(1),
        checksum_complement: None,
        drop_reason: Some(80),
        drop_queue_id: Some(1),
        domain_words: vec![1],
        reserved: vec![ReservedWord { bit: 1, word: 1 }],
    }
}

fn header(hops: Vec<Metadata>) -> IntHeader {
    IntHeader {
        version: IntVersion::V2,
        kind: IntType::Md,
        instructions: 1,
        replication: 1,
        copy: true,
        discard: true,
        hops_exceeded: true,
        mtu_exceeded: true,
        max_hops: Some(1),
        remaining_hops: Some(1),
        domain: Some(IntDomain {
            id: 1,
            instructions: 1,
            flags: 1,
        }),
        hops,
        source_words: vec![1],
        original_dscp: Some(1),
        original_dport: Some(1),
        original_protocol: Some(1),
        seq: Some(1),
        truncated: true,
        quirk: None,
    }
}

/// Connections in a history: with all that there can be, and with as little as possible.
pub fn known_connections() -> Vec<ConnectionFigures> {
    let known = |report: Report, state, flow: Option<i64>| {
        let Body::Connection(told) = report.observation.body else {
            return None;
        };
        Some(ConnectionFigures {
            node: told.node,
            flow_id: flow,
            sink: flow.map(|_| NodeId(3)),
            state,
            int: match flow {
                Some(_) => BesideInt::Known(IntOfConnection {
                    arrived: 95,
                    lost: 3,
                    unseen: 2,
                    dropped_behind_strip: 0,
                    spurious_least: 4,
                }),
                None => BesideInt::Unknown {
                    unknown: BesideIntUnknown::NotEnded,
                },
            },
            connection: told.connection,
            pods: FlowPods::default(),
        })
    };
    let [mut most, least] = connections();
    let mut silent = most.clone();
    if let Body::Connection(told) = &mut silent.observation.body {
        forget_worst_hop(told);
        told.connection.why = TcpNews::Sample;
    }
    let mut gone = most.clone();
    if let Body::Connection(told) = &mut gone.observation.body {
        forget_answers(told);
        told.connection.why = TcpNews::Gone;
    }
    if let Body::Connection(told) = &mut most.observation.body {
        name_worst_hop(told);
    }
    let known = [
        known(most, ConnectionState::Ended, Some(1)),
        known(least, ConnectionState::Open, None),
        known(silent, ConnectionState::Silent, None),
        known(gone, ConnectionState::Gone, None),
    ];
    known.into_iter().flatten().collect()
}

/// Sums over connections in a history.
pub fn tcp_sums(by: TcpGrouping) -> Vec<TcpSums> {
    let sums = |limited, us| {
        let mut times = LimitedTimes::default();
        times.add(limited, us);
        TcpSums {
            limited,
            connections: 2,
            open: 1,
            times,
            counts: ConnectionCounts {
                bytes_acked: 1_000_000,
                bytes_received: 1000,
                retransmitted_segments: 7,
                spurious_segments: 2,
                timeouts: 1,
            },
            ..TcpSums::default()
        }
    };
    match by {
        TcpGrouping::Limit => (1..)
            .zip(Limit::ALL)
            .map(|(s, limited)| sums(limited, s * 1_000_000))
            .collect(),
        TcpGrouping::Pair | TcpGrouping::Host => vec![TcpSums {
            node: Some(NodeId(1)),
            peer: (by == TcpGrouping::Pair).then(|| "198.51.100.2".parse().unwrap()),
            answers: (by == TcpGrouping::Host).then_some(AnswerTimes {
                answers: 120,
                mean_ns: 2_400_000,
            }),
            ..sums(Limit::Path, 10_000_000)
        }],
    }
}

/// The worst hops of connections in a history: one of a known node with a queue, and one of a number with a link.
pub fn tcp_hops() -> TcpHops {
    let hop = |node, hop, value, link, connections| TcpHop {
        node,
        hop,
        connections,
        first_ns: 1_700_000_000_000_000_000,
        last_ns: 1_700_000_600_000_000_000,
        worst: WorstHop::from_value(value, hop, link, 3_000_000),
    };
    TcpHops {
        connections: 12,
        hops: vec![
            hop(Some(NodeId(9)), 2, 133, None, 11),
            hop(None, 3, 120, Some(10), 3),
        ],
    }
}

/// The connections of hosts, as a collector shows them.
pub fn host_tcp_rows() -> Vec<HostTcpRow> {
    let row = |limited, open, us| HostTcpRow {
        node: NodeId(1),
        limited,
        open,
        us,
        counts: ConnectionCounts {
            bytes_acked: 1_000_000,
            bytes_received: 1000,
            retransmitted_segments: 7,
            spurious_segments: 2,
            timeouts: 1,
        },
    };
    vec![
        row(Limit::Receiver, 0, 500_000),
        row(Limit::Path, 3, 9_000_000),
    ]
}

/// The report as a datagram of v0.5.
pub fn datagram(report: &Report) -> Vec<u8> {
    let mut datagram = Vec::new();
    report_v05::emit(report, &mut datagram);
    datagram
}
