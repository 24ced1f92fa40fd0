//! The push of metrics to receivers: one thread reads them in intervals, and one thread for each receiver delivers
//! them.

mod fifo;
mod reader;
mod receiver;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::counts::DeliveryCounts;
use super::delivery_thread::DeliveryThread;
use crate::model::EngineStatus;
use crate::model::metrics::MetricFamily;
use fifo::SnapshotFifo;
use reader::{MetricsReader, QueueInput};
pub use receiver::{Encoded, Push, PushLimits, PushTimes};

/// All receivers of a process's metrics.
pub struct Pushers {
    limits: PushLimits,
    /// Runs first in each delivering thread.
    begin: fn() -> Result<(), String>,
    warn: fn(&str),
    running: Vec<DeliveryThread>,
    ways: Vec<(Arc<dyn Push>, QueueInput)>,
    reading: Option<(Sender<()>, Receiver<()>)>,
}

/// The counts of all receivers, for any thread.
#[derive(Clone, Debug, Default)]
pub struct PushCounts(Vec<Arc<DeliveryCounts>>);

impl PushCounts {
    pub fn statuses(&self) -> Vec<EngineStatus> {
        self.0.iter().map(|counts| counts.status()).collect()
    }
}

impl Pushers {
    /// Makes an empty set of receivers. `tell` logs troubles and their end.
    pub fn new(limits: PushLimits, begin: fn() -> Result<(), String>, warn: fn(&str)) -> Self {
        Self {
            limits,
            begin,
            warn,
            running: Vec::new(),
            ways: Vec::new(),
            reading: None,
        }
    }

    /// Adds a receiver, before [`Self::start`].
    ///
    /// # Errors
    /// The thread cannot be started, or its first action failed.
    pub fn add(&mut self, push: Arc<dyn Push>) -> io::Result<()> {
        let counts = DeliveryCounts::new(push.name(), push.destination(), push.unit());
        let counts = Arc::new(counts);
        let queue = Arc::new(SnapshotFifo::new(Arc::clone(&counts), self.limits));
        let (report_begun, begun) = mpsc::channel();
        let (way, waiting, begin) = (Arc::clone(&push), Arc::clone(&queue), self.begin);
        let name = format!("push-{}", push.name());
        let thread = DeliveryThread::start(name, counts, self.warn, move |mut delivery| {
            let can = begin();
            let goes_on = can.is_ok();
            let _ = report_begun.send(can);
            while let Some(snapshot) = goes_on.then(|| waiting.next()).flatten() {
                delivery.deliver(snapshot.units, snapshot.body.len(), || {
                    (way.deliver(&snapshot.body), way.rest())
                });
            }
        })?;
        begun
            .recv()
            .map_err(io::Error::other)?
            .map_err(io::Error::other)?;
        self.ways.push((push, QueueInput(queue)));
        self.running.push(thread);
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub fn counts(&self) -> PushCounts {
        PushCounts(
            self.running
                .iter()
                .map(|one| Arc::clone(&one.counts))
                .collect(),
        )
    }

    /// Starts reading, at once and then in intervals, in a thread that has the privileges of the caller's.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(
        &mut self,
        times: PushTimes,
        read: impl FnMut() -> Result<Vec<MetricFamily>, String> + Send + 'static,
    ) -> io::Result<()> {
        let (end, ends) = mpsc::channel();
        let (ending, ended) = mpsc::channel();
        let reader = MetricsReader {
            read,
            times,
            ways: std::mem::take(&mut self.ways),
            warn: self.warn,
            end: ends,
            _ending: ending,
        };
        thread::Builder::new()
            .name("push".to_owned())
            .spawn(move || reader.run())?;
        self.reading = Some((end, ended));
        Ok(())
    }

    /// Pushes the metrics once more, and gives receivers `patience` for the waiting snapshots.
    pub fn finish(mut self, patience: Duration) -> Vec<EngineStatus> {
        let deadline = Instant::now() + patience;
        if let Some((end, ended)) = self.reading.take() {
            // The thread may have ended already.
            let _ = end.send(());
            // The channel is closed when the thread has ended; nothing is ever sent.
            let _ = ended.recv_timeout(patience);
        }
        self.ways.clear();
        for running in &self.running {
            running.end_by(deadline);
        }
        self.running
            .iter()
            .map(|running| {
                running.wait(Some(deadline));
                running.counts.status()
            })
            .collect()
    }
}
