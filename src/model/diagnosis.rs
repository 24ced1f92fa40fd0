//! Why packets are not tagged, not stripped or not measured, from a host's state.

use serde::{Deserialize, Serialize};

use super::interned::{self, Name};
use super::reasons::{DAEMON, Row, SINK, SOURCE, Severity, Topic};
use super::{HostStatus, LeaseState, SinkStatus, SourceStatus};

/// One reason, and what to do about it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Reason {
    pub topic: Topic,
    pub severity: Severity,
    /// The counter that tells, if one does,
    #[serde(default, deserialize_with = "interned::maybe")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counter: Option<Name>,
    /// and how many it counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// What follows the count, if there is one.
    pub text: String,
    pub advice: String,
}

/// All reasons: by topic, the worst and then the most frequent first. The state has all peers of the source.
pub fn diagnose(status: &HostStatus) -> Vec<Reason> {
    let mut found = Vec::new();
    if let Some(source) = &status.source {
        of_source(&mut found, source);
        for row in SOURCE {
            let counter = source.counters.iter().find(|one| one.name == row.counter);
            of_counter(&mut found, row, counter.map_or(0, |one| one.packets));
        }
    }
    if let Some(sink) = &status.sink {
        of_sink(&mut found, sink);
        for row in SINK {
            let counter = sink.counters.iter().find(|one| one.name == row.counter);
            of_counter(&mut found, row, counter.map_or(0, |one| one.packets));
        }
        for row in DAEMON {
            let counter = sink.daemon.iter().find(|one| one.name == row.counter);
            of_counter(&mut found, row, counter.map_or(0, |one| one.value));
        }
        if sink.settings.strict {
            for reason in &mut found {
                if reason.counter == Some("not_allowed") {
                    reason.severity = Severity::Dropped;
                    reason.text = reason
                        .text
                        .replace("passed on with INT", "dropped (--strict)");
                }
            }
        }
    }
    // Stable: what was found first stays first.
    found.sort_by_key(|reason| {
        let count = reason.count.unwrap_or(u64::MAX);
        (reason.topic, reason.severity, std::cmp::Reverse(count))
    });
    found
}

fn of_counter(found: &mut Vec<Reason>, row: &Row, count: u64) {
    if count == 0 {
        return;
    }
    let plural = if count == 1 { "" } else { "s" };
    found.push(Reason {
        topic: row.topic,
        severity: row.severity,
        counter: Some(row.counter),
        count: Some(count),
        text: format!("{}{plural} {}", row.noun, row.what),
        advice: row.advice.to_owned(),
    });
}

fn stopped(topic: Topic, text: impl Into<String>, advice: &str) -> Reason {
    Reason {
        topic,
        severity: Severity::Stopped,
        counter: None,
        count: None,
        text: text.into(),
        advice: advice.to_owned(),
    }
}

fn devs<'a>(attachments: impl IntoIterator<Item = &'a super::Attachment>) -> String {
    let mut names: Vec<&str> = attachments.into_iter().map(|at| at.dev.as_str()).collect();
    names.dedup();
    names.join(", ")
}

fn of_source(found: &mut Vec<Reason>, source: &SourceStatus) {
    let count = |name: &str| {
        let counter = source.counters.iter().find(|one| one.name == name);
        counter.map_or(0, |one| one.packets)
    };
    if source.attachments.is_empty() {
        found.push(stopped(
            Topic::Tagging,
            "the source is attached nowhere",
            "hostint source attach --dev DEV",
        ));
        return;
    }
    if source.rules_total == 0 {
        found.push(stopped(
            Topic::Tagging,
            "no destination is watched",
            "hostint source add-dest HOST",
        ));
        return;
    }
    let seen: u64 = source.counters.iter().map(|one| one.packets).sum();
    if seen == 0 {
        found.push(stopped(
            Topic::Tagging,
            format!(
                "attached to {} and saw no packet",
                devs(&source.attachments)
            ),
            "see by which interface packets leave (ip route get HOST), and attach there",
        ));
    } else if count("tagged") == 0 && count("unwatched") == seen {
        found.push(stopped(
            Topic::Tagging,
            format!(
                "no packet that left by {} is one that the watchlist is about",
                devs(&source.attachments)
            ),
            "see which way they take (ip route get HOST), and the list (hostint source rules)",
        ));
    }
    of_peers(found, source);
}

/// Peers that grant no lease, by state.
fn of_peers(found: &mut Vec<Reason>, source: &SourceStatus) {
    let peers = &source.peers;
    let leased = source.dests.iter().any(|dest| !dest.fixed);
    let granted = peers
        .iter()
        .any(|peer| peer.lease.state == LeaseState::Granted);
    for (name, what, advice) in [
        (
            "silent",
            "silent",
            "see whether the host is up and answers pings, and whether hostint sink runs here, which asks",
        ),
        ("no_sink", "without a sink", "start hostint sink there"),
        (
            "forged",
            "whose answers have a wrong tag",
            "give both sides the same --lease-key; NAT on the way spoils it too",
        ),
        (
            "encapsulation",
            "whose sink does not recognise what this host sends",
            "compare --encap of both sides, and --superpackets here",
        ),
        (
            "mark",
            "whose sink has another mark",
            "compare --dscp-value, --dscp-mask and --extension-port of both sides",
        ),
        (
            "own_node",
            "whose sink has this host's own node id",
            "give each host its own --node-id",
        ),
        (
            "duplicate",
            "whose node id another sink has too",
            "give each host its own --node-id",
        ),
    ] {
        let count = peers.iter().filter(|peer| peer.state == name).count();
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            found.push(Reason {
                topic: Topic::Tagging,
                severity: if granted {
                    Severity::Missed
                } else {
                    Severity::Stopped
                },
                counter: None,
                count: Some(count as u64),
                text: format!("peer{plural} {what}"),
                advice: advice.to_owned(),
            });
        }
    }
    if leased && peers.is_empty() {
        found.push(stopped(
            Topic::Tagging,
            "no lease was asked for yet",
            "send to a destination; a single host that is added by add-dest is asked at once",
        ));
    }
}

fn of_sink(found: &mut Vec<Reason>, sink: &SinkStatus) {
    if sink.attachments.is_empty() {
        found.push(stopped(
            Topic::Stripping,
            "the sink is attached nowhere",
            "hostint sink --dev DEV",
        ));
    }
    if sink.daemon_pid.is_none() {
        found.push(stopped(
            Topic::Measuring,
            "no daemon runs, so nothing is reported, and no leases of this host are renewed",
            "start hostint sink",
        ));
    }
    if sink.settings.closing {
        found.push(stopped(
            Topic::Stripping,
            "the sink is about to be detached, and grants no leases",
            "start hostint sink if that was not meant",
        ));
    }
    let seen: u64 = sink.counters.iter().map(|one| one.packets).sum();
    if !sink.attachments.is_empty() && seen == 0 {
        found.push(Reason {
            topic: Topic::Stripping,
            severity: Severity::Note,
            counter: None,
            count: None,
            text: format!(
                "attached to {}, where neither INT nor a question for a lease came in",
                devs(&sink.attachments)
            ),
            advice: "see whether sources watch this host (hostint source add-dest there), and \
                     by which interface their packets come in"
                .to_owned(),
        });
    }
}
