//! Preflight: the findings that follow from facts about a host, and their text.

mod device;
mod drops;
mod host;
mod named_hosts;
mod network;
mod running;

use std::fmt;

use crate::model::preflight::{Finding, Preflight, Verdict};

pub use device::judge_device;
pub use drops::judge_drops;
pub use host::judge_host;
pub use named_hosts::{NamedHost, judge_leases, judge_reports};
pub use network::judge_network;
pub use running::judge_running;

/// Displays the findings, grouped by interface, and the verdict.
#[derive(Clone, Copy, Debug)]
pub struct PreflightText<'a> {
    pub found: &'a Preflight,
    /// What is fine is shown, too.
    pub all: bool,
}

fn line(f: &mut fmt::Formatter<'_>, finding: &Finding) -> fmt::Result {
    let verdict = match finding.verdict {
        Verdict::Ok => "ok",
        Verdict::Note => "note",
        Verdict::Fail => "FAIL",
    };
    write!(f, "{verdict:<5} {:<13} {}", finding.check, finding.found)?;
    match &finding.advice {
        Some(advice) => writeln!(f, " ({advice})"),
        None => writeln!(f),
    }
}

fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

impl fmt::Display for PreflightText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut dev = None;
        let is_shown = |one: &&Finding| self.all || one.verdict != Verdict::Ok;
        for finding in self.found.findings.iter().filter(is_shown) {
            if finding.dev.is_some() && finding.dev != dev {
                dev.clone_from(&finding.dev);
                writeln!(f, "{}:", dev.as_deref().unwrap_or_default())?;
            }
            line(f, finding)?;
        }
        let Preflight {
            failures, notes, ..
        } = *self.found;
        let fine = self.found.findings.len() - failures - notes;
        let fine = match self.all {
            true => String::new(),
            false => format!("; {} fine (--all)", count(fine, "check")),
        };
        match (failures, notes) {
            (0, 0) => writeln!(f, "ready{fine}"),
            (0, notes) => writeln!(f, "ready, with {}{fine}", count(notes, "note")),
            (failures, _) => writeln!(f, "NOT ready: {}{fine}", count(failures, "failure")),
        }
    }
}
