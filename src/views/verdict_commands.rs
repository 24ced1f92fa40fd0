//! The commands that show more of a cause, or change it.

use super::verdict_subjects::Called;
use crate::model::{CauseKind, CauseSubject, NetworkCause};

pub fn commands(cause: &NetworkCause, called: Called<'_>) -> Vec<String> {
    let nodes: Vec<String> = cause.nodes().map(called).collect();
    let node = nodes.first().cloned().unwrap_or_default();
    let is_unreported = |what: &str| {
        let found = cause.evidence.iter().find(|one| one.what == what);
        found.is_some_and(|one| one.value.is_none())
    };
    let class = cause.subjects.iter().find_map(|subject| match subject {
        CauseSubject::Class(Some(class)) => Some(class),
        _ => None,
    });
    let mut commands = match cause.kind {
        CauseKind::HostDropsIn | CauseKind::HostDropsOut | CauseKind::Hop => {
            vec![format!("hostint history drops --node {node}")]
        }
        CauseKind::HostQueue => vec![format!("hostint history queues --node {node}")],
        CauseKind::Clock => vec![format!("on {node}: chronyc tracking")],
        CauseKind::Silent | CauseKind::Gone | CauseKind::Unreached if !node.is_empty() => {
            vec![format!("on {node}: hostint doctor")]
        }
        CauseKind::Coverage | CauseKind::Unreached => vec!["hostint history coverage".to_owned()],
        CauseKind::Receiver | CauseKind::ReadsLate | CauseKind::AnswersLate => {
            vec![format!("hostint history tcp --node {node}")]
        }
        CauseKind::Pair | CauseKind::BeyondLimit => match &nodes[..] {
            [from, to] => vec![format!("hostint history path --from {from} --to {to}")],
            _ => Vec::new(),
        },
        CauseKind::HostIn => vec![format!("hostint history flows --sink {node}")],
        CauseKind::HostOut => vec![format!("hostint history flows --source {node}")],
        CauseKind::Collector => vec!["hostint history info".to_owned()],
        _ => vec!["hostint history pairs".to_owned()],
    };
    if let Some(class) = class {
        commands.push(format!("hostint history series --class {class}"));
    }
    if is_unreported("host_drops") {
        commands.push(format!("on {node}: hostint postcards --drops"));
    }
    commands
}
