//! The ways to all engines, from the first report to the last.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::delivery::Delivery;
use super::feed::Feed;
use super::parcel::{Batch, Run};
use super::runner::{Engine, Runner};
use crate::model::{EngineStatus, EngineUnit};

/// What still waits at the end is given this time.
const END: Duration = Duration::from_secs(5);

/// A delivery that has begun is waited for a little longer.
const GRACE: Duration = Duration::from_secs(1);

/// How long reports of a file wait for an engine that cannot be reached.
const MOST_TROUBLE: Duration = Duration::from_secs(30);

/// How often it is looked whether there is room.
const LOOK: Duration = Duration::from_millis(2);

/// Whether reports wait for an engine: those of a file do, those of a socket are dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Patience {
    Drop,
    Wait,
}

/// The way to one engine.
pub(super) struct Outlet {
    queue: Sender<Arc<Batch>>,
    counts: Arc<Counts>,
    most_bytes: usize,
    patience: Patience,
}

impl Outlet {
    /// Never waits for long, unless it is to.
    pub(super) fn put(&self, batch: &Arc<Batch>) {
        let reports = batch.entries.len();
        while !self.counts.take(reports, batch.bytes, self.most_bytes) {
            if self.patience == Patience::Drop || has_enough(&self.counts) {
                return self.counts.dropped(reports);
            }
            thread::sleep(LOOK);
        }
        if self.queue.send(Arc::clone(batch)).is_err() {
            // Its thread is gone, which only a panic explains.
            self.counts.abandoned(reports, batch.bytes);
        }
    }
}

/// It was in trouble for longer than anybody waits.
fn has_enough(counts: &Counts) -> bool {
    let complaint = counts.complaint();
    complaint.is_some_and(|complaint| complaint.since.elapsed() > MOST_TROUBLE)
}

/// One engine's thread, as others see it.
pub(super) struct Running {
    pub(super) counts: Arc<Counts>,
    pub(super) thread: Thread,
    /// Closed when the thread has ended.
    pub(super) ended: Receiver<()>,
    pub(super) end: Sender<Instant>,
}

/// All engines of a collector.
pub struct Engines {
    run: Run,
    most_bytes: usize,
    patience: Patience,
    tell: fn(&str),
    running: Vec<Running>,
    outlets: Vec<Outlet>,
}

impl Engines {
    /// None as yet. Each may have `most_bytes` of reports waiting, about; `tell` is for troubles, and their end.
    pub fn new(run: Run, most_bytes: usize, patience: Patience, tell: fn(&str)) -> Self {
        Self {
            run,
            most_bytes,
            patience,
            tell,
            running: Vec::new(),
            outlets: Vec::new(),
        }
    }

    /// Adds an engine, before [`Self::feed`].
    ///
    /// # Errors
    /// That there can be no thread.
    pub fn add(&mut self, engine: Box<dyn Engine>) -> io::Result<()> {
        let counts = Arc::new(Counts::new(
            engine.name(),
            engine.destination(),
            EngineUnit::Reports,
        ));
        let (queue, batches) = mpsc::channel();
        let (end, deadline) = mpsc::channel();
        let (ending, ended) = mpsc::channel();
        let runner = Runner {
            engine,
            batches,
            delivery: Delivery::new(Arc::clone(&counts), deadline, self.tell),
            _ending: ending,
        };
        let name = format!("engine-{}", runner.engine.name());
        let thread = thread::Builder::new()
            .name(name)
            .spawn(move || runner.run())?;
        self.outlets.push(Outlet {
            queue,
            counts: Arc::clone(&counts),
            most_bytes: self.most_bytes,
            patience: self.patience,
        });
        self.running.push(Running {
            counts,
            thread: thread.thread().clone(),
            ended,
            end,
        });
        Ok(())
    }

    /// What tells this collector, from its start to its end, from others that feed the same engines.
    pub fn run(&self) -> Run {
        self.run
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// For the one that decodes; the second feed would have no engine.
    pub fn feed(&mut self) -> Feed {
        Feed::new(self.run, std::mem::take(&mut self.outlets))
    }

    pub fn statuses(&self) -> impl Iterator<Item = EngineStatus> {
        self.running.iter().map(|running| running.counts.status())
    }

    /// Gives the engines a while to take what waits; to be called when the feed is gone.
    pub fn finish(self) -> Vec<EngineStatus> {
        let deadline = (self.patience == Patience::Drop).then(|| Instant::now() + END);
        for running in &self.running {
            if let Some(deadline) = deadline {
                running.end_by(deadline);
            }
        }
        let finished = self.running.into_iter().map(|running| {
            running.wait(deadline);
            running.counts.status()
        });
        finished.collect()
    }
}

impl Running {
    /// Tells the thread when to give up.
    pub(super) fn end_by(&self, deadline: Instant) {
        // It may have ended already.
        let _ = self.end.send(deadline);
        self.thread.unpark();
    }

    pub(super) fn wait(&self, deadline: Option<Instant>) {
        loop {
            let left = deadline.map_or(LOOK, |deadline| {
                (deadline + GRACE).saturating_duration_since(Instant::now())
            });
            let end = self.ended.recv_timeout(left);
            if matches!(end, Err(RecvTimeoutError::Disconnected)) {
                // After a panic something may be left.
                return self.counts.abandon_all();
            }
            if deadline.is_some() || has_enough(&self.counts) {
                // A thread that hangs in a delivery ends with the process.
                return self.counts.abandon_all();
            }
        }
    }
}
