//! Checks of single options of postcards.

use std::time::Duration;

use super::duration::TimeSpan;
use super::mistake::{Fault, fault, item_fault, missing};
use super::postcards::{DropsChoice, HopsChoice, PostcardsOptions, TELL_ALL};
use super::queue::{MOST_QUEUES, repeated, too_many};

const SHORTEST_PERIOD: Duration = Duration::from_millis(100);

/// The most names and patterns.
const MOST_DEVS: usize = 64;

impl PostcardsOptions {
    /// Faults in what is to be reported.
    pub(super) fn check_choices(&self, faults: &mut Vec<Fault>) {
        let sends_hops = self.hops.is_some_and(|hops| hops != HopsChoice::None);
        match (self.drops, self.hops) {
            (Some(DropsChoice::All), _) => {}
            _ if sends_hops || !self.queue.is_empty() => {}
            (None, None) => faults.push(missing(
                "drops",
                "nothing to report (try --drops, --hops or --queue)",
            )),
            _ => faults.push(fault(
                &["drops", "hops"],
                "nothing is left to report (try drops = \"all\" or hops = \"all\")",
            )),
        }
        if sends_hops && self.dev.is_empty() {
            faults.push(fault(
                &["hops", "dev"],
                "no interfaces whose packets are to be timed (try --dev eth0,eth1)",
            ));
        }
        let idle = [
            (!self.dev.is_empty(), "dev", "interfaces have"),
            (self.local == Some(true), "local", "local has"),
        ];
        for (_, key, what) in idle.into_iter().filter(|one| one.0 && !sends_hops) {
            let why = format!("{what} no effect without hops (try --hops)");
            faults.push(fault(&[key, "hops"], why));
        }
        if self.dev.len() > MOST_DEVS {
            let given = self.dev.len();
            faults.push(fault(
                &["dev"],
                format!("{given} interfaces are too many (at most {MOST_DEVS} are possible)"),
            ));
        }
    }

    /// Faults in the reasons that are not reported.
    pub(super) fn check_ignored(&self, faults: &mut Vec<Fault>) {
        if self.ignored_reasons == [TELL_ALL] {
            return;
        }
        for name in &self.ignored_reasons {
            let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
            if !name.chars().all(is_name) {
                faults.push(fault(
                    &["ignored-reasons"],
                    format!(
                        "{name:?} is no reason of the kernel (expected a name such as OTHERHOST)"
                    ),
                ));
            }
        }
    }

    /// Faults in what is asked of queues.
    pub(super) fn check_queues(&self, faults: &mut Vec<Fault>) {
        for (index, rule) in self.queue.iter().enumerate() {
            if let Some(why) = repeated(rule, self.queue.iter().take(index)) {
                faults.push(item_fault("queue", index, why));
            }
        }
        let given = self.queue.len();
        if given > MOST_QUEUES {
            faults.push(fault(&["queue"], too_many(given)));
        }
    }

    /// The time between two reports of a flow.
    pub(super) fn check_period(&self, faults: &mut Vec<Fault>) -> TimeSpan {
        let period = self
            .report_period
            .unwrap_or(TimeSpan(Duration::from_secs(1)));
        if period.0 < SHORTEST_PERIOD {
            faults.push(fault(
                &["report-period"],
                format!("{period} is too short (expected 100ms or more)"),
            ));
        }
        period
    }
}
