//! What the counts of both ends say of a path: packets that are tagged and do not arrive, and flows that come to nothing.

use super::super::form_verdicts::FormVerdict;
use super::super::witness::WitnessFinding;
use super::{AGAIN_NS, LEAST_OFTEN, Proof};
use crate::model::{Encapsulation, LeaseCounts, LeaseWitness, ProbeForm, Transport, Ways};

/// An answer with new packets shows for this time that tagged packets arrive.
const VOUCH_NS: u64 = 1_000_000_000;
/// Packets of a pair are tagged if one was within this time.
const USED_NS: u64 = 1_000_000_000;
/// They are many if this many were tagged between two looks at the kernel's counts.
const BUSY: u64 = 8;
/// If packets are missing in this number of windows in a row, the path is proved again.
const DOUBTED_WINDOWS: u32 = 2;
/// If the last few packets of a form do not arrive soon after it was proved, it is proved again after this time, and later each
/// time.
const SUSPECTED_NS: u64 = 10_000_000_000;
/// If the path may not be proved yet, and they are missing in this number of windows, the form is given up.
const MISSING_WINDOWS: u32 = 5;

/// The encapsulations whose packets are in the counts of this one, those of datagrams in options. Packets of a pair are in one
/// of them.
fn counted_as(counted: Encapsulation) -> &'static [Encapsulation] {
    match counted {
        Encapsulation::OverTcpUdp => &[
            Encapsulation::OverTcpUdp,
            Encapsulation::IntMd,
            Encapsulation::Ioam,
        ],
        Encapsulation::ExtensionUdp => &[Encapsulation::ExtensionUdp, Encapsulation::Options],
        _ => &[Encapsulation::VxlanGpe],
    }
}

impl Proof {
    /// True while packets of the pair are tagged.
    pub(in crate::lease) fn is_used(&self, now_ns: u64) -> bool {
        now_ns < self.used_ns + USED_NS
    }

    /// True while many packets of the pair are tagged.
    pub(in crate::lease) fn is_busy(&self, now_ns: u64) -> bool {
        now_ns < self.busy_ns + 2 * USED_NS
    }

    /// True if many packets are tagged, and the last answer showed that none of them arrived since the one before.
    pub(in crate::lease) fn is_silent(&self, now_ns: u64) -> bool {
        self.is_busy(now_ns) && self.vouched_ns != now_ns + VOUCH_NS
    }

    /// Takes the counts of a granting answer, of which a short one has no more.
    pub(in crate::lease) fn note_counts(
        &mut self,
        counts: &LeaseWitness,
        asked_ns: u64,
        now_ns: u64,
    ) {
        self.granted_ns = now_ns;
        self.note_attendance(now_ns);
        self.asked_shift = counts.asked_shift;
        if counts.untold {
            return;
        }
        if self.witness.note_answer(counts, now_ns) {
            self.vouched_ns = now_ns + VOUCH_NS;
        }
        let findings = self.witness.compare(asked_ns);
        let counted = Encapsulation::COUNTED.into_iter().zip(findings);
        for (place, (counted, finding)) in counted.enumerate() {
            for &encapsulation in counted_as(counted) {
                match finding {
                    WitnessFinding::Unseen | WitnessFinding::Missing(MISSING_WINDOWS..) => {
                        // Segments in options are counted as over-tcp-udp.
                        if encapsulation == Encapsulation::OverTcpUdp {
                            self.option.give_up(now_ns);
                        }
                        self.give_up(encapsulation, now_ns);
                        self.witness.give_up(place, now_ns);
                    }
                    WitnessFinding::Missing(DOUBTED_WINDOWS..) => {
                        self.doubt_form(encapsulation, now_ns);
                    }
                    WitnessFinding::Suspect if encapsulation == Encapsulation::Options => {
                        self.suspect_options(now_ns);
                    }
                    WitnessFinding::Suspect
                    | WitnessFinding::Missing(_)
                    | WitnessFinding::Nothing => {}
                }
            }
        }
    }

    /// Packets of an encapsulation seem to be missing. Probes can tell.
    fn doubt_form(&mut self, encapsulation: Encapsulation, now_ns: u64) {
        let passed = self.verdicts.of(ProbeForm::of(encapsulation)) == FormVerdict::Passed;
        if passed && now_ns >= self.began_ns + AGAIN_NS {
            self.doubt(now_ns);
        }
    }

    /// The last few datagrams with options did not arrive, which may be chance. They go without until probes tell. If it happens
    /// again and again although probes pass, they wait longer each time.
    fn suspect_options(&mut self, now_ns: u64) {
        if self.verdicts.of(ProbeForm::Options) != FormVerdict::Passed {
            return;
        }
        self.verdicts.set(ProbeForm::Options, FormVerdict::Unasked);
        let before = match now_ns < self.ready_ns + AGAIN_NS {
            true => self.suspicions,
            false => 0,
        };
        self.suspicions = (before * 2).clamp(1, LEAST_OFTEN);
        self.ready_ns = now_ns + SUSPECTED_NS * before;
    }

    /// Gives up an encapsulation that passed: its packets do not arrive.
    fn give_up(&mut self, encapsulation: Encapsulation, now_ns: u64) {
        let form = ProbeForm::of(encapsulation);
        if self.verdicts.of(form) == FormVerdict::Passed {
            self.verdicts.set(form, FormVerdict::Failed);
            self.doubt(now_ns);
        }
    }

    /// Takes the kernel's counts. Returns true if the sink should be asked now.
    pub(in crate::lease) fn note_kernel(
        &mut self,
        counts: &LeaseCounts,
        ways: Ways,
        now_ns: u64,
    ) -> bool {
        let grown = self.witness.growth(&counts.tagged);
        if grown > 0 {
            self.used_ns = now_ns;
        }
        if grown >= BUSY {
            self.busy_ns = now_ns;
        }
        let mut ask = self.witness.note_tagged(counts.tagged, now_ns);
        ask |= self.witness.note_turns(counts.unseen_turns, now_ns);
        if self.falls.note(counts.fallen, now_ns) {
            let tcp = |one: &Encapsulation| ways.contains(Ways::of(Transport::Tcp, *one));
            let order = [
                Encapsulation::Options,
                Encapsulation::Ioam,
                Encapsulation::OverTcpUdp,
                Encapsulation::VxlanGpe,
                Encapsulation::ExtensionUdp,
            ];
            match order.into_iter().find(tcp) {
                Some(Encapsulation::Options) => {
                    self.option.give_up(now_ns);
                    ask = true;
                }
                Some(one) => {
                    let form = ProbeForm::of(one);
                    self.verdicts.set(form, FormVerdict::Failed);
                    self.distrusted = Some(form);
                    self.again_ns = now_ns + AGAIN_NS;
                    ask = true;
                }
                None => {}
            }
        }
        ask
    }
}
