//! The encoding of records into messages, which keep all values of a record.

use super::flow::octets;
use super::message as proto;
use crate::engines::{FedReport, RunId};
use crate::model::{
    DistributionRecord, EndRecord, Extension, FlowKey, GapRecord, HopRecord, IntDomain, IntHeader,
    IntType, IntVersion, Measured, Metadata, QueueDepth, Record, ReportDomain, ReportVersion,
    ReservedWord, SummaryRecord,
};

/// Returns the message of a report.
pub fn message(run: RunId, entry: &FedReport) -> proto::Report {
    let mut record = Record::new(&entry.report, entry.arrival)
        .in_class(entry.class.as_deref())
        .naming(&entry.names)
        .with_pods(&entry.pods)
        .with_clocks(entry.clocks);
    record.drop_reason_name = entry.drop_reason.as_deref().map(str::to_owned);
    let mut message = proto::Report::from(record);
    (message.run, message.number) = (run.0, entry.number);
    message.added = entry.added.as_deref().map(Into::into);
    message.added_drops = entry.dropped.as_deref().copied().map(Into::into);
    message
}

impl From<Record> for proto::Report {
    fn from(record: Record) -> Self {
        let bound_ns = record.latency_bound_ns.flatten();
        let metadata = (record.metadata != Metadata::default()).then(|| (&record.metadata).into());
        Self {
            kind: record.kind.into_owned(),
            version: match record.version {
                ReportVersion::V05 => "0.5",
                ReportVersion::V10 => "1.0",
                ReportVersion::V20 => "2.0",
            }
            .to_owned(),
            exporter: record.exporter.map(octets),
            exporter_port: record.exporter_port.map(u32::from),
            received_ns: record.received_ns,
            hw_id: record.hw_id.into(),
            report_seq: record.report_seq,
            dropped: record.flags.dropped,
            congested_queue: record.flags.congested_queue,
            tracked_flow: record.flags.tracked_flow,
            intermediate: record.flags.intermediate,
            report_time_s: record.report_time_s,
            arrival_ns: record.arrival_ns,
            reporter_node: record.reporter_node.map(|node| node.0),
            sink_clock: record.sink_clock.map(Into::into),
            sink_clock_synchronised: record.sink_clock_synchronised,
            flow: record.flow.map(Into::into),
            inner_flow: record.inner_flow.map(Into::into),
            class: record.class,
            source: record.source.map(Into::into),
            transit: record.transit.into_iter().map(Into::into).collect(),
            sink: record.sink.map(Into::into),
            latency_ns: record.latency_ns.flatten(),
            seq: record.seq,
            gap: record.gap.map(Into::into),
            metadata,
            drop_reason_name: record.drop_reason_name,
            domain: record.domain.map(Into::into),
            frame_bytes: record.frame_bytes.map(|bytes| bytes as u64),
            int_headers: record.int.iter().map(Into::into).collect(),
            extensions: record.extensions.into_iter().map(Into::into).collect(),
            summary: record.summary.map(|summary| (*summary).into()),
            latency_corrected_ns: record.latency_corrected_ns,
            latency_error_ns: record.latency_error_ns,
            latency_least_ns: bound_ns.map(|[least, _]| least),
            latency_most_ns: bound_ns.map(|[_, most]| most),
            clock: record.clock.map(Into::into),
            names: record.names.into_iter().map(Into::into).collect(),
            interfaces: record.interfaces.into_iter().map(Into::into).collect(),
            pods: record.pods.into_iter().map(Into::into).collect(),
            host_drop: record.host_drop.map(|drop| Box::new((*drop).into())),
            host_drop_sum: record.host_drop_sum.map(|sum| Box::new((*sum).into())),
            host_hop: record.host_hop.map(|hop| Box::new((*hop).into())),
            queue_episode: record.queue_episode.map(|one| Box::new((*one).into())),
            connection: record.connection.map(|one| Box::new((*one).into())),
            path_part: record.path_part.map(|part| Box::new((*part).into())),
            ..Self::default()
        }
    }
}

impl From<FlowKey> for proto::Flow {
    fn from(flow: FlowKey) -> Self {
        Self {
            src: octets(flow.src),
            dst: octets(flow.dst),
            sport: flow.sport.into(),
            dport: flow.dport.into(),
            protocol: flow.protocol.into(),
            outer_vlan: flow.vlans.outer.into(),
            vlan: flow.vlans.inner.into(),
        }
    }
}

impl From<EndRecord> for proto::End {
    fn from(end: EndRecord) -> Self {
        match end {
            EndRecord::Hop { hop, queue } => Self {
                node: hop.node.0,
                port: None,
                ingress_port: Some(hop.ingress_port.into()),
                egress_port: Some(hop.egress_port.into()),
                ingress_ts_ns: Some(hop.ingress_ts_ns),
                egress_ts_ns: Some(hop.egress_ts_ns),
                queue: queue.map(Into::into),
            },
            EndRecord::Port { node, port } => Self {
                node: node.0,
                port: Some(port.into()),
                ..Self::default()
            },
        }
    }
}

impl From<HopRecord> for proto::Hop {
    fn from(hop: HopRecord) -> Self {
        Self {
            node: hop.node.0,
            ingress_port: hop.ingress_port.into(),
            egress_port: hop.egress_port.into(),
            ingress_ts_ns: hop.ingress_ts_ns,
            egress_ts_ns: hop.egress_ts_ns,
            queue_occupancy: hop.queue_occupancy,
            queue_bytes: hop.queue_bytes,
        }
    }
}

impl From<QueueDepth> for proto::QueueDepth {
    fn from(queue: QueueDepth) -> Self {
        Self {
            packets: queue.packets,
            bytes: queue.bytes,
        }
    }
}

impl From<GapRecord> for proto::Gap {
    fn from(gap: GapRecord) -> Self {
        Self {
            first_seq: gap.first_seq,
            last_seq: gap.last_seq,
            count: gap.count,
            time_s: gap.time_s,
        }
    }
}

impl From<SummaryRecord> for proto::Summary {
    fn from(summary: SummaryRecord) -> Self {
        Self {
            class: summary.class,
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
            latency: Some(summary.latency.into()),
            squares: summary.squares.map(|squares| {
                let [lost, lost_sent, sent] = squares.all().map(|sum| sum as f64);
                proto::FlowSquares {
                    lost,
                    lost_sent,
                    sent,
                }
            }),
        }
    }
}

impl From<&Measured> for proto::Added {
    fn from(added: &Measured) -> Self {
        Self {
            packets: added.packets,
            bytes: added.bytes,
            lost: added.lost,
            recovered: added.recovered,
            reordered: added.reordered,
            duplicates: added.duplicates,
            latency: Some(DistributionRecord::from(&added.latency).into()),
            corrected: (added.corrected.packets > 0).then(|| (&added.corrected).into()),
        }
    }
}

impl From<DistributionRecord> for proto::Distribution {
    fn from(latency: DistributionRecord) -> Self {
        let (slot_bounds_ns, slot_counts) = latency.slots.into_iter().unzip();
        Self {
            steps: latency.steps.into(),
            samples: latency.samples,
            min_ns: latency.min_ns,
            max_ns: latency.max_ns,
            sum_ns: latency.sum_ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64,
            slot_bounds_ns,
            slot_counts,
            first_slot: latency.part.map(|(from, _)| from.into()),
            end_of_slots: latency.part.map(|(_, to)| to.into()),
        }
    }
}

impl From<&Metadata> for proto::Metadata {
    fn from(metadata: &Metadata) -> Self {
        Self {
            node: metadata.node.map(|node| node.0),
            ingress_port: metadata.ingress_port.map(u32::from),
            egress_port: metadata.egress_port.map(u32::from),
            hop_latency_ns: metadata.hop_latency_ns,
            queue_id: metadata.queue_id.map(u32::from),
            queue_occupancy: metadata.queue_occupancy,
            ingress_ts_ns: metadata.ingress_ts,
            egress_ts_ns: metadata.egress_ts,
            level2_ingress_port: metadata.level2_ingress_port,
            level2_egress_port: metadata.level2_egress_port,
            congestion_queue_id: metadata.congestion_queue_id.map(u32::from),
            queue_congestion: metadata.queue_congestion,
            tx_utilization: metadata.tx_utilization,
            buffer_id: metadata.buffer_id.map(u32::from),
            buffer_occupancy: metadata.buffer_occupancy,
            checksum_complement: metadata.checksum_complement,
            drop_reason: metadata.drop_reason.map(u32::from),
            drop_queue_id: metadata.drop_queue_id.map(u32::from),
            domain_words: metadata.domain_words.clone(),
            reserved: metadata.reserved.iter().map(Into::into).collect(),
        }
    }
}

impl From<&ReservedWord> for proto::ReservedWord {
    fn from(reserved: &ReservedWord) -> Self {
        Self {
            bit: reserved.bit.into(),
            word: reserved.word,
        }
    }
}

impl From<ReportDomain> for proto::ReportDomain {
    fn from(domain: ReportDomain) -> Self {
        Self {
            id: domain.id.into(),
            bits: domain.bits.into(),
            status: domain.status.into(),
        }
    }
}

impl From<&IntHeader> for proto::IntHeader {
    fn from(header: &IntHeader) -> Self {
        Self {
            version: match header.version {
                IntVersion::V05 => "0.5",
                IntVersion::V10 => "1.0",
                IntVersion::V2 => "2",
            }
            .to_owned(),
            kind: match header.kind {
                IntType::Md => "md",
                IntType::Destination => "destination",
                IntType::Mx => "mx",
                IntType::HostInt => "host-int",
            }
            .to_owned(),
            instructions: header.instructions.into(),
            replication: header.replication.into(),
            copy: header.copy,
            discard: header.discard,
            hops_exceeded: header.hops_exceeded,
            mtu_exceeded: header.mtu_exceeded,
            max_hops: header.max_hops.map(u32::from),
            remaining_hops: header.remaining_hops.map(u32::from),
            domain: header.domain.map(Into::into),
            hops: header.hops.iter().map(Into::into).collect(),
            source_words: header.source_words.clone(),
            original_dscp: header.original_dscp.map(u32::from),
            original_dport: header.original_dport.map(u32::from),
            original_protocol: header.original_protocol.map(u32::from),
            seq: header.seq,
            truncated: header.truncated,
        }
    }
}

impl From<IntDomain> for proto::IntDomain {
    fn from(domain: IntDomain) -> Self {
        Self {
            id: domain.id.into(),
            instructions: domain.instructions.into(),
            flags: domain.flags.into(),
        }
    }
}

impl From<Extension> for proto::Extension {
    fn from(extension: Extension) -> Self {
        Self {
            kind: extension.kind.map(u32::from),
            template: extension.template.map(u32::from),
            data: extension.data,
        }
    }
}
