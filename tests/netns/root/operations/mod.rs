//! Random operations on packets, connections, networks and daemons, by the thousand: every byte that is delivered was sent.
//!
//! HOSTINT_OPERATIONS=1000000 for a million, in rounds with fresh hosts: a round has a seed, from HOSTINT_TEST_SEED on.
//! HOSTINT_OPERATION_SUMS=FILE: what runs did is added up there, and the next run goes on with the next seed.
//! HOSTINT_OPERATIONS_ALONE=1: the same operations on networks and traffic without hostint. What fails then, too, is the
//! network's doing.

mod daemons;
mod datagrams;
mod machines;
mod router;
mod streams;
mod sums;

use std::time::Instant;

use hostint_testing::netns::{Lab, await_that};
use hostint_testing::random::{Random, env_number};

use daemons::Daemons;
use datagrams::Datagrams;
use streams::{Connections, Streams};
use sums::Sums;

const ADDRESSES: [&str; 2] = ["10.9.1.1", "10.9.2.1"];
/// Where datagrams and streams go to.
const PORT: u16 = 6100;

/// The operations of a round; a shorter run is a shorter round.
const ROUND: u64 = 20_000;
/// In one of so many rounds the router translates addresses.
const TRANSLATED: u64 = 5;
/// Not done there: a daemon that does not run shows nobody that its host's packets are translated, and vxlan-gpe that is
/// asked for is used all the same.
const UNSAFE_BEHIND_NAT: [&str; 3] = ["host: pause or go on", "host: attach", "host: restart"];
const ROUNDS: &str = "rounds";
const OPERATIONS: &str = "operations";

/// The kind of an operation, and how often it comes in 10,000.
const KINDS: [(&str, usize); 25] = [
    ("datagrams: burst of 1 to 8", 4290),
    ("datagrams: superpacket", 700),
    ("datagrams: other traffic class", 500),
    ("datagrams: other source port", 300),
    ("stream: write", 3000),
    ("stream: other traffic class", 200),
    ("stream: end and begin", 60),
    ("short connection", 500),
    ("router: DSCP", 60),
    ("router: loss", 50),
    ("router: policer", 30),
    ("router: MSS clamp", 40),
    ("router: pings dropped", 20),
    ("router: route", 40),
    ("router, harsh: firewall", 40),
    ("router, harsh: MTU", 30),
    ("router, harsh: second link", 30),
    ("host: watchlist", 40),
    ("host: reload", 22),
    ("host: pause or go on", 8),
    ("host: address", 14),
    ("host: offload", 14),
    ("host: attach", 1),
    ("host: restart", 1),
    ("host: restart of tcp", 10),
];

/// What a round makes. The lab is dropped last, after all that uses its hosts.
struct Round {
    /// None: the round runs without hostint.
    daemons: Option<Daemons>,
    datagrams: Datagrams,
    streams: Streams,
    connections: Connections,
    lab: Lab,
    /// Networks that a tunnel does not pass are part of it.
    is_harsh: bool,
    /// The router translates addresses of one direction.
    is_translated: bool,
    /// Every TCP segment is a packet of its own, so that lost packets and dropped ones are the same number.
    is_counted: bool,
}

impl Round {
    fn start(seed: u64) -> Self {
        let lab = Lab::new();
        router::prepare(&lab);
        router::add_link(&lab);
        let is_translated = seed % TRANSLATED == TRANSLATED - 1;
        if is_translated {
            router::translate(&lab);
        }
        let is_counted = seed.is_multiple_of(2);
        if is_counted {
            for (host, dev) in [(&lab.a, "a0"), (&lab.b, "b0")] {
                host.sh(&format!("ip link set {dev} gso_max_segs 1"));
            }
        }
        let daemons = is_with_hostint().then(|| {
            // In every second round segments carry option 114, which the router fills in.
            if is_counted {
                return Daemons::start(&lab);
            }
            lab.m
                .hostint("transit attach --dev m0,m1 --node-id 9 --carriers tcp-int");
            Daemons::start(&lab).with_option_114()
        });
        Self {
            daemons,
            datagrams: Datagrams::start(&lab, 16),
            streams: Streams::start(&lab, 8),
            connections: Connections::start(&lab),
            lab,
            is_harsh: seed.is_multiple_of(3),
            is_translated,
            is_counted,
        }
    }

    fn operate(&mut self, kind: &str, random: &mut Random) {
        let lab = &self.lab;
        match kind {
            "datagrams: burst of 1 to 8" => self.datagrams.burst(random),
            "datagrams: superpacket" => self.datagrams.superpacket(random),
            "datagrams: other traffic class" => self.datagrams.mark(random),
            "datagrams: other source port" => self.datagrams.renew(random),
            "stream: write" => self.streams.write(random),
            "stream: other traffic class" => self.streams.mark(random),
            "stream: end and begin" => self.streams.renew(random),
            "short connection" => self.connections.begin(random),
            "router: DSCP" => router::mark(lab, random),
            "router: loss" => router::lose(lab, random),
            "router: policer" => router::police(lab, random),
            "router: MSS clamp" => router::clamp(lab, random),
            "router: pings dropped" => router::cut_leases(lab, random),
            "router: route" => router::reroute(lab, random),
            "router, harsh: firewall" => router::filter(lab, random),
            "router, harsh: MTU" => router::resize(lab, random),
            "router, harsh: second link" => router::spread(lab, random),
            "host: address" => machines::readdress(lab, random),
            "host: offload" => machines::offload(lab, random),
            _ => {
                if let Some(daemons) = &mut self.daemons {
                    daemons.operate(kind, random);
                }
            }
        }
    }

    /// The network is whole again; everything that is under way arrives. Then all is compared.
    fn finish(mut self, what: &str, sums: &mut Sums) {
        router::heal(&self.lab);
        if let Some(daemons) = &mut self.daemons {
            daemons.heal();
        }
        let (streams, stream_bytes) = self.streams.finish(what);
        let connections = self.connections.finish(what);
        let mut arrived = 0;
        await_that(&format!("{what}: no more datagrams arrive"), || {
            std::mem::replace(&mut arrived, self.datagrams.arrived()) == self.datagrams.arrived()
        });
        let sent = self.datagrams.sent();
        let of_ports = self.datagrams.finish(what);
        let dropped = router::dropped(&self.lab);
        for (name, count) in [
            ("datagrams sent", sent),
            ("datagrams arrived as sent", arrived as u64),
            ("streams whole", streams as u64),
            ("bytes of streams", stream_bytes),
            ("short connections whole", connections),
            ("packets dropped, by the kernels", dropped),
            ("rounds behind NAT", self.is_translated.into()),
            (ROUNDS, 1),
        ] {
            sums.add(name, count);
        }
        if let Some(daemons) = self.daemons {
            let lost = daemons.finish(what, &of_ports, sums);
            if self.is_counted {
                assert!(lost <= dropped, "{what}: {lost} lost, {dropped} dropped");
            }
        }
    }
}

fn is_with_hostint() -> bool {
    env_number("HOSTINT_OPERATIONS_ALONE", 0) == 0
}

fn kind_at(mut place: usize) -> &'static str {
    for (name, share) in KINDS {
        if place < share {
            return name;
        }
        place -= share;
    }
    unreachable!("shares add up to 10,000")
}

#[test]
fn the_shares_of_all_kinds_add_up() {
    assert_eq!(KINDS.iter().map(|kind| kind.1).sum::<usize>(), 10_000);
}

#[test]
fn every_byte_that_is_delivered_was_sent() {
    let mut sums = Sums::from_env();
    let goal = env_number("HOSTINT_OPERATIONS", 1500);
    let first = env_number("HOSTINT_TEST_SEED", 1);
    while sums.get(OPERATIONS) < goal {
        let seed = first + sums.get(ROUNDS);
        let operations = ROUND.min(goal - sums.get(OPERATIONS));
        let what = format!("HOSTINT_TEST_SEED={seed} HOSTINT_OPERATIONS={operations}");
        let mut random = Random::seeded(seed);
        let mut round = Round::start(seed);
        let begun = Instant::now();
        for n in 0..operations {
            let mut kind = kind_at(random.below(10_000));
            if kind.contains("harsh") && !round.is_harsh {
                kind = KINDS[0].0;
            }
            if round.is_translated && UNSAFE_BEHIND_NAT.contains(&kind) {
                kind = KINDS[0].0;
            }
            if kind.starts_with("router") || kind.starts_with("host") {
                println!("{n}: {kind}");
            }
            // Of each operation its own, so that the next one does not depend on this one's choices.
            let mut choices = Random::seeded(random.next());
            round.operate(kind, &mut choices);
            sums.add(&format!("operation {kind}"), 1);
        }
        let seconds = begun.elapsed().as_secs_f64();
        round.finish(&what, &mut sums);
        sums.add(OPERATIONS, operations);
        sums.save();
        println!(
            "{what}: {:.0} a second\n{sums}",
            operations as f64 / seconds
        );
    }
}
