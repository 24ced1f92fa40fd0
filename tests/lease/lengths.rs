//! No message gets more bytes back than it has, whoever sent it: leases amplify nothing.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use hostint::datapath::abi::{sink_flag, sink_settings};
use hostint::lease::{LeaseKeeper, OwnTagging};
use hostint::model::{
    Capabilities, FullAnswer, FullQuestion, LeaseKey, LeaseProbe, LeaseWitness, NodeId, ProbeForm,
    ShortQuestion,
};
use hostint::wire::lease::message::{
    encode_full_answer, encode_full_question, encode_short_question,
};
use hostint::wire::lease::probe_packet::ProbePacket;
use hostint_testing::frame::Frame;
use hostint_testing::lease_cases::{KEY, addresses};
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::random::{Random, env_number};

use super::answer::{ASKING, NONCE, echo, every_way};

const MS: u64 = 1_000_000;
const UDP_LEN: usize = 8;
const NO_KEY: LeaseKey = LeaseKey([0; 16]);

fn full_question(flow_source: IpAddr, origin: IpAddr, round: u64) -> FullQuestion {
    FullQuestion {
        nonce: NONCE,
        flow_source,
        origin,
        asked_ns: 42,
        source_node: ASKING,
        capabilities: Capabilities::from_bits(7),
        round,
    }
}

/// One message of each kind.
fn messages(v6: bool) -> [(&'static str, Frame); 3] {
    let (source, dest) = addresses(v6);
    let short = ShortQuestion {
        nonce: NONCE,
        origin: source,
    };
    let full = |round| encode_full_question(&full_question(source, source, round), dest, KEY);
    [
        ("short", echo(v6, &encode_short_question(&short, dest, KEY))),
        ("full", echo(v6, &full(0))),
        ("full with a round", echo(v6, &full(7))),
    ]
}

/// A host that hears questions and probes of strangers, and what both sides sent.
struct Strangers {
    keeper: LeaseKeeper,
    /// The round that each grant notes, and which of its probes arrived.
    grants: HashMap<IpAddr, (u64, u128)>,
    now: u64,
    /// Bytes of probes, which nothing answers.
    paid: usize,
    /// Bytes of the shortest probe.
    least: usize,
    /// Bytes of strays.
    sent: usize,
}

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 2));

fn stranger(number: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, number).into()
}

impl Strangers {
    fn new() -> Self {
        Self {
            keeper: LeaseKeeper::new(NO_KEY, OwnTagging::default(), || 1),
            grants: HashMap::new(),
            now: MS,
            paid: 0,
            least: packet_len(&stray(HERE, 8, false)),
            sent: 0,
        }
    }

    /// A question, which the sink answers without a key: counts are told to the packets' source alone.
    fn ask(&mut self, prober: IpAddr, origin: IpAddr, round: u64) {
        let untold = prober != origin;
        let grant = self.grants.entry(prober).or_default();
        if !untold && grant.0 != round {
            *grant = (round, 0);
        }
        let arrived = [0, 0, 0, if untold { 0 } else { grant.1 }, 0];
        let answer = FullAnswer {
            witness: LeaseWitness {
                untold,
                ..LeaseWitness::default()
            },
            instance: 1,
            arrived,
            ..FullAnswer::default()
        };
        let asked = encode_full_question(&full_question(prober, origin, round), HERE, NO_KEY);
        let answered = encode_full_answer(&asked, &answer, NO_KEY);
        self.keeper.note_question(&answered, origin, HERE, self.now);
    }

    fn probe(&mut self, prober: IpAddr, round: u64, number: u8) {
        self.paid += self.least;
        if let Some(grant) = self.grants.get_mut(&prober)
            && grant.0 == round
        {
            grant.1 |= 1 << number;
        }
    }

    /// Lets a turn of the daemon pass. Returns the number of strays.
    fn turn(&mut self) -> usize {
        self.now += 5 * MS;
        let grants = &self.grants;
        let arrived = |prober, round| match grants.get(&prober) {
            Some((of, bits)) if *of == round => bits.count_ones(),
            _ => 0,
        };
        let strays = self.keeper.strays_back(self.now, usize::MAX, arrived);
        let lengths = strays.iter().map(|stray| packet_len(&stray.packet));
        self.sent += lengths.sum::<usize>();
        strays.len()
    }
}

/// A stray from this address, back from a sink's host or not.
fn stray(source: IpAddr, number: u8, is_back: bool) -> ProbePacket {
    ProbePacket {
        probe: LeaseProbe {
            form: ProbeForm::Stray,
            number,
            tos: 0,
            round: 7,
        },
        source,
        dest: source,
        node: NodeId(1),
        entries: 0,
        is_back,
    }
}

/// Bytes of a short probe's packet, from its IP header on.
fn packet_len(packet: &ProbePacket) -> usize {
    let udp_len = match packet.raw_protocol() {
        Some(_) => 0,
        None => UDP_LEN,
    };
    let ip_len = if packet.source.is_ipv6() { 40 } else { 20 };
    ip_len + udp_len + packet.payload(KEY, 0).len()
}

#[test]
fn no_probe_is_shorter_than_the_stray_that_it_pays_for() {
    for v6 in [false, true] {
        let (source, _) = addresses(v6);
        let packet = |form, number| {
            let mut packet = stray(source, number, false);
            packet.probe.form = form;
            packet
        };
        let numbered = |form: ProbeForm| (0..form.probes()).map(move |number| (form, number));
        let probes = ProbeForm::ALL.into_iter().flat_map(numbered);
        let least = probes.map(|(form, number)| packet_len(&packet(form, number)));
        let strays = 0..ProbeForm::STRAYS_BACK;
        let most = strays.map(|number| packet_len(&stray(source, number, true)));
        assert_eq!(least.min(), most.max(), "IPv6: {v6}");
    }
}

#[test]
fn each_stray_is_paid_for_by_a_probe_that_arrived() {
    let mut here = Strangers::new();
    let (one, other) = (stranger(1), stranger(2));
    here.ask(one, one, 7);
    assert_eq!(here.turn(), 0, "a question alone");
    for _ in 0..100 {
        here.ask(one, one, 7);
        assert_eq!(here.turn(), 0, "repeated questions");
    }
    here.probe(one, 8, 0);
    assert_eq!(here.turn(), 0, "a probe of another round");
    here.probe(one, 7, 0);
    assert_eq!(here.turn(), 1, "a probe");
    here.probe(one, 7, 0);
    here.ask(one, one, 7);
    assert_eq!(here.turn(), 0, "the same probe again");
    here.ask(one, other, 7);
    assert_eq!(here.turn(), 0, "the same probes for another address");
    // The round is forgotten, and announced again.
    for round in 100..400 {
        here.ask(other, other, round);
    }
    here.ask(one, one, 7);
    assert_eq!(here.turn(), 0, "probes from before it was forgotten");
    for round in 500..900 {
        here.ask(other, other, round);
    }
    here.ask(one, other, 7);
    assert_eq!(here.turn(), 0, "withheld counts say nothing");
    here.ask(one, one, 7);
    for number in 1..90 {
        here.probe(one, 7, number);
        assert_eq!(here.turn(), usize::from(number <= 72), "six of each number");
    }
    here.ask(one, one, 9);
    here.now += 6_000 * MS;
    here.probe(one, 9, 0);
    assert_eq!(here.turn(), 0, "nobody watches the round any more");
}

#[test]
fn whatever_strangers_send_they_get_nothing_on_top() {
    let (mut random, seed) = Random::from_env();
    let mut here = Strangers::new();
    for step in 0..env_number("HOSTINT_LONG", 100_000) {
        let prober = stranger(1 + random.below(4) as u8);
        let origin = match random.below(4) {
            0 => stranger(9),
            _ => prober,
        };
        let round = 1 + random.below(600) as u64;
        match random.below(8) {
            0..=3 => here.ask(prober, origin, round),
            4..=6 => {
                let noted = here.grants.get(&prober).map_or(round, |grant| grant.0);
                here.probe(prober, noted, random.below(72) as u8);
            }
            _ => drop(here.turn()),
        }
        assert!(
            here.sent <= here.paid,
            "seed {seed}, step {step}: {}",
            here.sent
        );
    }
    assert!(here.sent > 0, "probes pay for some");
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn an_answer_is_as_long_as_its_question() {
        /// What a sink is set to.
        type Change = fn(&mut sink_settings);
        let states: [(&str, LeaseKey, u32, Change); 5] = [
            ("granting", KEY, 10, |_| {}),
            ("with another key", NO_KEY, 10, |_| {}),
            ("without room", KEY, 1, |_| {}),
            ("closing", KEY, 10, |set| {
                set.flags |= sink_flag::SINK_CLOSING.0;
            }),
            ("astray", KEY, 10, |set| {
                set.flags |= sink_flag::SINK_ASTRAY.0;
            }),
        ];
        for (state, key, grants, change) in states {
            let mut changed = settings();
            change(&mut changed);
            let sizes = Sizes {
                grants,
                tc: true,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(&changed, sizes);
            sink.set_lease_key(key);
            sink.set_grant([203, 0, 113, 1].into(), u64::MAX);
            for (hook, v6) in every_way() {
                for (kind, frame) in messages(v6) {
                    let asked = frame.bytes();
                    let ran = (hook.run)(&sink, &asked);
                    let name = format!("{}, IPv6 {v6}, {state}: {kind}", hook.name);
                    assert_eq!(ran.verdict, hook.pass, "{name}: the stack returns it");
                    assert_eq!(ran.bytes.len(), asked.len(), "{name}");
                }
            }
        }
    }
}
