//! The Kafka engine: reports become protobuf messages of a topic. Both directions of a flow are in one partition.

mod batches;
mod clocks;
mod connection;
mod corrected;
mod drops;
mod encode;
mod flow;
mod int_message;
mod link;
pub mod message;
mod names;
pub mod partition;
mod passages;
mod path_part;
mod queues;
mod settings;
mod trouble;
mod tunnel;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prost::Message;
pub use rskafka::client::partition::Compression;
pub use rskafka::client::{Credentials, SaslConfig};
use rskafka::record::Record;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use self::batches::RequestBatches;
use self::clocks::ClockWindows;
pub use self::clocks::Window;
pub use self::encode::message;
use self::link::ClusterLink;
use self::partition::pair_key;
pub use self::partition::{key_of, partition_of};
pub use self::settings::KafkaSettings;
use super::{Accepted, Engine, FedReport, Pace, Parcel, Trouble};
use crate::engines::clock::now_ns;
use crate::model::{NodeId, ReportFacts};

/// The longest time of a delivery.
const PATIENCE: Duration = Duration::from_secs(8);

/// The longest time of a delivery of clock messages, which matter less.
const CLOCK_PATIENCE: Duration = Duration::from_secs(1);
/// The pause of clock messages after a trouble.
const CLOCK_PAUSE: Duration = Duration::from_secs(10);

/// The least time between two log lines about lost clock messages.
const LOG_PERIOD: Duration = Duration::from_secs(60);

const PACE: Pace = Pace {
    reports: 8192,
    linger: Duration::from_millis(100),
};

/// The engine.
pub struct Kafka {
    settings: KafkaSettings,
    link: Option<ClusterLink>,
    progress: Progress,
    clocks: ClockWindows,
    /// No clock messages are sent before this time.
    clocks_rest: Option<Instant>,
    /// The lost messages and unplaced reports that were logged last.
    logged: (u64, u64),
    /// The time when they may be logged again.
    next_log: Option<Instant>,
}

/// The progress of the present parcel.
#[derive(Default)]
struct Progress {
    parcel: u64,
    /// For each report, true if the broker has taken or refused it.
    settled: Vec<bool>,
    refused: Accepted,
}

/// Returns a TLS configuration that trusts the certificates that this system trusts.
///
/// # Errors
/// The system trusts no certificates.
pub fn tls() -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err("this system trusts no certificates (try the package ca-certificates)".into());
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|err| format!("cannot set up TLS: {err}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

impl Kafka {
    pub fn new(settings: KafkaSettings) -> Self {
        Self {
            settings,
            link: None,
            progress: Progress::default(),
            clocks: ClockWindows::default(),
            clocks_rest: None,
            logged: (0, 0),
            next_log: None,
        }
    }

    fn try_deliver(&mut self, parcel: &Parcel) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        let link = linked(&mut self.link, &self.settings, deadline)?;
        let entries: Vec<_> = parcel.entries().collect();
        let record = |n: usize| {
            entries
                .get(n)
                .map_or_else(nothing, |entry| report_of(parcel, entry))
        };
        let mut batches = RequestBatches::new(link.reports.partitions());
        for (n, settled) in self.progress.settled.iter().enumerate() {
            if !settled {
                batches.add(n, record(n));
            }
        }
        let outcome = link.send(&link.reports, batches.finish(), record, deadline);
        self.progress.refused.refused += outcome.refused.len();
        if outcome.why_refused.is_some() {
            self.progress.refused.why = outcome.why_refused;
        }
        for n in outcome.taken.into_iter().chain(outcome.refused) {
            if let Some(settled) = self.progress.settled.get_mut(n) {
                *settled = true;
            }
        }
        if self.progress.settled.iter().all(|settled| *settled) {
            return Ok(());
        }
        // The leaders may have moved. Dropping the link also ends requests that are stuck.
        self.link = None;
        Err(outcome.trouble.unwrap_or_default())
    }

    /// Sends waiting clock messages, unless there was a trouble just before.
    fn send_clocks(&mut self, patience: Duration) {
        let now = Instant::now();
        if self.clocks.waiting().is_empty() || self.clocks_rest.is_some_and(|rest| now < rest) {
            return;
        }
        match self.try_clocks(now + patience) {
            Ok(()) if self.clocks_rest.take().is_some() => {
                self.say("clock messages are delivered again");
            }
            Ok(()) => {}
            Err(why) => {
                if self.clocks_rest.replace(now + CLOCK_PAUSE).is_none() {
                    let topic = self.settings.clock_topic.as_deref().unwrap_or_default();
                    let why = format!(
                        "cannot deliver clock messages to topic {topic}: {why}; trying again"
                    );
                    self.say(&why);
                }
            }
        }
    }

    fn try_clocks(&mut self, deadline: Instant) -> Result<(), String> {
        let link = linked(&mut self.link, &self.settings, deadline)?;
        let topic = match &link.clocks {
            Some(Ok(topic)) => topic,
            Some(Err(why)) => return Err(why.clone()),
            None => return Ok(()),
        };
        let waiting = self.clocks.waiting();
        let record = |n: usize| waiting.get(n).map_or_else(nothing, clock_of);
        let mut batches = RequestBatches::new(topic.partitions());
        (0..waiting.len()).for_each(|n| batches.add(n, record(n)));
        let outcome = link.send(topic, batches.finish(), record, deadline);
        let gone: HashSet<_> = outcome
            .taken
            .iter()
            .chain(&outcome.refused)
            .copied()
            .collect();
        let left: VecDeque<_> = (0..)
            .zip(waiting)
            .filter(|(n, _)| !gone.contains(n))
            .map(|(_, window)| window.clone())
            .collect();
        self.clocks.keep(left, outcome.refused.len());
        let Some(why) = outcome.trouble else {
            return Ok(());
        };
        // Reports may still be delivered, so their connections stay.
        link.renew_clocks();
        Err(why)
    }

    /// Logs the losses if they grew since they were logged.
    fn tell_lost(&mut self, undelivered: u64) {
        let now = (self.clocks.lost() + undelivered, self.clocks.beyond());
        if now == self.logged {
            return;
        }
        self.logged = now;
        let (lost, beyond) = now;
        self.say(&format!(
            "{lost} clock messages were lost, {beyond} reports were left out of them (too many pairs of nodes)"
        ));
    }

    fn say(&self, what: &str) {
        (self.settings.warn)(&format!("kafka {}: {what}", self.destination()));
    }
}

impl Engine for Kafka {
    fn name(&self) -> &'static str {
        "kafka"
    }

    fn destination(&self) -> String {
        format!(
            "{}/{}",
            self.settings.brokers.join(","),
            self.settings.topic
        )
    }

    fn pace(&self) -> Pace {
        PACE
    }

    fn deliver(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble> {
        if self.progress.parcel != parcel.number {
            self.progress = Progress {
                parcel: parcel.number,
                settled: vec![false; parcel.len()],
                refused: Accepted::default(),
            };
            if self.settings.clock_topic.is_some() {
                self.clocks.add(parcel);
            }
        }
        match self.try_deliver(parcel) {
            Ok(()) => Ok(self.progress.refused.clone()),
            Err(why) => Err(Trouble::Later(format!(
                "cannot deliver to topic {}: {why}",
                self.settings.topic
            ))),
        }
    }

    fn tick(&mut self) {
        self.clocks.close(now_ns());
        self.send_clocks(CLOCK_PATIENCE);
        let now = Instant::now();
        if self.next_log.is_none_or(|next| now >= next) {
            self.next_log = Some(now + LOG_PERIOD);
            self.tell_lost(0);
        }
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        self.clocks.close(u64::MAX);
        self.clocks_rest = None;
        self.send_clocks(CLOCK_PATIENCE);
        self.tell_lost(self.clocks.waiting().len() as u64);
    }
}

/// Returns the present link, or a new one.
fn linked<'a>(
    link: &'a mut Option<ClusterLink>,
    settings: &KafkaSettings,
    deadline: Instant,
) -> Result<&'a mut ClusterLink, String> {
    let ready = match link.take().filter(|link| !link.is_old()) {
        Some(kept) => kept,
        None => ClusterLink::make(settings, deadline)?,
    };
    Ok(link.insert(ready))
}

fn report_of(parcel: &Parcel, entry: &FedReport) -> Record {
    let time_ns = ReportFacts::new(&entry.report, entry.arrival, now_ns).time_ns;
    let value = message(parcel.run(), entry).encode_to_vec();
    record(key_of(entry), value, time_ns)
}

fn clock_of(window: &Window) -> Record {
    let key = pair_key(NodeId(window.source_node), NodeId(window.sink_node));
    record(key, window.encode_to_vec(), window.end_ns)
}

fn record(key: [u8; 8], value: Vec<u8>, time_ns: u64) -> Record {
    let time_ns = i64::try_from(time_ns).unwrap_or(i64::MAX);
    Record {
        key: Some(key.to_vec()),
        value: Some(value),
        headers: BTreeMap::new(),
        timestamp: rskafka::chrono::DateTime::from_timestamp_nanos(time_ns),
    }
}

/// Returns an empty record for a number that the caller did not use.
fn nothing() -> Record {
    record([0; 8], Vec::new(), 0)
}
