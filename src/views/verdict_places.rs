//! Where a cause is, and what that leaves as its reason.

use super::verdict_subjects::{Called, subject_text};
use crate::model::{CauseKind, NetworkCause};

/// `packets to db-7`.
pub fn place(cause: &NetworkCause, called: Called<'_>) -> String {
    let text = |at: usize| {
        let subject = cause.subjects.get(at);
        subject.map_or(String::new(), |subject| subject_text(subject, called))
    };
    let what = if cause.some_flows {
        "some flows"
    } else {
        "packets"
    };
    match cause.kind {
        CauseKind::HostIn | CauseKind::HostDropsIn => format!("{what} to {}", text(0)),
        CauseKind::HostOut | CauseKind::HostDropsOut | CauseKind::HostQueue => {
            format!("{what} from {}", text(0))
        }
        CauseKind::LabelIn => format!("{what} into {}", text(0)),
        CauseKind::LabelOut => format!("{what} out of {}", text(0)),
        CauseKind::BeyondLimit => {
            let class = match cause.subjects.get(2) {
                Some(class) => format!(" of {}", subject_text(class, called)),
                None => String::new(),
            };
            format!("{what} from {} to {}{class}", text(0), text(1))
        }
        CauseKind::Between | CauseKind::Pair => format!("{what} from {} to {}", text(0), text(1)),
        CauseKind::Class => match cause.some_flows {
            true => format!("some flows of {}", text(0)),
            false => text(0),
        },
        CauseKind::ClassIn => format!("{} to {}", text(0), text(1)),
        CauseKind::ClassOut => format!("{} from {}", text(0), text(1)),
        CauseKind::Hop => format!("packets through {}", text(0)),
        CauseKind::Everywhere if !cause.subjects.is_empty() => format!("{what} between racks"),
        _ => format!("{what} between hosts"),
    }
}

/// What is at fault there, as far as it can be known.
pub fn so(cause: &NetworkCause, called: Called<'_>) -> String {
    let node = cause.node().map(called).unwrap_or_default();
    let found = |what: &str| cause.evidence.iter().find(|one| one.what == what);
    let reason = found("drop_reason").map_or(String::new(), |one| format!(" ({})", one.says));
    let reported = found("host_drops").map(|one| one.value.is_some());
    let ways = "one of several equal ways, or one link of a bond";
    match cause.kind {
        CauseKind::HostDropsIn | CauseKind::HostDropsOut => {
            format!("{node} itself drops them{reason}: not the network")
        }
        CauseKind::Hop => format!("{node}, which forwards them, drops them{reason}"),
        CauseKind::HostQueue => format!("they wait in {node}'s own queue: not the network"),
        _ if cause.some_flows => format!("{ways}; no hop says which"),
        CauseKind::HostIn | CauseKind::HostOut => {
            let link = match cause.kind {
                CauseKind::HostIn => "the last link or its card",
                _ => "its card or the first link",
            };
            match reported {
                Some(true) => format!("{node} itself dropped few of them, or none: {link}"),
                Some(false) => format!("{link}, or {node} itself, which does not report drops"),
                None => link.to_owned(),
            }
        }
        CauseKind::LabelIn | CauseKind::LabelOut => {
            "packets that stay inside are as usual: what connects it to the others".to_owned()
        }
        CauseKind::Between => "others are as usual: the way between them".to_owned(),
        CauseKind::Pair => {
            "both ends are as usual with others: the way, or a rule, for this pair".to_owned()
        }
        CauseKind::Class | CauseKind::ClassIn | CauseKind::ClassOut => {
            "other classes are as usual: a queue, shaper or policer of this class".to_owned()
        }
        _ => "what all of them share".to_owned(),
    }
}
