//! The settings of the engine.

use std::sync::Arc;

use rskafka::client::SaslConfig;
use rskafka::client::partition::Compression;
use rustls::ClientConfig;

/// The cluster, its topics, and how they are reached.
pub struct KafkaSettings {
    /// The brokers, each with its port.
    pub brokers: Vec<String>,
    pub topic: String,
    pub clock_topic: Option<String>,
    pub compression: Compression,
    pub tls: Option<Arc<ClientConfig>>,
    pub login: Option<SaslConfig>,
    /// Logs troubles of clock messages.
    pub warn: fn(&str),
}
