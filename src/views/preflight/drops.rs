//! What postcards tell of drops: reasons, and the names of the kernel's functions.

use crate::model::preflight::{DropsFacts, Finding, HostFacts};
use crate::model::{KernelPart, Surroundings};

/// One finding for each fact, where drops can be seen.
pub fn judge_drops(facts: &DropsFacts, host: &HostFacts) -> Vec<Finding> {
    let sees_drops =
        |missing: &Vec<(KernelPart, _)>| missing.iter().all(|(part, _)| *part != KernelPart::Drops);
    if !host.missing_parts.as_ref().is_some_and(sees_drops) {
        return Vec::new();
    }
    vec![reasons(facts, &host.release), places(facts, host)]
}

fn reasons(facts: &DropsFacts, release: &str) -> Finding {
    match facts.reasons {
        0 => Finding::note(
            "drops",
            format!(
                "Linux {release} gives no reasons: packets are reported by place, and many of those are no loss"
            ),
        )
        .advise("5.17 or newer gives reasons"),
        reasons => Finding::ok("drops", format!("seen, with {reasons} reasons")),
    }
}

fn places(facts: &DropsFacts, host: &HostFacts) -> Finding {
    match facts.names_places {
        true => Finding::ok("drop-places", "functions of the kernel have names"),
        false => Finding::note(
            "drop-places",
            "the kernel hides the addresses of its functions, so places have no names",
        )
        .advise(match host.surroundings {
            Surroundings::Machine => {
                "give CAP_SYSLOG, and see sysctl kernel.kptr_restrict".to_owned()
            }
            container => {
                let give = container.give_capabilities(&["CAP_SYSLOG".to_owned()], host.is_root);
                format!("{give}, and see sysctl kernel.kptr_restrict")
            }
        }),
    }
}
