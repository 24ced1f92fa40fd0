//! Sends strays back to sources whose probes this host's sink consumes, and receives those of other hosts, and their names.

use std::net::IpAddr;

use anyhow::{Context, Result};

use super::probes::Probes;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::lease::grants::RoundGrants;
use crate::host::advice::advise_for;
use crate::lease::{LeaseKeeper, LeaseUpdate, NameExchange};
use crate::os::echo_requests::{self, EchoRequest, EchoRequests, Payload};
use crate::os::privileges;
use crate::os::probe_sockets::{Envelope, ProbeSockets};
use crate::os::stray_packets::StrayPackets;
use crate::os::wait::Wait;
use crate::wire::lease::probe::BACK_MAGIC;
use crate::wire::lease::probe_packet::STRAY_PORT;
use crate::wire::lease::{self, message, name};

/// At most one stray in this time, which is 1 Mbit/s, but for a burst of [`BURST`]: strangers may ask for them, too.
const EACH_NS: u64 = 500_000;
const BURST: u64 = 1_000;
/// The most strays in one turn: a burst of more could overflow a queue on the path.
const MOST: u64 = 64;

/// The sender and receiver of strays.
pub(super) struct Strays {
    requests: EchoRequests,
    received: StrayPackets,
    /// Something was received in the last turn.
    pub(super) came: bool,
    /// The budget for strays is used up until then.
    used_until_ns: u64,
}

impl Strays {
    /// # Errors
    /// Without CAP_NET_RAW.
    pub(super) fn open() -> Result<Self> {
        let payload = |magic, len| Payload { magic, len };
        let requests = EchoRequests::open(&[
            payload(lease::MAGIC, message::FULL_LEN),
            payload(name::MAGIC, name::NAME_LEN),
        ]);
        Ok(Self {
            requests: requests
                .map_err(|err| advise_for(err, &privileges::LEASES))
                .context("cannot open sockets for questions to this host")?,
            received: StrayPackets::open(STRAY_PORT, BACK_MAGIC)
                .map_err(|err| advise_for(err, &privileges::LEASES))
                .context(
                    "cannot open sockets for stray packets, of the address family AF_PACKET",
                )?,
            came: false,
            used_until_ns: 0,
        })
    }

    /// Lets the daemon wake for questions and strays of other hosts.
    pub(super) fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.requests.wakes(wait);
        self.received.wakes(wait);
    }

    /// Begins or ends to receive strays: those of a round come from its first probe on.
    pub(super) fn listen(&mut self, keeper: &LeaseKeeper, now_ns: u64) -> Result<()> {
        let listens = self.received.listen(keeper.awaits_strays(now_ns));
        listens.context("cannot listen for stray packets")
    }

    /// Sends strays in the rounds that questions announced, and returns what those of other hosts show. Answers the names of
    /// sources.
    pub(super) fn turn(
        &mut self,
        (keeper, names): (&mut LeaseKeeper, &mut NameExchange),
        probes: &mut Probes,
        pins: &Pins,
        now_ns: u64,
    ) -> Result<Vec<LeaseUpdate>> {
        let mut came = false;
        let received = self.requests.receive(|request| {
            came = true;
            let EchoRequest { from, to, payload } = request;
            if payload.len() == name::NAME_LEN {
                if let Some(answer) = names.take(keeper, payload, (from, to), now_ns) {
                    send(&probes.0, (answer.from, answer.to), &answer.message);
                }
                return;
            }
            keeper.note_question(payload, from, to, now_ns);
            names.note_question(keeper, payload, from, now_ns);
        });
        self.came = came;
        received.context("cannot receive questions to this host")?;
        self.listen(keeper, now_ns)?;
        let updates = self.receive(keeper);
        let updates = updates.context("cannot receive stray packets")?;
        if !keeper.watches_rounds() {
            return Ok(updates);
        }
        let grants = RoundGrants::open(pins).context("cannot open the sink's grants")?;
        let arrived = |prober, round| {
            let grants = grants.as_ref();
            // A grant that cannot be read pays for nothing.
            grants.map_or(0, |grants| grants.arrived(prober, round).unwrap_or(0))
        };
        for stray in keeper.strays_back(now_ns, self.left(now_ns), arrived) {
            probes.send(&stray);
            self.used_until_ns = self.used_until_ns.max(now_ns) + EACH_NS;
        }
        Ok(updates)
    }

    fn receive(&mut self, keeper: &mut LeaseKeeper) -> std::io::Result<Vec<LeaseUpdate>> {
        let (mut updates, came) = (Vec::new(), &mut self.came);
        self.received.receive(|stray| {
            *came = true;
            updates.extend(keeper.take_stray(stray.payload, stray.from));
        })?;
        Ok(updates)
    }

    /// Strays that may be sent now.
    fn left(&self, now_ns: u64) -> usize {
        let used = self.used_until_ns.saturating_sub(now_ns) / EACH_NS;
        BURST.saturating_sub(used).min(MOST) as usize
    }
}

/// Sends a ping with this payload. One that cannot be sent is lost.
pub(super) fn send(sockets: &ProbeSockets, (from, to): (IpAddr, IpAddr), payload: &[u8]) {
    let (protocol, message) = echo_requests::request(from, to, payload);
    let envelope = Envelope {
        source: from,
        dest: to,
        tos: 0,
    };
    let _ = sockets.send_ip(&envelope, protocol, &message);
}
