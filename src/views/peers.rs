//! The sinks that a source knows, and the reasons why it does not tag.

use std::fmt;

use super::digits::Nanoseconds;
use super::hosts::{KnownHosts, NODE_WIDTH};
use super::known_digits::KnownDigits;
use super::paths;
use crate::model::{Lease, LeaseState, PeerStatus};

const EACH_ITS_OWN: &str = "give each host its own --node-id; clones of a machine share its machine id, from which ids are derived";

/// A lease's state as a sentence.
pub fn sentence(lease: &Lease) -> String {
    let node = lease
        .answer
        .map_or_else(String::new, |answer| format!(" (node {})", answer.node));
    match lease.state {
        LeaseState::Asking => "asked for a lease".to_owned(),
        LeaseState::Granted => granted(lease, &node),
        LeaseState::Silent => {
            "does not answer (is the host down, or does it ignore pings?): packets stay untagged".to_owned()
        }
        LeaseState::NoSink => "no sink in front of it: packets stay untagged".to_owned(),
        LeaseState::Forged => {
            "refuses, or answers with a wrong authentication tag: packets stay untagged (do both sides have the same \
             --lease-key? is there NAT on the path?)"
                .to_owned()
        }
        LeaseState::Encapsulation => format!(
            "its sink{node} does not recognise this host's encapsulation: packets stay untagged (compare --encap \
             on both sides, and --superpackets here)"
        ),
        LeaseState::Mark => format!(
            "its sink{node} expects another DSCP mark or extension port: packets stay untagged (compare \
             --dscp-value, --dscp-mask and --extension-port on both sides)"
        ),
        LeaseState::OwnNode => format!(
            "its sink uses this host's own node id{node}: packets stay untagged ({EACH_ITS_OWN})"
        ),
        LeaseState::Duplicate { addr } => format!(
            "its sink uses the same node id{node} as the sink at {addr}: packets to it stay untagged ({EACH_ITS_OWN})"
        ),
        LeaseState::Astray => format!(
            "its sink{node} grants no lease: tagged packets reach its host through an interface without a sink: \
             packets stay untagged (attach the sink there, too; its status names the interface)"
        ),
    }
}

fn granted(lease: &Lease, node: &str) -> String {
    if let Some(form) = paths::ready(lease) {
        return format!("its sink{node} is ready: packets are tagged ({form})");
    }
    let state = match (lease.proof.ways.is_empty(), lease.proof.proved_ns) {
        (true, 0) => "",
        (true, _) => ", but no form of tagged packets passes the path",
        (false, _) => ": packets are tagged",
    };
    format!("its sink{node} strips{state}; {}", paths::sentence(lease))
}

/// The state of a peer with a lease, in a word.
fn word(lease: &Lease) -> String {
    match paths::ready(lease) {
        Some(form) => format!("ready ({form})"),
        None if !lease.proof.ways.is_empty() => "ready".to_owned(),
        None if lease.proof.proved_ns == 0 => "proving".to_owned(),
        None => "untagged".to_owned(),
    }
}

/// The distance by which a peer's clock is ahead of this host's, if it is known.
pub fn clock(peer: &PeerStatus) -> Option<KnownDigits> {
    let mut clock = KnownDigits::new(peer.clock_offset_ns?, peer.clock_error_ns?);
    if !clock.value.starts_with(['-', '0']) || clock.value.starts_with("0.") {
        clock.value.insert(0, '+');
    }
    Some(clock)
}

/// Writes one line for each sink, then one with the reason for each that grants no lease.
pub fn write(
    f: &mut fmt::Formatter<'_>,
    peers: &[PeerStatus],
    total: usize,
    hosts: &KnownHosts,
) -> fmt::Result {
    if total == 0 {
        return Ok(());
    }
    let ready = peers.iter().filter(|peer| {
        peer.lease.state == LeaseState::Granted && !peer.lease.proof.ways.is_empty()
    });
    writeln!(
        f,
        "  peers: {} of {total} ready{}",
        ready.count(),
        if peers.len() < total {
            " (of those shown)"
        } else {
            ""
        }
    )?;
    for peer in peers {
        write!(f, "    {:<39} ", peer.dest.to_string())?;
        match (peer.lease.state, peer.lease.answer) {
            (LeaseState::Granted, Some(answer)) => {
                let node = hosts.named_within(answer.node, NODE_WIDTH);
                granted_lines(f, peer, &node)?;
            }
            _ => writeln!(f, "{}", sentence(&peer.lease))?,
        }
    }
    Ok(())
}

/// The state of a peer, its clock, and what there is to say of its path.
fn granted_lines(f: &mut fmt::Formatter<'_>, peer: &PeerStatus, node: &str) -> fmt::Result {
    let lease = &peer.lease;
    let rtt = Nanoseconds(lease.rtt_ns.into()).to_string();
    write!(f, "node {node:<10} {:<15} rtt {rtt:>9}", word(lease))?;
    match clock(peer) {
        Some(KnownDigits { value, error }) => {
            write!(f, "  clock {value} ± {error}")?;
            if let Some(from) = peer.clock_from {
                write!(f, " by {from}")?;
            }
        }
        None => f.write_str("  clock unknown")?,
    }
    if peer.clock_synchronised == Some(false) {
        f.write_str(", not synchronised")?;
    }
    writeln!(f, "{}", if peer.state == "idle" { "  idle" } else { "" })?;
    let path = paths::ready(lease)
        .is_none()
        .then(|| paths::sentence(lease));
    let unread = peer.items_unread.then(|| {
        "no transit hop may push: its sink reads no entries without a queue (update hostint there, or leave --path-items out)"
            .to_owned()
    });
    let clauses = [path, unread, paths::fallen(peer.fallen)];
    let clauses = Vec::from_iter(clauses.into_iter().flatten());
    match clauses.is_empty() {
        true => Ok(()),
        false => writeln!(f, "      {}", clauses.join("; ")),
    }
}
