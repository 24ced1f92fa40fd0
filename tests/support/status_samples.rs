//! A host's status, with as many and as few fields as there can be.

use std::num::NonZeroU32;

use hostint::model::*;

pub fn lease_states() -> impl Iterator<Item = LeaseState> {
    LeaseState::all("192.0.2.2".parse().unwrap()).into_iter()
}

/// All of it, a sink whose daemon does not run, and nothing of it.
pub fn all() -> [HostStatus; 3] {
    let mut bare = nothing();
    bare.sink = Some(SinkStatus {
        daemon_pid: None,
        ..sink()
    });
    bare.tcp = Some(TcpStatus {
        node_id: None,
        ..tcp()
    });
    bare.clock = Some(ClockStatus {
        source: "tai",
        offset_ns: 0,
        synchronised: false,
        stated_error_ns: None,
    });
    bare.postcards = Some(PostcardsStatus {
        node_id: None,
        collectors: Vec::new(),
        drops: None,
        hops: None,
        queues: None,
        ..postcards()
    });
    let most = HostStatus {
        node_id: Some(NodeId(3)),
        off_since_ns: Some(1_700_000_000_000_000_000),
        node_origin: Some(NodeOrigin::Derived),
        names: [(3, true), (4, false)].map(name).to_vec(),
        budget: Some(BudgetStatus {
            allowed_ppm: 20_000,
            spent_ppm: 1_000,
            one_flow_in: 1,
            asks_one_flow_in: 1,
            step_ns: 100,
        }),
        clock: Some(ClockStatus {
            source: "tai",
            offset_ns: 0,
            synchronised: true,
            stated_error_ns: NonZeroU32::new(2_000),
        }),
        sink: Some(sink()),
        source: Some(source()),
        transit: Some(transit()),
        postcards: Some(postcards()),
        tcp: Some(tcp()),
        lacks: KernelParts::from_iter([KernelPart::Batches, KernelPart::HostWaits]).lacks(),
        why: reasons(),
        ..nothing()
    };
    [most, bare, nothing()]
}

fn name((node, contested): (u32, bool)) -> HostName {
    HostName {
        node: NodeId(node),
        name: "web-3".to_owned(),
        origin: NameOrigin::Told,
        contested,
    }
}

/// A host without a sink and a source.
pub fn nothing() -> HostStatus {
    HostStatus::of_nothing()
}

pub fn tcp() -> TcpStatus {
    let limited = |limited, class: Option<&str>, connections| LimitedCount {
        limited,
        class: class.map(str::to_owned),
        connections,
    };
    TcpStatus {
        daemon_pid: 1433,
        node_id: Some(NodeId(3)),
        since_ns: 1_700_000_000_000_000_000,
        sample_period_ns: 1_000_000_000,
        report_period_ns: 10_000_000_000,
        collectors: vec!["192.0.2.9:32766".to_owned()],
        reports_sent: 1_234,
        reports_lost: 5,
        connections_max: 65_536,
        totals: TcpTotals {
            limited: vec![
                limited(Limit::Path, Some("web"), 9),
                limited(Limit::Receiver, None, 3),
            ],
            open: 12,
            begun: 40,
            ended: 28,
            ends_unreported: 6,
            retransmitted_segments: 7,
            spurious_segments: 2,
            timeouts: 1,
            walk_ns: 3_200_000,
            ..TcpTotals::default()
        },
    }
}

pub fn postcards() -> PostcardsStatus {
    let reason = |number, name: &str| KernelReason {
        number,
        name: Some(name.to_owned()),
    };
    let unnamed = || KernelReason {
        number: 0x2_0001,
        name: None,
    };
    let count = |packets| DropCount {
        packets,
        segments: packets,
        bytes: 100 * packets,
    };
    let place = |interface: Option<&str>, packets| PlaceDrops {
        reason: reason(8, "NETFILTER_DROP"),
        place: interface.map(|_| "nft_do_chain".to_owned()),
        interface: interface.map(str::to_owned),
        netns: 4_026_531_840,
        tagged_by: interface.map(|_| NodeId(2)),
        ignored: false,
        count: count(packets),
    };
    let without_packet = |interface: Option<&str>| DropsWithoutPacket {
        counter: "ListenOverflows".to_owned(),
        interface: interface.map(str::to_owned),
        count: 18,
    };
    PostcardsStatus {
        daemon_pid: 1432,
        node_id: Some(NodeId(3)),
        since_ns: 1_700_000_000_000_000_000,
        report_period_ns: 1_000_000_000,
        collectors: vec!["192.0.2.9:32766".to_owned()],
        reports_sent: 1_234,
        reports_lost: 5,
        named_links: 3,
        drops: Some(DropsStatus {
            netns: "own",
            gives_reasons: true,
            ignored_reasons: vec!["OTHERHOST".to_owned()],
            flows_total: 2,
            flows_max: 65_536,
            totals: DropTotals {
                reasons: vec![
                    ReasonDrops {
                        reason: reason(8, "NETFILTER_DROP"),
                        ignored: false,
                        count: count(1_012),
                    },
                    ReasonDrops {
                        reason: reason(20, "OTHERHOST"),
                        ignored: true,
                        count: count(7),
                    },
                    ReasonDrops {
                        reason: unnamed(),
                        ignored: false,
                        count: count(1),
                    },
                ],
                places: vec![
                    place(Some("eth0"), 1_000),
                    place(None, 12),
                    PlaceDrops {
                        reason: unnamed(),
                        ..place(None, 1)
                    },
                ],
                without_packet: vec![without_packet(None), without_packet(Some("eth0"))],
                seen: 1_020,
                ignored: 7,
                told: 3,
                events_lost: 4,
                ..DropTotals::default()
            },
        }),
        hops: Some(hops()),
        queues: Some(queues()),
    }
}

/// A transit hop on two interfaces, one of which lost its programs.
pub fn transit() -> TransitStatus {
    let interface = |dev: &str, attached| TransitInterface {
        dev: dev.to_owned(),
        attached,
        mode: "tcx",
        dscp_value: 1,
        dscp_mask: 1,
        extension_port: 33_122,
        carriers: vec!["host-int", "int-md"],
        int_dscp_value: Some(0x17),
        int_dscp_mask: Some(0x3f),
        int_port: (!attached).then_some(51_966),
        mtu: (!attached).then_some(1_400),
        only_allowed: !attached,
        arrivals_max: 65_536,
        superpackets: attached,
        hold_ns: attached.then_some(1_000_000),
        link_mbit: attached.then_some(25_000),
    };
    TransitStatus {
        interfaces: vec![interface("eth0", true), interface("eth1", false)],
        counters: vec![CounterStatus {
            name: "pushed",
            text: "packets that left with an entry of this hop",
            packets: 8_000,
            bytes: 1_000_000,
        }],
    }
}

/// One of each topic and severity, with a counter or without.
pub fn reasons() -> Vec<Reason> {
    use ReasonSeverity::{Dropped, Missed, Note, Stopped};
    use ReasonTopic::{Measuring, Pushing, Stripping, Tagging};
    let reason = |topic, severity, count: Option<u64>| Reason {
        topic,
        severity,
        counter: count.map(|_| "too_long"),
        count,
        recent: count,
        recent_s: count.map(|_| 60),
        text: String::new(),
        advice: String::new(),
    };
    vec![
        reason(Tagging, Stopped, None),
        reason(Pushing, Missed, Some(1)),
        reason(Stripping, Dropped, Some(1)),
        reason(Measuring, Missed, Some(1)),
        reason(Measuring, Note, Some(1)),
    ]
}

pub fn attachment() -> Attachment {
    Attachment {
        dev: "eth0".to_owned(),
        hook: "xdp",
        mode: "native",
        encapsulation: None,
        superpackets: None,
        why: None,
        gro: None,
        max_hops: None,
        path_items: Vec::new(),
        nic_timestamps: None,
    }
}

fn counter() -> CounterStatus {
    CounterStatus {
        name: "received",
        text: "",
        packets: 0,
        bytes: 0,
    }
}

/// A sink whose daemon runs and which has met nothing yet.
pub fn idle_sink() -> SinkStatus {
    SinkStatus {
        attachments: vec![attachment()],
        daemon_pid: Some(1),
        settings: SinkSettings {
            encapsulations: vec!["over-tcp-udp"],
            dscp_value: 1,
            dscp_mask: 1,
            extension_port: 33122,
            int_dscp_value: None,
            int_dscp_mask: None,
            report_period_ns: 0,
            loss_timeout_ns: 0,
            bucket_hold_ns: 0,
            drop_tagged: false,
            buckets: Vec::new(),
            report_ports: vec![REPORT_PORT],
            clock_offset_ns: 0,
            allow: Vec::new(),
            strict: false,
            lease_key: true,
            closing: false,
        },
        summaries: None,
        counters: Vec::new(),
        daemon: Vec::new(),
        flows_total: 0,
        flows_max: 65_536,
        flows_fine: 2,
        flows_fine_max: 16_384,
        flows: Vec::new(),
        paths: Vec::new(),
        spread: false,
        collectors: Vec::new(),
        leases_granted: 0,
        grants: Vec::new(),
        astray: Vec::new(),
    }
}

fn sink() -> SinkStatus {
    let stamping = Attachment {
        why: Some("a network card".to_owned()),
        gro: Some(true),
        nic_timestamps: Some(true),
        ..attachment()
    };
    let collector = |queue_percent| CollectorStatus {
        address: "192.0.2.9:32766".parse().unwrap(),
        state: "answers",
        since_ns: 1,
        sent: 1,
        lost: 0,
        doubtful: 0,
        queue_percent,
    };
    let idle = idle_sink();
    SinkStatus {
        attachments: vec![attachment(), stamping],
        summaries: Some(SummaryBudget {
            period_ns: 10_000_000_000,
            last_period_ns: 10_000_000_000,
            most_per_s: 100,
        }),
        settings: SinkSettings {
            buckets: vec![BucketEdge {
                up_ns: 1,
                down_ns: 1,
            }],
            allow: vec!["192.0.2.0/24".to_owned()],
            ..idle.settings
        },
        counters: vec![counter()],
        daemon: vec![DaemonCounter {
            name: "reports_sent",
            text: "",
            value: 0,
        }],
        flows_total: 2,
        flows: vec![flow(Vlans::NONE), flow(Vlans { outer: 2, inner: 1 })],
        paths: vec![path()],
        spread: true,
        collectors: vec![collector(Some(0)), collector(None)],
        leases_granted: 1,
        grants: vec![grant()],
        ..idle
    }
}

/// A path over one transit hop, which does not know how long the packets took to it.
pub fn path() -> PathStatus {
    let at = |node, port| NodePort {
        node: NodeId(node),
        port,
    };
    let times = |ns: i64| {
        let mut times = LatencyHistogram::default();
        times.add(ns);
        PassageTimes(times)
    };
    PathStatus {
        source: at(1, 7),
        hops: vec![PathHop {
            node: NodeId(28673),
            ingress_port: 2,
            egress_port: 3,
        }],
        sink: at(3, 8),
        first_ns: 1_700_000_000_000_000_000,
        last_ns: 1_700_000_001_000_000_000,
        whole: times(20_000),
        segments: vec![PassageTimes::default(), times(2_000), times(15_000)],
    }
}

/// The lease of a host whose tunnel is proved.
pub fn grant() -> GrantStatus {
    GrantStatus {
        source: "192.0.2.1".parse().unwrap(),
        node: NodeId(2),
        left_ns: 1,
        proved: vec!["vxlan-gpe"],
        probes: vec![ArrivedProbes {
            form: "vxlan-gpe",
            arrived: 72,
            all: 72,
            tos_changed: 0,
        }],
        stripped: vec![StrippedPackets {
            encapsulation: "vxlan-gpe",
            packets: 1,
        }],
        lost: 0,
    }
}

/// A flow of UDP that has had one packet.
pub fn flow(vlans: Vlans) -> FlowStatus {
    FlowStatus {
        flow: FlowKey {
            src: "192.0.2.1".parse().unwrap(),
            dst: "198.51.100.2".parse().unwrap(),
            sport: 40000,
            dport: 5001,
            protocol: 17,
            vlans,
        },
        source_node: NodeId(2),
        source_port: 13,
        sink_port: 12,
        encapsulation: "vxlan-gpe",
        packets: 1,
        bytes: 1,
        lost: 0,
        missing: 0,
        reordered: 0,
        duplicates: 0,
        late: 0,
        restarts: 0,
        latency_min_ns: 0,
        latency_mean_ns: 0,
        latency_max_ns: 0,
        latency_last_ns: 0,
        bucket: 0,
        first_ns: 0,
        last_ns: 0,
        histogram: vec![0],
        latency_p50_ns: Some(0),
        latency_p90_ns: Some(0),
        latency_p99_ns: Some(0),
        latency_steps: Some(32),
        latency_slots: vec![(0, 1)],
    }
}

fn tagging(max_hops: Option<u8>) -> Attachment {
    Attachment {
        encapsulation: Some("vxlan-gpe".to_owned()),
        superpackets: Some("encap"),
        max_hops,
        path_items: max_hops.map_or(Vec::new(), |_| vec!["latency", "queue"]),
        ..attachment()
    }
}

pub fn source() -> SourceStatus {
    SourceStatus {
        attachments: [None, Some(4)].map(tagging).into(),
        rules_total: 1,
        dests: vec![DestStatus {
            prefix: "192.0.2.2/32".to_owned(),
            name: "host-b".to_owned(),
            fixed: false,
        }],
        counters: vec![counter()],
        flows_total: 1,
        flows_max: 65_536,
        peers_total: 2,
        peers: vec![known_peer(), silent_peer()],
    }
}

/// A peer of which nothing has come.
pub fn silent_peer() -> PeerStatus {
    PeerStatus {
        source: "192.0.2.1".parse().unwrap(),
        dest: "192.0.2.2".parse().unwrap(),
        state: LeaseState::Silent.name(),
        lease_left_ns: 0,
        node: None,
        rtt_ns: None,
        clock_offset_ns: None,
        clock_error_ns: None,
        clock_bound_ns: None,
        clock_age_ns: None,
        clock_from: None,
        clock_synchronised: None,
        mtu: None,
        tai_offset_s: None,
        version: None,
        ways: Vec::new(),
        eaten: Vec::new(),
        tos_changed: 0,
        proved_ago_ns: None,
        proved_length: None,
        distrusted: false,
        untold: false,
        items_unread: false,
        unattended: false,
        tunnel_obstacle: None,
        fallen: 0,
        lease: Lease::default(),
    }
}

fn known_peer() -> PeerStatus {
    PeerStatus {
        node: Some(NodeId(2)),
        rtt_ns: Some(0),
        clock_offset_ns: Some(0),
        clock_error_ns: Some(0),
        clock_bound_ns: Some([0, 0]),
        clock_age_ns: Some(0),
        clock_from: Some("lease answers"),
        clock_synchronised: Some(true),
        mtu: Some(1500),
        tai_offset_s: Some(37),
        version: Some("0.1".to_owned()),
        ways: vec!["udp vxlan-gpe"],
        eaten: vec!["stray packets"],
        tunnel_obstacle: Some("drops_from"),
        proved_ago_ns: Some(0),
        proved_length: Some(1500),
        ..silent_peer()
    }
}

/// Two queues of an interface: one is over its trigger by time, and one never was over its trigger by bytes.
pub fn queues() -> QueuesStatus {
    let over = QueueFigures {
        interface: Some("eth1".to_owned()),
        ifindex: 3,
        queue: 0,
        limits: QueueLimits {
            measure: QueueMeasure::Time,
            trigger: 200_000,
            reset: 100_000,
            quota: 40,
        },
        packets: 12_000,
        bytes: 12_000_000,
        episodes: 2,
        is_over: true,
        over_ns: 32_500_000,
        packets_over: 1_702,
        packets_told: 80,
        packets_suppressed: 1_622,
        drops: 7,
        max_bytes: 408_618,
        max_time_ns: 16_400_000,
    };
    let quiet = QueueFigures {
        interface: None,
        queue: 1,
        limits: QueueLimits {
            measure: QueueMeasure::Bytes,
            trigger: 204_800,
            ..over.limits
        },
        packets: 9,
        bytes: 900,
        ..QueueFigures {
            ifindex: 3,
            ..QueueFigures::default()
        }
    };
    QueuesStatus {
        devs: vec!["eth1".to_owned()],
        totals: QueueTotals {
            queues: vec![over, quiet],
            untimed: 3,
            told: 5,
            put_off: 1,
            ..QueueTotals::default()
        },
    }
}

/// Hops by two interfaces, of packets from elsewhere and of local senders.
pub fn hops() -> HopsStatus {
    let times = |all: &[i64]| {
        let mut times = PassageTimes::default();
        all.iter().for_each(|ns| times.0.add(*ns));
        times
    };
    let passage = InterfacePassage {
        in_ifindex: 2,
        out_ifindex: 3,
        in_interface: Some("eth0".to_owned()),
        out_interface: Some("eth1".to_owned()),
        start: PassageStart::Interface,
        sent: times(&[3_000, 5_000, 90_000]),
        queued: times(&[1_000, 1_000, 1_000]),
    };
    HopsStatus {
        devs: vec!["eth0".to_owned(), "eth1".to_owned()],
        by_rules: true,
        flows_total: 2,
        flows_max: 65_536,
        totals: PassageTotals {
            passages: vec![
                passage.clone(),
                InterfacePassage {
                    out_interface: None,
                    in_interface: None,
                    start: PassageStart::Sender,
                    sent: PassageTimes::default(),
                    queued: times(&[2_000]),
                    ..passage
                },
            ],
            stamped: 3,
            has_departure: 1,
            not_forwarded: 7,
            local: 5,
            told: 4,
            put_off: 2,
            ..PassageTotals::default()
        },
    }
}
