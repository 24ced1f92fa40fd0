//! The thread that delivers to one engine or receiver, as other threads see it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::counts::DeliveryCounts;
use super::delivery::EngineDelivery;

/// The time beyond the deadline that a delivery may take that has begun.
const GRACE: Duration = Duration::from_secs(1);

/// The longest time that reports of a file wait for an engine that cannot be reached.
const MOST_TROUBLE: Duration = Duration::from_secs(30);

/// The time between two checks whether there is room.
pub(super) const LOOK: Duration = Duration::from_millis(2);

/// A delivering thread.
pub(super) struct DeliveryThread {
    pub(super) counts: Arc<DeliveryCounts>,
    thread: Thread,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
    end: Sender<Instant>,
}

impl DeliveryThread {
    /// Starts a thread of this name, which runs `run`.
    pub(super) fn start(
        name: String,
        counts: Arc<DeliveryCounts>,
        warn: fn(&str),
        run: impl FnOnce(EngineDelivery) + Send + 'static,
    ) -> io::Result<Self> {
        let (end, deadline) = mpsc::channel();
        let (ending, ended) = mpsc::channel::<()>();
        let delivery = EngineDelivery::new(Arc::clone(&counts), deadline, warn);
        let thread = thread::Builder::new().name(name).spawn(move || {
            // Closed when the thread ends, even by a panic.
            let _ending = ending;
            run(delivery);
        })?;
        Ok(Self {
            counts,
            thread: thread.thread().clone(),
            ended,
            end,
        })
    }

    /// Sets the time when the thread gives up.
    pub(super) fn end_by(&self, deadline: Instant) {
        // The thread may have ended already.
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
                // After a panic, reports may be left.
                return self.counts.abandon_all();
            }
            if deadline.is_some() || is_out_of_patience(&self.counts) {
                // A thread that is stuck in a delivery ends with the process.
                return self.counts.abandon_all();
            }
        }
    }
}

/// True if the engine has been in trouble for longer than reports wait.
pub(super) fn is_out_of_patience(counts: &DeliveryCounts) -> bool {
    counts
        .complaint()
        .is_some_and(|complaint| complaint.since.elapsed() > MOST_TROUBLE)
}
