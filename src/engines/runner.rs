//! One engine's thread: parcels are made up and delivered.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::delivery::Delivery;
use super::parcel::{Batch, Parcel};

/// How often an engine gets a chance to do what is not due to a parcel.
const TICK: Duration = Duration::from_secs(1);

/// What takes reports.
pub trait Engine: Send {
    /// Its kind, as in the option that names it: `kafka`.
    fn name(&self) -> &'static str;

    /// Where it is, without secrets.
    fn destination(&self) -> String;

    /// How much it likes at once.
    fn pace(&self) -> Pace;

    /// Hands a parcel over, and returns when the engine has it for good. After [`Trouble::Later`] the same parcel comes
    /// again. It must not take longer than some ten seconds.
    ///
    /// # Errors
    /// Why the engine does not have it.
    fn deliver(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble>;

    /// For how long it asks to be left alone, after [`Trouble::Later`].
    fn rest(&self) -> Duration {
        Duration::ZERO
    }

    /// Called about once a second, and at the end.
    fn tick(&mut self) {}
}

/// Reports are gathered until there are so many, or the first of them has waited so long.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub reports: usize,
    pub linger: Duration,
}

/// The engine has the parcel, but for some reports.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Accepted {
    /// Reports that it does not want.
    pub refused: usize,
    pub why: Option<String>,
}

/// Why an engine does not have a parcel, and what to try.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Trouble {
    /// It may take the parcel later.
    Later(String),
    /// It will never take it.
    Refused(String),
}

pub(super) struct Runner {
    pub(super) engine: Box<dyn Engine>,
    pub(super) batches: Receiver<Arc<Batch>>,
    pub(super) delivery: Delivery,
    /// Closed when the thread ends, whatever ends it.
    pub(super) _ending: Sender<()>,
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

    fn gather(&self, number: u64, first: Arc<Batch>) -> Parcel {
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
