-- Tables of hostint collect --clickhouse, for old servers, from ClickHouse 18.16 on. Made of schema.sql: HOSTINT_BLESS=1
-- cargo test --test engines plain_schema
--
--     clickhouse-client --multiquery <schema-plain.sql
--
-- Nothing is deleted automatically; drop days: ALTER TABLE hostint.reports DROP PARTITION '2026-01-31'.
--
-- The engine inserts all columns of hostint.reports but time and those with ALIAS; rows that tell of no host go without those from in_interface on.
-- Values that a report does not have are NULL, or 0 and '' in columns that cannot be NULL, which must stay the defaults of the
-- columns: kind determines the values of a report. Times and latencies are integers in nanoseconds.
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
    -- latency, drop-summary, flow-summary, group-summary, host-drop, host-drop-sum, host-hop, queue, tcp, path-times, path-losses,
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
    -- slot n: packets with a latency in [2^(n-1), 2^n) ns, slot 0: 0 or less; empty in the parts of a summary
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
    -- the names of the nodes, as they told them or the collector was told; empty: none
    reporter_name String,
    source_name String,
    sink_name String,
    `hops.name` Array(String),
    path_names Array(String),
    -- the names of the interfaces that ports of hops and of parts of paths stand for, as their hosts told them; empty: none
    `hops.ingress_interface` Array(String),
    `hops.egress_interface` Array(String),
    path_from_interface String,
    path_to_interface String,
    -- the pods that the report is about, as the API server of their cluster names them: by address (::, if by uid), or by the uid that a
    -- host told, as in in_pod, out_pod and pod; empty: none
    `pods.address` Array(FixedString(16)),
    `pods.uid` Array(String),
    `pods.namespace` Array(String),
    `pods.pod` Array(String),
    `pods.workload` Array(String),
    `pods.workload_kind` Array(String),
    -- host-drop and host-hop: the way of the packets through the host: interfaces, the pods or containers behind them, the one that
    -- the packets were in
    in_interface String,
    out_interface String,
    in_ifindex UInt32,
    out_ifindex UInt32,
    in_pod String,
    out_pod String,
    pod String,
    -- the flow as the end that began the connection knows it, if NAT changed it, else :: and 0
    before_nat_src FixedString(16),
    before_nat_dst FixedString(16),
    before_nat_sport UInt16,
    before_nat_dport UInt16,
    -- the tunnel that the packets were in (vxlan, geneve or gtp-u), its VNI or TEID, and its own flow; src and the others are the flow inside
    tunnel_kind String,
    tunnel_id Nullable(UInt32),
    tunnel_src FixedString(16),
    tunnel_dst FixedString(16),
    tunnel_sport UInt16,
    tunnel_dport UInt16,
    -- host-drop and host-drop-sum: the number that the host's kernel has for the reason, its name, the kernel's function; of sums the
    -- interface, of flows its index and those above
    host_drop_reason Nullable(UInt32),
    host_drop_reason_name String,
    host_drop_place String,
    host_drop_interface String,
    host_drop_ifindex UInt32,
    host_drop_netns UInt32,
    -- apart, before-tag, behind-tag, between, before-strip or behind-strip; the node that tagged the packets, and the first's number
    host_drop_position String,
    host_drop_tagged_by Nullable(UInt32),
    host_drop_tagged_by_name String,
    host_drop_seq Nullable(UInt32),
    -- of sums: 1: the packets are no loss; 1: only a counter of the kernel (host_drop_place) tells these drops
    host_drop_ignored UInt8,
    host_drop_without_packet UInt8,
    -- of flows: all since the first drop; a superpacket is one packet of several segments
    host_drop_packets UInt64,
    host_drop_segments UInt64,
    host_drop_bytes UInt64,
    host_drop_first_ns UInt64,
    host_drop_last_ns UInt64,
    -- from the packet's departure to the drop; the queue at the first drop; 1: one of the packets had several segments; the socket's cgroup
    host_drop_age_ns Nullable(UInt32),
    host_drop_queue_packets UInt32,
    host_drop_queue_bytes UInt32,
    host_drop_superpacket UInt8,
    host_drop_cgroup Nullable(UInt64),
    -- packets that the row adds to those of earlier ones; their sum over a time is all packets that hosts dropped (kind host-drop-sum),
    -- or those of flows that were told (kind host-drop): the limit of told flows leaves none out of the sums
    added_drop_packets UInt64,
    added_drop_segments UInt64,
    added_drop_bytes UInt64,
    -- host-hop: new, ports, latency, period; 1: times begin at the sender on the same machine; all packets since the first, and the
    -- times of the last one, their mean and their greatest
    host_hop_reasons Array(String),
    host_hop_from_sender UInt8,
    host_hop_packets UInt64,
    host_hop_bytes UInt64,
    host_hop_first_ns UInt64,
    host_hop_last_ns UInt64,
    host_hop_ns Nullable(UInt32),
    host_hop_mean_ns Nullable(UInt32),
    host_hop_max_ns Nullable(UInt32),
    -- queue: an episode of the queue: time (ns) or bytes are measured, from trigger to reset; each row has all that is known so far
    episode_interface String,
    episode_ifindex UInt32,
    episode_queue UInt32,
    episode_handle UInt32,
    episode_measure String,
    episode_trigger UInt64,
    episode_reset UInt64,
    episode_quota UInt32,
    episode_number UInt64,
    episode_begin_ns UInt64,
    episode_last_ns UInt64,
    -- NULL: it goes on
    episode_end_ns Nullable(UInt64),
    -- packets over the trigger, those of them whose flow was told, and those beyond the quota; what the queue dropped meanwhile; the most
    -- in the queue, 0: not known
    episode_packets UInt64,
    episode_bytes UInt64,
    episode_told UInt64,
    episode_suppressed UInt64,
    episode_drops UInt64,
    episode_max_bytes UInt32,
    episode_max_packets UInt32,
    episode_max_time_ns Nullable(UInt32),
    -- whose packets were told, most bytes first
    `episode_flows.src` Array(FixedString(16)),
    `episode_flows.dst` Array(FixedString(16)),
    `episode_flows.sport` Array(UInt16),
    `episode_flows.dport` Array(UInt16),
    `episode_flows.protocol` Array(UInt8),
    `episode_flows.packets` Array(UInt64),
    `episode_flows.bytes` Array(UInt64),
    -- the pods at the ends of the flow
    src_namespace String ALIAS arrayElement(pods.namespace, indexOf(pods.address, src)),
    src_pod String ALIAS arrayElement(pods.pod, indexOf(pods.address, src)),
    src_workload String ALIAS arrayElement(pods.workload, indexOf(pods.address, src)),
    dst_namespace String ALIAS arrayElement(pods.namespace, indexOf(pods.address, dst)),
    dst_pod String ALIAS arrayElement(pods.pod, indexOf(pods.address, dst)),
    dst_workload String ALIAS arrayElement(pods.workload, indexOf(pods.address, dst)),
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
