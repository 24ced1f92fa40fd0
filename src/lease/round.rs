//! A round of probes: it is announced, sent, asked about, and what is missing is sent again, until there is a result.

use std::collections::VecDeque;

use crate::model::{FullAnswer, ProbeForm, ProbeForms};

/// The first probes of a form are as long as the path allows.
const LONG_PROBES: u8 = 4;
/// If only long probes are missing, they are sent again with the next of these lengths, those of common links: a jumbo
/// frame in VXLAN, Ethernet, PPPoE, IP in IP, GRE, VXLAN, WireGuard, IPsec, and IPv6's least MTU.
const LENGTHS: [u16; 10] = [8950, 1500, 1492, 1480, 1476, 1450, 1420, 1400, 1340, 1280];
/// The first question about probes is asked this time after them, and a round trip later.
const SOON_NS: u64 = 20_000_000;
/// Missing probes are sent again this time after the last ones, and a round trip later.
const AGAIN_NS: u64 = 60_000_000;
/// Missing probes are sent again until none arrives in this many sends in a row. Those that random loss took come
/// through sooner or later; those that take a path without a sink never do.
const IDLE_SENDS: u32 = 6;
/// The same for a form, or a length, of which no probe has ever arrived.
const HOPELESS_SENDS: u32 = 3;
/// While a round waits for strays from the sink's host, it is asked about its daemon after this time.
const STRAYS_AGAIN_NS: u64 = 200_000_000;
/// Each probe is sent at most this often.
const SENDS: u32 = 30;

/// A probe to be sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct NextProbe {
    pub(super) form: ProbeForm,
    pub(super) number: u8,
    /// It is as long as the path allows, and at most this long; 0: it is short.
    pub(super) longest: u16,
}

/// The result for one form.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct FormResult {
    pub(super) form: ProbeForm,
    /// Number of probes that never arrived.
    pub(super) missing: u8,
    pub(super) tos_changed: u8,
    /// Length of the long probes; 0: they were not as long as the path might allow.
    pub(super) longest: u16,
    /// Probes as long as the route allows did not arrive, shorter ones did.
    pub(super) narrow: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// The sink does not know of the round yet.
    Announcing,
    Sending,
    /// All were sent; the sink is asked at this time.
    Waiting {
        ask_ns: u64,
    },
}

/// A round of probes of one pair of addresses.
pub(super) struct Round {
    id: u64,
    forms: ProbeForms,
    arrived: [u128; ProbeForm::ALL.len()],
    tos_changed: [u8; ProbeForm::ALL.len()],
    /// Lengths of the long probes.
    longest: [u16; ProbeForm::ALL.len()],
    /// The most that they may be.
    limits: [u16; ProbeForm::ALL.len()],
    /// The number of sends before the first one of this length.
    shortened: [u32; ProbeForm::ALL.len()],
    /// The number of sends before the last probe of the form arrived.
    progress: [u32; ProbeForm::ALL.len()],
    phase: Phase,
    /// The probes of the current phase that are still to be sent.
    queue: VecDeque<NextProbe>,
    sends: u32,
    sent_ns: u64,
}

impl Round {
    pub(super) fn new(id: u64, forms: ProbeForms) -> Self {
        Self {
            id,
            forms,
            arrived: Default::default(),
            tos_changed: Default::default(),
            longest: Default::default(),
            limits: [u16::MAX; ProbeForm::ALL.len()],
            shortened: Default::default(),
            progress: Default::default(),
            phase: Phase::Announcing,
            queue: VecDeque::new(),
            sends: 0,
            sent_ns: 0,
        }
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The time when the sink is to be asked next; `None` while probes are sent.
    pub(super) fn ask_ns(&self, now_ns: u64) -> Option<u64> {
        match self.phase {
            Phase::Announcing => Some(now_ns),
            Phase::Sending => None,
            Phase::Waiting { ask_ns } => Some(ask_ns),
        }
    }

    /// The next probe to be sent.
    pub(super) fn peek(&self) -> Option<NextProbe> {
        self.queue.front().copied()
    }

    /// True if the queued probes were sent before.
    pub(super) fn is_sent_again(&self) -> bool {
        self.sends > 0
    }

    /// Notes that the next probe was sent. Returns true if it was the last one for now.
    pub(super) fn sent(&mut self, now_ns: u64, rtt_ns: u64) -> bool {
        self.queue.pop_front();
        if !self.queue.is_empty() {
            return false;
        }
        self.sends += 1;
        self.sent_ns = now_ns;
        self.phase = Phase::Waiting {
            ask_ns: now_ns + SOON_NS + rtt_ns,
        };
        true
    }

    /// Notes the length of a long probe that is about to be sent.
    pub(super) fn note_length(&mut self, form: ProbeForm, len: u16) {
        self.longest[usize::from(form.number())] = len;
    }

    /// Takes an answer to a question of this round. `patience_ns`: strays from the sink's host are awaited for this time. Returns
    /// the results at the end of the round.
    pub(super) fn note(
        &mut self,
        answer: &FullAnswer,
        patience_ns: u64,
        asked_ns: u64,
        rtt_ns: u64,
    ) -> Option<Vec<FormResult>> {
        for form in self.forms.iter() {
            let at = usize::from(form.number());
            let arrived = answer.arrived[form.place()];
            if arrived & !self.arrived[at] != 0 {
                self.progress[at] = self.sends;
            }
            self.arrived[at] |= arrived;
            self.tos_changed[at] |= answer.tos_changed[form.place()];
        }
        match self.phase {
            Phase::Announcing => {
                self.send_missing();
                None
            }
            Phase::Sending => None,
            Phase::Waiting { ask_ns } => {
                let waits =
                    answer.capabilities.strays() && self.awaits_strays(patience_ns, asked_ns);
                self.go_on(waits, (asked_ns, ask_ns), rtt_ns)
            }
        }
    }

    fn go_on(
        &mut self,
        waits: bool,
        (asked_ns, ask_ns): (u64, u64),
        rtt_ns: u64,
    ) -> Option<Vec<FormResult>> {
        if !waits && self.forms.iter().all(|form| self.missing(form) == 0) {
            return Some(self.results());
        }
        let again_ns = self.sent_ns + AGAIN_NS + rtt_ns;
        if asked_ns < again_ns {
            self.phase = Phase::Waiting {
                ask_ns: again_ns.max(ask_ns),
            };
            return None;
        }
        self.send_missing();
        if waits && self.queue.is_empty() {
            self.phase = Phase::Waiting {
                ask_ns: asked_ns + STRAYS_AGAIN_NS,
            };
            return None;
        }
        self.queue.is_empty().then(|| self.results())
    }

    /// True while strays from the sink's host may still come, and decide.
    fn awaits_strays(&self, patience_ns: u64, now_ns: u64) -> bool {
        let stray = ProbeForm::Stray;
        let went = self.forms.contains(stray) && self.missing(stray) == 0;
        went && now_ns < self.sent_ns + patience_ns
    }

    fn results(&self) -> Vec<FormResult> {
        let result = |form: ProbeForm| FormResult {
            form,
            missing: self.missing(form),
            tos_changed: self.tos_changed[usize::from(form.number())],
            longest: self.longest[usize::from(form.number())],
            narrow: self.limits[usize::from(form.number())] != u16::MAX,
        };
        self.forms.iter().map(result).collect()
    }

    fn has_arrived(&self, form: ProbeForm, number: u8) -> bool {
        self.arrived[usize::from(form.number())] & 1 << number != 0
    }

    fn missing(&self, form: ProbeForm) -> u8 {
        let numbers = 0..form.probes();
        numbers.fold(0, |missing, number| {
            missing + u8::from(!self.has_arrived(form, number))
        })
    }

    fn is_given_up(&self, form: ProbeForm) -> bool {
        let at = usize::from(form.number());
        let (progress, shortened) = (self.progress[at], self.shortened[at]);
        let most = match progress {
            _ if progress <= shortened => shortened + HOPELESS_SENDS,
            _ => (progress + IDLE_SENDS).min(shortened + SENDS),
        };
        self.sends >= most
    }

    /// Makes the long probes of a form shorter. Returns false if that would not help.
    fn shorten(&mut self, form: ProbeForm) -> bool {
        let at = usize::from(form.number());
        let only_long = (LONG_PROBES..form.probes()).all(|number| self.has_arrived(form, number));
        let shorter = LENGTHS.into_iter().find(|len| *len < self.longest[at]);
        let Some(shorter) = shorter.filter(|_| only_long && form != ProbeForm::Stray) else {
            return false;
        };
        self.limits[at] = shorter;
        self.shortened[at] = self.sends;
        true
    }

    /// Queues the probes that did not arrive. There are none if all arrived, or were sent often enough.
    fn send_missing(&mut self) {
        for form in self.forms.iter() {
            if self.missing(form) == 0 || self.is_given_up(form) && !self.shorten(form) {
                continue;
            }
            let limit = self.limits[usize::from(form.number())];
            for number in 0..form.probes() {
                if !self.has_arrived(form, number) {
                    let long = number < LONG_PROBES && form != ProbeForm::Stray;
                    let longest = if long { limit } else { 0 };
                    self.queue.push_back(NextProbe {
                        form,
                        number,
                        longest,
                    });
                }
            }
        }
        if !self.queue.is_empty() {
            self.phase = Phase::Sending;
        }
    }
}
