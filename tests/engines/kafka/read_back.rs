//! Kafka messages turned back into records, so that a lost value shows.

use std::net::IpAddr;

use hostint::engines::kafka::message as proto;
use hostint::model::*;

pub fn record(message: &proto::Report) -> Record {
    Record {
        schema: RECORD_SCHEMA.into(),
        kind: message.kind.clone().into(),
        version: match &message.version[..] {
            "0.5" => ReportVersion::V05,
            "1.0" => ReportVersion::V10,
            "2.0" => ReportVersion::V20,
            other => panic!("{other}"),
        },
        exporter: message.exporter.as_deref().map(address),
        exporter_port: message.exporter_port.map(u16_of),
        received_ns: message.received_ns,
        hw_id: message.hw_id.try_into().unwrap(),
        report_seq: message.report_seq,
        flags: FlagsRecord {
            dropped: message.dropped,
            congested_queue: message.congested_queue,
            tracked_flow: message.tracked_flow,
            intermediate: message.intermediate,
        },
        report_time_s: message.report_time_s,
        arrival_ns: message.arrival_ns,
        reporter_node: message.reporter_node.map(NodeId),
        sink_clock: message.sink_clock.clone().map(Into::into),
        sink_clock_synchronised: message.sink_clock_synchronised,
        flow: message.flow.as_ref().map(flow),
        inner_flow: message.inner_flow.as_ref().map(flow),
        names: (message.names.iter())
            .map(|one| RecordName {
                node: NodeId(one.node),
                name: one.name.clone(),
            })
            .collect(),
        interfaces: (message.interfaces.iter())
            .map(|one| RecordPort {
                at: NodePort {
                    node: NodeId(one.node),
                    port: u16::try_from(one.port).unwrap(),
                },
                name: one.name.clone(),
            })
            .collect(),
        pods: (message.pods.iter())
            .map(|one| RecordPod {
                address: one.address.as_deref().map(address),
                uid: one.uid.clone(),
                name: PodName {
                    namespace: one.namespace.clone(),
                    pod: one.pod.clone(),
                    workload: one.workload.clone(),
                    workload_kind: one.workload_kind.clone(),
                },
            })
            .collect(),
        class: message.class.clone(),
        source: message.source.as_ref().map(end),
        transit: message.transit.iter().map(hop).collect(),
        sink: message.sink.as_ref().map(end),
        latency_ns: match (message.latency_ns, &message.kind[..]) {
            (None, "latency") => Some(None),
            (latency, _) => latency.map(Some),
        },
        latency_corrected_ns: message.latency_corrected_ns,
        latency_error_ns: message.latency_error_ns,
        latency_bound_ns: match (message.latency_least_ns, message.latency_most_ns) {
            (Some(least), Some(most)) => Some(Some([least, most])),
            _ => message.clock.as_ref().map(|_| None),
        },
        clock: message.clock.clone().map(Into::into),
        seq: message.seq,
        gap: message.gap.map(|gap| GapRecord {
            first_seq: gap.first_seq,
            last_seq: gap.last_seq,
            count: gap.count,
            time_s: gap.time_s,
        }),
        summary: message.summary.as_ref().map(|told| Box::new(summary(told))),
        host_drop: (message.host_drop.as_ref())
            .map(|told| Box::new(host_drop(told, message.flow.as_ref()))),
        host_drop_sum: (message.host_drop_sum.as_ref()).map(|told| Box::new(drop_sum(told))),
        host_hop: (message.host_hop.as_ref())
            .map(|told| Box::new(host_hop(told, message.flow.as_ref()))),
        queue_episode: (message.queue_episode.as_ref()).map(|told| Box::new(queue_episode(told))),
        connection: (message.connection.as_ref())
            .map(|told| Box::new(connection(told, message.flow.as_ref()))),
        path_part: (message.path_part.as_ref()).map(|told| Box::new(path_part(told))),
        metadata: message.metadata.as_ref().map(metadata).unwrap_or_default(),
        drop_reason_name: message.drop_reason_name.clone(),
        domain: message.domain.map(|domain| ReportDomain {
            id: u16_of(domain.id),
            bits: u16_of(domain.bits),
            status: u16_of(domain.status),
        }),
        frame_bytes: message.frame_bytes.map(|bytes| bytes as usize),
        int: message.int_headers.iter().map(header).collect(),
        extensions: (message.extensions.iter())
            .map(|extension| Extension {
                kind: extension.kind.map(u8_of),
                template: extension.template.map(u16_of),
                data: extension.data.clone(),
            })
            .collect(),
        quirk: None,
    }
}

fn drop_sum(sum: &proto::HostDropSumMessage) -> DropSubject {
    let position = |one: &DropPosition| one.name() == sum.position;
    DropSubject {
        reason: KernelReason {
            number: sum.kernel_reason,
            name: sum.kernel_reason_name.clone(),
        },
        place: sum.place.clone(),
        interface: sum.interface.clone(),
        netns: sum.netns,
        position: DropPosition::EACH.into_iter().find(position).unwrap(),
        tagged_by: sum.tagged_by.map(NodeId),
        ignored: sum.ignored,
        without_packet: sum.without_packet,
    }
}

fn path_part(part: &proto::PathPartMessage) -> PathPartRecord {
    let at = |node, port| NodePort {
        node: NodeId(node),
        port: u16_of(port),
    };
    PathPartRecord {
        path_hash: part.path_hash.clone(),
        nodes: part.nodes.iter().copied().map(NodeId).collect(),
        part: part.part.clone(),
        from: at(part.from_node, part.from_port),
        to: at(part.to_node, part.to_port),
    }
}

fn u8_of(number: u32) -> u8 {
    number.try_into().unwrap()
}

fn u16_of(number: u32) -> u16 {
    number.try_into().unwrap()
}

fn address(octets: &[u8]) -> IpAddr {
    match octets.len() {
        4 => <[u8; 4]>::try_from(octets).unwrap().into(),
        16 => <[u8; 16]>::try_from(octets).unwrap().into(),
        other => panic!("{other} bytes"),
    }
}

fn flow(flow: &proto::Flow) -> FlowKey {
    FlowKey {
        src: address(&flow.src),
        dst: address(&flow.dst),
        sport: u16_of(flow.sport),
        dport: u16_of(flow.dport),
        protocol: u8_of(flow.protocol),
        vlans: Vlans {
            outer: u16_of(flow.outer_vlan),
            inner: u16_of(flow.vlan),
        },
    }
}

fn end(end: &proto::End) -> EndRecord {
    let node = NodeId(end.node);
    if let Some(port) = end.port {
        let port = u16_of(port);
        return EndRecord::Port { node, port };
    }
    EndRecord::Hop {
        hop: HopRecord {
            node,
            ingress_port: u16_of(end.ingress_port.unwrap()),
            egress_port: u16_of(end.egress_port.unwrap()),
            ingress_ts_ns: end.ingress_ts_ns.unwrap(),
            egress_ts_ns: end.egress_ts_ns.unwrap(),
            queue_occupancy: None,
            queue_bytes: None,
        },
        queue: end.queue.map(|queue| QueueDepth {
            packets: queue.packets,
            bytes: queue.bytes,
        }),
    }
}

fn hop(hop: &proto::Hop) -> HopRecord {
    HopRecord {
        node: NodeId(hop.node),
        ingress_port: u16_of(hop.ingress_port),
        egress_port: u16_of(hop.egress_port),
        ingress_ts_ns: hop.ingress_ts_ns,
        egress_ts_ns: hop.egress_ts_ns,
        queue_occupancy: hop.queue_occupancy,
        queue_bytes: hop.queue_bytes,
    }
}

fn tunnel(tunnel: &proto::TunnelMessage) -> Tunnel {
    let mut kinds = TunnelKind::EACH.into_iter();
    let which = TunnelId {
        kind: kinds.find(|kind| kind.name() == tunnel.kind).unwrap(),
        id: tunnel.id,
    };
    let outer = tunnel.outer.as_ref().map(flow).unwrap();
    Tunnel { which, outer }
}

fn host_hop(hop: &proto::FlowPassageMessage, of: Option<&proto::Flow>) -> FlowPassage {
    let reasons = PassageReason::EACH.into_iter();
    FlowPassage {
        flow: of.map(flow).unwrap(),
        flow_before_nat: hop.flow_before_nat.as_ref().map(flow),
        tunnel: hop.tunnel.as_ref().map(tunnel),
        reasons: reasons
            .filter(|reason| hop.reasons.iter().any(|name| name == reason.name()))
            .collect(),
        start: match hop.from_sender {
            true => PassageStart::Sender,
            false => PassageStart::Interface,
        },
        in_interface: hop.in_interface.clone(),
        out_interface: hop.out_interface.clone(),
        in_ifindex: hop.in_ifindex,
        out_ifindex: hop.out_ifindex,
        pods: PacketPods {
            in_pod: hop.in_pod.clone(),
            out_pod: hop.out_pod.clone(),
            pod: None,
        },
        packets: hop.packets,
        bytes: hop.bytes,
        first_ns: hop.first_ns,
        last_ns: hop.last_ns,
        hop_ns: hop.hop_ns,
        mean_hop_ns: hop.mean_hop_ns,
        max_hop_ns: hop.max_hop_ns,
    }
}

fn queue_episode(one: &proto::QueueEpisodeMessage) -> QueueEpisode {
    let flows = one.flows.iter();
    QueueEpisode {
        interface: one.interface.clone(),
        ifindex: one.ifindex,
        queue: one.queue,
        handle: one.handle,
        limits: QueueLimits {
            measure: match &*one.measure {
                "bytes" => QueueMeasure::Bytes,
                "time" => QueueMeasure::Time,
                other => panic!("{other}"),
            },
            trigger: one.trigger,
            reset: one.reset,
            quota: one.quota,
        },
        episode: one.episode,
        begin_ns: one.begin_ns,
        last_ns: one.last_ns,
        end_ns: one.end_ns,
        packets: one.packets,
        bytes: one.bytes,
        told: one.told,
        suppressed: one.suppressed,
        drops: one.drops,
        max_bytes: one.max_bytes,
        max_packets: one.max_packets,
        max_time_ns: one.max_time_ns,
        flows: flows
            .map(|told| QueueFlow {
                flow: told.flow.as_ref().map(flow).unwrap(),
                packets: told.packets,
                bytes: told.bytes,
            })
            .collect(),
    }
}

fn host_drop(drop: &proto::HostDropMessage, of: Option<&proto::Flow>) -> HostDrop {
    HostDrop {
        flow: of.map(flow).unwrap(),
        flow_before_nat: drop.flow_before_nat.as_ref().map(flow),
        tunnel: drop.tunnel.as_ref().map(tunnel),
        reason: KernelReason {
            number: drop.kernel_reason,
            name: drop.kernel_reason_name.clone(),
        },
        place: drop.place.clone(),
        in_interface: drop.in_interface.clone(),
        out_interface: drop.out_interface.clone(),
        in_ifindex: drop.in_ifindex,
        out_ifindex: drop.out_ifindex,
        pods: PacketPods {
            in_pod: drop.in_pod.clone(),
            out_pod: drop.out_pod.clone(),
            pod: drop.pod.clone(),
        },
        count: DropCount {
            packets: drop.packets,
            segments: drop.segments,
            bytes: drop.bytes,
        },
        first_ns: drop.first_ns,
        last_ns: drop.last_ns,
        age_ns: drop.age_ns,
        queue_packets: drop.queue_packets,
        queue_bytes: drop.queue_bytes,
        superpacket: drop.superpacket,
        netns: drop.netns,
        cgroup: drop.cgroup,
        position: DropPosition::EACH
            .into_iter()
            .find(|position| position.name() == drop.position)
            .unwrap(),
        int: drop
            .tagged_by
            .zip(drop.sequence)
            .map(|(source, sequence)| DroppedInt {
                source: NodeId(source),
                sequence,
            }),
        ifindex: drop.ifindex,
        place_address: 0,
    }
}

fn connection(one: &proto::ConnectionMessage, of: Option<&proto::Flow>) -> TcpReport {
    let mut times = LimitedTimes::default();
    let told = one.limited_us.as_ref().unwrap();
    for (limit, us) in [
        (Limit::Application, told.application),
        (Limit::Receiver, told.receiver),
        (Limit::SendBuffer, told.send_buffer),
        (Limit::HostQueue, told.host_queue),
        (Limit::Path, told.path),
        (Limit::Unknown, told.unknown),
    ] {
        times.add(limit, us);
    }
    let held_up = one.busy_us.map(|busy_us| HeldUp {
        busy_us,
        receiver_us: one.receiver_limited_us.unwrap(),
        buffer_us: one.buffer_limited_us.unwrap(),
    });
    let tcp = TcpFigures {
        state: (0..12)
            .map(TcpPhase)
            .find(|phase| phase.name() == one.state)
            .unwrap(),
        congestion_state: (0..5)
            .map(CongestionPhase)
            .find(|phase| phase.name() == one.congestion_state)
            .unwrap(),
        congestion_control: CongestionControl::named(&one.congestion_control).unwrap(),
        timeouts_in_a_row: one.timeouts_in_a_row.try_into().unwrap(),
        held_up,
        srtt_us: one.srtt_us,
        rttvar_us: one.rttvar_us,
        min_rtt_us: one.min_rtt_us,
        cwnd_segments: one.cwnd_segments,
        mss_bytes: one.mss_bytes,
        segments_out: one.segments_out,
        data_segments_out: one.data_segments_out,
        total_retrans: one.total_retrans,
        dsack_dups: one.dsack_dups,
        rto_count: one.rto_count,
        delivered_ce: one.delivered_ce,
        bytes_sent: one.bytes_sent,
        bytes_acked: one.bytes_acked,
        bytes_received: one.bytes_received,
        delivery_rate_bytes_s: one.delivery_rate_bytes_s,
        notsent_bytes: one.notsent_bytes,
        unread_bytes: one.unread_bytes,
        host_queue_bytes: one.host_queue_bytes,
        rto_us: one.rto_us,
        ssthresh_segments: one.ssthresh_segments,
        packets_out: one.packets_out,
        sacked_out: one.sacked_out,
        lost_out: one.lost_out,
        retrans_out: one.retrans_out,
        delivered: one.delivered,
        reord_seen: one.reord_seen,
        bytes_retrans: one.bytes_retrans,
        pacing_rate_bytes_s: one.pacing_rate_bytes_s,
        max_pacing_rate_bytes_s: one.max_pacing_rate_bytes_s,
        snd_wnd_bytes: one.snd_wnd_bytes,
        send_buffer_bytes: one.send_buffer_bytes,
        cwnd_limited: one.cwnd_limited,
        app_limited: one.app_limited,
        delivery_rate_app_limited: one.delivery_rate_app_limited,
        waits_for_room: one.waits_for_room,
        paced: one.paced,
        ecn: one.ecn,
        window_scaled: one.window_scaled,
        sack: one.sack,
        timestamps: one.timestamps,
    };
    TcpReport {
        id: one.id,
        why: TcpNews::EACH
            .into_iter()
            .find(|why| why.name() == one.why)
            .unwrap(),
        limited: Limit::of_name(&one.limited),
        class: one.class.clone(),
        times,
        samples: one.samples,
        sample: TcpSample {
            flow: of.map(flow).unwrap(),
            time_ns: one.time_ns,
            begun_ns: one.begun_ns,
            cgroup: one.cgroup,
            socket: 0,
            monotonic_ns: 0,
            begun_monotonic_ns: None,
            class: 0,
            tcp,
            option: one.option.as_ref().map(option_figures),
        },
    }
}

fn option_figures(one: &proto::OptionMessage) -> OptionFigures {
    OptionFigures {
        requests: one.requests,
        samples: one.samples,
        echoes: one.echoes,
        no_room: one.no_room,
        off: one.off.as_deref().map(|off| match off {
            "timeout" => OptionOff::Timeout,
            other => panic!("{other}"),
        }),
        worst: one.worst.as_ref().map(|worst| WorstSample {
            sample: WorstHop {
                hop: worst.hop.try_into().unwrap(),
                link_gbit_s: worst.link_gbit_s,
                queue_bytes: worst.queue_bytes,
                free_gbit_s: worst.free_gbit_s,
                latency_ns: worst.latency_ns,
            },
            age_ns: worst.age_ns,
            node: worst.node.map(NodeId),
        }),
    }
}

fn summary(summary: &proto::Summary) -> SummaryRecord {
    let latency = summary.latency.as_ref().unwrap();
    let part = latency.first_slot.zip(latency.end_of_slots);
    SummaryRecord {
        class: summary.class.clone(),
        period_ns: summary.period_ns,
        epoch_ns: summary.epoch_ns,
        last_ns: summary.last_ns,
        packets: summary.packets,
        bytes: summary.bytes,
        lost: summary.lost,
        recovered: summary.recovered,
        reordered: summary.reordered,
        duplicates: summary.duplicates,
        late: summary.late,
        restarts: summary.restarts,
        squares: summary.squares.as_ref().map(|squares| {
            let sums = [squares.lost, squares.lost_sent, squares.sent];
            FlowSquares::from_all(sums.map(|sum| sum as i128))
        }),
        latency: DistributionRecord {
            steps: u8_of(latency.steps),
            samples: latency.samples,
            min_ns: latency.min_ns,
            max_ns: latency.max_ns,
            sum_ns: latency.sum_ns.into(),
            slots: latency
                .slot_bounds_ns
                .iter()
                .copied()
                .zip(latency.slot_counts.iter().copied())
                .collect(),
            part: part.map(|(from, to)| (from.try_into().unwrap(), to.try_into().unwrap())),
        },
    }
}

fn metadata(metadata: &proto::Metadata) -> Metadata {
    Metadata {
        node: metadata.node.map(NodeId),
        ingress_port: metadata.ingress_port.map(u16_of),
        egress_port: metadata.egress_port.map(u16_of),
        hop_latency_ns: metadata.hop_latency_ns,
        queue_id: metadata.queue_id.map(u8_of),
        queue_occupancy: metadata.queue_occupancy,
        ingress_ts: metadata.ingress_ts_ns,
        egress_ts: metadata.egress_ts_ns,
        level2_ingress_port: metadata.level2_ingress_port,
        level2_egress_port: metadata.level2_egress_port,
        congestion_queue_id: metadata.congestion_queue_id.map(u8_of),
        queue_congestion: metadata.queue_congestion,
        tx_utilization: metadata.tx_utilization,
        buffer_id: metadata.buffer_id.map(u8_of),
        buffer_occupancy: metadata.buffer_occupancy,
        checksum_complement: metadata.checksum_complement,
        drop_reason: metadata.drop_reason.map(u8_of),
        drop_queue_id: metadata.drop_queue_id.map(u8_of),
        domain_words: metadata.domain_words.clone(),
        reserved: (metadata.reserved.iter())
            .map(|reserved| ReservedWord {
                bit: u8_of(reserved.bit),
                word: reserved.word,
            })
            .collect(),
    }
}

fn header(header: &proto::IntHeader) -> IntHeader {
    IntHeader {
        version: match &header.version[..] {
            "0.5" => IntVersion::V05,
            "1.0" => IntVersion::V10,
            "2" => IntVersion::V2,
            other => panic!("{other}"),
        },
        kind: match &header.kind[..] {
            "md" => IntType::Md,
            "destination" => IntType::Destination,
            "mx" => IntType::Mx,
            "host-int" => IntType::HostInt,
            other => panic!("{other}"),
        },
        instructions: u16_of(header.instructions),
        replication: u8_of(header.replication),
        copy: header.copy,
        discard: header.discard,
        hops_exceeded: header.hops_exceeded,
        mtu_exceeded: header.mtu_exceeded,
        max_hops: header.max_hops.map(u8_of),
        remaining_hops: header.remaining_hops.map(u8_of),
        domain: header.domain.map(|domain| IntDomain {
            id: u16_of(domain.id),
            instructions: u16_of(domain.instructions),
            flags: u16_of(domain.flags),
        }),
        hops: header.hops.iter().map(metadata).collect(),
        source_words: header.source_words.clone(),
        original_dscp: header.original_dscp.map(u8_of),
        original_dport: header.original_dport.map(u16_of),
        original_protocol: header.original_protocol.map(u8_of),
        seq: header.seq,
        truncated: header.truncated,
        quirk: None,
    }
}
