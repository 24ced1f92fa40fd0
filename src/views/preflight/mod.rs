//! Preflight: the findings that follow from facts about a host, and their text.

mod device;
mod drops;
mod host;
mod network;

use std::fmt;

use crate::model::preflight::{Finding, Preflight, Verdict};

pub use device::judge_device;
pub use drops::judge_drops;
pub use host::judge_host;
pub use network::judge_network;

/// Displays the findings, grouped by interface, and the verdict.
#[derive(Clone, Copy, Debug)]
pub struct PreflightText<'a>(pub &'a Preflight);

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
        for finding in &self.0.findings {
            if finding.dev.is_some() && finding.dev != dev {
                dev.clone_from(&finding.dev);
                writeln!(f, "{}:", dev.as_deref().unwrap_or_default())?;
            }
            line(f, finding)?;
        }
        match (self.0.failures, self.0.notes) {
            (0, 0) => writeln!(f, "ready"),
            (0, notes) => writeln!(f, "ready, with {}", count(notes, "note")),
            (failures, _) => writeln!(f, "NOT ready: {}", count(failures, "failure")),
        }
    }
}
