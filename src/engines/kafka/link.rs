//! The connections to a cluster. After a trouble they are closed and made anew.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rskafka::BackoffConfig;
use rskafka::client::error::Error;
use rskafka::client::partition::{Compression, PartitionClient, UnknownTopicHandling};
use rskafka::client::{Client, ClientBuilder};
use rskafka::record::Record;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::settings::KafkaSettings;
use super::trouble::{SendFailure, text};

/// The time for which the client itself tries again within a delivery, for example because an idle connection was
/// closed.
const AGAIN: Duration = Duration::from_secs(1);

/// The most bytes of a broker's answer; real ones are shorter.
const MOST_ANSWER: usize = 16 << 20;

/// The age after which the topics' partitions are looked up again.
const AGE: Duration = Duration::from_secs(300);

pub struct ClusterLink {
    /// Taken when the link is dropped.
    runtime: Option<Runtime>,
    client: Arc<Client>,
    compression: Compression,
    made: Instant,
    pub reports: TopicLink,
    /// The clock topic, if it is configured, or the reason why it cannot be used.
    pub clocks: Option<Result<TopicLink, String>>,
}

pub struct TopicLink {
    name: String,
    /// The partitions. Each has a connection to its leader once it was needed.
    partitions: Vec<Arc<OnceCell<PartitionClient>>>,
}

/// The messages of one request. The caller identifies them by the numbers in `of`.
pub struct RequestBatch {
    pub partition: usize,
    pub of: Vec<usize>,
    pub records: Vec<Record>,
}

/// The outcome of sending requests.
#[derive(Debug, Default)]
pub struct SendOutcome {
    pub taken: Vec<usize>,
    pub refused: Vec<usize>,
    pub why_refused: Option<String>,
    /// The reason why the rest was not taken.
    pub trouble: Option<String>,
}

type SentBatch = (usize, Vec<usize>, Result<(), Error>);

impl ClusterLink {
    /// Finds the cluster and its topics.
    ///
    /// # Errors
    /// The cluster or its topics were not found by the deadline.
    pub fn make(settings: &KafkaSettings, deadline: Instant) -> Result<Self, String> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|err| format!("cannot wait for sockets: {err}"))?;
        let mut builder = ClientBuilder::new(settings.brokers.clone())
            .client_id("hostint")
            .max_message_size(MOST_ANSWER)
            .backoff_config(BackoffConfig {
                init_backoff: Duration::from_millis(50),
                max_backoff: Duration::from_millis(500),
                base: 2.0,
                deadline: Some(AGAIN),
            });
        if let Some(login) = settings.login.clone() {
            builder = builder.sasl_config(login);
        }
        if let Some(tls) = &settings.tls {
            builder = builder.tls_config(Arc::clone(tls));
        }
        // This is a task, so that a panic in the client only fails the task.
        let finding = runtime.spawn(async move {
            let client = builder.build().await?;
            let topics = client.list_topics().await?;
            Ok::<_, Error>((client, topics))
        });
        let found = runtime.block_on(async { timeout_at(deadline.into(), finding).await });
        let (client, topics) = match found {
            Ok(Ok(Ok(found))) => found,
            Ok(Ok(Err(err))) => return Err(fail(runtime, text(&err))),
            Ok(Err(err)) => return Err(fail(runtime, format!("defect in the client: {err}"))),
            Err(_) => return Err(fail(runtime, no_answer())),
        };
        let topic = |name: &str| {
            let found = topics.iter().find(|topic| topic.name == name);
            TopicLink::new(name, found.map_or(0, |topic| topic.partitions.len()))
        };
        let reports = match topic(&settings.topic) {
            Ok(reports) => reports,
            Err(err) => return Err(fail(runtime, err)),
        };
        Ok(Self {
            client: Arc::new(client),
            compression: settings.compression,
            made: Instant::now(),
            reports,
            clocks: settings.clock_topic.as_deref().map(topic),
            runtime: Some(runtime),
        })
    }

    /// True if its knowledge of the cluster is old.
    pub fn is_old(&self) -> bool {
        self.made.elapsed() > AGE
    }

    /// Drops the connections for clock messages, so that new ones are made.
    pub fn renew_clocks(&mut self) {
        if let Some(Ok(topic)) = &mut self.clocks {
            topic.partitions.fill_with(Arc::default);
        }
    }

    /// Sends all requests at the same time. A request that is refused is sent again in halves, whose records `anew`
    /// makes, until the refused messages are known.
    pub fn send(
        &self,
        topic: &TopicLink,
        batches: Vec<RequestBatch>,
        anew: impl Fn(usize) -> Record,
        deadline: Instant,
    ) -> SendOutcome {
        let mut outcome = SendOutcome::default();
        let Some(runtime) = &self.runtime else {
            return outcome;
        };
        runtime.block_on(async {
            let mut running = JoinSet::new();
            for batch in batches {
                self.start(&mut running, topic, batch);
            }
            loop {
                let reported = match timeout_at(deadline.into(), running.join_next()).await {
                    Ok(None) => break,
                    Ok(Some(Ok(reported))) => reported,
                    Ok(Some(Err(err))) => {
                        outcome.trouble = Some(format!("defect in the client: {err}"));
                        continue;
                    }
                    Err(_) => {
                        outcome.trouble.get_or_insert_with(no_answer);
                        break;
                    }
                };
                for (partition, of) in outcome.take(reported) {
                    let records = of.iter().map(|n| anew(*n)).collect();
                    let half = RequestBatch {
                        partition,
                        of,
                        records,
                    };
                    self.start(&mut running, topic, half);
                }
            }
        });
        outcome
    }

    fn start(&self, running: &mut JoinSet<SentBatch>, topic: &TopicLink, batch: RequestBatch) {
        let Some(cell) = topic.partitions.get(batch.partition).cloned() else {
            return;
        };
        let (client, name, compression) = (
            Arc::clone(&self.client),
            topic.name.clone(),
            self.compression,
        );
        running.spawn(async move {
            let RequestBatch {
                partition,
                of,
                records,
            } = batch;
            let connect =
                || client.partition_client(name, partition as i32, UnknownTopicHandling::Error);
            let sent = match cell.get_or_try_init(connect).await {
                Ok(leader) => leader.produce(records, compression).await.map(|_| ()),
                Err(err) => Err(err),
            };
            (partition, of, sent)
        });
    }
}

impl Drop for ClusterLink {
    fn drop(&mut self) {
        // This does not wait for a name that is being looked up.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn fail(runtime: Runtime, why: String) -> String {
    runtime.shutdown_background();
    why
}

fn no_answer() -> String {
    "no answer in time (see whether the brokers are reached by the names that they give themselves, \
     and whether they take the user)"
        .to_owned()
}

impl TopicLink {
    fn new(name: &str, partitions: usize) -> Result<Self, String> {
        if partitions == 0 {
            return Err(format!(
                "there is no such topic, or none that the user may see (try: kafka-topics.sh --create --topic {name} \
                 --partitions 12)"
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            partitions: (0..partitions).map(|_| Arc::default()).collect(),
        })
    }

    pub fn partitions(&self) -> usize {
        self.partitions.len()
    }
}

impl SendOutcome {
    /// Records the outcome of a request. If several messages were refused, returns the two halves to be sent.
    fn take(&mut self, (partition, of, sent): SentBatch) -> Vec<(usize, Vec<usize>)> {
        match sent.as_ref().map_err(SendFailure::of) {
            Ok(()) => self.taken.extend(of),
            Err(SendFailure::Later(why)) => self.trouble = Some(why),
            Err(SendFailure::Refused(why)) if of.len() <= 1 => {
                self.refused.extend(of);
                self.why_refused = Some(why);
            }
            Err(SendFailure::Refused(_)) => {
                let (first, second) = of.split_at(of.len() / 2);
                return [first, second]
                    .map(|half| (partition, half.to_vec()))
                    .into();
            }
        }
        Vec::new()
    }
}
