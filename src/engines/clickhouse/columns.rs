//! The columns of the table: their names, their types, and their values in a row.

use std::net::IpAddr;

use super::row::{NO_ADDRESS, TableRow, histogram};
use crate::model::{LatencyHistogram, ReportVersion};

/// A column that rows have a value for.
pub struct TableColumn {
    pub name: &'static str,
    pub value: ColumnValue,
    /// Tables of earlier versions lack it, and take rows without it.
    pub later: bool,
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
    MaybeI64(fn(&TableRow<'_>) -> Option<i64>),
    Text(for<'a> fn(&'a TableRow<'_>) -> &'a str),
    Address(fn(&TableRow<'_>) -> IpAddr),
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
            Self::MaybeI64(_) => &["Nullable(Int64)"],
            Self::Text(_) => &["LowCardinality(String)", "String"],
            Self::Address(_) => &["IPv6", "FixedString(16)"],
            Self::ManyU32(_) => &["Array(UInt32)"],
            Self::ManyU64(_) => &["Array(UInt64)"],
            Self::ManyI64(_) => &["Array(Int64)"],
        }
    }
}

macro_rules! columns {
    ($($name:literal $kind:ident $value:expr;)* later: $($later:literal $of:ident $with:expr;)*) => {
        &[
            $(TableColumn { name: $name, value: ColumnValue::$kind($value), later: false },)*
            $(TableColumn { name: $later, value: ColumnValue::$of($with), later: true },)*
        ]
    };
}

/// The columns in the order of a row's values. Numbers without NULL are 0 if the report does not have them, which its
/// kind tells.
pub const COLUMNS: &[TableColumn] = columns! {
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
    "inner_src" Address |row| row.inner_flow.src;
    "inner_dst" Address |row| row.inner_flow.dst;
    "inner_sport" U16 |row| row.inner_flow.sport;
    "inner_dport" U16 |row| row.inner_flow.dport;
    "inner_protocol" U8 |row| row.inner_flow.protocol;
    "class" Text |row| row.entry.class.as_deref().unwrap_or("");
    "latency_ns" MaybeI64 |row| row.observed.latency_ns;
    "lost" U32 |row| row.observed.lost;
    "seq" MaybeU32 |row| row.seq();
    "gap_first_seq" MaybeU32 |row| row.record.gap.map(|gap| gap.first_seq);
    "gap_time_s" MaybeU32 |row| row.record.gap.map(|gap| gap.time_s);
    "source_queue_packets" MaybeU32 |row| row.source_queue().map(|queue| queue.packets);
    "source_queue_bytes" MaybeU32 |row| row.source_queue().map(|queue| queue.bytes);
    "drop_reason" MaybeU8 |row| row.record.metadata.drop_reason;
    "drop_reason_name" Text |row| row.entry.drop_reason.as_deref().unwrap_or("");
    "ingress_port" MaybeU16 |row| row.record.metadata.ingress_port;
    "egress_port" MaybeU16 |row| row.record.metadata.egress_port;
    "queue_id" MaybeU8 |row| row.record.metadata.queue_id;
    "queue_occupancy" MaybeU32 |row| row.record.metadata.queue_occupancy;
    "hop_latency_ns" MaybeU32 |row| row.record.metadata.hop_latency_ns;
    "frame_bytes" U32 |row| row.record.frame_bytes.map_or(0, |bytes| bytes as u32);
    "hops.node" ManyU32 |row| row.hop_values(|hop| hop.node);
    "hops.latency_ns" ManyU32 |row| row.hop_values(|hop| hop.latency_ns);
    "hops.queue_occupancy" ManyU32 |row| row.hop_values(|hop| hop.queue_occupancy);
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
    later:
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
    "latency_corrected_ns" MaybeI64 |row| Some(row.corrected()?.latency_ns);
    "latency_error_ns" MaybeI64 |row| i64::try_from(row.corrected()?.error_ns).ok();
    "latency_low_ns" MaybeI64 |row| Some(row.corrected()?.bound_ns[0]);
    "latency_high_ns" MaybeI64 |row| Some(row.corrected()?.bound_ns[1]);
    "added_corrected_packets" U64 |row| row.added(|added| added.corrected.packets);
    "added_corrected_sum_ns" I64 |row| row.entry.added.as_ref().map_or(0, |added| added.corrected.latency_ns);
    "added_corrected_error_ns" U64 |row| row.added(|added| added.corrected.error_ns);
    "added_corrected_less_ns" U64 |row| row.added(|added| added.corrected.less_ns);
    "added_corrected_more_ns" U64 |row| row.added(|added| added.corrected.more_ns);
    "hops.ingress_port" ManyU32 |row| row.hop_values(|hop| hop.ingress_port.into());
    "hops.egress_port" ManyU32 |row| row.hop_values(|hop| hop.egress_port.into());
    "path_hash" Text |row| row.path_part().map_or("", |part| part.path_hash.as_str());
    "path_part" Text |row| row.path_part().map_or("", |part| part.part.as_str());
    "path_nodes" ManyU32 |row| row.path_part().map_or_else(Vec::new, |part| part.nodes.iter().map(|node| node.0).collect());
    "path_from_node" MaybeU32 |row| Some(row.path_part()?.from.node.0);
    "path_from_port" MaybeU16 |row| Some(row.path_part()?.from.port);
    "path_to_node" MaybeU32 |row| Some(row.path_part()?.to.node.0);
    "path_to_port" MaybeU16 |row| Some(row.path_part()?.to.port);
};

fn version(row: &TableRow<'_>) -> &'static str {
    match row.record.version {
        ReportVersion::V05 => "0.5",
        ReportVersion::V10 => "1.0",
        ReportVersion::V20 => "2.0",
    }
}
