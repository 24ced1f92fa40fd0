-- Tables of hostint collect --clickhouse, for old servers, from ClickHouse 18.16 on.
--
--     clickhouse-client --multiquery <schema-plain.sql
--
-- Nothing is deleted automatically; drop days: ALTER TABLE hostint.reports DROP PARTITION '2026-01-31'.
--
-- The engine inserts all columns of hostint.reports but time. Values that a report does not have are NULL, or 0 and '' in
-- columns that cannot be NULL: kind determines the values of a report. Times and latencies are integers in nanoseconds.
-- A table that an earlier version made lacks the columns from added_packets on, and takes rows without them. To add them,
-- name each with its type below: ALTER TABLE hostint.reports ADD COLUMN added_packets UInt64.
--
-- Duplicates: a report may come twice if an acknowledgement was lost; run and number identify it. The table
-- drops such rows when it merges, and queries with FINAL do not see them.
-- Roll-ups count such a report twice: these servers know no tokens.

CREATE DATABASE IF NOT EXISTS hostint;

CREATE TABLE IF NOT EXISTS hostint.reports
(
    -- a collector from its start to its end; with number it identifies a report
    run UInt64,
    -- of the report in its run, from 1; missing ones were not delivered
    number UInt64,
    -- arrival at the collector, else the report's own time, ns since the Unix epoch
    time_ns UInt64,
    -- 1: time_ns is its arrival at the collector; 0: the report's own time, because it was read from lines without arrival
    received UInt8,
    -- latency, drop-summary, flow-summary, host-drop, host-hop, queue, tcp, path-times, path-losses,
    -- local, drop, intermediate, packet, ethernet
    kind String,
    -- 0.5, 1.0 or 2.0 of Telemetry Report
    version String,
    -- the sender, IPv4 as ::ffff:0:0/96; :: if not received
    exporter FixedString(16),
    exporter_port UInt16,
    hw_id UInt8,
    -- counts the datagrams of the exporter
    report_seq UInt32,
    dropped UInt8,
    congested_queue UInt8,
    tracked_flow UInt8,
    intermediate UInt8,
    -- the reporter's clock; empty: unknown
    sink_clock String,
    sink_clock_synchronised Nullable(UInt8),
    -- NULL: unknown
    reporter_node Nullable(UInt32),
    -- where the packet entered the INT domain; NULL: unknown
    source_node Nullable(UInt32),
    -- where it was last seen
    sink_node Nullable(UInt32),
    -- both directions of a flow are one number; 0: the report shows no flow
    flow_hash UInt64,
    -- :: without a flow
    src FixedString(16),
    dst FixedString(16),
    sport UInt16,
    dport UInt16,
    protocol UInt8,
    vlan UInt16,
    outer_vlan UInt16,
    -- the innermost flow of a tunnel's packet, else :: and 0
    inner_src FixedString(16),
    inner_dst FixedString(16),
    inner_sport UInt16,
    inner_dport UInt16,
    inner_protocol UInt8,
    -- the class of the rules; empty: none
    class String,
    -- one-way latency; NULL: the report has none
    latency_ns Nullable(Int64),
    -- lost packets in this report
    lost UInt32,
    -- the highest sequence number of the flow in the report
    seq Nullable(UInt32),
    -- of drop-summaries: the first missing number
    gap_first_seq Nullable(UInt32),
    -- arrival of the last packet before it, seconds
    gap_time_s Nullable(UInt32),
    -- the source's root queue, if known
    source_queue_packets Nullable(UInt32),
    source_queue_bytes Nullable(UInt32),
    -- by the device's numbering
    drop_reason Nullable(UInt8),
    drop_reason_name String,
    -- the reporting device's own metadata; NULL: unknown
    ingress_port Nullable(UInt16),
    egress_port Nullable(UInt16),
    queue_id Nullable(UInt8),
    queue_occupancy Nullable(UInt32),
    hop_latency_ns Nullable(UInt32),
    -- of the packet in the report; 0: none
    frame_bytes UInt32,
    -- oldest first; empty if there are only source and sink; 0: unknown
    `hops.node` Array(UInt32),
    `hops.latency_ns` Array(UInt32),
    -- in the unit of the node: hostint counts packets, IOAM bytes
    `hops.queue_occupancy` Array(UInt32),
    -- flow-summaries: totals since the flow began; group-summaries: totals of a class from a source node since flow_first_ns;
    -- each part of a summary has them all; 0 in other kinds
    flow_first_ns UInt64,
    flow_last_ns UInt64,
    flow_packets UInt64,
    flow_bytes UInt64,
    flow_lost UInt64,
    flow_reordered UInt64,
    flow_duplicates UInt64,
    flow_late UInt64,
    flow_restarts UInt32,
    flow_latency_min_ns Int64,
    flow_latency_max_ns Int64,
    flow_latency_sum_ns Int64,
    -- slot n: packets with a latency in [2^(n-1), 2^n) ns, slot 0: 0 or less
    flow_histogram Array(UInt32),
    -- packets that a summary adds to those that earlier ones told of; their sum over a time is all packets of that time, of
    -- pairs and classes (kind group-summary), of flows (kind flow-summary), or of parts of paths (kinds path-times and path-losses);
    -- 0 in other kinds, and in parts but the last
    added_packets UInt64,
    added_bytes UInt64,
    added_lost UInt64,
    added_recovered UInt64,
    added_reordered UInt64,
    added_duplicates UInt64,
    added_latency_sum_ns Int64,
    added_latency_min_ns Nullable(Int64),
    added_latency_max_ns Nullable(Int64),
    -- slots for each power of two: 32, 8 or 1; quantiles are off by a slot at most
    added_latency_steps UInt8,
    -- the greatest latency of a slot, and its packets
    `added_slots.bound_ns` Array(Int64),
    `added_slots.packets` Array(UInt64),
    -- latency_ns without the difference of the two clocks, the error of most such estimates, and the least and the greatest that
    -- the true latency can be; NULL: the clocks are unknown
    latency_corrected_ns Nullable(Int64),
    latency_error_ns Nullable(Int64),
    latency_low_ns Nullable(Int64),
    latency_high_ns Nullable(Int64),
    -- of added_packets those whose clocks were known: the sums of their corrected latencies and of the errors; the sum of the true
    -- ones is less by less_ns at most, or more by more_ns
    added_corrected_packets UInt64,
    added_corrected_sum_ns Int64,
    added_corrected_error_ns UInt64,
    added_corrected_less_ns UInt64,
    added_corrected_more_ns UInt64,
    -- the interfaces of the hops in hops.node, as the hops number them
    `hops.ingress_port` Array(UInt32),
    `hops.egress_port` Array(UInt32),
    -- path-times and path-losses: the part of a path over transit hops that added_ is about: path (the whole), wire, guest, hop or queue;
    -- path_nodes has the nodes in the order of the way, source first; empty and NULL in other kinds
    path_hash String,
    path_part String,
    path_nodes Array(UInt32),
    path_from_node Nullable(UInt32),
    path_from_port Nullable(UInt16),
    path_to_node Nullable(UInt32),
    path_to_port Nullable(UInt16),
    -- seconds of time_ns: what partitions and the key are made of; filter by it
    time DateTime DEFAULT toDateTime(intDiv(time_ns, 1000000000))
)
ENGINE = ReplacingMergeTree()
PARTITION BY toDate(time)
PRIMARY KEY (toStartOfHour(time), flow_hash)
ORDER BY (toStartOfHour(time), flow_hash, time_ns, run, number);

-- Roll-ups of ten seconds, without addresses; begin is the start of the period.
CREATE TABLE IF NOT EXISTS hostint.rollup_10s
(
    begin DateTime,
    -- 0: unknown
    source_node UInt32,
    sink_node UInt32,
    class String,
    reports_state AggregateFunction(count),
    lost_state AggregateFunction(sum, UInt32),
    samples_state AggregateFunction(countIf, UInt8),
    latency_sum_state AggregateFunction(sumIf, Int64, UInt8),
    latency_min_state AggregateFunction(minIf, Int64, UInt8),
    latency_max_state AggregateFunction(maxIf, Int64, UInt8),
    latency_state AggregateFunction(quantilesTDigestIf(0.5, 0.9, 0.99), Int64, UInt8)
)
ENGINE = AggregatingMergeTree()
PARTITION BY toDate(begin)
ORDER BY (begin, source_node, sink_node, class);

CREATE MATERIALIZED VIEW IF NOT EXISTS hostint.rollup_10s_view TO hostint.rollup_10s AS
SELECT
    toDateTime(intDiv(time_ns, 10000000000) * 10) AS begin,
    ifNull(source_node, 0) AS source_node,
    ifNull(sink_node, 0) AS sink_node,
    class,
    countState() AS reports_state,
    sumState(lost) AS lost_state,
    countIfState(isNotNull(latency_ns)) AS samples_state,
    sumIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_sum_state,
    minIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_min_state,
    maxIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_max_state,
    quantilesTDigestIfState(0.5, 0.9, 0.99)(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_state
FROM hostint.reports
GROUP BY begin, source_node, sink_node, class;

-- Roll-ups of a minute, without addresses; begin is the start of the period.
CREATE TABLE IF NOT EXISTS hostint.rollup_1m
(
    begin DateTime,
    -- 0: unknown
    source_node UInt32,
    sink_node UInt32,
    class String,
    reports_state AggregateFunction(count),
    lost_state AggregateFunction(sum, UInt32),
    samples_state AggregateFunction(countIf, UInt8),
    latency_sum_state AggregateFunction(sumIf, Int64, UInt8),
    latency_min_state AggregateFunction(minIf, Int64, UInt8),
    latency_max_state AggregateFunction(maxIf, Int64, UInt8),
    latency_state AggregateFunction(quantilesTDigestIf(0.5, 0.9, 0.99), Int64, UInt8)
)
ENGINE = AggregatingMergeTree()
PARTITION BY toYYYYMM(begin)
ORDER BY (begin, source_node, sink_node, class);

CREATE MATERIALIZED VIEW IF NOT EXISTS hostint.rollup_1m_view TO hostint.rollup_1m AS
SELECT
    toDateTime(intDiv(time_ns, 60000000000) * 60) AS begin,
    ifNull(source_node, 0) AS source_node,
    ifNull(sink_node, 0) AS sink_node,
    class,
    countState() AS reports_state,
    sumState(lost) AS lost_state,
    countIfState(isNotNull(latency_ns)) AS samples_state,
    sumIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_sum_state,
    minIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_min_state,
    maxIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_max_state,
    quantilesTDigestIfState(0.5, 0.9, 0.99)(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_state
FROM hostint.reports
GROUP BY begin, source_node, sink_node, class;

-- Roll-ups of an hour, without addresses; begin is the start of the period.
CREATE TABLE IF NOT EXISTS hostint.rollup_1h
(
    begin DateTime,
    -- 0: unknown
    source_node UInt32,
    sink_node UInt32,
    class String,
    reports_state AggregateFunction(count),
    lost_state AggregateFunction(sum, UInt32),
    samples_state AggregateFunction(countIf, UInt8),
    latency_sum_state AggregateFunction(sumIf, Int64, UInt8),
    latency_min_state AggregateFunction(minIf, Int64, UInt8),
    latency_max_state AggregateFunction(maxIf, Int64, UInt8),
    latency_state AggregateFunction(quantilesTDigestIf(0.5, 0.9, 0.99), Int64, UInt8)
)
ENGINE = AggregatingMergeTree()
PARTITION BY toYYYYMM(begin)
ORDER BY (begin, source_node, sink_node, class);

CREATE MATERIALIZED VIEW IF NOT EXISTS hostint.rollup_1h_view TO hostint.rollup_1h AS
SELECT
    toDateTime(intDiv(time_ns, 3600000000000) * 3600) AS begin,
    ifNull(source_node, 0) AS source_node,
    ifNull(sink_node, 0) AS sink_node,
    class,
    countState() AS reports_state,
    sumState(lost) AS lost_state,
    countIfState(isNotNull(latency_ns)) AS samples_state,
    sumIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_sum_state,
    minIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_min_state,
    maxIfState(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_max_state,
    quantilesTDigestIfState(0.5, 0.9, 0.99)(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latency_state
FROM hostint.reports
GROUP BY begin, source_node, sink_node, class;
