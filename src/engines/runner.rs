//! One engine's thread: parcels are made up, delivered, tried again, counted.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::parcel::{Batch, Parcel};

/// The pause after a delivery that failed; it doubles from one to the next.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often an engine gets a chance to do what is not due to a parcel.
const TICK: Duration = Duration::from_secs(1);

/// Refusals are told no more often; all are counted.
const TOLD: Duration = Duration::from_secs(10);

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
    /// When to give up, told once the end has come.
    pub(super) deadline: Receiver<Instant>,
    pub(super) counts: Arc<Counts>,
    pub(super) tell: fn(&str),
    /// When a refusal may be told again.
    pub(super) next_refusal: Option<Instant>,
    /// Closed when the thread ends, whatever ends it.
    pub(super) _ending: Sender<()>,
}

impl Runner {
    pub(super) fn run(mut self) {
        let mut next_tick = Instant::now() + TICK;
        let mut number = 0;
        let mut deadline = None;
        loop {
            let until_tick = next_tick.saturating_duration_since(Instant::now());
            match self.batches.recv_timeout(until_tick) {
                Ok(batch) => {
                    number += 1;
                    let parcel = self.gather(number, batch);
                    self.deliver(&parcel, &mut deadline);
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

    fn deliver(&mut self, parcel: &Parcel, deadline: &mut Option<Instant>) {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Ok(end) = self.deadline.try_recv() {
                *deadline = Some(end);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return self.counts.abandoned(parcel.len(), parcel.bytes);
            }
            match self.engine.deliver(parcel) {
                Ok(accepted) => {
                    self.content();
                    if let Some(why) = accepted.why {
                        self.refused(accepted.refused, &why);
                    }
                    return self
                        .counts
                        .done(parcel.len(), accepted.refused, parcel.bytes);
                }
                Err(Trouble::Refused(why)) => {
                    self.content();
                    self.refused(parcel.len(), &why);
                    return self.counts.done(parcel.len(), parcel.len(), parcel.bytes);
                }
                Err(Trouble::Later(why)) => {
                    self.counts.retried();
                    if self.counts.complain(&why) {
                        self.say(format_args!("{why}; trying again"));
                    }
                    let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
                    // Woken when the end comes.
                    thread::park_timeout(left.map_or(pause, |left| left.min(pause)));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn content(&self) {
        if let Some(before) = self.counts.content() {
            let seconds = before.since.elapsed().as_secs_f32();
            self.say(format_args!("delivers again, after {seconds:.1} s"));
        }
    }

    fn refused(&mut self, reports: usize, why: &str) {
        let now = Instant::now();
        if self.next_refusal.is_none_or(|next| now >= next) {
            self.next_refusal = Some(now + TOLD);
            self.say(format_args!("{reports} reports refused: {why}"));
        }
    }

    fn say(&self, what: std::fmt::Arguments<'_>) {
        (self.tell)(&format!("{}: {what}", self.counts.name()));
    }
}
