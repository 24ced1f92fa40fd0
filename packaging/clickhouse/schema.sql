-- Tables of hostint collect --clickhouse, for recent ClickHouse; tested with 26.9.
--
--     clickhouse-client --multiquery <schema.sql
--
-- Choose the lifetime of rows (TTL) yourself. If you change the names of database and tables
-- here, give them to --clickhouse-database and --clickhouse-table.
--
-- The engine inserts all columns of hostint.reports but time, exact_time and those with ALIAS; rows that tell of no host go without those from in_interface on.
-- Values that a report does not have are NULL, or 0 and '' in columns that cannot be NULL, which must stay the defaults of the
-- columns: kind determines the values of a report. Times and latencies are integers in nanoseconds.
--
-- Duplicates: a report may come twice if an acknowledgement was lost; run and number identify it. The table
-- drops such rows when it merges, and queries with FINAL do not see them.
-- A batch that comes again within the last 1000 inserts is not stored at all, nor counted by the roll-ups
-- (non_replicated_deduplication_window with the engine's token). For Replicated tables that is
-- replicated_deduplication_window, which is on by itself. A batch that comes again later is counted twice by the
-- roll-ups, and once by queries of reports with FINAL.

CREATE DATABASE IF NOT EXISTS hostint;

CREATE TABLE IF NOT EXISTS hostint.reports
(
    -- a collector from its start to its end; with number it identifies a report
    run UInt64 CODEC(LZ4),
    -- of the report in its run, from 1; missing ones were not delivered
    number UInt64 CODEC(DoubleDelta, ZSTD),
    -- arrival at the collector, else the report's own time, ns since the Unix epoch
    time_ns UInt64 CODEC(DoubleDelta, ZSTD),
    -- 1: time_ns is its arrival at the collector; 0: the report's own time, because it was read from lines without arrival
    received UInt8 CODEC(ZSTD),
    -- latency, drop-summary, flow-summary, group-summary, host-drop, host-drop-sum, host-hop, queue, tcp, path-times, path-losses,
    -- local, drop, intermediate, packet, ethernet
    kind LowCardinality(String) CODEC(ZSTD),
    -- 0.5, 1.0 or 2.0 of Telemetry Report
    version LowCardinality(String) CODEC(ZSTD),
    -- the sender, IPv4 as ::ffff:0:0/96; :: if not received
    exporter IPv6 CODEC(ZSTD),
    exporter_port UInt16 CODEC(ZSTD),
    hw_id UInt8 CODEC(ZSTD),
    -- counts the datagrams of the exporter
    report_seq UInt32 CODEC(Delta, ZSTD),
    dropped UInt8 CODEC(ZSTD),
    congested_queue UInt8 CODEC(ZSTD),
    tracked_flow UInt8 CODEC(ZSTD),
    intermediate UInt8 CODEC(ZSTD),
    -- the reporter's clock; empty: unknown
    sink_clock LowCardinality(String) CODEC(ZSTD),
    sink_clock_synchronised Nullable(UInt8) CODEC(ZSTD),
    -- NULL: unknown
    reporter_node Nullable(UInt32) CODEC(ZSTD),
    -- where the packet entered the INT domain; NULL: unknown
    source_node Nullable(UInt32) CODEC(ZSTD),
    -- where it was last seen
    sink_node Nullable(UInt32) CODEC(ZSTD),
    -- both directions of a flow are one number; 0: the report shows no flow
    flow_hash UInt64 CODEC(ZSTD),
    -- :: without a flow
    src IPv6 CODEC(ZSTD),
    dst IPv6 CODEC(ZSTD),
    sport UInt16 CODEC(ZSTD),
    dport UInt16 CODEC(ZSTD),
    protocol UInt8 CODEC(ZSTD),
    vlan UInt16 CODEC(ZSTD),
    outer_vlan UInt16 CODEC(ZSTD),
    -- the innermost flow of a tunnel's packet, else :: and 0
    inner_src IPv6 CODEC(ZSTD),
    inner_dst IPv6 CODEC(ZSTD),
    inner_sport UInt16 CODEC(ZSTD),
    inner_dport UInt16 CODEC(ZSTD),
    inner_protocol UInt8 CODEC(ZSTD),
    -- the class of the rules; empty: none
    class LowCardinality(String) CODEC(ZSTD),
    -- one-way latency; NULL: the report has none
    latency_ns Nullable(Int64) CODEC(T64, ZSTD),
    -- lost packets in this report
    lost UInt32 CODEC(ZSTD),
    -- the highest sequence number of the flow in the report
    seq Nullable(UInt32) CODEC(Delta, ZSTD),
    -- of drop-summaries: the first missing number
    gap_first_seq Nullable(UInt32) CODEC(ZSTD),
    -- arrival of the last packet before it, seconds
    gap_time_s Nullable(UInt32) CODEC(ZSTD),
    -- the source's root queue, if known
    source_queue_packets Nullable(UInt32) CODEC(ZSTD),
    source_queue_bytes Nullable(UInt32) CODEC(ZSTD),
    -- by the device's numbering
    drop_reason Nullable(UInt8) CODEC(ZSTD),
    drop_reason_name LowCardinality(String) CODEC(ZSTD),
    -- the reporting device's own metadata; NULL: unknown
    ingress_port Nullable(UInt16) CODEC(ZSTD),
    egress_port Nullable(UInt16) CODEC(ZSTD),
    queue_id Nullable(UInt8) CODEC(ZSTD),
    queue_occupancy Nullable(UInt32) CODEC(ZSTD),
    hop_latency_ns Nullable(UInt32) CODEC(ZSTD),
    -- of the packet in the report; 0: none
    frame_bytes UInt32 CODEC(ZSTD),
    -- oldest first; empty if there are only source and sink; 0: unknown
    `hops.node` Array(UInt32) CODEC(ZSTD),
    `hops.latency_ns` Array(UInt32) CODEC(ZSTD),
    -- in the unit of the node: hostint counts packets, IOAM bytes
    `hops.queue_occupancy` Array(UInt32) CODEC(ZSTD),
    -- flow-summaries: totals since the flow began; group-summaries: totals of a class from a source node since flow_first_ns;
    -- each part of a summary has them all; 0 in other kinds
    flow_first_ns UInt64 CODEC(ZSTD),
    flow_last_ns UInt64 CODEC(ZSTD),
    flow_packets UInt64 CODEC(ZSTD),
    flow_bytes UInt64 CODEC(ZSTD),
    flow_lost UInt64 CODEC(ZSTD),
    flow_reordered UInt64 CODEC(ZSTD),
    flow_duplicates UInt64 CODEC(ZSTD),
    flow_late UInt64 CODEC(ZSTD),
    flow_restarts UInt32 CODEC(ZSTD),
    flow_latency_min_ns Int64 CODEC(ZSTD),
    flow_latency_max_ns Int64 CODEC(ZSTD),
    flow_latency_sum_ns Int64 CODEC(ZSTD),
    -- slot n: packets with a latency in [2^(n-1), 2^n) ns, slot 0: 0 or less; empty in the parts of a summary
    flow_histogram Array(UInt32) CODEC(ZSTD),
    -- packets that a summary adds to those that earlier ones told of; their sum over a time is all packets of that time, of
    -- pairs and classes (kind group-summary), of flows (kind flow-summary), or of parts of paths (kinds path-times and path-losses);
    -- 0 in other kinds, and in parts but the last
    added_packets UInt64 CODEC(ZSTD),
    added_bytes UInt64 CODEC(ZSTD),
    added_lost UInt64 CODEC(ZSTD),
    added_recovered UInt64 CODEC(ZSTD),
    added_reordered UInt64 CODEC(ZSTD),
    added_duplicates UInt64 CODEC(ZSTD),
    added_latency_sum_ns Int64 CODEC(ZSTD),
    added_latency_min_ns Nullable(Int64) CODEC(ZSTD),
    added_latency_max_ns Nullable(Int64) CODEC(ZSTD),
    -- slots for each power of two: 32, 8 or 1; quantiles are off by a slot at most
    added_latency_steps UInt8 CODEC(ZSTD),
    -- the greatest latency of a slot, and its packets
    `added_slots.bound_ns` Array(Int64) CODEC(ZSTD),
    `added_slots.packets` Array(UInt64) CODEC(ZSTD),
    -- latency_ns without the difference of the two clocks, the error of most such estimates, and the least and the greatest that
    -- the true latency can be; NULL: the clocks are unknown
    latency_corrected_ns Nullable(Int64) CODEC(ZSTD),
    latency_error_ns Nullable(Int64) CODEC(ZSTD),
    latency_low_ns Nullable(Int64) CODEC(ZSTD),
    latency_high_ns Nullable(Int64) CODEC(ZSTD),
    -- of added_packets those whose clocks were known: the sums of their corrected latencies and of the errors; the sum of the true
    -- ones is less by less_ns at most, or more by more_ns
    added_corrected_packets UInt64 CODEC(ZSTD),
    added_corrected_sum_ns Int64 CODEC(ZSTD),
    added_corrected_error_ns UInt64 CODEC(ZSTD),
    added_corrected_less_ns UInt64 CODEC(ZSTD),
    added_corrected_more_ns UInt64 CODEC(ZSTD),
    -- the interfaces of the hops in hops.node, as the hops number them
    `hops.ingress_port` Array(UInt32) CODEC(ZSTD),
    `hops.egress_port` Array(UInt32) CODEC(ZSTD),
    -- path-times and path-losses: the part of a path over transit hops that added_ is about: path (the whole), wire, guest, hop or queue;
    -- path_nodes has the nodes in the order of the way, source first; empty and NULL in other kinds
    path_hash LowCardinality(String) CODEC(ZSTD),
    path_part LowCardinality(String) CODEC(ZSTD),
    path_nodes Array(UInt32) CODEC(ZSTD),
    path_from_node Nullable(UInt32) CODEC(ZSTD),
    path_from_port Nullable(UInt16) CODEC(ZSTD),
    path_to_node Nullable(UInt32) CODEC(ZSTD),
    path_to_port Nullable(UInt16) CODEC(ZSTD),
    -- the names of the nodes, as they told them or the collector was told; empty: none
    reporter_name LowCardinality(String) CODEC(ZSTD),
    source_name LowCardinality(String) CODEC(ZSTD),
    sink_name LowCardinality(String) CODEC(ZSTD),
    `hops.name` Array(LowCardinality(String)) CODEC(ZSTD),
    path_names Array(LowCardinality(String)) CODEC(ZSTD),
    -- the names of the interfaces that ports of hops and of parts of paths stand for, as their hosts told them; empty: none
    `hops.ingress_interface` Array(LowCardinality(String)) CODEC(ZSTD),
    `hops.egress_interface` Array(LowCardinality(String)) CODEC(ZSTD),
    path_from_interface LowCardinality(String) CODEC(ZSTD),
    path_to_interface LowCardinality(String) CODEC(ZSTD),
    -- the pods that the report is about, as the API server of their cluster names them: by address (::, if by uid), or by the uid that a
    -- host told, as in in_pod, out_pod and pod; empty: none
    `pods.address` Array(IPv6) CODEC(ZSTD),
    `pods.uid` Array(LowCardinality(String)) CODEC(ZSTD),
    `pods.namespace` Array(LowCardinality(String)) CODEC(ZSTD),
    `pods.pod` Array(LowCardinality(String)) CODEC(ZSTD),
    `pods.workload` Array(LowCardinality(String)) CODEC(ZSTD),
    `pods.workload_kind` Array(LowCardinality(String)) CODEC(ZSTD),
    -- host-drop and host-hop: the way of the packets through the host: interfaces, the pods or containers behind them, the one that
    -- the packets were in
    in_interface LowCardinality(String) CODEC(ZSTD),
    out_interface LowCardinality(String) CODEC(ZSTD),
    in_ifindex UInt32 CODEC(ZSTD),
    out_ifindex UInt32 CODEC(ZSTD),
    in_pod LowCardinality(String) CODEC(ZSTD),
    out_pod LowCardinality(String) CODEC(ZSTD),
    pod LowCardinality(String) CODEC(ZSTD),
    -- the flow as the end that began the connection knows it, if NAT changed it, else :: and 0
    before_nat_src IPv6 CODEC(ZSTD),
    before_nat_dst IPv6 CODEC(ZSTD),
    before_nat_sport UInt16 CODEC(ZSTD),
    before_nat_dport UInt16 CODEC(ZSTD),
    -- the tunnel that the packets were in (vxlan, geneve or gtp-u), its VNI or TEID, and its own flow; src and the others are the flow inside
    tunnel_kind LowCardinality(String) CODEC(ZSTD),
    tunnel_id Nullable(UInt32) CODEC(ZSTD),
    tunnel_src IPv6 CODEC(ZSTD),
    tunnel_dst IPv6 CODEC(ZSTD),
    tunnel_sport UInt16 CODEC(ZSTD),
    tunnel_dport UInt16 CODEC(ZSTD),
    -- host-drop and host-drop-sum: the number that the host's kernel has for the reason, its name, the kernel's function; of sums the
    -- interface, of flows its index and those above
    host_drop_reason Nullable(UInt32) CODEC(ZSTD),
    host_drop_reason_name LowCardinality(String) CODEC(ZSTD),
    host_drop_place LowCardinality(String) CODEC(ZSTD),
    host_drop_interface LowCardinality(String) CODEC(ZSTD),
    host_drop_ifindex UInt32 CODEC(ZSTD),
    host_drop_netns UInt32 CODEC(ZSTD),
    -- apart, before-tag, behind-tag, between, before-strip or behind-strip; the node that tagged the packets, and the first's number
    host_drop_position LowCardinality(String) CODEC(ZSTD),
    host_drop_tagged_by Nullable(UInt32) CODEC(ZSTD),
    host_drop_tagged_by_name LowCardinality(String) CODEC(ZSTD),
    host_drop_seq Nullable(UInt32) CODEC(ZSTD),
    -- of sums: 1: the packets are no loss; 1: only a counter of the kernel (host_drop_place) tells these drops
    host_drop_ignored UInt8 CODEC(ZSTD),
    host_drop_without_packet UInt8 CODEC(ZSTD),
    -- of flows: all since the first drop; a superpacket is one packet of several segments
    host_drop_packets UInt64 CODEC(ZSTD),
    host_drop_segments UInt64 CODEC(ZSTD),
    host_drop_bytes UInt64 CODEC(ZSTD),
    host_drop_first_ns UInt64 CODEC(ZSTD),
    host_drop_last_ns UInt64 CODEC(ZSTD),
    -- from the packet's departure to the drop; the queue at the first drop; 1: one of the packets had several segments; the socket's cgroup
    host_drop_age_ns Nullable(UInt32) CODEC(ZSTD),
    host_drop_queue_packets UInt32 CODEC(ZSTD),
    host_drop_queue_bytes UInt32 CODEC(ZSTD),
    host_drop_superpacket UInt8 CODEC(ZSTD),
    host_drop_cgroup Nullable(UInt64) CODEC(ZSTD),
    -- packets that the row adds to those of earlier ones; their sum over a time is all packets that hosts dropped (kind host-drop-sum),
    -- or those of flows that were told (kind host-drop): the limit of told flows leaves none out of the sums
    added_drop_packets UInt64 CODEC(ZSTD),
    added_drop_segments UInt64 CODEC(ZSTD),
    added_drop_bytes UInt64 CODEC(ZSTD),
    -- host-hop: new, ports, latency, period; 1: times begin at the sender on the same machine; all packets since the first, and the
    -- times of the last one, their mean and their greatest
    host_hop_reasons Array(LowCardinality(String)) CODEC(ZSTD),
    host_hop_from_sender UInt8 CODEC(ZSTD),
    host_hop_packets UInt64 CODEC(ZSTD),
    host_hop_bytes UInt64 CODEC(ZSTD),
    host_hop_first_ns UInt64 CODEC(ZSTD),
    host_hop_last_ns UInt64 CODEC(ZSTD),
    host_hop_ns Nullable(UInt32) CODEC(ZSTD),
    host_hop_mean_ns Nullable(UInt32) CODEC(ZSTD),
    host_hop_max_ns Nullable(UInt32) CODEC(ZSTD),
    -- queue: an episode of the queue: time (ns) or bytes are measured, from trigger to reset; each row has all that is known so far
    episode_interface LowCardinality(String) CODEC(ZSTD),
    episode_ifindex UInt32 CODEC(ZSTD),
    episode_queue UInt32 CODEC(ZSTD),
    episode_handle UInt32 CODEC(ZSTD),
    episode_measure LowCardinality(String) CODEC(ZSTD),
    episode_trigger UInt64 CODEC(ZSTD),
    episode_reset UInt64 CODEC(ZSTD),
    episode_quota UInt32 CODEC(ZSTD),
    episode_number UInt64 CODEC(ZSTD),
    episode_begin_ns UInt64 CODEC(ZSTD),
    episode_last_ns UInt64 CODEC(ZSTD),
    -- NULL: it goes on
    episode_end_ns Nullable(UInt64) CODEC(ZSTD),
    -- packets over the trigger, those of them whose flow was told, and those beyond the quota; what the queue dropped meanwhile; the most
    -- in the queue, 0: not known
    episode_packets UInt64 CODEC(ZSTD),
    episode_bytes UInt64 CODEC(ZSTD),
    episode_told UInt64 CODEC(ZSTD),
    episode_suppressed UInt64 CODEC(ZSTD),
    episode_drops UInt64 CODEC(ZSTD),
    episode_max_bytes UInt32 CODEC(ZSTD),
    episode_max_packets UInt32 CODEC(ZSTD),
    episode_max_time_ns Nullable(UInt32) CODEC(ZSTD),
    -- whose packets were told, most bytes first
    `episode_flows.src` Array(IPv6) CODEC(ZSTD),
    `episode_flows.dst` Array(IPv6) CODEC(ZSTD),
    `episode_flows.sport` Array(UInt16) CODEC(ZSTD),
    `episode_flows.dport` Array(UInt16) CODEC(ZSTD),
    `episode_flows.protocol` Array(UInt8) CODEC(ZSTD),
    `episode_flows.packets` Array(UInt64) CODEC(ZSTD),
    `episode_flows.bytes` Array(UInt64) CODEC(ZSTD),
    -- the pods at the ends of the flow
    src_namespace String ALIAS arrayElement(pods.namespace, indexOf(pods.address, src)),
    src_pod String ALIAS arrayElement(pods.pod, indexOf(pods.address, src)),
    src_workload String ALIAS arrayElement(pods.workload, indexOf(pods.address, src)),
    dst_namespace String ALIAS arrayElement(pods.namespace, indexOf(pods.address, dst)),
    dst_pod String ALIAS arrayElement(pods.pod, indexOf(pods.address, dst)),
    dst_workload String ALIAS arrayElement(pods.workload, indexOf(pods.address, dst)),
    -- seconds of time_ns: what partitions, TTL and the key are made of; filter by it
    time DateTime('UTC') DEFAULT toDateTime(intDiv(time_ns, 1000000000), 'UTC') CODEC(DoubleDelta, ZSTD),
    -- time_ns in readable form
    exact_time DateTime64(9, 'UTC') ALIAS fromUnixTimestamp64Nano(toInt64(time_ns), 'UTC')
)
ENGINE = ReplacingMergeTree
PARTITION BY toDate(time)
PRIMARY KEY (toStartOfHour(time), flow_hash)
ORDER BY (toStartOfHour(time), flow_hash, time_ns, run, number)
TTL time + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

-- Roll-ups of ten seconds, without addresses; begin is the start of the period.
CREATE TABLE IF NOT EXISTS hostint.rollup_10s
(
    begin DateTime('UTC'),
    -- 0: unknown
    source_node UInt32,
    sink_node UInt32,
    class LowCardinality(String),
    reports_state AggregateFunction(count),
    lost_state AggregateFunction(sum, UInt32),
    samples_state AggregateFunction(countIf, UInt8),
    latency_sum_state AggregateFunction(sumIf, Int64, UInt8),
    latency_min_state AggregateFunction(minIf, Int64, UInt8),
    latency_max_state AggregateFunction(maxIf, Int64, UInt8),
    latency_state AggregateFunction(quantilesTDigestIf(0.5, 0.9, 0.99), Int64, UInt8)
)
ENGINE = AggregatingMergeTree
PARTITION BY toDate(begin)
ORDER BY (begin, source_node, sink_node, class)
TTL begin + INTERVAL 7 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS hostint.rollup_10s_view TO hostint.rollup_10s AS
SELECT
    toDateTime(intDiv(time_ns, 10000000000) * 10, 'UTC') AS begin,
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
    begin DateTime('UTC'),
    -- 0: unknown
    source_node UInt32,
    sink_node UInt32,
    class LowCardinality(String),
    reports_state AggregateFunction(count),
    lost_state AggregateFunction(sum, UInt32),
    samples_state AggregateFunction(countIf, UInt8),
    latency_sum_state AggregateFunction(sumIf, Int64, UInt8),
    latency_min_state AggregateFunction(minIf, Int64, UInt8),
    latency_max_state AggregateFunction(maxIf, Int64, UInt8),
    latency_state AggregateFunction(quantilesTDigestIf(0.5, 0.9, 0.99), Int64, UInt8)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(begin)
ORDER BY (begin, source_node, sink_node, class)
TTL begin + INTERVAL 90 DAY
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS hostint.rollup_1m_view TO hostint.rollup_1m AS
SELECT
    toDateTime(intDiv(time_ns, 60000000000) * 60, 'UTC') AS begin,
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
    begin DateTime('UTC'),
    -- 0: unknown
    source_node UInt32,
    sink_node UInt32,
    class LowCardinality(String),
    reports_state AggregateFunction(count),
    lost_state AggregateFunction(sum, UInt32),
    samples_state AggregateFunction(countIf, UInt8),
    latency_sum_state AggregateFunction(sumIf, Int64, UInt8),
    latency_min_state AggregateFunction(minIf, Int64, UInt8),
    latency_max_state AggregateFunction(maxIf, Int64, UInt8),
    latency_state AggregateFunction(quantilesTDigestIf(0.5, 0.9, 0.99), Int64, UInt8)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(begin)
ORDER BY (begin, source_node, sink_node, class)
TTL begin + INTERVAL 2 YEAR
SETTINGS ttl_only_drop_parts = 1, non_replicated_deduplication_window = 1000;

CREATE MATERIALIZED VIEW IF NOT EXISTS hostint.rollup_1h_view TO hostint.rollup_1h AS
SELECT
    toDateTime(intDiv(time_ns, 3600000000000) * 3600, 'UTC') AS begin,
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
