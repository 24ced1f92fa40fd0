//! The delivery of reports to an engine: it is repeated until it succeeds, logged and counted.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use super::answer::{Accepted, Trouble};
use super::counts::DeliveryCounts;

/// The pause after a delivery that failed. It doubles from one failure to the next.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The least time between two log lines about refusals for different reasons. All refusals are counted.
const LOG_PERIOD: Duration = Duration::from_secs(10);

pub(super) struct EngineDelivery {
    counts: Arc<DeliveryCounts>,
    /// Receives the time to give up, once the end has come.
    deadline: Receiver<Instant>,
    /// The time to give up, if it was received.
    give_up: Option<Instant>,
    warn: fn(&str),
    /// The time when a refusal may be logged again.
    next_refusal: Option<Instant>,
    /// The reason that was logged last. It is said once.
    said: Option<String>,
}

impl EngineDelivery {
    pub(super) fn new(
        counts: Arc<DeliveryCounts>,
        deadline: Receiver<Instant>,
        warn: fn(&str),
    ) -> Self {
        Self {
            counts,
            deadline,
            give_up: None,
            warn,
            next_refusal: None,
            said: None,
        }
    }

    /// Tries until the engine takes these reports or refuses them, or the end has come. `attempt` also returns for how
    /// long the engine asks for a pause.
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
            self.give_up = Some(deadline);
        }
        self.give_up.is_some_and(|time| Instant::now() >= time)
    }

    /// Pauses. Once the end has come, the pause ends, so that waiting reports are tried at once.
    fn pause(&mut self, pause: Duration) {
        let (before, end) = (self.give_up, Instant::now() + pause);
        while !self.is_over() && self.give_up == before {
            let until = self.give_up.map_or(end, |time| time.min(end));
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
        let is_logged = self.said.as_deref() == Some(why);
        if !is_logged && self.next_refusal.is_none_or(|next| now >= next) {
            self.said = Some(why.to_owned());
            self.next_refusal = Some(now + LOG_PERIOD);
            let unit = self.counts.unit().name();
            self.say(format_args!(
                "{reports} {unit} refused: {why} (further ones are counted)"
            ));
        }
    }

    pub(super) fn say(&self, what: std::fmt::Arguments<'_>) {
        (self.warn)(&format!("{}: {what}", self.counts.name()));
    }
}
