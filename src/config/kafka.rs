//! Settings of the Kafka engine.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::heading::ENGINES;
use super::mistake::{Fault, fault, item_fault};
use super::place::port_of;
use super::secret::{Password, read_password};

const PORT: u16 = 9092;
const DEFAULT_TOPIC: &str = "hostint.reports.v1";
const DEFAULT_CLOCK_TOPIC: &str = "hostint.clocks.v1";
const LONGEST_TOPIC: usize = 249;

/// Options of the Kafka engine of `hostint collect`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = ENGINES)]
pub struct KafkaOptions {
    /// Hand reports on to Kafka: a broker of the cluster, default port 9092; may be repeated
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub kafka: Vec<String>,

    /// Topic of reports, which must exist [default: hostint.reports.v1]
    #[arg(long, value_name = "TOPIC")]
    pub kafka_topic: Option<String>,

    /// Topic of messages for comparing the clocks of two nodes, or none [default: hostint.clocks.v1]
    #[arg(long, value_name = "TOPIC")]
    pub kafka_clock_topic: Option<String>,

    /// Compression of messages [default: lz4]
    #[arg(long, value_name = "KIND")]
    pub kafka_compression: Option<KafkaCompression>,

    /// Use TLS to brokers, with the certificates that this system trusts
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub kafka_tls: Option<bool>,

    /// User at the brokers, by SASL [default: none]
    #[arg(long, value_name = "NAME")]
    pub kafka_user: Option<String>,

    /// File with the user's password
    #[arg(long, value_name = "PATH")]
    pub kafka_password_file: Option<PathBuf>,

    /// How the user authenticates; without TLS, plain reveals the password to anyone on the network [default:
    /// scram-sha-512]
    #[arg(long, value_name = "MECHANISM")]
    pub kafka_sasl: Option<KafkaSasl>,
}

/// Compression of messages.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum KafkaCompression {
    None,
    Gzip,
    #[default]
    Lz4,
    Snappy,
    Zstd,
}

/// SASL mechanism by which the user authenticates.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum KafkaSasl {
    Plain,
    #[value(name = "scram-sha-256")]
    ScramSha256,
    #[default]
    #[value(name = "scram-sha-512")]
    ScramSha512,
}

/// Settings of Kafka, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KafkaConfig {
    /// The brokers, each with its port.
    pub brokers: Vec<String>,
    pub topic: String,
    pub clock_topic: Option<String>,
    pub compression: KafkaCompression,
    pub tls: bool,
    pub login: Option<KafkaLogin>,
}

/// The user that writes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KafkaLogin {
    pub user: String,
    pub password: Password,
    pub sasl: KafkaSasl,
}

impl KafkaOptions {
    /// Checks everything and fills in defaults; `None` if Kafka is not used.
    pub fn check(self, faults: &mut Vec<Fault>) -> Option<KafkaConfig> {
        let mut brokers = Vec::new();
        for (i, text) in self.kafka.iter().enumerate() {
            match with_port(text) {
                Ok(broker) => brokers.push(broker),
                Err(why) => {
                    let why = format!("{text:?} is not a broker: {why} (try host:9092)");
                    faults.push(item_fault("kafka", i, why));
                }
            }
        }
        if self.kafka.is_empty() {
            self.check_unused(faults);
            return None;
        }
        let login = self.login(faults);
        let topic = self.kafka_topic.unwrap_or_else(|| DEFAULT_TOPIC.to_owned());
        let clock_topic = match self.kafka_clock_topic.as_deref() {
            Some("none") => None,
            given => Some(given.unwrap_or(DEFAULT_CLOCK_TOPIC).to_owned()),
        };
        let topics = [
            ("kafka-topic", Some(&topic)),
            ("kafka-clock-topic", clock_topic.as_ref()),
        ];
        for (key, name) in topics {
            if let Some(why) = name.and_then(|name| wrong_topic(name)) {
                faults.push(fault(&[key], why));
            }
        }
        if clock_topic.as_ref() == Some(&topic) {
            let why = format!(
                "{topic} is already the topic of reports (try another one, or none for no such messages)"
            );
            faults.push(fault(&["kafka-clock-topic", "kafka-topic"], why));
        }
        Some(KafkaConfig {
            brokers,
            topic,
            clock_topic,
            compression: self.kafka_compression.unwrap_or_default(),
            tls: self.kafka_tls.unwrap_or(false),
            login,
        })
    }

    fn check_unused(&self, faults: &mut Vec<Fault>) {
        let given = [
            ("kafka-topic", self.kafka_topic.is_some()),
            ("kafka-clock-topic", self.kafka_clock_topic.is_some()),
            ("kafka-compression", self.kafka_compression.is_some()),
            ("kafka-tls", self.kafka_tls.is_some()),
            ("kafka-user", self.kafka_user.is_some()),
            ("kafka-password-file", self.kafka_password_file.is_some()),
            ("kafka-sasl", self.kafka_sasl.is_some()),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            let why = "it needs kafka, without which nothing is sent (try kafka too)";
            faults.push(fault(&[key], why));
        }
    }

    fn login(&self, faults: &mut Vec<Fault>) -> Option<KafkaLogin> {
        if self.kafka_user.is_none() {
            let given = [
                ("kafka-password-file", self.kafka_password_file.is_some()),
                ("kafka-sasl", self.kafka_sasl.is_some()),
            ];
            for (key, _) in given.into_iter().filter(|(_, given)| *given) {
                faults.push(fault(&[key], "it needs a user (try kafka-user too)"));
            }
        }
        let user = self.kafka_user.clone()?;
        if self.kafka_password_file.is_none() {
            let why = format!("{user:?} has no password (try kafka-password-file too)");
            faults.push(fault(&["kafka-user"], why));
        }
        let file = self.kafka_password_file.as_ref()?;
        let password = read_password("kafka-password-file", "Kafka password", file, faults)?;
        Some(KafkaLogin {
            user,
            password,
            sasl: self.kafka_sasl.unwrap_or_default(),
        })
    }
}

/// The address at which a broker is reached.
fn with_port(text: &str) -> Result<String, String> {
    let port = port_of(text, PORT)?;
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(address.to_string());
    }
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port).to_string());
    }
    let host = text.rsplit_once(':').map_or(text, |(host, _)| host);
    Ok(format!("{host}:{port}"))
}

/// Why this cannot be the name of a topic.
fn wrong_topic(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let good = (1..=LONGEST_TOPIC).contains(&name.len())
        && name.chars().all(allowed)
        && !matches!(name, "." | "..");
    (!good).then(|| {
        format!("{name:?} cannot be a topic (expected letters, digits, \".\", \"_\" and \"-\", at most {LONGEST_TOPIC})")
    })
}
