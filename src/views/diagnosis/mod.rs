//! Diagnosis: why packets are not tagged, not stripped or not measured, from a host's state.

pub mod counters;
mod text;

use std::collections::BTreeMap;

use counters::{CounterReason, DAEMON, SINK, SOURCE, TRANSIT};

use crate::model::{
    Attachment, HostStatus, LeaseState, NodeOrigin, PeerStatus, Reason, ReasonSeverity,
    ReasonTopic, RecentCounts, SinkStatus, SourceStatus, TransitStatus,
};

pub use text::write;

/// True for a counter that has a meaning and advice.
pub fn explains(counter: &str) -> bool {
    let rows = [SOURCE, TRANSIT, SINK, DAEMON].into_iter().flatten();
    rows.into_iter().any(|row| row.counter == counter)
}

/// All reasons, sorted by topic, then by severity, then by count; those that are over come last. The state must hold all
/// peers of the source.
pub fn diagnose(status: &HostStatus, recent: Option<&RecentCounts>) -> Vec<Reason> {
    let mut found = Vec::new();
    let since = |of: fn(&RecentCounts) -> &BTreeMap<String, u64>, name: &str| {
        let recent = recent?;
        Some((of(recent).get(name).copied().unwrap_or(0), recent.seconds))
    };
    if let Some(source) = &status.source {
        of_source(&mut found, source, status.node_origin);
        for row in SOURCE {
            let counter = source.counters.iter().find(|one| one.name == row.counter);
            let grew = since(|recent| &recent.source, row.counter);
            of_counter(&mut found, row, counter.map_or(0, |one| one.packets), grew);
        }
    }
    if let Some(transit) = &status.transit {
        of_transit(&mut found, transit);
    }
    if let Some(sink) = &status.sink {
        of_sink(&mut found, sink);
        for row in SINK {
            let counter = sink.counters.iter().find(|one| one.name == row.counter);
            let grew = since(|recent| &recent.sink, row.counter);
            of_counter(&mut found, row, counter.map_or(0, |one| one.packets), grew);
        }
        for row in DAEMON {
            let counter = sink.daemon.iter().find(|one| one.name == row.counter);
            let grew = since(|recent| &recent.daemon, row.counter);
            of_counter(&mut found, row, counter.map_or(0, |one| one.value), grew);
        }
        if sink.settings.strict {
            for reason in &mut found {
                if reason.topic == ReasonTopic::Stripping && reason.counter == Some("not_allowed") {
                    reason.severity = ReasonSeverity::Dropped;
                    reason.text = reason
                        .text
                        .replace("passed on with INT", "dropped (--strict)");
                }
            }
        }
    }
    // The sort is stable: reasons that are equal keep the order in which they were found.
    found.sort_by_key(|reason| {
        let count = reason.count.unwrap_or(u64::MAX);
        (
            reason.is_over(),
            reason.topic,
            reason.severity,
            std::cmp::Reverse(count),
        )
    });
    found
}

/// `grew` is what the counter grew by, and in how many seconds.
fn of_counter(found: &mut Vec<Reason>, row: &CounterReason, count: u64, grew: Option<(u64, u64)>) {
    if count == 0 {
        return;
    }
    let (recent, recent_s) = grew.unzip();
    let shown = recent.filter(|recent| *recent > 0).unwrap_or(count);
    let plural = if shown == 1 { "" } else { "s" };
    found.push(Reason {
        topic: row.topic,
        severity: row.severity,
        counter: Some(row.counter),
        count: Some(count),
        recent,
        recent_s,
        text: format!("{}{plural} {}", row.noun, row.what),
        advice: row.advice.to_owned(),
    });
}

fn stopped(topic: ReasonTopic, text: impl Into<String>, advice: &str) -> Reason {
    Reason {
        topic,
        severity: ReasonSeverity::Stopped,
        counter: None,
        count: None,
        recent: None,
        recent_s: None,
        text: text.into(),
        advice: advice.to_owned(),
    }
}

fn devs<'a>(attachments: impl IntoIterator<Item = &'a Attachment>) -> String {
    let mut names: Vec<&str> = attachments.into_iter().map(|at| at.dev.as_str()).collect();
    names.dedup();
    names.join(", ")
}

fn of_transit(found: &mut Vec<Reason>, transit: &TransitStatus) {
    for at in transit.interfaces.iter().filter(|at| !at.attached) {
        found.push(stopped(
            ReasonTopic::Pushing,
            format!("the transit hop is no longer attached to {}", at.dev),
            "attach it again, or let hostint transit look after it",
        ));
    }
    if let [only] = &transit.interfaces[..] {
        found.push(stopped(
            ReasonTopic::Pushing,
            format!("the transit hop is attached to {} alone", only.dev),
            "attach it to the interfaces by which packets arrive and to those by which they leave (--dev eth0,eth1)",
        ));
    }
    for row in TRANSIT {
        let counter = transit.counters.iter().find(|one| one.name == row.counter);
        of_counter(found, row, counter.map_or(0, |one| one.packets), None);
    }
}

fn of_source(found: &mut Vec<Reason>, source: &SourceStatus, origin: Option<NodeOrigin>) {
    let count = |name: &str| {
        let counter = source.counters.iter().find(|one| one.name == name);
        counter.map_or(0, |one| one.packets)
    };
    if source.attachments.is_empty() {
        found.push(stopped(
            ReasonTopic::Tagging,
            "the source is not attached to any interface",
            "hostint source attach --dev DEV",
        ));
        return;
    }
    if source.rules_total == 0 {
        found.push(stopped(
            ReasonTopic::Tagging,
            "no destination is watched",
            "hostint source add-dest HOST",
        ));
        return;
    }
    let seen: u64 = source.counters.iter().map(|one| one.packets).sum();
    if seen == 0 {
        found.push(stopped(
            ReasonTopic::Tagging,
            format!(
                "attached to {}, but has seen no packet",
                devs(&source.attachments)
            ),
            "find the interface by which packets leave (ip route get HOST), and attach there",
        ));
    } else if count("tagged") == 0 && count("unwatched") == seen {
        found.push(stopped(
            ReasonTopic::Tagging,
            format!(
                "no packet that left by {} matched the watchlist",
                devs(&source.attachments)
            ),
            "check the route (ip route get HOST) and the watchlist (hostint source rules)",
        ));
    }
    of_peers(found, source, origin);
}

/// The advice where this host's id is derived and another host has the same.
const CLONED: &str = "this id is derived from the machine id, which a clone has too: give the clone a machine id of its own \
     (systemd-machine-id-setup), or each host its own --node-id";

/// The states of peers that grant no lease: name, what such peers are, and what to do.
fn refusals(origin: Option<NodeOrigin>) -> [(&'static str, &'static str, &'static str); 9] {
    [
        (
            "silent",
            "that do not answer",
            "check that those hosts are up and answer pings, and that hostint sink runs here, because it asks for leases",
        ),
        ("no_sink", "without a sink", "start hostint sink there"),
        (
            "forged",
            "whose answers carry a wrong authentication tag",
            "give both sides the same --lease-key; NAT on the path breaks the tag too",
        ),
        (
            "encapsulation",
            "whose sink does not recognise this host's encapsulation",
            "compare --encap on both sides, and --superpackets here",
        ),
        (
            "mark",
            "whose sink expects another mark",
            "compare --dscp-value, --dscp-mask and --extension-port on both sides",
        ),
        (
            "own_node",
            "whose sink uses this host's own node id",
            match origin {
                Some(NodeOrigin::Derived) => CLONED,
                _ => "give each host its own --node-id",
            },
        ),
        (
            "duplicate",
            "whose node id is also used by another sink",
            "give each host its own --node-id",
        ),
        (
            "untold",
            "whose sink reports nothing to this host about packets that other hosts send through it",
            "give both sides the same --lease-key",
        ),
        (
            "unattended",
            "on whose host no daemon runs, so that nothing shows whether its answers pass outside of a tunnel",
            "start hostint sink there",
        ),
    ]
}

/// One reason for each state of peers that grant no lease.
fn of_peers(found: &mut Vec<Reason>, source: &SourceStatus, origin: Option<NodeOrigin>) {
    let peers = &source.peers;
    let leased = source.dests.iter().any(|dest| !dest.fixed);
    let granted = peers
        .iter()
        .any(|peer| peer.lease.state == LeaseState::Granted);
    for (name, what, advice) in refusals(origin) {
        let of_state = |peer: &&PeerStatus| match name {
            "untold" => peer.untold,
            "unattended" => peer.unattended,
            _ => peer.state == name,
        };
        let count = peers.iter().filter(of_state).count();
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            found.push(Reason {
                topic: ReasonTopic::Tagging,
                severity: if granted {
                    ReasonSeverity::Missed
                } else {
                    ReasonSeverity::Stopped
                },
                counter: None,
                count: Some(count as u64),
                recent: None,
                recent_s: None,
                text: format!("peer{plural} {what}"),
                advice: advice.to_owned(),
            });
        }
    }
    if leased && peers.is_empty() {
        found.push(stopped(
            ReasonTopic::Tagging,
            "no lease has been asked for yet",
            "send traffic to a destination; single hosts added with add-dest are asked at once",
        ));
    }
}

fn of_sink(found: &mut Vec<Reason>, sink: &SinkStatus) {
    if sink.attachments.is_empty() {
        found.push(stopped(
            ReasonTopic::Stripping,
            "the sink is not attached to any interface",
            "hostint sink --dev DEV",
        ));
    }
    if sink.daemon_pid.is_none() {
        found.push(stopped(
            ReasonTopic::Measuring,
            "no daemon runs: nothing is reported, and the leases of this host are not renewed",
            "start hostint sink",
        ));
    }
    if sink.settings.closing {
        found.push(stopped(
            ReasonTopic::Stripping,
            "the sink is about to be detached and grants no leases",
            "start hostint sink if this was not intended",
        ));
    }
    let seen: u64 = sink.counters.iter().map(|one| one.packets).sum();
    if !sink.attachments.is_empty() && seen == 0 {
        found.push(Reason {
            topic: ReasonTopic::Stripping,
            severity: ReasonSeverity::Note,
            counter: None,
            count: None,
            recent: None,
            recent_s: None,
            text: format!(
                "attached to {}, where neither INT nor a lease question has arrived",
                devs(&sink.attachments)
            ),
            advice: "check that sources watch this host (hostint source add-dest there), and \
                     that their packets arrive on these interfaces"
                .to_owned(),
        });
    }
}
