//! Messages, sorted by partition into requests that a broker accepts.

use rskafka::record::Record;

use super::link::RequestBatch;
use super::partition::partition_of;

/// The bytes of a request before compression. By default brokers accept 1 MB after it.
const MOST_BYTES: usize = 900_000;

/// The bytes of a message besides key and value.
const OVERHEAD: usize = 24;

pub struct RequestBatches {
    full: Vec<RequestBatch>,
    /// The present request of each partition, with its bytes.
    open: Vec<(RequestBatch, usize)>,
}

impl RequestBatches {
    pub fn new(partitions: usize) -> Self {
        Self {
            full: Vec::new(),
            open: (0..partitions)
                .map(|partition| (empty(partition), 0))
                .collect(),
        }
    }

    /// Adds a message, which the caller identifies by `n`.
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

    pub fn finish(mut self) -> Vec<RequestBatch> {
        self.full.extend(
            self.open
                .into_iter()
                .map(|(batch, _)| batch)
                .filter(|batch| !batch.of.is_empty()),
        );
        self.full
    }
}

fn empty(partition: usize) -> RequestBatch {
    RequestBatch {
        partition,
        of: Vec::new(),
        records: Vec::new(),
    }
}
