//! Settings of the engines to which a collector hands its reports.

use clap::Args;

use super::clickhouse::{ClickHouseConfig, ClickHouseOptions};
use super::heading::ENGINES;
use super::ipfix::{IpfixConfig, IpfixOptions};
use super::kafka::{KafkaConfig, KafkaOptions};
use super::mistake::{Fault, fault};
use super::otlp::OtlpReportsOptions;
use super::push::{PushConfig, PushOptions};
use super::size::Size;

const DEFAULT_QUEUE: Size = Size(64 << 20);
const LEAST_QUEUE: Size = Size(1 << 20);

/// Options of `hostint collect` for engines.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = ENGINES)]
pub struct EngineOptions {
    /// Memory for reports that wait for an engine, per engine; reports beyond it are dropped and counted [default: 64M]
    #[arg(long, value_name = "SIZE")]
    pub engine_queue: Option<Size>,

    #[command(flatten)]
    pub clickhouse: ClickHouseOptions,

    #[command(flatten)]
    pub ipfix: IpfixOptions,

    #[command(flatten)]
    pub kafka: KafkaOptions,

    #[command(flatten)]
    pub otlp_reports: OtlpReportsOptions,

    #[command(flatten)]
    pub push: PushOptions,
}

/// Settings of engines, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EnginesConfig {
    /// Bytes of each engine's queue.
    pub queue: usize,
    pub clickhouse: Option<ClickHouseConfig>,
    pub ipfix: Option<IpfixConfig>,
    pub kafka: Option<KafkaConfig>,
    pub otlp_reports: bool,
    pub push: PushConfig,
}

impl EngineOptions {
    /// Checks everything and fills in defaults.
    pub(super) fn check(self, faults: &mut Vec<Fault>) -> EnginesConfig {
        let queue = self.engine_queue.unwrap_or(DEFAULT_QUEUE);
        if queue < LEAST_QUEUE {
            let why = format!("a queue of {queue} is too small (try {LEAST_QUEUE} or more)");
            faults.push(fault(&["engine-queue"], why));
        }
        let otlp_reports = self.otlp_reports.otlp_reports.unwrap_or(false);
        if otlp_reports && self.push.otlp.otlp.is_none() {
            let why = "it needs otlp, the receiver of the logs (try otlp too)";
            faults.push(fault(&["otlp-reports"], why));
        }
        EnginesConfig {
            queue: usize::try_from(queue.0).unwrap_or(usize::MAX),
            clickhouse: self.clickhouse.check(faults),
            ipfix: self.ipfix.check(faults),
            kafka: self.kafka.check(faults),
            otlp_reports,
            push: self.push.check(faults),
        }
    }
}
