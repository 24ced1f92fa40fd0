-- Queries of the tables of hostint collect --clickhouse with the views of the collector's page, for old and new servers.
--
-- $since and $until are seconds since the Unix epoch; other names with $ are explained at the query. For instance:
--
--     export since=$(date -d '1 hour ago' +%s) until=$(date +%s)
--     sed -n '/^-- name: matrix$/,/;$/p' queries.sql | envsubst | clickhouse-client --format PrettyCompact
--
-- Roll-ups (rollup_10s, rollup_1m, rollup_1h) are fast, and their quantiles approximate (t-digest); choose the one that
-- is fine enough. Queries of reports are exact: FINAL leaves out repeated ones. Over several servers, append _all to the
-- names of all tables. Node 0 is an unknown node.

-- name: matrix
-- From node to node.
SELECT
    source_node,
    sink_node,
    countMerge(reports_state) AS reports,
    sumMerge(lost_state) AS lost,
    countIfMerge(samples_state) AS samples,
    minIfMerge(latency_min_state) AS min_ns,
    arrayElement(quantilesTDigestIfMerge(0.5, 0.9, 0.99)(latency_state) AS q, 1) AS p50_ns,
    arrayElement(q, 3) AS p99_ns,
    maxIfMerge(latency_max_state) AS max_ns
FROM hostint.rollup_10s
WHERE begin >= toDateTime($since) AND begin < toDateTime($until)
GROUP BY source_node, sink_node
ORDER BY source_node, sink_node;

-- name: matrix-exact
-- From node to node, from single reports: exact quantiles, and lost packets relative to the flows' sequence numbers.
SELECT
    source_node,
    sink_node,
    count() AS flows,
    sum(flow_reports) AS reports,
    sum(flow_sent) AS packets,
    sum(flow_gone) AS lost,
    lost / packets AS loss,
    arrayElement(quantilesExactIfMerge(0.5, 0.99)(latencies) AS q, 1) AS p50_ns,
    arrayElement(q, 2) AS p99_ns
FROM
(
    SELECT
        source_node,
        sink_node,
        count() AS flow_reports,
        sum(lost) AS flow_gone,
        -- Numbers of 32 bits wrap to 0: of the two distances, this is the shorter one.
        ifNull(1 + least(max(seq) - min(seq), max(bitXor(seq, 2147483648)) - min(bitXor(seq, 2147483648))), toInt64(count())) AS flow_sent,
        quantilesExactIfState(0.5, 0.99)(assumeNotNull(latency_ns), isNotNull(latency_ns)) AS latencies
    FROM hostint.reports FINAL
    WHERE time >= toDateTime($since) AND time < toDateTime($until) AND isNotNull(source_node) AND isNotNull(sink_node)
    GROUP BY source_node, sink_node, src, dst, sport, dport, protocol, vlan, outer_vlan
)
GROUP BY source_node, sink_node
ORDER BY source_node, sink_node;

-- name: pair-series
-- A pair of nodes over time: $source, $sink.
SELECT
    begin,
    countMerge(reports_state) AS reports,
    sumMerge(lost_state) AS lost,
    countIfMerge(samples_state) AS samples,
    if(samples = 0, NULL, intDiv(sumIfMerge(latency_sum_state), samples)) AS mean_ns,
    arrayElement(quantilesTDigestIfMerge(0.5, 0.9, 0.99)(latency_state) AS q, 1) AS p50_ns,
    arrayElement(q, 3) AS p99_ns,
    maxIfMerge(latency_max_state) AS max_ns
FROM hostint.rollup_10s
WHERE begin >= toDateTime($since) AND begin < toDateTime($until) AND source_node = $source AND sink_node = $sink
GROUP BY begin
ORDER BY begin;

-- name: flow-series
-- A flow by minutes: $flow, its flow_hash; both directions, each by itself.
SELECT
    toStartOfMinute(time) AS begin,
    source_node,
    sink_node,
    count() AS reports,
    sum(lost) AS lost_packets,
    quantileExact(0.5)(latency_ns) AS p50_ns,
    quantileExact(0.99)(latency_ns) AS p99_ns,
    max(latency_ns) AS max_ns
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND flow_hash = $flow
GROUP BY begin, source_node, sink_node
ORDER BY begin, source_node, sink_node;

-- name: top-flows
-- The worst flows: $order is lost_packets, p99_ns, jitter_ns or packets.
SELECT
    flow_hash,
    replaceOne(IPv6NumToString(src), '::ffff:', '') AS source,
    sport,
    replaceOne(IPv6NumToString(dst), '::ffff:', '') AS destination,
    dport,
    protocol,
    vlan,
    outer_vlan,
    anyLast(class) AS class_name,
    count() AS reports,
    ifNull(1 + least(max(seq) - min(seq), max(bitXor(seq, 2147483648)) - min(bitXor(seq, 2147483648))), toInt64(count())) AS packets,
    sum(lost) AS lost_packets,
    quantileExact(0.5)(latency_ns) AS p50_ns,
    quantileExact(0.99)(latency_ns) AS p99_ns,
    p99_ns - p50_ns AS jitter_ns
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND flow_hash != 0
GROUP BY flow_hash, src, sport, dst, dport, protocol, vlan, outer_vlan
ORDER BY $order DESC, flow_hash
LIMIT 50;

-- name: find-flows
-- Flows by an address, a port or a class that contains $words.
SELECT
    flow_hash,
    replaceOne(IPv6NumToString(src), '::ffff:', '') AS source,
    sport,
    replaceOne(IPv6NumToString(dst), '::ffff:', '') AS destination,
    dport,
    protocol,
    any(class) AS class_name,
    min(time_ns) AS first_ns,
    max(time_ns) AS last_ns,
    count() AS reports
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND flow_hash != 0
    AND positionCaseInsensitive(
        concat(IPv6NumToString(src), ' ', toString(sport), ' ', IPv6NumToString(dst), ' ', toString(dport), ' ', class),
        '$words') > 0
GROUP BY flow_hash, src, sport, dst, dport, protocol
ORDER BY last_ns DESC, flow_hash
LIMIT 200;

-- name: pairs-of-packets
-- All packets from node to node, as the sinks' summaries tell them; quantiles are off by a slot at most. The sum of classes.
SELECT
    source_node,
    sink_node,
    sum(added_packets) AS packets,
    sum(added_lost) - sum(added_recovered) AS lost_packets,
    if(packets = 0, NULL, intDiv(sum(added_latency_sum_ns), packets)) AS mean_ns,
    quantileExactWeightedArray(0.5)(added_slots.bound_ns, added_slots.packets) AS p50_ns,
    quantileExactWeightedArray(0.99)(added_slots.bound_ns, added_slots.packets) AS p99_ns,
    min(added_latency_steps) AS steps
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND kind = 'group-summary' AND added_latency_steps > 0
GROUP BY source_node, sink_node
ORDER BY source_node, sink_node;

-- name: segments-of-paths
-- Links, hops and queues of paths over transit hops: the times of all packets, and of those that came to the begin of each how many
-- were lost. Quantiles are off by a slot at most; times between two nodes have the difference of their clocks in them.
SELECT
    path_part,
    path_from_node,
    path_from_port,
    path_to_node,
    path_to_port,
    sumIf(added_packets, kind = 'path-times') AS packets,
    if(packets = 0, NULL, intDivOrZero(sum(added_latency_sum_ns), packets)) AS mean_ns,
    if(packets = 0, NULL, quantileExactWeightedArray(0.5)(added_slots.bound_ns, added_slots.packets)) AS p50_ns,
    if(packets = 0, NULL, quantileExactWeightedArray(0.99)(added_slots.bound_ns, added_slots.packets)) AS p99_ns,
    sumIf(added_packets, kind = 'path-losses') AS counted_packets,
    sum(added_lost) - sum(added_recovered) AS lost_packets
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND kind IN ('path-times', 'path-losses') AND path_part != 'path'
GROUP BY path_part, path_from_node, path_from_port, path_to_node, path_to_port
ORDER BY lost_packets DESC, p99_ns DESC;

-- name: flow-totals
-- The last totals of each flow, if sinks send flow-summaries.
SELECT
    replaceOne(IPv6NumToString(src), '::ffff:', '') AS source,
    sport,
    replaceOne(IPv6NumToString(dst), '::ffff:', '') AS destination,
    dport,
    protocol,
    max(time_ns) AS last_ns,
    argMax(flow_packets, time_ns) AS packets,
    argMax(flow_bytes, time_ns) AS bytes,
    argMax(flow_lost, time_ns) AS lost_packets,
    argMax(flow_reordered, time_ns) AS reordered,
    argMax(flow_duplicates, time_ns) AS duplicates
FROM hostint.reports
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND kind = 'flow-summary'
GROUP BY src, sport, dst, dport, protocol
ORDER BY lost_packets DESC
LIMIT 200;

-- name: reports
-- Single reports of a flow, newest first: $flow, its flow_hash.
SELECT
    time_ns,
    kind,
    source_node,
    sink_node,
    replaceOne(IPv6NumToString(src), '::ffff:', '') AS source,
    sport,
    replaceOne(IPv6NumToString(dst), '::ffff:', '') AS destination,
    dport,
    latency_ns,
    seq,
    lost,
    drop_reason_name,
    queue_occupancy
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND flow_hash = $flow
ORDER BY time_ns DESC, run, number
LIMIT 1000;

-- name: classes
-- By class of traffic.
SELECT
    class,
    countMerge(reports_state) AS reports,
    sumMerge(lost_state) AS lost,
    arrayElement(quantilesTDigestIfMerge(0.5, 0.9, 0.99)(latency_state) AS q, 1) AS p50_ns,
    arrayElement(q, 3) AS p99_ns
FROM hostint.rollup_10s
WHERE begin >= toDateTime($since) AND begin < toDateTime($until)
GROUP BY class
ORDER BY class;

-- name: drops
-- Why devices dropped packets, and where.
SELECT reporter_node, drop_reason, any(drop_reason_name) AS reason, count() AS reports, max(time_ns) AS last_ns
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND isNotNull(drop_reason)
GROUP BY reporter_node, drop_reason
ORDER BY reports DESC;

-- name: host-drops
-- What hosts dropped, by the kernel's reason and by where INT sees it: all packets, those too whose flows were not told.
-- Drops without a packet have the counter of the kernel that tells them.
SELECT
    reporter_node,
    max(reporter_name) AS reporter,
    host_drop_reason_name,
    host_drop_position,
    if(host_drop_without_packet = 1, host_drop_place, '') AS counter,
    host_drop_ignored,
    sum(added_drop_packets) AS packets,
    sum(added_drop_segments) AS segments,
    sum(added_drop_bytes) AS bytes
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND kind = 'host-drop-sum'
GROUP BY reporter_node, host_drop_reason, host_drop_reason_name, host_drop_position, counter, host_drop_ignored
ORDER BY packets DESC, reporter_node, host_drop_reason_name;

-- name: queue-episodes
-- Episodes of hosts' queues, as far as each is known, the newest first.
SELECT
    reporter_node,
    max(reporter_name) AS reporter,
    episode_interface,
    episode_queue,
    episode_begin_ns,
    max(episode_end_ns) AS end_ns,
    max(episode_packets) AS packets,
    max(episode_suppressed) AS suppressed,
    max(episode_drops) AS drops,
    max(episode_max_bytes) AS max_bytes,
    max(episode_max_time_ns) AS max_time_ns
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until) AND kind = 'queue'
GROUP BY reporter_node, episode_interface, episode_ifindex, episode_queue, episode_number, episode_begin_ns
ORDER BY episode_begin_ns DESC
LIMIT 200;

-- name: exporters
-- The exporters, and the state of their clocks.
SELECT
    replaceOne(IPv6NumToString(exporter), '::ffff:', '') AS exporter_address,
    count() AS reports,
    min(time_ns) AS first_ns,
    max(time_ns) AS last_ns,
    uniq(flow_hash) AS flows_about,
    countIf(ifNull(sink_clock_synchronised = 0, 0)) AS reports_by_a_free_clock
FROM hostint.reports FINAL
WHERE time >= toDateTime($since) AND time < toDateTime($until)
GROUP BY exporter
ORDER BY last_ns;

-- name: deliveries
-- The reports delivered by each run of a collector: missing numbers between the first and the last were not delivered.
SELECT
    run,
    min(number) AS first,
    max(number) AS last,
    uniqExact(number) AS reports,
    last - first + 1 - reports AS missing,
    count() - reports AS twice
FROM hostint.reports
WHERE time >= toDateTime($since) AND time < toDateTime($until)
GROUP BY run
ORDER BY last DESC;
