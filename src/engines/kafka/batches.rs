//! Messages by partition, in requests that a broker takes.

use rskafka::record::Record;

use super::link::Batch;
use super::partition::partition_of;

/// Before compression; brokers take 1 MB after it unless they are told otherwise.
const MOST_BYTES: usize = 900_000;

/// Of a message, besides key and value.
const OVERHEAD: usize = 24;

pub struct Batches {
    full: Vec<Batch>,
    /// Of each partition, with its bytes.
    open: Vec<(Batch, usize)>,
}

impl Batches {
    pub fn new(partitions: usize) -> Self {
        let open = (0..partitions).map(|partition| (empty(partition), 0));
        Self {
            full: Vec::new(),
            open: open.collect(),
        }
    }

    /// Takes a message that the caller knows by `n`.
    pub fn add(&mut self, n: usize, record: Record) {
        let key = record.key.as_deref().unwrap_or_default();
        let partition = partition_of(key, self.open.len());
        let Some((batch, bytes)) = self.open.get_mut(partition) else {
            return;
        };
        let more = record.approximate_size() + OVERHEAD;
        if !batch.of.is_empty() && *bytes + more > MOST_BYTES {
            self.full.push(std::mem::replace(batch, empty(partition)));
            *bytes = 0;
        }
        batch.of.push(n);
        batch.records.push(record);
        *bytes += more;
    }

    pub fn finish(mut self) -> Vec<Batch> {
        let open = self.open.into_iter().map(|(batch, _)| batch);
        self.full.extend(open.filter(|batch| !batch.of.is_empty()));
        self.full
    }
}

fn empty(partition: usize) -> Batch {
    Batch {
        partition,
        of: Vec::new(),
        records: Vec::new(),
    }
}
