//! Random reports: every kind, every field.

use hostint::model::*;
use hostint::wire::packet;

pub struct Random(pub u64);

impl Random {
    #[allow(clippy::should_implement_trait)] // it never ends
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn u32(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    pub fn u16(&mut self) -> u16 {
        self.u32() as u16
    }

    pub fn u8(&mut self) -> u8 {
        self.u32() as u8
    }

    pub fn bool(&mut self) -> bool {
        self.u32() & 1 == 0
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.u8())
    }

    pub fn transport(&mut self) -> Transport {
        match self.bool() {
            true => Transport::Tcp,
            false => Transport::Udp,
        }
    }

    pub fn hop(&mut self) -> Hop {
        Hop {
            node: NodeId(self.u32()),
            ingress_port: self.u16(),
            egress_port: self.u16(),
            ingress_ts: self.u32(),
            egress_ts: self.u32(),
            queue: None,
        }
    }

    pub fn frame(&mut self, with_int: bool) -> Packet {
        let length = self.u8();
        let bytes: Vec<_> = (0..length).map(|_| self.u8()).collect();
        packet::read(FirstHeader::Ethernet, &bytes, with_int)
    }

    /// A report of v0.5 about a packet: NProto 0, 1 or 2.
    pub fn packet_report(&mut self, nproto: u8, with_int: bool) -> PacketReport {
        let mut metadata = Metadata {
            ingress_ts: Some(self.u32().into()),
            ..Metadata::default()
        };
        if nproto != 0 {
            metadata.ingress_port = Some(self.u16());
            metadata.egress_port = Some(self.u16());
            metadata.queue_id = Some(self.u8());
        }
        match nproto {
            1 => metadata.drop_reason = Some(self.u8()),
            2 => {
                metadata.queue_occupancy = Some(self.u32() >> 8);
                metadata.egress_ts = Some(self.u32().into());
            }
            _ => {}
        }
        PacketReport {
            node: (nproto != 0).then(|| NodeId(self.u32())),
            metadata,
            packet: Some(self.frame(with_int)),
            ..PacketReport::default()
        }
    }

    pub fn vlans(&mut self) -> Vlans {
        let mut id = || match self.bool() {
            true => self.u16() & 0x0fff,
            false => 0,
        };
        Vlans {
            outer: id(),
            inner: id(),
        }
    }

    /// IPv4 or IPv6, with and without VLANs, any protocol but mostly TCP and UDP.
    pub fn flow(&mut self) -> FlowKey {
        let (src, dst) = match self.bool() {
            true => (self.bytes::<4>().into(), self.bytes::<4>().into()),
            false => (self.bytes::<16>().into(), self.bytes::<16>().into()),
        };
        FlowKey {
            src,
            dst,
            sport: self.u16(),
            dport: self.u16(),
            protocol: match self.u8() % 4 {
                0 => self.u8(),
                _ => self.transport().protocol(),
            },
            vlans: self.vlans(),
        }
    }

    pub fn queue(&mut self) -> QueueDepth {
        QueueDepth {
            packets: self.u32() >> 8,
            bytes: self.u32(),
        }
    }

    pub fn quoted(&mut self) -> ReportedPacket {
        let transport = self.transport();
        let mut ip: [u8; 20] = self.bytes();
        ip[0] = 0x45;
        ip[9] = transport.protocol();
        let l4: [u8; 20] = self.bytes();
        ReportedPacket::Quoted {
            reporter: self.bool().then(|| NodeId(self.u32())),
            headers: QuotedHeaders::new(ip, &l4[..transport.quoted_bytes()]).unwrap(),
        }
    }

    pub fn named(&mut self) -> ReportedPacket {
        ReportedPacket::Named {
            flow: self.flow(),
            queue: self.bool().then(|| self.queue()),
        }
    }

    pub fn latency(&mut self) -> LatencyReport {
        LatencyReport {
            version: ReportVersion::V05,
            arrival_ns: None,
            time_s: self.u32(),
            packet: match self.bool() {
                true => self.quoted(),
                false => self.named(),
            },
            hops: HopStack::over(self.hop(), &[], self.hop()),
            sequence: self.u32(),
        }
    }

    /// A packet that passed hops, of which some say their queue: all in one unit. What INT has no bits for is not there.
    pub fn passed(&mut self) -> LatencyReport {
        let in_bytes = self.bool();
        let mut hops: Vec<Hop> = (0..1 + self.u8() % 8).map(|_| self.hop()).collect();
        for hop in &mut hops {
            let number = self.u32() >> 9;
            let queue = if in_bytes {
                HopQueue::Bytes(number)
            } else {
                HopQueue::Occupancy(number)
            };
            hop.queue = self.bool().then_some(queue);
        }
        LatencyReport {
            packet: self.named(),
            hops: HopStack::over(self.hop(), &hops, self.hop()),
            ..self.latency()
        }
    }

    pub fn drop_summary(&mut self) -> DropSummary {
        DropSummary {
            version: ReportVersion::V05,
            time_s: self.u32(),
            source_node: NodeId(self.u32()),
            sink_node: NodeId(self.u32()),
            source_port: self.u16(),
            sink_port: self.u16(),
            gap_time_s: self.u32(),
            before_seq: self.u32(),
            count: self.u32(),
            flow: self.flow(),
        }
    }

    /// Any number of values of any resolution.
    pub fn latencies(&mut self) -> LatencyHistogram {
        let resolution = LatencyResolution::ALL[usize::from(self.u8() % 3)];
        let count = usize::from(self.u8() >> (self.u8() % 9).min(7));
        let values: Vec<i64> = (0..count)
            .map(|_| {
                let bits = 1 + u32::from(self.u8()) % 40;
                let ns = (self.next() >> (64 - bits)).cast_signed();
                if self.u8().is_multiple_of(8) { -ns } else { ns }
            })
            .collect();
        let ends = (
            values.iter().copied().min().unwrap_or_default(),
            values.iter().copied().max().unwrap_or_default(),
        );
        let sum = values.iter().map(|ns| i128::from(*ns)).sum();
        let bounds = values.iter().map(|ns| (resolution.bounds(*ns).1, 1));
        LatencyHistogram::of_counts(resolution, ends, sum, bounds)
    }

    pub fn summary(&mut self) -> Summary {
        let subject = match self.bool() {
            true => SummarySubject::Flow {
                flow: self.flow(),
                source_port: self.u16(),
                sink_port: self.u16(),
            },
            false => SummarySubject::Group {
                class: self.bool().then(|| format!("class-{}", self.u16())),
            },
        };
        let squares = match subject {
            SummarySubject::Flow { .. } => FlowSquares::default(),
            // As many as JSON has exactly.
            SummarySubject::Group { .. } => {
                FlowSquares::from_all([(); 3].map(|()| i128::from(self.next() >> 1)))
            }
        };
        Summary {
            time_s: self.u32(),
            period_ns: self.next(),
            source_node: NodeId(self.u32()),
            sink_node: NodeId(self.u32()),
            subject,
            totals: SubjectTotals {
                epoch_ns: self.next(),
                last_ns: self.next(),
                packets: self.next(),
                bytes: self.next(),
                lost: self.next(),
                recovered: self.next(),
                reordered: self.next(),
                duplicates: self.next(),
                late: self.next(),
                restarts: self.next(),
                squares,
                latency: self.latencies(),
                slots: SlotRange::ALL,
            },
        }
    }

    pub fn queue_report(&mut self) -> QueueReport {
        let by_bytes = self.bool();
        let flows = usize::from(self.u8()) % (MOST_QUEUE_FLOWS + 1);
        QueueReport {
            time_s: self.u32(),
            node: NodeId(self.u32()),
            episode: QueueEpisode {
                interface: self.bool().then(|| "eth0".to_owned()),
                ifindex: self.u32(),
                queue: self.u32(),
                handle: self.u32(),
                limits: QueueLimits {
                    measure: match by_bytes {
                        true => QueueMeasure::Bytes,
                        false => QueueMeasure::Time,
                    },
                    trigger: self.next(),
                    reset: self.next(),
                    quota: self.u32(),
                },
                episode: self.next(),
                begin_ns: self.next(),
                last_ns: self.next(),
                end_ns: self.bool().then(|| self.next()),
                packets: self.next(),
                bytes: self.next(),
                told: self.next(),
                suppressed: self.next(),
                drops: self.next(),
                max_bytes: self.u32(),
                max_packets: self.u32(),
                max_time_ns: self.bool().then(|| self.u32()),
                flows: (0..flows)
                    .map(|_| QueueFlow {
                        flow: self.flow(),
                        packets: self.next(),
                        bytes: self.next(),
                    })
                    .collect(),
            },
        }
    }

    fn tunnel(&mut self) -> Option<Tunnel> {
        let number = self.u8() % 4;
        let (id, outer) = (self.u32(), self.flow());
        let kind = TunnelKind::from_number(number)?;
        let which = TunnelId { kind, id };
        Some(Tunnel { which, outer })
    }

    pub fn host_hop(&mut self) -> FlowPassageReport {
        let name = |some: bool| some.then(|| "eth0".to_owned());
        let bits = self.u8();
        let reasons = (0..).zip(PassageReason::EACH);
        let reasons = reasons.filter(|(bit, _)| bits >> bit & 1 != 0);
        let reasons = reasons.map(|(_, reason)| reason).collect();
        FlowPassageReport {
            time_s: self.u32(),
            node: NodeId(self.u32()),
            hop: FlowPassage {
                flow: self.flow(),
                flow_before_nat: self.bool().then(|| self.flow()),
                tunnel: self.tunnel(),
                reasons,
                start: match self.bool() {
                    true => PassageStart::Sender,
                    false => PassageStart::Interface,
                },
                in_interface: name(self.bool()),
                out_interface: name(self.bool()),
                in_ifindex: self.u32(),
                out_ifindex: self.u32(),
                pods: PacketPods {
                    in_pod: name(self.bool()),
                    out_pod: name(self.bool()),
                    pod: None,
                },
                packets: self.next(),
                bytes: self.next(),
                first_ns: self.next(),
                last_ns: self.next(),
                hop_ns: self.u32(),
                mean_hop_ns: self.u32(),
                max_hop_ns: self.u32(),
            },
        }
    }

    pub fn host_drop(&mut self) -> HostDropReport {
        let mut name = |most: u32| {
            let length = self.u32() % (most + 1);
            let letters = (0..length).map(|_| char::from(b'a' + self.u8() % 26));
            Some(letters.collect::<String>()).filter(|name| !name.is_empty())
        };
        let names: [_; 4] = std::array::from_fn(|_| name(63));
        let [reason, place, in_interface, out_interface] = names;
        let [in_pod, out_pod, pod] = std::array::from_fn(|_| name(63));
        let pods = PacketPods {
            in_pod,
            out_pod,
            pod,
        };
        HostDropReport {
            time_s: self.u32(),
            node: NodeId(self.u32()),
            drop: HostDrop {
                flow: self.flow(),
                flow_before_nat: self.bool().then(|| self.flow()),
                tunnel: self.tunnel(),
                reason: KernelReason {
                    number: self.u32(),
                    name: reason,
                },
                place,
                in_interface,
                out_interface,
                in_ifindex: self.u32(),
                out_ifindex: self.u32(),
                pods,
                count: DropCount {
                    packets: self.next(),
                    segments: self.next(),
                    bytes: self.next(),
                },
                first_ns: self.next(),
                last_ns: self.next(),
                age_ns: self.bool().then(|| self.u32() >> 1),
                queue_packets: self.u32(),
                queue_bytes: self.u32(),
                superpacket: self.bool(),
                netns: self.u32(),
                cgroup: Some(self.next()).filter(|cgroup| *cgroup != 0),
                position: DropPosition::EACH[usize::from(self.u8() % 6)],
                int: self.bool().then(|| DroppedInt {
                    source: NodeId(self.u32()),
                    sequence: self.u32(),
                }),
                ifindex: self.u32(),
                place_address: 0,
            },
        }
    }

    fn tcp_figures(&mut self) -> TcpFigures {
        let word = |random: &mut Self| random.bool().then(|| random.u32());
        let long = |random: &mut Self| random.bool().then(|| random.next());
        let srtt_us = word(self);
        TcpFigures {
            state: TcpPhase([1, 2, 3, 4, 5, 7, 8, 9, 11][usize::from(self.u8() % 9)]),
            congestion_state: CongestionPhase(self.u8() % 5),
            congestion_control: CongestionControl::named("bbr").unwrap(),
            srtt_us,
            rttvar_us: srtt_us.map(|_| self.u32()),
            min_rtt_us: word(self),
            rto_us: self.next(),
            cwnd_segments: self.u32(),
            ssthresh_segments: word(self),
            mss_bytes: self.u32(),
            packets_out: self.u32(),
            sacked_out: self.u32(),
            lost_out: self.u32(),
            retrans_out: self.u32(),
            total_retrans: self.u32(),
            data_segments_out: self.u32(),
            segments_out: self.u32(),
            delivered: self.u32(),
            delivered_ce: word(self),
            dsack_dups: word(self),
            reord_seen: word(self),
            rto_count: word(self),
            timeouts_in_a_row: self.u8(),
            bytes_sent: self.next(),
            bytes_acked: self.next(),
            bytes_received: self.next(),
            bytes_retrans: long(self),
            delivery_rate_bytes_s: long(self),
            pacing_rate_bytes_s: long(self),
            max_pacing_rate_bytes_s: long(self),
            held_up: self.bool().then(|| HeldUp {
                busy_us: self.next(),
                receiver_us: self.next(),
                buffer_us: self.next(),
            }),
            notsent_bytes: self.u32(),
            unread_bytes: self.u32(),
            host_queue_bytes: self.u32(),
            snd_wnd_bytes: self.u32(),
            send_buffer_bytes: self.u32(),
            cwnd_limited: self.bool(),
            app_limited: self.bool(),
            delivery_rate_app_limited: self.bool(),
            waits_for_room: self.bool(),
            paced: self.bool(),
            ecn: self.bool(),
            window_scaled: self.bool(),
            sack: self.bool(),
            timestamps: self.bool(),
        }
    }

    pub fn connection(&mut self) -> ConnectionReport {
        let mut times = LimitedTimes::default();
        for limit in Limit::ALL {
            times.add(limit, self.next());
        }
        ConnectionReport {
            time_s: self.u32(),
            node: NodeId(self.u32()),
            connection: TcpReport {
                id: self.next(),
                why: TcpNews::EACH[usize::from(self.u8() % 5)],
                limited: Limit::ALL[usize::from(self.u8() % 6)],
                class: self.bool().then(|| "storage".to_owned()),
                times,
                samples: self.next(),
                sample: TcpSample {
                    flow: self.flow(),
                    time_ns: self.next(),
                    begun_ns: self.bool().then(|| self.next()),
                    cgroup: self.bool().then(|| self.next()),
                    socket: 0,
                    monotonic_ns: 0,
                    begun_monotonic_ns: None,
                    class: 0,
                    tcp: self.tcp_figures(),
                    option: None,
                },
            },
        }
    }

    pub fn clock(&mut self) -> ClockState {
        use ClockSource::{Nic, Realtime, Tai, Unknown};
        ClockState {
            source: [Unknown, Tai, Realtime, Nic][usize::from(self.u8() % 4)],
            synchronised: self.bool(),
        }
    }

    pub fn report(&mut self) -> Report {
        let tracked_flow = self.bool();
        let body = match self.u8() % 11 {
            nproto @ 0..3 => Body::Packet(Box::new(self.packet_report(nproto, tracked_flow))),
            3 => Body::DropSummary(self.drop_summary()),
            4 | 5 => Body::Summary(Box::new(self.summary())),
            6 => Body::HostDrop(Box::new(self.host_drop())),
            8 => Body::FlowPassage(Box::new(self.host_hop())),
            9 => Body::Queue(Box::new(self.queue_report())),
            7 => Body::Connection(Box::new(self.connection())),
            _ => Body::Latency(self.latency()),
        };
        Report {
            sequence: self.u32(),
            observation: Observation {
                hw_id: HwId::new(self.u8() >> 2).unwrap(),
                flags: Flags {
                    dropped: self.bool(),
                    congested_queue: self.bool(),
                    tracked_flow,
                    intermediate: false,
                },
                clock: self.bool().then(|| self.clock()),
                body,
            },
        }
    }
}
