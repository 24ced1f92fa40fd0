//! The sinks that a source knows, and what keeps it from tagging.

use std::fmt;

use super::text::Nanoseconds;
use crate::model::{Lease, LeaseState, PeerStatus};

/// What a lease means, for people.
pub fn sentence(lease: &Lease) -> String {
    let node = lease
        .answer
        .map_or_else(String::new, |answer| format!(" (node {})", answer.node));
    match lease.state {
        LeaseState::Asking => "asked for a lease".to_owned(),
        LeaseState::Granted => format!("its sink{node} strips: packets are tagged"),
        LeaseState::Silent => {
            "does not answer (host down, or it does not answer pings): packets go untagged".to_owned()
        }
        LeaseState::NoSink => "no sink before it: packets go untagged".to_owned(),
        LeaseState::Forged => {
            "refuses or answers with a wrong tag: packets go untagged (do both sides have the same --lease-key? is \
             there NAT on the way?)"
                .to_owned()
        }
        LeaseState::Encapsulation => format!(
            "its sink{node} does not recognise what this host sends: packets go untagged (compare --encap \
             of both sides, and --superpackets here)"
        ),
        LeaseState::Mark => format!(
            "its sink{node} has another DSCP mark or extension port: packets go untagged (compare \
             --dscp-value, --dscp-mask and --extension-port of both sides)"
        ),
        LeaseState::OwnNode => format!(
            "its sink has this host's own node id{node}: packets go untagged (give each host its own \
             --node-id)"
        ),
        LeaseState::Duplicate { addr } => format!(
            "its sink has the node id{node} that the one at {addr} has, too: packets to it go untagged (give \
             each host its own --node-id)"
        ),
    }
}

/// Writes one line for each sink, then those that grant nothing with the reason.
pub fn write(f: &mut fmt::Formatter<'_>, peers: &[PeerStatus], total: usize) -> fmt::Result {
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
                    answer.node,
                    Nanoseconds(lease.rtt_ns.into()).to_string()
                )?;
                if let Some(clock) = lease.offset {
                    write!(
                        f,
                        "  clock {}{} ± {}",
                        if clock.offset_ns < 0 { "" } else { "+" },
                        Nanoseconds(clock.offset_ns),
                        Nanoseconds(clock.error_ns.cast_signed())
                    )?;
                }
                writeln!(f, "{}", if peer.state == "idle" { "  idle" } else { "" })?;
            }
            _ => writeln!(f, "{}", sentence(lease))?,
        }
    }
    Ok(())
}
