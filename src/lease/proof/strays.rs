//! What stray packets of both directions, and a daemon at the sink's host that sends them, say of tunnels.

use super::super::form_verdicts::FormVerdict;
use super::Proof;
use crate::model::{ProbeForm, TunnelObstacle};

/// A tunnel is left if no daemon runs on the sink's host for this time.
const UNATTENDED_NS: u64 = 20_000_000_000;
impl Proof {
    /// Takes a stray of the last round from the sink's host. It may come after the round's end: daemons stand still at times.
    pub(in crate::lease) fn note_back(&mut self, number: u8, is_translated: bool) {
        self.back.note(number, is_translated);
        let failed = self.verdicts.of(ProbeForm::Stray) == FormVerdict::Failed;
        if failed && self.back.obstacle() == TunnelObstacle::None {
            self.verdicts.set(ProbeForm::Stray, FormVerdict::Passed);
            self.obstacle = TunnelObstacle::None;
        }
    }

    /// Without a daemon at the sink's host for long, nothing shows any more that its answers pass outside of a tunnel.
    pub(super) fn note_attendance(&mut self, now_ns: u64) {
        if self.is_attended() || self.attended_ns == 0 {
            self.attended_ns = now_ns;
        }
        let passed = self.verdicts.of(ProbeForm::Stray) == FormVerdict::Passed;
        if passed && now_ns >= self.attended_ns + UNATTENDED_NS {
            self.verdicts.set(ProbeForm::Stray, FormVerdict::Unasked);
        }
    }

    /// True while a daemon of the sink's host sends strays.
    fn is_attended(&self) -> bool {
        let answer = self.answer.as_ref();
        answer.is_some_and(|answer| answer.capabilities.strays())
    }

    /// Takes what the stray packets of both directions showed.
    pub(super) fn end_strays(&mut self, missing: u8, now_ns: u64) -> FormVerdict {
        self.strays_ns = now_ns;
        self.back.note_went(missing);
        if missing == 0 && !self.is_attended() && !self.back.are_enough() {
            // The daemon that was to send strays has ended meanwhile: nothing was shown.
            return self.verdicts.of(ProbeForm::Stray);
        }
        self.obstacle = self.back.obstacle();
        match self.obstacle {
            TunnelObstacle::None => FormVerdict::Passed,
            _ => FormVerdict::Failed,
        }
    }
}
