//! Findings about hosts that the user names: what their leases show, and what a collector's history has of them.

use std::net::IpAddr;

use crate::model::preflight::Finding;
use crate::model::{HostSeen, HostStatus, LeaseState, NodeId, PeerStatus};
use crate::views::digits::Nanoseconds;
use crate::views::moment::moment;
use crate::views::peers;

/// A host as the user calls it, and what that stands for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NamedHost {
    pub said: String,
    pub addresses: Vec<IpAddr>,
    pub nodes: Vec<NodeId>,
}

impl NamedHost {
    fn is(&self, address: IpAddr, node: Option<NodeId>) -> bool {
        self.addresses.contains(&address) || node.is_some_and(|node| self.nodes.contains(&node))
    }
}

/// What this host's source knows of it. Its nodes are added to it.
pub fn judge_leases(host: &mut NamedHost, status: &HostStatus) -> Vec<Finding> {
    let said = &host.said;
    let Some(source) = &status.source else {
        return vec![
            Finding::fail(
                "source",
                format!("no source runs on this host, so it has no lease of {said}"),
            )
            .advise("give the file a table [source], and systemctl start hostint"),
        ];
    };
    let known = source
        .peers
        .iter()
        .filter(|peer| host.is(peer.dest, peer.node));
    let known: Vec<&PeerStatus> = known.collect();
    if known.is_empty() {
        let text = format!(
            "{said}: no lease was asked for, because it is not watched, or no packet went there"
        );
        return vec![Finding::fail("peer", text).advise(format!("hostint source add-dest {said}"))];
    }
    let found = known.iter().flat_map(|peer| judge_known(said, peer));
    let found = found.collect();
    host.nodes.extend(known.iter().filter_map(|peer| peer.node));
    host.addresses.extend(known.iter().map(|peer| peer.dest));
    found
}

fn judge_known(said: &str, peer: &PeerStatus) -> Vec<Finding> {
    let name = match said == peer.dest.to_string() {
        true => said.to_owned(),
        false => format!("{said} ({})", peer.dest),
    };
    let text = format!("{name} {}", peers::sentence(&peer.lease));
    let mut found = match peer.lease.state {
        LeaseState::Granted => vec![granted(text, peer)],
        LeaseState::Asking => {
            vec![Finding::note("peer", text).advise("wait a second, and ask again")]
        }
        state => vec![Finding::fail("peer", text).advise(remedy(state, peer))],
    };
    if peer.lease.state == LeaseState::Granted {
        found.extend(limits(&name, peer));
    }
    found
}

/// The command that goes on where no lease is granted.
fn remedy(state: LeaseState, peer: &PeerStatus) -> String {
    let dest = peer.dest;
    match state {
        LeaseState::Silent => format!("ping {dest}, from {}", peer.source),
        LeaseState::NoSink => "systemctl start hostint, there".to_owned(),
        LeaseState::Forged => "sha256sum /etc/hostint/lease.key, on both hosts".to_owned(),
        LeaseState::OwnNode | LeaseState::Duplicate { .. } => {
            "hostint status, on both hosts, and another node-id on one".to_owned()
        }
        _ => "hostint check, on both hosts".to_owned(),
    }
}

fn granted(text: String, peer: &PeerStatus) -> Finding {
    let version = peer.version.as_deref().unwrap_or("unknown");
    let mut text = format!("{text}; hostint {version}");
    if let Some(rtt_ns) = peer.rtt_ns {
        text += &format!(", round trip {}", Nanoseconds(rtt_ns.into()));
    }
    if let Some(mtu) = peer.mtu {
        text += &format!(", MTU {mtu} there");
    }
    let is_proved = peer.lease.proof.proved_ns != 0;
    match is_proved && peer.lease.proof.ways.is_empty() {
        true => Finding::fail("peer", text)
            .advise("see hostint-networks(7) for what the path has to let pass"),
        false => Finding::ok("peer", text),
    }
}

/// What a lease lacks.
fn limits(name: &str, peer: &PeerStatus) -> Vec<Finding> {
    let mut found = Vec::new();
    if !peer.eaten.is_empty() {
        let forms: Vec<&str> = peer.eaten.iter().map(|form| &**form).collect();
        let text = format!(
            "{name}: the path lets no packets pass in the forms {}",
            forms.join(", ")
        );
        found.push(Finding::note("path", text).advise("see hostint-networks(7)"));
    }
    let is_short = |length: &u16| peer.mtu.is_some_and(|mtu| *length < mtu);
    if let Some(length) = peer.proved_length.filter(is_short) {
        let text = format!(
            "{name}: packets of {length} bytes were proved to pass the path, and no longer ones"
        );
        found.push(Finding::note("path", text).advise(format!("tracepath {}", peer.dest)));
    }
    let own = env!("CARGO_PKG_VERSION");
    let is_other = |version: &&str| !own.starts_with(&format!("{version}."));
    if let Some(version) = peer.version.as_deref().filter(is_other) {
        let text = format!("{name} has hostint {version}, this host {own}");
        found.push(Finding::note("version", text).advise("update the older one"));
    }
    if peer.clock_synchronised == Some(false) {
        let text = format!("the clock of {name} is not synchronised");
        found.push(Finding::note("clock", text).advise("chronyc tracking, there"));
    }
    found
}

/// What the history of a collector on this host has of it.
pub fn judge_reports(host: &NamedHost, seen: &[HostSeen], now_ns: u64) -> Finding {
    let said = &host.said;
    let known = seen.iter().filter(|one| host.is(one.address, one.node));
    let Some(last) = known.max_by_key(|one| one.last_ns) else {
        return Finding::fail(
            "reports",
            format!("the collector of this host had no report of {said} within a day"),
        )
        .advise("hostint status, there: its sink needs the address of this collector");
    };
    let since = moment(last.last_ns);
    if now_ns.saturating_sub(last.last_ns) > last.silent_after_ns {
        let text = format!("the collector of this host has no report of {said} since {since}");
        return Finding::fail("reports", text).advise("systemctl status hostint, there");
    }
    let text = format!("the collector of this host has reports of {said}, the last at {since}");
    Finding::ok("reports", text)
}
