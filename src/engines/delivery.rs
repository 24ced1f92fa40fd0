//! Deliveries to an engine: tried again, told of, counted.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::{Accepted, Trouble};

/// The pause after a delivery that failed; it doubles from one to the next.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Refusals are told no more often; all are counted.
const TOLD: Duration = Duration::from_secs(10);

pub(super) struct Delivery {
    counts: Arc<Counts>,
    /// When to give up, told once the end has come.
    deadline: Receiver<Instant>,
    told: Option<Instant>,
    tell: fn(&str),
    /// When a refusal may be told again.
    next_refusal: Option<Instant>,
}

impl Delivery {
    pub(super) fn new(counts: Arc<Counts>, deadline: Receiver<Instant>, tell: fn(&str)) -> Self {
        Self {
            counts,
            deadline,
            told: None,
            tell,
            next_refusal: None,
        }
    }

    /// Tries until the engine has these reports, does not want them, or the end has come; `attempt` tells how long the
    /// engine asks to be left alone, too.
    pub(super) fn deliver(
        &mut self,
        reports: usize,
        bytes: usize,
        mut attempt: impl FnMut() -> (Result<Accepted, Trouble>, Duration),
    ) {
        let mut pause = FIRST_PAUSE;
        loop {
            if self.is_over() {
                return self.counts.abandoned(reports, bytes);
            }
            let (answer, rest) = attempt();
            match answer {
                Ok(accepted) => {
                    self.content();
                    if let Some(why) = accepted.why {
                        self.refused(accepted.refused, &why);
                    }
                    return self.counts.done(reports, accepted.refused, bytes);
                }
                Err(Trouble::Refused(why)) => {
                    self.content();
                    self.refused(reports, &why);
                    return self.counts.done(reports, reports, bytes);
                }
                Err(Trouble::Later(why)) => {
                    self.counts.retried();
                    if self.counts.complain(&why) {
                        self.say(format_args!("{why}; trying again"));
                    }
                    self.pause(pause.max(rest));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn is_over(&mut self) -> bool {
        if let Ok(deadline) = self.deadline.try_recv() {
            self.told = Some(deadline);
        }
        self.told.is_some_and(|told| Instant::now() >= told)
    }

    /// Once the end has come, what waits is tried at once.
    fn pause(&mut self, pause: Duration) {
        let (before, end) = (self.told, Instant::now() + pause);
        while !self.is_over() && self.told == before {
            let until = self.told.map_or(end, |told| told.min(end));
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::park_timeout(left);
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
            let unit = self.counts.unit().name();
            self.say(format_args!("{reports} {unit} refused: {why}"));
        }
    }

    fn say(&self, what: std::fmt::Arguments<'_>) {
        (self.tell)(&format!("{}: {what}", self.counts.name()));
    }
}
