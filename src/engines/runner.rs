//! The work of one engine's thread: it makes up parcels and delivers them.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::answer::{Accepted, Trouble};
use super::delivery::EngineDelivery;
use super::parcel::{FedBatch, Parcel};

/// The time between two ticks of an engine.
const TICK: Duration = Duration::from_secs(1);

/// An engine: it takes reports.
pub trait Engine: Send {
    /// Returns its kind, as in the option that names it: `kafka`.
    fn name(&self) -> &'static str;

    /// Returns its address, without secrets.
    fn destination(&self) -> String;

    /// Returns the size of its parcels.
    fn pace(&self) -> Pace;

    /// Delivers a parcel, and returns when the engine has stored it. After [`Trouble::Later`] the same parcel is
    /// delivered again. A call must not take longer than about ten seconds.
    ///
    /// # Errors
    /// The engine does not have the parcel.
    fn deliver(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble>;

    /// Returns the pause that the engine asks for after [`Trouble::Later`].
    fn rest(&self) -> Duration {
        Duration::ZERO
    }

    /// Does work that no parcel causes. It is called about once a second, and at the end.
    fn tick(&mut self) {}
}

/// A parcel is complete when it has this many reports, or when its first report has waited for `linger`.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub reports: usize,
    pub linger: Duration,
}

pub(super) struct Runner {
    pub(super) engine: Box<dyn Engine>,
    pub(super) batches: Receiver<Arc<FedBatch>>,
    pub(super) delivery: EngineDelivery,
}

impl Runner {
    pub(super) fn run(mut self) {
        let mut next_tick = Instant::now() + TICK;
        let mut number = 0;
        loop {
            let until_tick = next_tick.saturating_duration_since(Instant::now());
            match self.batches.recv_timeout(until_tick) {
                Ok(batch) => {
                    number += 1;
                    let parcel = self.gather(number, batch);
                    let engine = &mut self.engine;
                    self.delivery.deliver(parcel.len(), parcel.bytes, || {
                        let answer = engine.deliver(&parcel);
                        (answer, engine.rest())
                    });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= next_tick {
                self.engine.tick();
                next_tick = Instant::now() + TICK;
            }
        }
        self.engine.tick();
    }

    fn gather(&self, number: u64, first: Arc<FedBatch>) -> Parcel {
        let pace = self.engine.pace();
        let until = Instant::now() + pace.linger;
        let mut parcel = Parcel::new(number, first);
        while parcel.len() < pace.reports {
            let left = until.saturating_duration_since(Instant::now());
            match self.batches.recv_timeout(left) {
                Ok(batch) => parcel.add(batch),
                Err(_) => break,
            }
        }
        parcel
    }
}
