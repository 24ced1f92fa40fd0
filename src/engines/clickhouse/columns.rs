//! The columns of the table: their names, their types, and their values in a row.

use std::net::IpAddr;

use super::flow_totals::histogram;
use super::row::{NO_ADDRESS, TableRow};
use super::row_group::RowGroup;
use super::row_part::RowPart;
use crate::model::{DropPosition, LatencyHistogram, PassageStart, ReportVersion};

/// A column that rows have a value for.
pub struct TableColumn {
    pub name: &'static str,
    pub value: ColumnValue,
    /// Only rows that have this part have another value than the table's default.
    pub part: RowPart,
}

impl TableColumn {
    /// True for a column that only rows of [`RowGroup::Hosts`] are inserted with.
    pub fn is_of_hosts(&self) -> bool {
        self.part == RowPart::Hosts
    }
}

/// A column's value in a row, in the width that the column's type must have.
pub enum ColumnValue {
    U8(fn(&TableRow<'_>) -> u8),
    U16(fn(&TableRow<'_>) -> u16),
    U32(fn(&TableRow<'_>) -> u32),
    U64(fn(&TableRow<'_>) -> u64),
    I64(fn(&TableRow<'_>) -> i64),
    MaybeU8(fn(&TableRow<'_>) -> Option<u8>),
    MaybeU16(fn(&TableRow<'_>) -> Option<u16>),
    MaybeU32(fn(&TableRow<'_>) -> Option<u32>),
    MaybeU64(fn(&TableRow<'_>) -> Option<u64>),
    MaybeI64(fn(&TableRow<'_>) -> Option<i64>),
    Text(for<'a> fn(&'a TableRow<'_>) -> &'a str),
    Address(fn(&TableRow<'_>) -> IpAddr),
    ManyText(for<'a> fn(&'a TableRow<'_>) -> Vec<&'a str>),
    ManyAddress(fn(&TableRow<'_>) -> Vec<IpAddr>),
    ManyU8(fn(&TableRow<'_>) -> Vec<u8>),
    ManyU16(fn(&TableRow<'_>) -> Vec<u16>),
    ManyU32(fn(&TableRow<'_>) -> Vec<u32>),
    ManyU64(fn(&TableRow<'_>) -> Vec<u64>),
    ManyI64(fn(&TableRow<'_>) -> Vec<i64>),
}

impl ColumnValue {
    /// Returns the types that have the same bytes in RowBinary. The first one is that of schema.sql.
    pub fn types(&self) -> &'static [&'static str] {
        match self {
            Self::U8(_) => &["UInt8", "Bool"],
            Self::U16(_) => &["UInt16"],
            Self::U32(_) => &["UInt32"],
            Self::U64(_) => &["UInt64"],
            Self::I64(_) => &["Int64"],
            Self::MaybeU8(_) => &["Nullable(UInt8)", "Nullable(Bool)"],
            Self::MaybeU16(_) => &["Nullable(UInt16)"],
            Self::MaybeU32(_) => &["Nullable(UInt32)"],
            Self::MaybeU64(_) => &["Nullable(UInt64)"],
            Self::MaybeI64(_) => &["Nullable(Int64)"],
            Self::Text(_) => &["LowCardinality(String)", "String"],
            Self::Address(_) => &["IPv6", "FixedString(16)"],
            Self::ManyText(_) => &["Array(LowCardinality(String))", "Array(String)"],
            Self::ManyAddress(_) => &["Array(IPv6)", "Array(FixedString(16))"],
            Self::ManyU8(_) => &["Array(UInt8)"],
            Self::ManyU16(_) => &["Array(UInt16)"],
            Self::ManyU32(_) => &["Array(UInt32)"],
            Self::ManyU64(_) => &["Array(UInt64)"],
            Self::ManyI64(_) => &["Array(Int64)"],
        }
    }
}

impl ColumnValue {
    /// Returns the bytes of 0, '', NULL or an empty array.
    pub fn nothing(&self) -> &'static [u8] {
        const ZEROS: [u8; 16] = [0; 16];
        match self {
            Self::U8(_) => &ZEROS[..1],
            Self::U16(_) => &ZEROS[..2],
            Self::U32(_) => &ZEROS[..4],
            Self::U64(_) | Self::I64(_) => &ZEROS[..8],
            Self::Address(_) => &ZEROS,
            Self::MaybeU8(_)
            | Self::MaybeU16(_)
            | Self::MaybeU32(_)
            | Self::MaybeU64(_)
            | Self::MaybeI64(_) => &[1],
            Self::Text(_)
            | Self::ManyText(_)
            | Self::ManyAddress(_)
            | Self::ManyU8(_)
            | Self::ManyU16(_)
            | Self::ManyU32(_)
            | Self::ManyU64(_)
            | Self::ManyI64(_) => &ZEROS[..1],
        }
    }
}

impl RowGroup {
    /// Returns those of the columns that its rows are inserted with.
    pub fn columns(self) -> Vec<&'static TableColumn> {
        let all = COLUMNS.iter();
        all.filter(|column| self == Self::Hosts || !column.is_of_hosts())
            .collect()
    }
}

macro_rules! columns {
    ($($part:ident: $($name:literal $kind:ident $value:expr;)*)*) => {
        &[$($(
            TableColumn {
                name: $name,
                value: ColumnValue::$kind($value),
                part: RowPart::$part,
            },
        )*)*]
    };
}

/// The columns in the order of a row's values. Numbers without NULL are 0 if the report does not have them, which its
/// kind tells.
pub const COLUMNS: &[TableColumn] = columns! {
    Always:
    "run" U64 |row| row.run;
    "number" U64 |row| row.entry.number;
    "time_ns" U64 |row| row.observed.time_ns;
    "received" U8 |row| row.received();
    "kind" Text |row| &row.record.kind;
    "version" Text |row| version(row);
    "exporter" Address |row| row.record.exporter.unwrap_or(NO_ADDRESS);
    "exporter_port" U16 |row| row.record.exporter_port.unwrap_or(0);
    "hw_id" U8 |row| row.record.hw_id;
    "report_seq" U32 |row| row.record.report_seq;
    "dropped" U8 |row| row.record.flags.dropped.into();
    "congested_queue" U8 |row| row.record.flags.congested_queue.into();
    "tracked_flow" U8 |row| row.record.flags.tracked_flow.into();
    "intermediate" U8 |row| row.record.flags.intermediate.into();
    "sink_clock" Text |row| row.record.sink_clock.as_deref().unwrap_or("");
    "sink_clock_synchronised" MaybeU8 |row| row.record.sink_clock_synchronised.map(u8::from);
    "reporter_node" MaybeU32 |row| row.record.reporter_node.map(|node| node.0);
    "source_node" MaybeU32 |row| row.observed.source.map(|node| node.0);
    "sink_node" MaybeU32 |row| row.observed.sink.map(|node| node.0);
    "flow_hash" U64 |row| row.flow_hash;
    "src" Address |row| row.flow.src;
    "dst" Address |row| row.flow.dst;
    "sport" U16 |row| row.flow.sport;
    "dport" U16 |row| row.flow.dport;
    "protocol" U8 |row| row.flow.protocol;
    "vlan" U16 |row| row.flow.vlans.inner;
    "outer_vlan" U16 |row| row.flow.vlans.outer;
    Packets:
    "inner_src" Address |row| row.inner_flow.src;
    "inner_dst" Address |row| row.inner_flow.dst;
    "inner_sport" U16 |row| row.inner_flow.sport;
    "inner_dport" U16 |row| row.inner_flow.dport;
    "inner_protocol" U8 |row| row.inner_flow.protocol;
    Always:
    "class" Text |row| row.entry.class.as_deref().unwrap_or("");
    "latency_ns" MaybeI64 |row| row.observed.latency_ns;
    "lost" U32 |row| row.observed.lost;
    "seq" MaybeU32 |row| row.seq();
    Gaps:
    "gap_first_seq" MaybeU32 |row| row.record.gap.map(|gap| gap.first_seq);
    "gap_time_s" MaybeU32 |row| row.record.gap.map(|gap| gap.time_s);
    Always:
    "source_queue_packets" MaybeU32 |row| row.source_queue().map(|queue| queue.packets);
    "source_queue_bytes" MaybeU32 |row| row.source_queue().map(|queue| queue.bytes);
    Packets:
    "drop_reason" MaybeU8 |row| row.record.metadata.drop_reason;
    Always:
    "drop_reason_name" Text |row| row.entry.drop_reason.as_deref().unwrap_or("");
    Packets:
    "ingress_port" MaybeU16 |row| row.record.metadata.ingress_port;
    "egress_port" MaybeU16 |row| row.record.metadata.egress_port;
    "queue_id" MaybeU8 |row| row.record.metadata.queue_id;
    "queue_occupancy" MaybeU32 |row| row.record.metadata.queue_occupancy;
    "hop_latency_ns" MaybeU32 |row| row.record.metadata.hop_latency_ns;
    "frame_bytes" U32 |row| row.record.frame_bytes.map_or(0, |bytes| bytes as u32);
    Hops:
    "hops.node" ManyU32 |row| row.hop_values(|hop| hop.node);
    "hops.latency_ns" ManyU32 |row| row.hop_values(|hop| hop.latency_ns);
    "hops.queue_occupancy" ManyU32 |row| row.hop_values(|hop| hop.queue_occupancy);
    Totals:
    "flow_first_ns" U64 |row| row.totals.first_ns;
    "flow_last_ns" U64 |row| row.totals.last_ns;
    "flow_packets" U64 |row| row.totals.packets;
    "flow_bytes" U64 |row| row.totals.bytes;
    "flow_lost" U64 |row| row.totals.lost;
    "flow_reordered" U64 |row| row.totals.reordered;
    "flow_duplicates" U64 |row| row.totals.duplicates;
    "flow_late" U64 |row| row.totals.late;
    "flow_restarts" U32 |row| row.totals.restarts;
    "flow_latency_min_ns" I64 |row| row.totals.latency_min_ns.into();
    "flow_latency_max_ns" I64 |row| row.totals.latency_max_ns.into();
    "flow_latency_sum_ns" I64 |row| row.totals.latency_sum_ns;
    "flow_histogram" ManyU32 |row| histogram(&row.entry.report.observation.body);
    Added:
    "added_packets" U64 |row| row.added(|added| added.packets);
    "added_bytes" U64 |row| row.added(|added| added.bytes);
    "added_lost" U64 |row| row.added(|added| added.lost);
    "added_recovered" U64 |row| row.added(|added| added.recovered);
    "added_reordered" U64 |row| row.added(|added| added.reordered);
    "added_duplicates" U64 |row| row.added(|added| added.duplicates);
    "added_latency_sum_ns" I64 |row| row.latency().map_or(0, LatencyHistogram::sum_ns);
    "added_latency_min_ns" MaybeI64 |row| row.latency()?.ends().map(|(least, _)| least);
    "added_latency_max_ns" MaybeI64 |row| row.latency()?.ends().map(|(_, most)| most);
    "added_latency_steps" U8 |row| row.latency().map_or(0, |latency| latency.resolution().steps());
    "added_slots.bound_ns" ManyI64 |row| row.slots(|(bound_ns, _)| bound_ns);
    "added_slots.packets" ManyU64 |row| row.slots(|(_, packets)| packets);
    Always:
    "latency_corrected_ns" MaybeI64 |row| Some(row.corrected()?.latency_ns);
    "latency_error_ns" MaybeI64 |row| i64::try_from(row.corrected()?.error_ns).ok();
    "latency_low_ns" MaybeI64 |row| Some(row.corrected()?.bound_ns[0]);
    "latency_high_ns" MaybeI64 |row| Some(row.corrected()?.bound_ns[1]);
    Added:
    "added_corrected_packets" U64 |row| row.added(|added| added.corrected.packets);
    "added_corrected_sum_ns" I64 |row| row.entry.added.as_ref().map_or(0, |added| added.corrected.latency_ns);
    "added_corrected_error_ns" U64 |row| row.added(|added| added.corrected.error_ns);
    "added_corrected_less_ns" U64 |row| row.added(|added| added.corrected.less_ns);
    "added_corrected_more_ns" U64 |row| row.added(|added| added.corrected.more_ns);
    Hops:
    "hops.ingress_port" ManyU32 |row| row.hop_values(|hop| hop.ingress_port.into());
    "hops.egress_port" ManyU32 |row| row.hop_values(|hop| hop.egress_port.into());
    Paths:
    "path_hash" Text |row| row.path_part().map_or("", |part| part.path_hash.as_str());
    "path_part" Text |row| row.path_part().map_or("", |part| part.part.as_str());
    "path_nodes" ManyU32 |row| row.path_part().map_or_else(Vec::new, |part| part.nodes.iter().map(|node| node.0).collect());
    "path_from_node" MaybeU32 |row| Some(row.path_part()?.from.node.0);
    "path_from_port" MaybeU16 |row| Some(row.path_part()?.from.port);
    "path_to_node" MaybeU32 |row| Some(row.path_part()?.to.node.0);
    "path_to_port" MaybeU16 |row| Some(row.path_part()?.to.port);
    Always:
    "reporter_name" Text |row| row.name(row.record.reporter_node);
    "source_name" Text |row| row.name(row.observed.source);
    "sink_name" Text |row| row.name(row.observed.sink);
    Hops:
    "hops.name" ManyText |row| row.names(row.hops.iter().map(|hop| hop.node));
    Paths:
    "path_names" ManyText |row| row.names(row.path_part().into_iter().flat_map(|part| part.nodes.iter().map(|node| node.0)));
    Hops:
    "hops.ingress_interface" ManyText |row| row.hop_interfaces(|hop| hop.ingress_port);
    "hops.egress_interface" ManyText |row| row.hop_interfaces(|hop| hop.egress_port);
    Paths:
    "path_from_interface" Text |row| row.path_part().map_or("", |part| row.interface(part.from));
    "path_to_interface" Text |row| row.path_part().map_or("", |part| row.interface(part.to));
    Pods:
    "pods.address" ManyAddress |row| row.pods(|pod| pod.address.unwrap_or(NO_ADDRESS));
    "pods.uid" ManyText |row| row.pods(|pod| text(pod.uid.as_ref()));
    "pods.namespace" ManyText |row| row.pods(|pod| pod.name.namespace.as_str());
    "pods.pod" ManyText |row| row.pods(|pod| pod.name.pod.as_str());
    "pods.workload" ManyText |row| row.pods(|pod| pod.name.workload.as_str());
    "pods.workload_kind" ManyText |row| row.pods(|pod| pod.name.workload_kind.as_str());
    Hosts:
    "in_interface" Text |row| text(row.way().in_interface);
    "out_interface" Text |row| text(row.way().out_interface);
    "in_ifindex" U32 |row| row.way().in_ifindex;
    "out_ifindex" U32 |row| row.way().out_ifindex;
    "in_pod" Text |row| text(row.way().pods.and_then(|pods| pods.in_pod.as_ref()));
    "out_pod" Text |row| text(row.way().pods.and_then(|pods| pods.out_pod.as_ref()));
    "pod" Text |row| text(row.way().pods.and_then(|pods| pods.pod.as_ref()));
    "before_nat_src" Address |row| row.way().before_nat.src;
    "before_nat_dst" Address |row| row.way().before_nat.dst;
    "before_nat_sport" U16 |row| row.way().before_nat.sport;
    "before_nat_dport" U16 |row| row.way().before_nat.dport;
    "tunnel_kind" Text |row| row.way().tunnel.map_or("", |tunnel| tunnel.which.kind.name());
    "tunnel_id" MaybeU32 |row| Some(row.way().tunnel?.which.id);
    "tunnel_src" Address |row| row.way().outer().src;
    "tunnel_dst" Address |row| row.way().outer().dst;
    "tunnel_sport" U16 |row| row.way().outer().sport;
    "tunnel_dport" U16 |row| row.way().outer().dport;
    "host_drop_reason" MaybeU32 |row| Some(row.drop_reason()?.number);
    "host_drop_reason_name" Text |row| text(row.drop_reason().and_then(|reason| reason.name.as_ref()));
    "host_drop_place" Text |row| text(row.drop_place());
    "host_drop_interface" Text |row| text(row.drop_sum().and_then(|sum| sum.interface.as_ref()));
    "host_drop_ifindex" U32 |row| row.drop().map_or(0, |drop| drop.ifindex);
    "host_drop_netns" U32 |row| row.drop_netns();
    "host_drop_position" Text |row| row.drop_position().map_or("", DropPosition::name);
    "host_drop_tagged_by" MaybeU32 |row| Some(row.record.tagged_by()?.0);
    "host_drop_tagged_by_name" Text |row| row.name(row.record.tagged_by());
    "host_drop_seq" MaybeU32 |row| Some(row.drop()?.int?.sequence);
    "host_drop_ignored" U8 |row| row.drop_sum().is_some_and(|sum| sum.ignored).into();
    "host_drop_without_packet" U8 |row| row.drop_sum().is_some_and(|sum| sum.without_packet).into();
    "host_drop_packets" U64 |row| row.drop().map_or(0, |drop| drop.count.packets);
    "host_drop_segments" U64 |row| row.drop().map_or(0, |drop| drop.count.segments);
    "host_drop_bytes" U64 |row| row.drop().map_or(0, |drop| drop.count.bytes);
    "host_drop_first_ns" U64 |row| row.drop().map_or(0, |drop| drop.first_ns);
    "host_drop_last_ns" U64 |row| row.drop().map_or(0, |drop| drop.last_ns);
    "host_drop_age_ns" MaybeU32 |row| row.drop()?.age_ns;
    "host_drop_queue_packets" U32 |row| row.drop().map_or(0, |drop| drop.queue_packets);
    "host_drop_queue_bytes" U32 |row| row.drop().map_or(0, |drop| drop.queue_bytes);
    "host_drop_superpacket" U8 |row| row.drop().is_some_and(|drop| drop.superpacket).into();
    "host_drop_cgroup" MaybeU64 |row| row.drop()?.cgroup;
    "added_drop_packets" U64 |row| row.entry.dropped.as_ref().map_or(0, |added| added.packets);
    "added_drop_segments" U64 |row| row.entry.dropped.as_ref().map_or(0, |added| added.segments);
    "added_drop_bytes" U64 |row| row.entry.dropped.as_ref().map_or(0, |added| added.bytes);
    "host_hop_reasons" ManyText |row| row.hop().map_or_else(Vec::new, |hop| hop.reasons.iter().map(|why| why.name()).collect());
    "host_hop_from_sender" U8 |row| row.hop().is_some_and(|hop| hop.start == PassageStart::Sender).into();
    "host_hop_packets" U64 |row| row.hop().map_or(0, |hop| hop.packets);
    "host_hop_bytes" U64 |row| row.hop().map_or(0, |hop| hop.bytes);
    "host_hop_first_ns" U64 |row| row.hop().map_or(0, |hop| hop.first_ns);
    "host_hop_last_ns" U64 |row| row.hop().map_or(0, |hop| hop.last_ns);
    "host_hop_ns" MaybeU32 |row| Some(row.hop()?.hop_ns);
    "host_hop_mean_ns" MaybeU32 |row| Some(row.hop()?.mean_hop_ns);
    "host_hop_max_ns" MaybeU32 |row| Some(row.hop()?.max_hop_ns);
    "episode_interface" Text |row| text(row.episode().and_then(|one| one.interface.as_ref()));
    "episode_ifindex" U32 |row| row.episode().map_or(0, |one| one.ifindex);
    "episode_queue" U32 |row| row.episode().map_or(0, |one| one.queue);
    "episode_handle" U32 |row| row.episode().map_or(0, |one| one.handle);
    "episode_measure" Text |row| row.episode().map_or("", |one| one.limits.measure.name());
    "episode_trigger" U64 |row| row.episode().map_or(0, |one| one.limits.trigger);
    "episode_reset" U64 |row| row.episode().map_or(0, |one| one.limits.reset);
    "episode_quota" U32 |row| row.episode().map_or(0, |one| one.limits.quota);
    "episode_number" U64 |row| row.episode().map_or(0, |one| one.episode);
    "episode_begin_ns" U64 |row| row.episode().map_or(0, |one| one.begin_ns);
    "episode_last_ns" U64 |row| row.episode().map_or(0, |one| one.last_ns);
    "episode_end_ns" MaybeU64 |row| row.episode()?.end_ns;
    "episode_packets" U64 |row| row.episode().map_or(0, |one| one.packets);
    "episode_bytes" U64 |row| row.episode().map_or(0, |one| one.bytes);
    "episode_told" U64 |row| row.episode().map_or(0, |one| one.told);
    "episode_suppressed" U64 |row| row.episode().map_or(0, |one| one.suppressed);
    "episode_drops" U64 |row| row.episode().map_or(0, |one| one.drops);
    "episode_max_bytes" U32 |row| row.episode().map_or(0, |one| one.max_bytes);
    "episode_max_packets" U32 |row| row.episode().map_or(0, |one| one.max_packets);
    "episode_max_time_ns" MaybeU32 |row| row.episode()?.max_time_ns;
    "episode_flows.src" ManyAddress |row| row.culprits(|one| one.flow.src);
    "episode_flows.dst" ManyAddress |row| row.culprits(|one| one.flow.dst);
    "episode_flows.sport" ManyU16 |row| row.culprits(|one| one.flow.sport);
    "episode_flows.dport" ManyU16 |row| row.culprits(|one| one.flow.dport);
    "episode_flows.protocol" ManyU8 |row| row.culprits(|one| one.flow.protocol);
    "episode_flows.packets" ManyU64 |row| row.culprits(|one| one.packets);
    "episode_flows.bytes" ManyU64 |row| row.culprits(|one| one.bytes);
};

fn text(maybe: Option<&String>) -> &str {
    maybe.map_or("", String::as_str)
}

fn version(row: &TableRow<'_>) -> &'static str {
    match row.record.version {
        ReportVersion::V05 => "0.5",
        ReportVersion::V10 => "1.0",
        ReportVersion::V20 => "2.0",
    }
}
