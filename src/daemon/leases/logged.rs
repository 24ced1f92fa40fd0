//! Changes of leases: each is logged once.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::{Lease, LeaseState, ProbeForms, TunnelObstacle, Ways};
use crate::os::log::{self, Event, Level};
use crate::views;

/// The state of a lease, and of its path, that was logged.
pub(super) type LoggedLease = (LeaseState, Ways, ProbeForms);

/// Says once what a destination's sink answers, and what passes the path to it.
pub(super) fn say(said: &mut HashMap<IpAddr, LoggedLease>, dest: IpAddr, lease: &Lease) {
    let now = (lease.state, lease.proof.ways, lease.proof.eaten);
    // The proof takes a few seconds at most, and then there is more to say.
    if lease.state == LeaseState::Granted && lease.proof.is_open() {
        return;
    }
    let before = said.insert(dest, now);
    if before == Some(now) {
        return;
    }
    match (before, lease.state) {
        (_, LeaseState::Asking) => {}
        (None, LeaseState::Silent) => {}
        (_, state) => log::event(
            match state {
                LeaseState::Granted
                    if lease.proof.eaten.is_empty()
                        && !lease.proof.untold
                        && lease.proof.obstacle != TunnelObstacle::Unattended =>
                {
                    Level::Info
                }
                _ => Level::Warning,
            },
            Event::Peer,
            &[
                ("PEER", &dest),
                ("GRANTED", &(state == LeaseState::Granted)),
            ],
            format_args!("{dest}: {}", views::peers::sentence(lease)),
        ),
    }
}
