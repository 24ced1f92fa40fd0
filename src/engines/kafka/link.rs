//! The connections to a cluster, as it was when they were made; after a trouble they are made anew.

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

use super::Settings;
use super::trouble::{Why, text};

/// Within a delivery the client tries again for this time: an idle connection that was closed, say.
const AGAIN: Duration = Duration::from_secs(1);

/// What brokers answer is shorter.
const MOST_ANSWER: usize = 16 << 20;

/// After so long it is looked whether topics have more partitions.
const AGE: Duration = Duration::from_secs(300);

pub struct Link {
    /// Taken when the link is dropped.
    runtime: Option<Runtime>,
    client: Arc<Client>,
    compression: Compression,
    made: Instant,
    pub reports: Topic,
    /// Why there is none, if it is wanted.
    pub clocks: Option<Result<Topic, String>>,
}

pub struct Topic {
    name: String,
    /// Each with its connection to the leader, once it was needed.
    partitions: Vec<Arc<OnceCell<PartitionClient>>>,
}

/// Messages of one request; they are told apart by numbers of the caller.
pub struct Batch {
    pub partition: usize,
    pub of: Vec<usize>,
    pub records: Vec<Record>,
}

/// What became of batches.
#[derive(Debug, Default)]
pub struct Outcome {
    pub taken: Vec<usize>,
    pub refused: Vec<usize>,
    pub why_refused: Option<String>,
    /// Why the rest was not taken.
    pub trouble: Option<String>,
}

type Told = (usize, Vec<usize>, Result<(), Error>);

impl Link {
    /// Finds the cluster and its topics.
    ///
    /// # Errors
    /// Why there is none until the deadline.
    pub fn make(settings: &Settings, deadline: Instant) -> Result<Self, String> {
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
        // A task, so that a defect in the client does no more than fail it.
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
            Topic::new(name, found.map_or(0, |topic| topic.partitions.len()))
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

    /// What it knows of the cluster is old.
    pub fn is_old(&self) -> bool {
        self.made.elapsed() > AGE
    }

    /// Clock messages are sent by new connections.
    pub fn renew_clocks(&mut self) {
        if let Some(Ok(topic)) = &mut self.clocks {
            topic.partitions.fill_with(Arc::default);
        }
    }

    /// Sends batches, all at once. A batch that is refused is sent again in halves, made `anew`, until it is known which
    /// messages it is about.
    pub fn send(
        &self,
        topic: &Topic,
        batches: Vec<Batch>,
        anew: impl Fn(usize) -> Record,
        deadline: Instant,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let Some(runtime) = &self.runtime else {
            return outcome;
        };
        runtime.block_on(async {
            let mut running = JoinSet::new();
            for batch in batches {
                self.start(&mut running, topic, batch);
            }
            loop {
                let told = match timeout_at(deadline.into(), running.join_next()).await {
                    Ok(None) => break,
                    Ok(Some(Ok(told))) => told,
                    Ok(Some(Err(err))) => {
                        outcome.trouble = Some(format!("defect in the client: {err}"));
                        continue;
                    }
                    Err(_) => {
                        outcome.trouble.get_or_insert_with(no_answer);
                        break;
                    }
                };
                for (partition, of) in outcome.take(told) {
                    let records = of.iter().map(|n| anew(*n)).collect();
                    let half = Batch {
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

    fn start(&self, running: &mut JoinSet<Told>, topic: &Topic, batch: Batch) {
        let Some(cell) = topic.partitions.get(batch.partition).cloned() else {
            return;
        };
        let (client, name, compression) = (
            Arc::clone(&self.client),
            topic.name.clone(),
            self.compression,
        );
        running.spawn(async move {
            let Batch {
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

impl Drop for Link {
    fn drop(&mut self) {
        // Does not wait for a name that is looked up.
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

impl Topic {
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

impl Outcome {
    /// Of a batch that is refused the halves, which have to be sent.
    fn take(&mut self, (partition, of, sent): Told) -> Vec<(usize, Vec<usize>)> {
        match sent.as_ref().map_err(Why::of) {
            Ok(()) => self.taken.extend(of),
            Err(Why::Later(why)) => self.trouble = Some(why),
            Err(Why::Refused(why)) if of.len() <= 1 => {
                self.refused.extend(of);
                self.why_refused = Some(why);
            }
            Err(Why::Refused(_)) => {
                let (first, second) = of.split_at(of.len() / 2);
                return [first, second]
                    .map(|half| (partition, half.to_vec()))
                    .into();
            }
        }
        Vec::new()
    }
}
