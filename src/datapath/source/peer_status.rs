//! The source's peers as `hostint status` shows them, from the kernel's list of leases.

use std::io;

use super::peer_clock::PeerClock;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::lease::leases::{LeaseEntry, Leases};
use crate::model::{AddressPair, LeaseState, PeerStatus, TunnelObstacle};
use crate::os::clock::{self, ClockPair};

/// A peer without a packet for this long is idle: of many peers, idle ones are asked every five seconds.
const IDLE_NS: u64 = 10_000_000_000;

/// The peers of the source; those that do not strip come first. `without_queue`: the source asks transit hops for entries
/// without a queue, which not all sinks read.
pub fn read_peers(pins: &Pins, without_queue: bool) -> io::Result<Vec<PeerStatus>> {
    let mut found = Vec::new();
    let Some(leases) = Leases::open(pins)? else {
        return Ok(found);
    };
    let now_ns = clock::monotonic_ns();
    let clocks = clock::pair()?;
    leases.for_each(|pair, entry| {
        found.push(peer_status(pair, &entry, (now_ns, clocks), without_queue));
    })?;
    found.sort_by_key(|peer| {
        (
            peer.lease.state == LeaseState::Granted,
            peer.dest,
            peer.source,
        )
    });
    Ok(found)
}

fn peer_status(
    pair: AddressPair,
    entry: &LeaseEntry,
    (now_ns, clocks): (u64, ClockPair),
    without_queue: bool,
) -> PeerStatus {
    let mut lease = entry.lease;
    let left_ns = lease.until_ns.saturating_sub(now_ns);
    let ended = lease.state == LeaseState::Granted && left_ns == 0;
    let within = |since_ns: u64| now_ns.saturating_sub(since_ns) < IDLE_NS;
    let idle = ended && within(lease.answered_ns) && !within(entry.wanted_ns);
    // No daemon renews it any more.
    if ended && !idle {
        lease.state = LeaseState::Silent;
    }
    let answer = lease.answer;
    let sink_clock = lease.clock.as_ref();
    let clock = sink_clock.and_then(|sink| PeerClock::new(sink, clocks));
    PeerStatus {
        source: pair.source,
        dest: pair.dest,
        state: if idle { "idle" } else { lease.state.name() },
        lease_left_ns: left_ns,
        node: answer.map(|answer| answer.node),
        rtt_ns: answer.map(|_| lease.rtt_ns),
        clock_offset_ns: clock.map(|clock| clock.offset_ns),
        clock_error_ns: clock.map(|clock| clock.error_ns()),
        clock_bound_ns: clock.map(|clock| clock.bound_ns),
        clock_age_ns: clock.map(|clock| clock.age_ns),
        clock_from: clock.map(|_| "lease answers"),
        clock_synchronised: answer.map(|answer| answer.clock.synchronised),
        mtu: answer.map(|answer| answer.mtu),
        tai_offset_s: answer.map(|answer| answer.tai_offset_s),
        ways: lease.proof.ways.names(),
        eaten: lease.proof.eaten.names(),
        tos_changed: lease.proof.tos_changed,
        proved_ago_ns: match lease.proof.proved_ns {
            0 => None,
            proved_ns => Some(now_ns.saturating_sub(proved_ns)),
        },
        proved_length: Some(lease.proof.longest).filter(|len| *len != 0),
        distrusted: lease.proof.distrusted,
        untold: lease.proof.untold,
        items_unread: without_queue && lease.proof.stack > 1 && !lease.proof.reads_items,
        unattended: lease.proof.obstacle == TunnelObstacle::Unattended,
        tunnel_obstacle: lease.proof.obstacle.name(),
        fallen: entry.counts.fallen,
        version: answer.map(|answer| format!("{}.{}", answer.software.0, answer.software.1)),
        lease,
    }
}
