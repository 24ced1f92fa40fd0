//! Doubted flows: TCP repeats their packets, so the sink is asked whether it sees them.

use std::collections::VecDeque;

use crate::model::{FlowAsked, FullAnswer};

/// A flow is asked about at most once in this time.
const AGAIN_NS: u64 = 300_000_000;
/// An unanswered question about a flow is repeated after this time.
const REPEAT_NS: u64 = 40_000_000;
/// A doubt that was not raised again for this time is not asked about any more.
const OPEN_NS: u64 = 1_000_000_000;
/// A doubt that was not raised again for this time is forgotten, with its trial.
const FORGET_NS: u64 = 60_000_000_000;
/// A doubt that was not raised again for this time begins anew.
const ANEW_NS: u64 = 5_000_000_000;
/// A packet of the flow that arrived within this time before the first doubt shows that its packets arrive. After that
/// doubt they may go untagged, so that none can arrive. A SYN is repeated, and doubted, a second after it was sent.
const RECENT_NS: u64 = 1_200_000_000;
/// A flow is tried this often until one of its packets arrives.
const TRIALS: u8 = 8;
/// After this number of trials the path is to be proved again.
const TRIALS_WITHOUT_PROOF: u8 = 2;
/// A doubt that lasts for this time without a sign of the path makes it be proved again.
const PROVE_NS: u64 = 1_000_000_000;
/// A doubt that lasts for this time is asked about less often.
const LONG_NS: u64 = 3_000_000_000;
const AGAIN_LONG_NS: u64 = 1_000_000_000;
/// Flows of a pair that are asked about at a time; of more, the guard decides alone.
const MOST: usize = 64;

/// What an answer of the sink means for a doubted flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Vouch {
    /// Its packets arrive: what it repeats was lost by chance.
    Arrives,
    /// None of its packets can arrive, because they go untagged, but others do. It is tagged again, and the guard goes on
    /// watching it.
    Trial,
}

/// The signs that a pair's path passes tagged packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathSigns {
    /// A tagged packet of the pair arrived after this time; 0: none did.
    pub(super) arrived_since_ns: u64,
    /// A proof ended at this time, and every form passed; 0: none did.
    pub(super) proved_ns: u64,
    /// Probes are under way.
    pub(super) is_open: bool,
}

/// The meaning of the sink's answer about a doubted flow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Judgement {
    pub(super) vouch: Option<Vouch>,
    /// It may be the path that eats the flow's packets: it is to be proved again.
    pub(super) is_path_doubted: bool,
}

struct Doubt {
    flow: FlowAsked,
    /// The time of the first doubt since the last vouch.
    began_ns: u64,
    /// The same, but doubts before a long pause do not count.
    since_ns: u64,
    vouched: bool,
    /// The number of trials since its packets last arrived.
    trials: u8,
    doubted_ns: u64,
    /// The earliest time of the next question.
    next_ns: u64,
    /// A question is to be asked, or unanswered.
    open: bool,
    /// The sink was asked since the doubt began.
    asked: bool,
    /// The sink's count at the last answer.
    packets: Option<u32>,
}

/// The doubted flows of a pair of addresses.
#[derive(Default)]
pub(super) struct Doubts(VecDeque<Doubt>);

impl Doubts {
    /// Notes a doubt. Returns the time when the sink is to be asked.
    pub(super) fn raise(&mut self, flow: FlowAsked, now_ns: u64) -> Option<u64> {
        self.0
            .retain(|doubt| now_ns.saturating_sub(doubt.doubted_ns) < FORGET_NS);
        if let Some(doubt) = self.0.iter_mut().find(|doubt| doubt.flow == flow) {
            let is_old = now_ns.saturating_sub(doubt.doubted_ns) >= ANEW_NS;
            if std::mem::take(&mut doubt.vouched) {
                doubt.began_ns = now_ns;
                doubt.since_ns = now_ns;
            }
            if is_old {
                doubt.since_ns = now_ns;
            }
            doubt.asked &= !is_old;
            doubt.doubted_ns = now_ns;
            doubt.open = true;
            return Some(doubt.next_ns.max(now_ns));
        }
        if self.0.len() == MOST {
            let closed = self.0.iter().position(|doubt| !doubt.is_open(now_ns))?;
            self.0.remove(closed);
        }
        self.0.push_back(Doubt {
            flow,
            began_ns: now_ns,
            since_ns: now_ns,
            vouched: false,
            trials: 0,
            doubted_ns: now_ns,
            next_ns: now_ns,
            open: true,
            asked: false,
            packets: None,
        });
        Some(now_ns)
    }

    /// The time of the next question about a flow.
    pub(super) fn ask_ns(&self, now_ns: u64) -> Option<u64> {
        let open = self.0.iter().filter(|doubt| doubt.is_open(now_ns));
        open.map(|doubt| doubt.next_ns).min()
    }

    /// Returns the flow to ask about now.
    pub(super) fn next(&mut self, now_ns: u64) -> Option<FlowAsked> {
        let due = |doubt: &&mut Doubt| doubt.is_open(now_ns) && doubt.next_ns <= now_ns;
        let doubt = self.0.iter_mut().find(due)?;
        doubt.next_ns = now_ns + REPEAT_NS;
        Some(doubt.flow)
    }

    /// Takes the answer to a question about a flow.
    pub(super) fn note(
        &mut self,
        flow: FlowAsked,
        asked_ns: u64,
        answer: &FullAnswer,
        path: &PathSigns,
    ) -> Judgement {
        let Some(doubt) = self.0.iter_mut().find(|doubt| doubt.flow == flow) else {
            return Judgement::default();
        };
        let judgement = doubt.judge(asked_ns, answer, path);
        let again_ns = match asked_ns.saturating_sub(doubt.began_ns) {
            0..LONG_NS => AGAIN_NS,
            _ => AGAIN_LONG_NS,
        };
        doubt.next_ns = asked_ns + again_ns;
        doubt.vouched = judgement.vouch.is_some();
        doubt.open = !doubt.vouched || doubt.doubted_ns > asked_ns;
        judgement
    }
}

impl Doubt {
    fn is_open(&self, now_ns: u64) -> bool {
        self.open && now_ns.saturating_sub(self.doubted_ns) < OPEN_NS
    }

    fn judge(&mut self, asked_ns: u64, answer: &FullAnswer, path: &PathSigns) -> Judgement {
        let packets = answer.flow_packets;
        let grew = self
            .packets
            .replace(packets)
            .is_some_and(|before| before != packets);
        let doubted_ns = asked_ns.saturating_sub(self.since_ns);
        let recent = answer
            .flow_age_ms
            .is_some_and(|age| u64::from(age) * 1_000_000 < RECENT_NS + doubted_ns);
        if grew {
            self.trials = 0;
        }
        let asked = std::mem::replace(&mut self.asked, true);
        if packets > 0 && (grew && asked || recent) {
            return Judgement {
                vouch: Some(Vouch::Arrives),
                is_path_doubted: false,
            };
        }
        // A flow of which nothing ever arrived may be one that its path eats, although it passes probes.
        let proved = packets > 0 && path.proved_ns >= self.began_ns;
        let passes = path.arrived_since_ns >= self.began_ns || proved;
        let is_tried = passes && !path.is_open && self.trials < TRIALS;
        self.trials += u8::from(is_tried);
        let lasts = asked_ns.saturating_sub(self.began_ns) >= PROVE_NS;
        Judgement {
            vouch: is_tried.then_some(Vouch::Trial),
            is_path_doubted: lasts && !passes || self.trials > TRIALS_WITHOUT_PROOF,
        }
    }
}
