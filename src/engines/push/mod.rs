//! Metrics on their way to receivers: read in intervals by one thread, delivered in order by another for each receiver.

mod queue;
mod reader;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::delivery::Delivery;
use super::outlet::Running;
use super::{Accepted, Trouble};
use crate::model::metrics::{MetricFamily, Snapshot};
use crate::model::{EngineStatus, EngineUnit};
use queue::Queue;
use reader::{Filled, Reader};

/// What takes metrics, and in which form.
pub trait Push: Send + Sync {
    /// Its kind, for logs and counts.
    fn name(&self) -> &'static str;

    /// Where it is, without secrets.
    fn destination(&self) -> String;

    /// What its counts count.
    fn unit(&self) -> EngineUnit;

    /// A snapshot as it goes out.
    ///
    /// # Errors
    /// That it cannot.
    fn encode(&self, snapshot: &Snapshot) -> Result<Encoded, String>;

    /// Hands a snapshot over, as [`super::Engine::deliver`] does reports.
    ///
    /// # Errors
    /// Why the receiver does not have it.
    fn deliver(&self, body: &[u8]) -> Result<Accepted, Trouble>;

    /// For how long it asks to be left alone, after [`Trouble::Later`].
    fn rest(&self) -> Duration;
}

/// A snapshot, ready to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Encoded {
    pub body: Vec<u8>,
    /// Points or samples that are in it.
    pub units: usize,
}

/// What may wait for a receiver.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub bytes: usize,
    pub snapshots: usize,
}

/// When metrics are read.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub interval: Duration,
    /// When what they count began, ns since the Unix epoch.
    pub since_ns: u64,
}

/// All receivers of a process' metrics.
pub struct Pushers {
    limits: Limits,
    /// What each delivering thread does first.
    begin: fn() -> Result<(), String>,
    tell: fn(&str),
    running: Vec<Running>,
    ways: Vec<(Arc<dyn Push>, Filled)>,
    reading: Option<(Sender<()>, Receiver<()>)>,
}

/// What became of what is pushed, for any thread.
#[derive(Clone, Debug, Default)]
pub struct PushCounts(Vec<Arc<Counts>>);

impl PushCounts {
    pub fn statuses(&self) -> Vec<EngineStatus> {
        self.0.iter().map(|counts| counts.status()).collect()
    }
}

impl Pushers {
    /// None as yet; `tell` is for troubles, and their end.
    pub fn new(limits: Limits, begin: fn() -> Result<(), String>, tell: fn(&str)) -> Self {
        Self {
            limits,
            begin,
            tell,
            running: Vec::new(),
            ways: Vec::new(),
            reading: None,
        }
    }

    /// Adds a receiver, before [`Self::start`].
    ///
    /// # Errors
    /// That there can be no thread, or that it cannot begin.
    pub fn add(&mut self, push: Arc<dyn Push>) -> io::Result<()> {
        let counts = Counts::new(push.name(), push.destination(), push.unit());
        let counts = Arc::new(counts);
        let queue = Arc::new(Queue::new(Arc::clone(&counts), self.limits));
        let (end, deadline) = mpsc::channel();
        let (ending, ended) = mpsc::channel::<()>();
        let (tell_begun, begun) = mpsc::channel();
        let mut delivery = Delivery::new(Arc::clone(&counts), deadline, self.tell);
        let (way, waiting, begin) = (Arc::clone(&push), Arc::clone(&queue), self.begin);
        let run = move || {
            let _ending = ending;
            let can = begin();
            let goes_on = can.is_ok();
            let _ = tell_begun.send(can);
            while let Some(snapshot) = goes_on.then(|| waiting.next()).flatten() {
                delivery.deliver(snapshot.units, snapshot.body.len(), || {
                    (way.deliver(&snapshot.body), way.rest())
                });
            }
        };
        let name = format!("push-{}", push.name());
        let thread = thread::Builder::new().name(name).spawn(run)?;
        let begun = begun.recv().map_err(io::Error::other)?;
        begun.map_err(io::Error::other)?;
        self.ways.push((push, Filled(queue)));
        self.running.push(Running {
            counts,
            thread: thread.thread().clone(),
            ended,
            end,
        });
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    pub fn counts(&self) -> PushCounts {
        let counts = self.running.iter();
        PushCounts(counts.map(|one| Arc::clone(&one.counts)).collect())
    }

    /// Reads at once, then in intervals, in a thread that has the privileges of the caller's.
    ///
    /// # Errors
    /// That there can be no thread.
    pub fn start(
        &mut self,
        times: Times,
        read: impl FnMut() -> Result<Vec<MetricFamily>, String> + Send + 'static,
    ) -> io::Result<()> {
        let (end, ends) = mpsc::channel();
        let (ending, ended) = mpsc::channel();
        let reader = Reader {
            read,
            times,
            ways: std::mem::take(&mut self.ways),
            tell: self.tell,
            end: ends,
            _ending: ending,
        };
        thread::Builder::new()
            .name("push".to_owned())
            .spawn(move || reader.run())?;
        self.reading = Some((end, ended));
        Ok(())
    }

    /// Pushes how it is at the end, and gives receivers so long to take what waits.
    pub fn finish(mut self, patience: Duration) -> Vec<EngineStatus> {
        let deadline = Instant::now() + patience;
        if let Some((end, ended)) = self.reading.take() {
            // It may have ended already.
            let _ = end.send(());
            // Closed when it has ended; nothing is ever sent.
            let _ = ended.recv_timeout(patience);
        }
        self.ways.clear();
        for running in &self.running {
            running.end_by(deadline);
        }
        let finished = self.running.iter().map(|running| {
            running.wait(Some(deadline));
            running.counts.status()
        });
        finished.collect()
    }
}
