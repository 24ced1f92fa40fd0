//! What tests and benchmarks share: packets, a model of both roles, labs of network namespaces, and samples of all
//! values.

pub mod arrivals;

pub mod checksum;
pub mod clickhouse;
pub mod clickhouse_queries;
pub mod clickhouse_rows;
pub mod collecting;
pub mod collector;
pub mod dashboards;
pub mod frame;
pub mod generate;
pub mod golden;
pub mod harness;
pub mod history_samples;
pub mod http_server;
pub mod icmp;
pub mod int_block;
pub mod kafka_stub;
pub mod line;
pub mod load;
pub mod model;
pub mod netns;
pub mod packets;
pub mod peer_cases;
pub mod places;
pub mod program_info;
pub mod programs;
pub mod pushing;
pub mod random;
pub mod random_reports;
pub mod report_rules;
pub mod report_samples;
pub mod scratch;
pub mod shape;
pub mod simulation;
pub mod sink_cases;
pub mod source_cases;
pub mod status_samples;
pub mod stream;
pub mod synthetic;
pub mod wire;
