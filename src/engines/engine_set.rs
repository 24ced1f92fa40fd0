//! All engines of a collector, from the first report to the last.

use std::io;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::counts::DeliveryCounts;
use super::delivery_thread::DeliveryThread;
use super::feed::Feed;
use super::outlet::{Outlet, Patience};
use super::parcel::RunId;
use super::runner::{Engine, Runner};
use crate::model::{EngineStatus, EngineUnit, PodBook};

/// The time for delivering the reports that still wait at the end.
const END: Duration = Duration::from_secs(5);

/// All engines of a collector.
pub struct Engines {
    run: RunId,
    most_bytes: usize,
    patience: Patience,
    warn: fn(&str),
    running: Vec<DeliveryThread>,
    outlets: Vec<Outlet>,
}

impl Engines {
    /// Makes an empty set. About `most_bytes` of reports may wait for each engine; `tell` logs troubles and their end.
    pub fn new(run: RunId, most_bytes: usize, patience: Patience, warn: fn(&str)) -> Self {
        Self {
            run,
            most_bytes,
            patience,
            warn,
            running: Vec::new(),
            outlets: Vec::new(),
        }
    }

    /// Adds an engine, before [`Self::feed`].
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn add(&mut self, engine: Box<dyn Engine>) -> io::Result<()> {
        let counts = Arc::new(DeliveryCounts::new(
            engine.name(),
            engine.destination(),
            EngineUnit::Reports,
        ));
        let (queue, batches) = mpsc::channel();
        let name = format!("engine-{}", engine.name());
        let thread = DeliveryThread::start(name, Arc::clone(&counts), self.warn, |delivery| {
            let runner = Runner {
                engine,
                batches,
                delivery,
            };
            runner.run();
        })?;
        self.outlets.push(Outlet {
            queue,
            counts,
            most_bytes: self.most_bytes,
            patience: self.patience,
        });
        self.running.push(thread);
        Ok(())
    }

    /// Returns the number that tells this run of this collector from others that feed the same engines.
    pub fn run(&self) -> RunId {
        self.run
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns the feed for the decoding thread, which names pods by this book. It is called once: a second feed would have no
    /// engines.
    pub fn feed(&mut self, pods: Option<Arc<Mutex<PodBook>>>) -> Feed {
        Feed::new(self.run, std::mem::take(&mut self.outlets), pods)
    }

    pub fn statuses(&self) -> impl Iterator<Item = EngineStatus> {
        self.running.iter().map(|running| running.counts.status())
    }

    /// Gives the engines some time for the waiting reports. The feed must have been dropped.
    pub fn finish(self) -> Vec<EngineStatus> {
        let deadline = (self.patience == Patience::Drop).then(|| Instant::now() + END);
        for running in &self.running {
            if let Some(deadline) = deadline {
                running.end_by(deadline);
            }
        }
        self.running
            .into_iter()
            .map(|running| {
                running.wait(deadline);
                running.counts.status()
            })
            .collect()
    }
}
