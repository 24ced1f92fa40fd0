//! What people or programs report to a collector: a deploy, a change, a silence, that the present is usual.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{CauseEvidence, CauseSubject, NetworkCause, NetworkVerdict, NodeId};

/// The longest text, label or name of a host.
const MOST_TEXT: usize = 256;
const MOST_LABEL: usize = 64;
const MOST_LABELS: usize = 16;
/// How far from now the time of an event may be, and the longest silence.
const OLDEST_NS: u64 = 30 * 86_400 * SECOND_NS;
const AHEAD_NS: u64 = 3_600 * SECOND_NS;
const SECOND_NS: u64 = 1_000_000_000;
/// A change may be why something began this much later.
const EFFECT_NS: u64 = 900 * SECOND_NS;
/// Its time and the begin of a cause are not known better than this.
const BEFORE_NS: u64 = 15 * SECOND_NS;

#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    Deploy,
    #[default]
    Change,
    /// Causes there are not alerted.
    Silence,
    /// What there is now is usual from now on.
    Accept,
    /// hostint began again at a host.
    Restart,
    /// The clock of a host was set.
    ClockStep,
}

impl EventKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Change => "change",
            Self::Silence => "silence",
            Self::Accept => "accept",
            Self::Restart => "restart",
            Self::ClockStep => "clock-step",
        }
    }

    /// True if a collector sees it by itself; it cannot be posted.
    pub fn is_seen(self) -> bool {
        matches!(self, Self::Restart | Self::ClockStep)
    }
}

/// An event, as it is posted and kept.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkEvent {
    #[serde(default)]
    pub kind: EventKind,
    /// 0: now.
    #[serde(default)]
    pub time_ns: u64,
    /// The end of a silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<u64>,
    #[serde(default)]
    pub text: String,
    /// The name or id of the host that it is about; with `to`, of packets from it to that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Why an event was refused.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum EventRefusal {
    NoTokenFile,
    WrongToken,
    TooLong,
    TooMany,
    Malformed,
}

impl EventRefusal {
    pub const EACH: [(Self, &'static str); 5] = [
        (Self::NoTokenFile, "no_token_file"),
        (Self::WrongToken, "wrong_token"),
        (Self::TooLong, "too_long"),
        (Self::TooMany, "too_many"),
        (Self::Malformed, "malformed"),
    ];
}

fn is_wrong(text: &str, most: usize) -> bool {
    text.len() > most || text.chars().any(char::is_control)
}

impl NetworkEvent {
    /// Fills in the time, and checks everything that a stranger may have written.
    ///
    /// # Errors
    /// A sentence.
    pub fn checked(mut self, now_ns: u64) -> Result<Self, String> {
        if self.kind.is_seen() {
            let kind = self.kind.name();
            return Err(format!("a collector sees each {kind} by itself"));
        }
        if self.time_ns == 0 {
            self.time_ns = now_ns;
        }
        let is_old = self.time_ns.saturating_add(OLDEST_NS) < now_ns;
        if is_old || self.time_ns > now_ns + AHEAD_NS {
            return Err(
                "time_ns is not within the last 30 days (nanoseconds since 1970)".to_owned(),
            );
        }
        let needs_text = matches!(self.kind, EventKind::Deploy | EventKind::Change);
        if needs_text && self.text.trim().is_empty() || is_wrong(&self.text, MOST_TEXT) {
            return Err(format!("text is not one line of 1 to {MOST_TEXT} bytes"));
        }
        let names = self.host.iter().chain(&self.to);
        let labels = self.labels.iter().flat_map(|(key, value)| [key, value]);
        if let Some(wrong) = names
            .chain(labels)
            .find(|one| one.is_empty() || is_wrong(one, MOST_LABEL))
        {
            let shown: String = wrong.chars().take(MOST_LABEL).collect();
            return Err(format!(
                "{shown:?} is not 1 to {MOST_LABEL} bytes of a host or label"
            ));
        }
        if self.labels.len() > MOST_LABELS {
            return Err(format!("more than {MOST_LABELS} labels"));
        }
        if self.to.is_some() && self.host.is_none() {
            return Err("to goes with host".to_owned());
        }
        let ends = |until_ns: u64| until_ns > now_ns && until_ns <= now_ns + OLDEST_NS;
        match (self.kind, self.until_ns) {
            (EventKind::Silence, Some(until_ns)) if ends(until_ns) => Ok(self),
            (EventKind::Silence, _) => Err("a silence needs until_ns, within 30 days".to_owned()),
            (_, None) => Ok(self),
            (_, Some(_)) => Err("only a silence has until_ns".to_owned()),
        }
    }

    /// True if a node is called so.
    fn names(text: &str, node: NodeId, name: Option<&str>) -> bool {
        name == Some(text) || text.parse() == Ok(node.0)
    }

    /// True if it is about packets of this pair. Labels of nodes are not known here: they fit.
    pub fn is_of_pair<'a>(
        &self,
        (source, sink): (NodeId, NodeId),
        name: &dyn Fn(NodeId) -> Option<&'a str>,
    ) -> bool {
        let is = |text: &str, node| Self::names(text, node, name(node));
        match (&self.host, &self.to) {
            (Some(host), Some(to)) => is(host, source) && is(to, sink),
            (Some(host), None) => is(host, source) || is(host, sink),
            _ => true,
        }
    }

    /// True if a cause is about what it is about; without a host and labels it is about everything.
    pub fn is_of_cause<'a>(
        &self,
        cause: &NetworkCause,
        name: &dyn Fn(NodeId) -> Option<&'a str>,
    ) -> bool {
        let nodes: Vec<NodeId> = cause.nodes().collect();
        let is = |text: &str, node: NodeId| Self::names(text, node, name(node));
        let has_host = match (&self.host, &self.to) {
            (Some(host), Some(to)) => {
                matches!(nodes[..], [source, sink] if is(host, source) && is(to, sink))
            }
            (Some(host), None) => nodes.iter().any(|node| is(host, *node)),
            _ => true,
        };
        let has_label = |(key, value): (&String, &String)| {
            cause.subjects.iter().any(|subject| {
                matches!(subject, CauseSubject::Label { label, value: own } if label == key && own == value)
            })
        };
        has_host && (self.host.is_some() || self.labels.iter().all(has_label))
    }

    /// True if it is a change that may be why a cause began.
    pub fn may_explain<'a>(
        &self,
        cause: &NetworkCause,
        name: &dyn Fn(NodeId) -> Option<&'a str>,
    ) -> bool {
        let is_change = matches!(self.kind, EventKind::Deploy | EventKind::Change);
        let is_before = self.time_ns <= cause.since_ns.saturating_add(BEFORE_NS);
        let is_near = self.time_ns.saturating_add(EFFECT_NS) >= cause.since_ns;
        // Labels of a deploy describe it, and say nothing of its place.
        let is_there = self.host.is_none() || cause.nodes().next().is_none() || {
            let is_end = |text: &String| {
                cause
                    .nodes()
                    .any(|node| Self::names(text, node, name(node)))
            };
            self.host.iter().chain(&self.to).any(is_end)
        };
        is_change && is_before && is_near && is_there
    }

    /// `deploy web 1.2.3 at web-1`.
    pub fn what(&self) -> String {
        let mut text = format!("{} {}", self.kind.name(), self.text);
        match (&self.host, &self.to) {
            (Some(host), Some(to)) => text += &format!(" from {host} to {to}"),
            (Some(host), None) => text += &format!(" at {host}"),
            _ => {}
        }
        for (label, value) in &self.labels {
            text += &format!(" {label}={value}");
        }
        text.replace("  ", " ")
    }
}

impl NetworkVerdict {
    /// Adds which changes came before its causes, and which of them are silenced now; these come last.
    pub fn take_events<'a>(
        &mut self,
        events: &[NetworkEvent],
        name: &dyn Fn(NodeId) -> Option<&'a str>,
    ) {
        let now_ns = self.as_of_ns;
        for cause in self.causes.iter_mut().chain(&mut self.notes) {
            let silences = events
                .iter()
                .filter(|event| event.kind == EventKind::Silence && event.is_of_cause(cause, name));
            let ends = silences.filter_map(|event| event.until_ns);
            cause.silenced_until_ns = ends.filter(|end_ns| *end_ns > now_ns).max();
            let changes = events.iter().filter(|event| event.may_explain(cause, name));
            if let Some(last) = changes.max_by_key(|event| event.time_ns) {
                let after_ns = cause.since_ns.saturating_sub(last.time_ns);
                let after_s = (after_ns / SECOND_NS) as f64;
                let found = CauseEvidence::new("event", Some(after_s), &last.what());
                cause.evidence.push(found);
            }
        }
        self.causes
            .sort_by_key(|cause| cause.silenced_until_ns.is_some());
    }
}
