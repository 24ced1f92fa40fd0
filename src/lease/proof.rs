//! The proof of a pair's path: the results of probes, what the witness says of them, and when the path is proved again.

mod counts;
mod option;
mod strays;

use self::option::OptionTrust;
use super::evidence::PathEvidence;
use super::falls::Falls;
use super::form_verdicts::{FormVerdict, FormVerdicts};
use super::round::{FormResult, NextProbe, Round};
use super::strays_back::StraysBack;
use super::verdict::OwnTagging;
use super::ways;
use super::witness::Witness;
use crate::model::{
    AddressPair, Capabilities, Encapsulation, FullAnswer, Marks, PathProof, ProbeForm, ProbeForms,
    Transport, TunnelObstacle, Ways,
};

/// The least time between the beginnings of two proofs of the same form.
const AGAIN_NS: u64 = 60_000_000_000;
/// A path that a form does not pass is proved ever less often, at the least after this multiple of [`AGAIN_NS`].
const LEAST_OFTEN: u64 = 16;
/// A round that came to no end is begun again after this time.
const BROKEN_NS: u64 = 2_000_000_000;
/// A pair without a lease for this time is proved again.
const LAPSED_NS: u64 = 10_000_000_000;

/// The proof of one pair's path.
#[derive(Default)]
pub(super) struct Proof {
    verdicts: FormVerdicts,
    /// Lengths of the longest probes of each form that arrived; 0: no limit is known.
    longest: [u16; ProbeForm::ALL.len()],
    /// The forms whose packets the path limits to less than the route says.
    narrow: ProbeForms,
    round: Option<Round>,
    began_ns: u64,
    /// No round begins before this time.
    ready_ns: u64,
    /// The path is proved again at this time; 0: only if something changes.
    again_ns: u64,
    /// Proofs in a row in which a form failed.
    failures: u32,
    tos_changed: u8,
    proved_ns: u64,
    vouched_ns: u64,
    /// The kernel's count of tagged packets grew at this time, and by many.
    used_ns: u64,
    busy_ns: u64,
    /// How long datagrams with options wait for their next proof, in [`counts`]' unit.
    suspicions: u64,
    /// The form that was given up because flows in it came to nothing.
    distrusted: Option<ProbeForm>,
    pub(super) back: StraysBack,
    obstacle: TunnelObstacle,
    /// The end of the last round with stray packets.
    strays_ns: u64,
    /// The time of the last answer that told of a daemon that sends strays, or of the first answer.
    attended_ns: u64,
    witness: Witness,
    /// The share of flows that the sink asks for.
    asked_shift: u8,
    falls: Falls,
    option: OptionTrust,
    /// The last full answer, by which forms are chosen.
    answer: Option<FullAnswer>,
    granted_ns: u64,
    /// The entries of a stack that the sink reads, as an earlier daemon learned it.
    adopted_stack: u8,
    /// Superpackets of UDP in vxlan-gpe reach the sink segment by segment, as an earlier daemon learned it.
    adopted_segments: bool,
    /// The same of entries without a queue.
    adopted_items: bool,
    /// The pair's addresses are those of IPv6.
    ipv6: bool,
}

impl Proof {
    pub(super) fn new(pair: &AddressPair) -> Self {
        Self {
            ipv6: pair.dest.is_ipv6(),
            ..Self::default()
        }
    }

    /// Goes on with ways that an earlier daemon proved.
    pub(super) fn adopt(&mut self, known: &PathProof) {
        for form in ProbeForm::ALL {
            let passed = form
                .encapsulation()
                .is_some_and(|one| known.ways.contains(Ways::of(Transport::Udp, one)));
            if passed {
                self.verdicts.set(form, FormVerdict::Passed);
            } else if known.eaten.contains(form) {
                self.verdicts.set(form, FormVerdict::Failed);
            }
        }
        let tunnels = [Encapsulation::ExtensionUdp, Encapsulation::VxlanGpe];
        let opens = |one: &Encapsulation| known.ways.has(*one);
        let tcp = |one: &Encapsulation| known.ways.contains(Ways::of(Transport::Tcp, *one));
        if tunnels.iter().any(opens) {
            self.verdicts.set(ProbeForm::Stray, FormVerdict::Passed);
        }
        if !tunnels.iter().any(tcp) && known.longest != 0 {
            self.narrow = ProbeForm::ALL.into_iter().collect();
        }
        self.obstacle = known.obstacle;
        self.began_ns = known.proved_ns;
        self.proved_ns = known.proved_ns;
        self.tos_changed = known.tos_changed;
        self.adopted_stack = known.stack;
        self.adopted_segments = known.udp_superpackets;
        self.adopted_items = known.reads_items;
        self.longest = [known.longest; ProbeForm::ALL.len()];
        self.distrusted = known.distrusted.then_some(ProbeForm::Gpe);
        if !known.eaten.is_empty() || known.distrusted {
            self.again_ns = known.proved_ns + AGAIN_NS;
        }
    }

    /// The round of probes that a full question names; 0: none.
    pub(super) fn round_id(&self) -> u64 {
        self.round.as_ref().map_or(0, Round::id)
    }

    /// The instance of the sink that answered last.
    pub(super) fn sink(&self) -> Option<u64> {
        self.answer.as_ref().map(|answer| answer.instance)
    }

    /// True while the sink has to be asked with full questions.
    pub(super) fn is_open(&self) -> bool {
        self.round.is_some()
    }

    /// The time of the next question of the round.
    pub(super) fn ask_ns(&self, now_ns: u64) -> Option<u64> {
        self.round.as_ref()?.ask_ns(now_ns)
    }

    /// Returns the forms to be probed now. `strays_every_ns`: while packets are tagged, stray packets are sent again after this
    /// time, because a firewall's rule may come at any time.
    pub(super) fn due(&self, ours: &OwnTagging, strays_every_ns: u64, now_ns: u64) -> ProbeForms {
        let Some(answer) = self.answer.as_ref().filter(|_| self.round.is_none()) else {
            return ProbeForms::NONE;
        };
        if now_ns < self.ready_ns || answer.witness.untold {
            return ProbeForms::NONE;
        }
        let wanted = ways::wanted(ours, answer, &self.verdicts, self.ipv6);
        if self.is_again(now_ns) {
            return wanted;
        }
        let again = self.verdicts.of(ProbeForm::Stray) == FormVerdict::Passed
            && self.is_used(now_ns)
            && now_ns >= self.strays_ns + strays_every_ns;
        let unasked = self.verdicts.with(FormVerdict::Unasked);
        let is_due =
            |form: &ProbeForm| unasked.contains(*form) || again && *form == ProbeForm::Stray;
        wanted.iter().filter(is_due).collect()
    }

    fn is_again(&self, now_ns: u64) -> bool {
        self.again_ns != 0 && self.again_ns <= now_ns
    }

    pub(super) fn begin(&mut self, id: u64, forms: ProbeForms, now_ns: u64) {
        self.round = Some(Round::new(id, forms));
        if forms.contains(ProbeForm::Stray) {
            let passed = self.verdicts.of(ProbeForm::Stray) == FormVerdict::Passed;
            self.back.begin(id, passed);
        }
        self.ready_ns = now_ns + BROKEN_NS;
        // Forms that were not probed yet do not put off those that are to be probed again.
        if self.is_again(now_ns) || self.began_ns == 0 {
            self.began_ns = now_ns;
            self.again_ns = 0;
        }
    }

    /// The lease was lost: a round that has begun ends without a result.
    pub(super) fn break_off(&mut self) {
        self.round = None;
    }

    pub(super) fn next_probe(&self) -> Option<NextProbe> {
        self.round.as_ref()?.peek()
    }

    pub(super) fn is_sent_again(&self) -> bool {
        self.round.as_ref().is_some_and(Round::is_sent_again)
    }

    /// Notes the length of a long probe that is about to be sent.
    pub(super) fn note_length(&mut self, form: ProbeForm, len: u16) {
        if let Some(round) = &mut self.round {
            round.note_length(form, len);
        }
    }

    /// The longest packet that passes in every form that passes; 0: no limit is known.
    fn longest(&self) -> u16 {
        let passed = self.verdicts.with(FormVerdict::Passed);
        let lengths = passed
            .iter()
            .map(|form| self.longest[usize::from(form.number())]);
        lengths.filter(|len| *len > 0).min().unwrap_or_default()
    }

    /// Notes that the next probe was sent. Returns true if the sink is to be asked about all of them.
    pub(super) fn sent(&mut self, now_ns: u64, rtt_ns: u64) -> bool {
        let round = self.round.as_mut();
        round.is_some_and(|round| round.sent(now_ns, rtt_ns))
    }

    /// This host's configuration changed: forms with other marks were not probed yet.
    pub(super) fn note_config(&mut self, before: &OwnTagging, now: &OwnTagging) {
        let hops = |ours: &OwnTagging| -> Vec<u8> {
            ours.tagging.iter().map(|sent| sent.max_hops).collect()
        };
        if hops(before) != hops(now) {
            self.verdicts.set(ProbeForm::Ioam, FormVerdict::Unasked);
        }
        let marks = |ours: &OwnTagging| -> Vec<(Marks, u8)> {
            let sent = ours.tagging.iter();
            sent.map(|sent| (sent.marks, sent.int_tos_value)).collect()
        };
        let (before, now) = (marks(before), marks(now));
        if before != now && !before.is_empty() {
            self.verdicts.set(ProbeForm::OverUdp, FormVerdict::Unasked);
            self.verdicts
                .set(ProbeForm::Extension, FormVerdict::Unasked);
            self.verdicts.set(ProbeForm::IntMd, FormVerdict::Unasked);
        }
    }

    /// Something changed that the results may depend on: the path is proved again as soon as it may be.
    pub(super) fn doubt(&mut self, now_ns: u64) {
        let again_ns = now_ns.max(self.began_ns + AGAIN_NS);
        if self.again_ns == 0 || again_ns < self.again_ns {
            self.again_ns = again_ns;
        }
    }

    /// Takes a granting answer to a full question.
    pub(super) fn note_answer(
        &mut self,
        answer: &FullAnswer,
        round: u64,
        (asked_ns, now_ns): (u64, u64),
    ) {
        if let Some(before) = &self.answer
            && ways::depend_on(before) != ways::depend_on(answer)
        {
            self.doubt(now_ns);
        }
        if self.granted_ns != 0 && now_ns.saturating_sub(self.granted_ns) > LAPSED_NS {
            self.doubt(now_ns);
        }
        self.answer = Some(*answer);
        self.option.try_again(now_ns);
        if answer.witness.untold {
            self.break_off();
        }
        let rtt_ns = now_ns.saturating_sub(asked_ns);
        let patience_ns = self.back.patience_ns();
        let results = self
            .round
            .as_mut()
            .filter(|open| open.id() == round)
            .and_then(|open| open.note(answer, patience_ns, asked_ns, rtt_ns));
        if let Some(results) = results {
            self.end_round(&results, now_ns);
        }
        self.note_counts(&answer.witness, asked_ns, now_ns);
    }

    fn end_round(&mut self, results: &[FormResult], now_ns: u64) {
        self.round = None;
        self.ready_ns = now_ns;
        let mut failed = false;
        for result in results {
            if self.distrusted == Some(result.form) {
                self.distrusted = None;
            }
            let verdict = match (result.form, result.missing) {
                (ProbeForm::Stray, missing) => self.end_strays(missing, now_ns),
                (_, 0) => FormVerdict::Passed,
                _ => FormVerdict::Failed,
            };
            failed |= verdict == FormVerdict::Failed;
            self.verdicts.set(result.form, verdict);
            self.longest[usize::from(result.form.number())] = result.longest;
            self.narrow = match result.narrow {
                true => self.narrow.with(result.form),
                false => self.narrow.without(result.form),
            };
            if result.form == ProbeForm::OverUdp {
                self.tos_changed = result.tos_changed;
            }
        }
        if failed {
            self.fail(self.began_ns);
        } else if self.verdicts.with(FormVerdict::Failed).is_empty() {
            self.failures = 0;
        }
        // Stray packets alone prove nothing of tagged ones.
        let are_strays = |result: &FormResult| result.form == ProbeForm::Stray;
        if self.proved_ns == 0 || !results.iter().all(are_strays) {
            self.proved_ns = now_ns;
            self.witness.begin_anew(now_ns);
        }
    }

    /// A form failed: it is tried again, ever less often.
    fn fail(&mut self, since_ns: u64) {
        let times = (1 << self.failures.min(8)).min(LEAST_OFTEN);
        self.failures += 1;
        self.again_ns = self.again_ns.max(since_ns + AGAIN_NS * times);
    }

    /// Entries of a stack that the sink reads; before the first answer, as an earlier daemon learned it.
    fn stack(&self) -> u8 {
        let answer = self.answer.as_ref();
        answer.map_or(self.adopted_stack, |answer| answer.capabilities.stack())
    }

    /// The ways that are open.
    fn ways(&self, ours: &OwnTagging) -> Ways {
        let Some(answer) = &self.answer else {
            return Ways::NONE;
        };
        let evidence = PathEvidence {
            wished: ways::wished(ours),
            read: ways::read(ours, answer),
            passed: self.verdicts.with(FormVerdict::Passed),
            narrow: self.narrow,
            options_trusted: self.option.is_trusted(),
            ipv6: self.ipv6,
        };
        evidence.ways()
    }

    /// What the kernel and status are told.
    pub(super) fn known(&self, ours: &OwnTagging) -> PathProof {
        let answer = self.answer.map(|answer| answer.capabilities);
        PathProof {
            ways: self.ways(ours),
            eaten: self.verdicts.with(FormVerdict::Failed),
            tos_changed: self.tos_changed,
            longest: self.longest(),
            stack: self.stack(),
            reads_items: answer.map_or(self.adopted_items, Capabilities::path_items),
            udp_superpackets: answer.map_or(self.adopted_segments, Capabilities::udp_superpackets),
            option_114: answer.is_some_and(Capabilities::option_114),
            vouched_ns: self.vouched_ns,
            proved_ns: self.proved_ns,
            distrusted: self.distrusted.is_some(),
            untold: self.answer.is_some_and(|answer| answer.witness.untold),
            asked_shift: self.asked_shift,
            obstacle: match ways::is_unattended(self.answer.as_ref(), &self.verdicts) {
                true => TunnelObstacle::Unattended,
                false => self.obstacle,
            },
        }
    }
}
