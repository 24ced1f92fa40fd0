//! Sends reverse probes to sources whose probes this host's sink consumes, and receives those of other hosts, and their
//! names.

use std::net::IpAddr;

use anyhow::{Context, Result};

use crate::datapath::grants::RoundGrants;
use crate::datapath::pins::Pins;
use crate::lease::{LeaseKeeper, LeaseUpdate, NameExchange};
use crate::os::echo_requests::{self, EchoRequest, EchoRequests, Payload};
use crate::os::probe_sockets::{Envelope, ProbeSockets};
use crate::wire::lease::{self, name, reverse, v2};

/// At most one reverse probe in this time, but for a burst of [`BURST`]: strangers may ask for them, too.
const EACH_NS: u64 = 5_000_000;
const BURST: u64 = 40;

/// The sender and receiver of reverse probes.
pub(super) struct ReverseProbes {
    requests: EchoRequests,
    /// The budget for probes is used up until then.
    used_until_ns: u64,
}

impl ReverseProbes {
    /// # Errors
    /// Without CAP_NET_RAW.
    pub(super) fn open() -> Result<Self> {
        let payload = |magic, len| Payload { magic, len };
        let requests = EchoRequests::open(&[
            payload(lease::MAGIC, v2::FULL_LEN),
            payload(reverse::MAGIC, reverse::REVERSE_LEN),
            payload(name::MAGIC, name::NAME_LEN),
        ]);
        Ok(Self {
            requests: requests
                .context("cannot open sockets for reverse probes (needs CAP_NET_RAW)")?,
            used_until_ns: 0,
        })
    }

    /// Sends reverse probes in the rounds that questions announced, and returns what those of other hosts show. Answers the
    /// names of sources.
    pub(super) fn turn(
        &mut self,
        keeper: &mut LeaseKeeper,
        names: &mut NameExchange,
        sockets: &ProbeSockets,
        pins: &Pins,
        now_ns: u64,
    ) -> Result<Vec<LeaseUpdate>> {
        let mut updates = Vec::new();
        let received = self.requests.receive(|request| {
            let EchoRequest { from, to, payload } = request;
            match payload.len() {
                reverse::REVERSE_LEN => updates.extend(keeper.take_reverse_probe(payload, from)),
                name::NAME_LEN => {
                    if let Some(answer) = names.take(keeper, payload, (from, to), now_ns) {
                        send(sockets, (answer.from, answer.to), &answer.message);
                    }
                }
                _ => {
                    keeper.note_question(payload, from, to, now_ns);
                    names.note_question(keeper, payload, from, now_ns);
                }
            }
        });
        received.context("cannot receive reverse probes")?;
        if !keeper.watches_rounds() {
            return Ok(updates);
        }
        let grants = RoundGrants::open(pins).context("cannot open the sink's grants")?;
        let arrived = |prober, round| {
            let grants = grants.as_ref();
            // A grant that cannot be read pays for nothing.
            grants.map_or(0, |grants| grants.arrived(prober, round).unwrap_or(0))
        };
        for probe in keeper.reverse_probes(now_ns, arrived) {
            if take_budget(&mut self.used_until_ns, now_ns) {
                // If it is lost, further probes of the round pay for another one.
                send(sockets, (probe.from, probe.to), &probe.message);
            }
        }
        Ok(updates)
    }
}

fn take_budget(used_until_ns: &mut u64, now_ns: u64) -> bool {
    let from_ns = (*used_until_ns).max(now_ns);
    if from_ns - now_ns >= BURST * EACH_NS {
        return false;
    }
    *used_until_ns = from_ns + EACH_NS;
    true
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
