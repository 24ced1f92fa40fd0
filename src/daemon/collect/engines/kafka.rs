//! Makes the Kafka engine of a collector from its settings.

use anyhow::{Result, anyhow};

use crate::config::{KafkaCompression, KafkaConfig, KafkaLogin, KafkaSasl};
use crate::engines::kafka::{Compression, Credentials, Kafka, KafkaSettings, SaslConfig, tls};
use crate::os::log;

/// The engine; connects to nothing yet.
pub fn make(config: &KafkaConfig) -> Result<Kafka> {
    let tls = config.tls.then(tls).transpose();
    Ok(Kafka::new(KafkaSettings {
        brokers: config.brokers.clone(),
        topic: config.topic.clone(),
        clock_topic: config.clock_topic.clone(),
        compression: match config.compression {
            KafkaCompression::None => Compression::NoCompression,
            KafkaCompression::Gzip => Compression::Gzip,
            KafkaCompression::Lz4 => Compression::Lz4,
            KafkaCompression::Snappy => Compression::Snappy,
            KafkaCompression::Zstd => Compression::Zstd,
        },
        tls: tls.map_err(|err| anyhow!("cannot use --kafka-tls: {err}"))?,
        login: config.login.as_ref().map(login),
        warn: |trouble| log::warning(trouble),
    }))
}

fn login(login: &KafkaLogin) -> SaslConfig {
    let credentials = Credentials::new(login.user.clone(), login.password.0.clone());
    match login.sasl {
        KafkaSasl::Plain => SaslConfig::Plain(credentials),
        KafkaSasl::ScramSha256 => SaslConfig::ScramSha256(credentials),
        KafkaSasl::ScramSha512 => SaslConfig::ScramSha512(credentials),
    }
}
