//! Verdicts of forms: whether packets of a form pass a pair's path, as far as probes and counts tell.

use crate::model::{ProbeForm, ProbeForms};

/// What is known of a form's packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum FormVerdict {
    #[default]
    Unasked,
    Passed,
    /// Probes are missing, or packets that were tagged.
    Failed,
}

/// The verdict of each form.
#[derive(Default)]
pub(super) struct FormVerdicts([FormVerdict; ProbeForm::ALL.len()]);

impl FormVerdicts {
    pub(super) fn set(&mut self, form: ProbeForm, verdict: FormVerdict) {
        self.0[usize::from(form.number())] = verdict;
    }

    pub(super) fn of(&self, form: ProbeForm) -> FormVerdict {
        self.0[usize::from(form.number())]
    }

    /// The forms that have this verdict.
    pub(super) fn with(&self, verdict: FormVerdict) -> ProbeForms {
        let all = ProbeForm::ALL.into_iter();
        all.filter(|form| self.of(*form) == verdict).collect()
    }
}
