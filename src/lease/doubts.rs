//! Doubted flows: TCP repeats their packets, so the sink is asked whether it sees them.

use std::collections::VecDeque;

use crate::model::{FlowAsked, FullAnswer};

/// A flow is asked about at most once in this time.
const AGAIN_NS: u64 = 300_000_000;
/// An unanswered question about a flow is repeated after this time.
const REPEAT_NS: u64 = 40_000_000;
/// A doubt that was not raised again for this time is not asked about any more.
const OPEN_NS: u64 = 1_000_000_000;
/// A doubt that was not raised again for this time is forgotten.
const FORGET_NS: u64 = 5_000_000_000;
/// A packet of the flow that arrived within this time before the first doubt shows that its packets arrive. After that
/// doubt they may go untagged, so that none can arrive.
const RECENT_NS: u64 = 1_000_000_000;
/// Flows of a pair that are asked about at a time; of more, the guard decides alone.
const MOST: usize = 64;

struct Doubt {
    flow: FlowAsked,
    /// The time of the first doubt since the last vouch.
    since_ns: u64,
    vouched: bool,
    doubted_ns: u64,
    /// The earliest time of the next question.
    next_ns: u64,
    /// A question is to be asked, or unanswered.
    open: bool,
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
            if std::mem::take(&mut doubt.vouched) {
                doubt.since_ns = now_ns;
            }
            doubt.doubted_ns = now_ns;
            doubt.open = true;
            return Some(doubt.next_ns.max(now_ns));
        }
        if self.0.len() == MOST {
            return None;
        }
        self.0.push_back(Doubt {
            flow,
            since_ns: now_ns,
            vouched: false,
            doubted_ns: now_ns,
            next_ns: now_ns,
            open: true,
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

    /// Takes the answer to a question about a flow. Returns true if the flow's packets arrive.
    pub(super) fn note(&mut self, flow: FlowAsked, asked_ns: u64, answer: &FullAnswer) -> bool {
        let Some(doubt) = self.0.iter_mut().find(|doubt| doubt.flow == flow) else {
            return false;
        };
        doubt.open = doubt.doubted_ns > asked_ns;
        doubt.next_ns = asked_ns + AGAIN_NS;
        let before = doubt.packets.replace(answer.flow_packets);
        let grew = before.is_some_and(|before| before != answer.flow_packets);
        let recent_ns = RECENT_NS + asked_ns.saturating_sub(doubt.since_ns);
        let recent = answer
            .flow_age_ms
            .is_some_and(|age| u64::from(age) * 1_000_000 < recent_ns);
        doubt.vouched = answer.flow_packets > 0 && (grew || recent);
        doubt.vouched
    }
}

impl Doubt {
    fn is_open(&self, now_ns: u64) -> bool {
        self.open && now_ns.saturating_sub(self.doubted_ns) < OPEN_NS
    }
}
