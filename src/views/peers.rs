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
        LeaseState::Granted => format!(
            "its sink{node} strips{}; {}",
            match (lease.proof.ways.is_empty(), lease.proof.proved_ns) {
                (true, 0) => "",
                (true, _) => ", but no form of tagged packets passes the path",
                (false, _) => ": packets are tagged",
            },
            paths::sentence(lease)
        ),
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
    let granted = peers
        .iter()
        .filter(|peer| peer.lease.state == LeaseState::Granted);
    writeln!(
        f,
        "  peers: {total}, of which {} strip{}",
        granted.count(),
        if peers.len() < total {
            " (of those shown)"
        } else {
            ""
        }
    )?;
    for peer in peers {
        let lease = &peer.lease;
        write!(f, "    {:<39} ", peer.dest.to_string())?;
        match (lease.state, lease.answer) {
            (LeaseState::Granted, Some(answer)) => {
                write!(
                    f,
                    "node {:<10} rtt {:>9}",
                    hosts.named_within(answer.node, NODE_WIDTH),
                    Nanoseconds(lease.rtt_ns.into()).to_string()
                )?;
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
                write!(f, "      {}", paths::sentence(lease))?;
                if peer.items_unread {
                    f.write_str("; no transit hop may push: its sink reads no entries without a queue (update hostint there, or leave --path-items out)")?;
                }
                if let Some(fallen) = paths::fallen(peer.fallen) {
                    write!(f, "; {fallen}")?;
                }
                writeln!(f)?;
            }
            _ => writeln!(f, "{}", sentence(lease))?,
        }
    }
    Ok(())
}
