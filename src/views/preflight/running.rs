//! Findings about what runs on this host, by the state that it shows.

use crate::model::preflight::{Finding, Verdict};
use crate::model::{
    HostStatus, LeaseState, PeerStatus, Prefix, Reason, ReasonSeverity, ReasonTopic,
};
use crate::views::moment::moment;
use crate::views::peers;

/// What is wrong with the roles that run, or should.
pub fn judge_running(status: &HostStatus) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(since_ns) = status.off_since_ns {
        let text = format!("hostint is off on this host since {}", moment(since_ns));
        found.push(Finding::fail("off", text).advise("hostint on"));
    }
    found.extend(daemon(status));
    if let Some(sink) = &status.sink {
        let silent = sink.collectors.iter().filter(|one| one.state == "silent");
        found.extend(silent.map(|one| {
            let text = format!(
                "{} has been silent since {}: reports to it may be lost",
                one.address,
                moment(one.since_ns)
            );
            Finding::fail("collector", text)
                .advise("see whether hostint collect runs there, and UDP to its port arrives")
        }));
    }
    let named = |peer: &&PeerStatus| {
        let dests = status.source.iter().flat_map(|source| &source.dests);
        let prefixes = dests.into_iter().map(|dest| dest.prefix.parse());
        prefixes
            .into_iter()
            .any(|prefix| prefix == Ok(Prefix::host(peer.dest)))
    };
    let peers = status.source.iter().flat_map(|source| &source.peers);
    found.extend(peers.filter_map(|peer| judge_peer(peer, named(&peer))));
    let reasons = status.why.iter().filter(|reason| !reason.is_over());
    found.extend(reasons.map(judge_reason));
    found
}

/// A host whose programs are attached without a daemon does half of its work.
fn daemon(status: &HostStatus) -> Option<Finding> {
    let sink = status
        .sink
        .as_ref()
        .filter(|sink| !sink.attachments.is_empty())?;
    if sink.daemon_pid.is_some() {
        return None;
    }
    let text = "the sink is attached, but no daemon runs: it strips, nothing is reported, and this host's source has no leases";
    Some(Finding::fail("daemon", text).advise("systemctl start hostint, or hostint run"))
}

/// A destination that the user named has to have a sink; others are asked because packets go there.
fn judge_peer(peer: &PeerStatus, is_named: bool) -> Option<Finding> {
    let state = peer.lease.state;
    let is_fine = matches!(state, LeaseState::Granted | LeaseState::Asking);
    if is_fine && (peer.lease.proof.proved_ns == 0 || !peer.lease.proof.ways.is_empty()) {
        return None;
    }
    let is_absent = matches!(state, LeaseState::Silent | LeaseState::NoSink);
    if is_absent && !is_named {
        return None;
    }
    let text = format!("{} {}", peer.dest, peers::sentence(&peer.lease));
    Some(match is_absent {
        true => Finding::note("peer", text).advise("run hostint there, or hostint source del-dest"),
        false => Finding::fail("peer", text).advise("hostint doctor on that host, too"),
    })
}

fn judge_reason(reason: &Reason) -> Finding {
    let check = match reason.topic {
        ReasonTopic::Tagging => "tagging",
        ReasonTopic::Pushing => "transit",
        ReasonTopic::Stripping => "stripping",
        ReasonTopic::Measuring => "measuring",
    };
    let verdict = match reason.severity {
        ReasonSeverity::Stopped | ReasonSeverity::Dropped => Verdict::Fail,
        ReasonSeverity::Missed | ReasonSeverity::Note => Verdict::Note,
    };
    let (count, since) = reason.number();
    let count = count.map_or_else(String::new, |count| format!("{count} "));
    Finding {
        verdict,
        ..Finding::note(check, format!("{count}{}{since}", reason.text))
    }
    .advise(&reason.advice)
}
