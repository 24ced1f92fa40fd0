-- Several ClickHouse servers as one: tables over those of schema.sql or schema-plain.sql, which each server has.
--
--     clickhouse-client --multiquery <schema-distributed.sql     # on each server, after the other file
--     hostint collect --clickhouse http://any-of-them:8123/ --clickhouse-table reports_all
--
-- Needs a cluster named hostint in each server's config (remote_servers), with internal_replication where shards have
-- replicas. Both directions of a flow have the same flow_hash, and so land on the same shard; reports without a flow
-- land on the first one. The engine uses synchronous inserts: acknowledged reports are on their shard.
--
-- queries.sql uses these tables if _all is appended to its names.

CREATE TABLE IF NOT EXISTS hostint.reports_all AS hostint.reports
ENGINE = Distributed(hostint, hostint, reports, flow_hash);

CREATE TABLE IF NOT EXISTS hostint.rollup_10s_all AS hostint.rollup_10s
ENGINE = Distributed(hostint, hostint, rollup_10s);

CREATE TABLE IF NOT EXISTS hostint.rollup_1m_all AS hostint.rollup_1m
ENGINE = Distributed(hostint, hostint, rollup_1m);

CREATE TABLE IF NOT EXISTS hostint.rollup_1h_all AS hostint.rollup_1h
ENGINE = Distributed(hostint, hostint, rollup_1h);
