//! Kafka as an engine: messages lose nothing of a report, and real brokers have each report, whatever becomes of them.

mod golden;
#[path = "cli/harness.rs"]
#[allow(dead_code)] // each test file uses its share
mod harness;
#[path = "support/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "support/report_samples.rs"]
mod report_samples;
#[path = "support/synthetic.rs"]
#[allow(dead_code)]
mod synthetic;
#[path = "support/wire.rs"]
mod wire;

#[path = "kafka/cluster.rs"]
mod cluster;
#[path = "support/collecting.rs"]
#[allow(dead_code)]
mod collecting;
#[path = "kafka/consumed.rs"]
mod consumed;
#[path = "kafka/deliveries.rs"]
mod deliveries;
#[path = "kafka/messages.rs"]
mod messages;
#[path = "kafka/outages.rs"]
mod outages;
#[path = "kafka/read_back.rs"]
mod read_back;
#[path = "kafka/stub.rs"]
mod stub;
#[path = "kafka/trust.rs"]
mod trust;

const TOPIC: &str = "hostint.reports.v1";
const CLOCK_TOPIC: &str = "hostint.clocks.v1";
