//! A simulated network between a source's keeper of leases and a sink. Time is an input, and bytes are real.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use hostint::lease::{
    AnswerTime, AskingTime, LeaseKeeper, LeaseUpdate, OutgoingProbe, OutgoingQuestion, OwnTagging,
};
use hostint::model::{
    AddressPair, Capabilities, ClockState, ClockSteering, Encapsulation, Encapsulations,
    FullAnswer, LeaseCounts, LeaseKey, LeaseWitness, Marks, NodeId, ProbeForm,
};
use hostint::wire::lease::message;

use hostint_testing::random::Random;

pub const MS: u64 = 1_000_000;
/// Any monotonic time to begin at, and what to add to get the time since the Unix epoch.
pub const T: u64 = 5_000_000 * MS;
pub const EPOCH: u64 = 1_700_000_000_000 * MS;
pub const KEY: LeaseKey = LeaseKey([7; 16]);
pub const MARKS: Marks = Marks {
    tos_value: 0x04,
    tos_mask: 0xfc,
    extension_port: 33122,
};
/// The address of another host than the sink that has all others.
pub const OTHER_HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));

pub const PAIR: AddressPair = AddressPair {
    source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    dest: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 2)),
};

/// Bytes of Ethernet's header and checksum.
const ETHERNET: usize = 18;
/// Bytes of the header of UDP, and of ICMP.
const UDP: usize = 8;
/// Bytes of the header of TCP.
const TCP: usize = 20;

/// The faults of a path.
#[derive(Clone, Debug)]
pub struct Path {
    /// The part of all packets that is lost.
    pub loss: f64,
    /// The number of equal paths, and of those that lead past the sink.
    pub ways: (u32, u32),
    /// Routers set the DSCP to this.
    pub dscp: Option<u8>,
    /// A firewall drops probes of these forms.
    pub eaten: Vec<ProbeForm>,
    /// The address of the source is another one behind a NAT.
    pub nat: bool,
    /// Packets that the sink's host sends arrive from this address, if it is not their own.
    pub reverse_from: Option<IpAddr>,
    /// Strays that the sink's host sends arrive this time later than other packets.
    pub reverse_late_ms: u64,
    /// A firewall drops those of these numbers.
    pub eaten_back: Vec<u8>,
    /// Longer packets are dropped without a word.
    pub mtu: usize,
    /// The MTU of the source's route.
    pub route_mtu: u16,
    pub rtt_ms: u64,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            loss: 0.0,
            ways: (1, 0),
            dscp: None,
            eaten: Vec::new(),
            nat: false,
            reverse_from: None,
            reverse_late_ms: 0,
            eaten_back: Vec::new(),
            mtu: 1500,
            route_mtu: 1500,
            rtt_ms: 2,
        }
    }
}

/// The sink in front of the destination.
#[derive(Clone, Debug)]
pub struct Sink {
    /// Each host has another one.
    pub instance: u64,
    /// A sink answers.
    pub is_there: bool,
    pub astray: bool,
    pub untold: bool,
    pub digest: u32,
    pub capabilities: Encapsulations,
    /// It reads entries of transit hops.
    pub stacks: bool,
    /// It reads those without a queue, too.
    pub path_items: bool,
    /// It takes packets in INT-MX.
    pub int_mx: bool,
    /// A daemon runs on its host, and says that it sends strays back.
    pub daemon: bool,
    /// The daemon stands still.
    pub stands_still: bool,
    pub marks: Marks,
    pub stripped: [u32; 3],
    pub lost: u32,
    pub round: u64,
    pub arrived: [u128; 5],
    pub tos_changed: [u8; 5],
    pub clock_steering: ClockSteering,
}

impl Default for Sink {
    fn default() -> Self {
        Self {
            instance: 22,
            is_there: true,
            astray: false,
            untold: false,
            digest: 1,
            capabilities: all(),
            stacks: true,
            path_items: true,
            int_mx: true,
            daemon: true,
            stands_still: false,
            marks: MARKS,
            stripped: [0; 3],
            lost: 0,
            round: 0,
            arrived: [0; 5],
            tos_changed: [0; 5],
            clock_steering: ClockSteering::UNTOLD,
        }
    }
}

pub fn all() -> Encapsulations {
    let each = Encapsulation::ALL.into_iter();
    each.fold(Encapsulations::default(), Encapsulations::with)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

impl Sink {
    /// The echo of a question, answered or not.
    fn answer(&mut self, asked: &[u8], now: u64) -> Vec<u8> {
        match asked.len() {
            message::FULL_LEN if self.is_there => {
                let round = word(asked, 48);
                if round != 0 && round != self.round {
                    self.round = round;
                    self.arrived = [0; 5];
                    self.tos_changed = [0; 5];
                }
                let full = asked.try_into().expect("its length");
                message::encode_full_answer(full, &self.full(now), KEY).to_vec()
            }
            message::SHORT_LEN if self.is_there => {
                let short = asked.try_into().expect("its length");
                message::encode_short_answer(short, &self.witness(now), KEY).to_vec()
            }
            _ => asked.to_vec(),
        }
    }

    fn witness(&self, now: u64) -> LeaseWitness {
        LeaseWitness {
            astray: self.astray,
            untold: self.untold,
            asked_shift: 0,
            digest: self.digest,
            stripped: self.stripped,
            lost: self.lost,
            answered_ns: EPOCH + now,
        }
    }

    fn full(&self, now: u64) -> FullAnswer {
        FullAnswer {
            witness: self.witness(now),
            instance: self.instance,
            node: NodeId(2),
            capabilities: Capabilities::from_bits(
                Capabilities::from(self.capabilities).bits()
                    | if self.stacks { 64 } else { 0 }
                    | if self.path_items { 2048 } else { 0 }
                    | if self.int_mx { 32 } else { 0 }
                    | if self.daemon { 1024 } else { 0 },
            ),
            marks: self.marks,
            clock: ClockState::default(),
            clock_steering: self.clock_steering,
            mtu: 1500,
            tai_offset_s: 37,
            software: (0, 2),
            arrived: self.arrived,
            tos_changed: self.tos_changed,
        }
    }

    fn take_probe(&mut self, probe: &OutgoingProbe, tos: u8) {
        let sent = &probe.packet.probe;
        let at = sent.form.place();
        if sent.round != self.round {
            return;
        }
        if tos == sent.tos {
            self.arrived[at] |= 1 << sent.number;
        } else {
            self.tos_changed[at] |= tos ^ sent.tos;
        }
    }
}

/// Bytes of the headers of IP, and of UDP or ICMP.
fn headers(dest: IpAddr) -> usize {
    UDP + if dest.is_ipv4() { 20 } else { 40 }
}

/// A source, a path and a sink.
pub struct Network {
    pub keeper: LeaseKeeper,
    pub path: Path,
    pub sink: Sink,
    /// The address that questions come from.
    pub asks_from: IpAddr,
    pub now: u64,
    pub updates: Vec<LeaseUpdate>,
    /// The number of all probes.
    pub probes: u64,
    /// Bytes on the wire of all probes and questions.
    pub sent_bytes: usize,
    /// Lengths of the questions asked, by time.
    pub asked: Vec<(u64, usize)>,
    random: Random,
    /// What is to arrive, by its time: replies at the source.
    replies: BTreeMap<(u64, u64), Vec<u8>>,
    /// The same for strays, each with the address that it comes from.
    strays: BTreeMap<(u64, u64), (IpAddr, Vec<u8>)>,
    number: u64,
    bias: u32,
}

impl Network {
    pub fn new(ours: OwnTagging, path: Path, sink: Sink, seed: u64) -> Self {
        let mut nonce = 0;
        let keeper = LeaseKeeper::new(KEY, ours, move || {
            nonce += 1;
            u64::wrapping_mul(nonce, 0x9e37_79b9_7f4a_7c15)
        });
        let mut random = Random::seeded(seed);
        let bias = random.u32();
        let mut network = Self {
            keeper,
            path,
            sink,
            asks_from: PAIR.source,
            now: T,
            updates: Vec::new(),
            probes: 0,
            sent_bytes: 0,
            asked: Vec::new(),
            random,
            replies: BTreeMap::new(),
            strays: BTreeMap::new(),
            number: 0,
            bias,
        };
        network.keeper.want(PAIR, true, T);
        network
    }

    /// True if a packet with this source port is lost, or goes past the sink.
    fn is_lost(&mut self, port: u32) -> bool {
        let (ways, past) = self.path.ways;
        let hash = (port ^ self.bias).wrapping_mul(2_654_435_761) >> 16;
        hash % ways < past || self.random.chance(self.path.loss)
    }

    fn carry_question(&mut self, asked: &OutgoingQuestion) {
        self.asked.push((self.now, asked.message.len()));
        self.sent_bytes += asked.message.len() + headers(asked.to) + ETHERNET;
        if self.random.chance(self.path.loss) || self.random.chance(self.path.loss) {
            return;
        }
        self.sink.instance = if asked.to == OTHER_HOST { 33 } else { 22 };
        let mut reply = self.sink.answer(&asked.message, self.now);
        if self.path.nat && reply != asked.message {
            // The question's tag is wrong for the sink, which says so.
            let at = reply.len() - 8;
            reply[..at].copy_from_slice(&asked.message[..at]);
            reply[at..].fill(0xff);
        }
        self.number += 1;
        let at = self.now + self.path.rtt_ms * MS;
        // The sink's host has the same key.
        self.keeper
            .note_question(&reply, self.asks_from, asked.to, self.now);
        self.replies.insert((at, self.number), reply);
    }

    fn carry_probe(&mut self, probe: &OutgoingProbe) {
        let mtu = probe.longest.min(self.path.route_mtu);
        if mtu > 0 {
            self.keeper.note_length(probe, mtu);
        }
        let len = usize::from(mtu).saturating_sub(headers(probe.packet.dest));
        let len = probe.packet.payload(KEY, len).len() + headers(probe.packet.dest);
        self.probes += 1;
        self.sent_bytes += len + ETHERNET;
        let form = probe.packet.probe.form;
        let dropped = self.is_lost(probe.packet.sport().into())
            || self.path.eaten.contains(&form)
            || len > self.path.mtu;
        let tos = self.path.dscp.unwrap_or(probe.packet.probe.tos);
        if !dropped {
            self.sink.take_probe(probe, tos);
        }
    }

    /// The daemon of the sink's host looks at the sink's grant.
    fn carry_strays(&mut self) {
        let noted = (self.sink.round, self.sink.arrived.map(u128::count_ones));
        let arrived = |_, round| match noted {
            (of, arrived) if of == round => arrived.into_iter().sum(),
            _ => 0,
        };
        for stray in self.keeper.strays_back(self.now, usize::MAX, arrived) {
            let number = stray.packet.probe.number;
            let header = match stray.packet.raw_protocol() {
                Some(_) => TCP,
                None => 0,
            };
            let payload = stray.packet.payload(KEY, 0).split_off(header);
            if !self.sink.daemon
                || self.sink.stands_still
                || self.path.eaten_back.contains(&number)
                || self.random.chance(self.path.loss)
            {
                continue;
            }
            let late = self.now + (self.path.rtt_ms / 2 + self.path.reverse_late_ms) * MS;
            let from = self.path.reverse_from.unwrap_or(stray.packet.source);
            self.number += 1;
            self.strays.insert((late, self.number), (from, payload));
        }
    }

    /// Lets this time pass, in turns of 5 ms.
    pub fn pass(&mut self, ms: u64) {
        let end = self.now + ms * MS;
        while self.now < end {
            let due: Vec<_> = self
                .replies
                .range(..=(self.now, u64::MAX))
                .map(|(at, _)| *at)
                .collect();
            for at in due {
                let reply = self.replies.remove(&at).expect("it was found");
                let received = AnswerTime {
                    monotonic_ns: at.0,
                    realtime_ns: EPOCH + at.0,
                    raw_ns: at.0,
                };
                self.updates.extend(self.keeper.take(&reply, received));
            }
            self.carry_strays();
            while let Some(first) = self.strays.first_entry()
                && first.key().0 <= self.now
            {
                let (from, stray) = first.remove();
                let update = self.keeper.take_stray(&stray, from);
                self.updates.extend(update);
            }
            while let Some((_, asked)) = self.keeper.next_due(self.now, asking(self.now)) {
                self.carry_question(&asked);
            }
            while let Some(probe) = self.keeper.next_probe(self.now) {
                self.carry_probe(&probe);
            }
            self.now += 5 * MS;
        }
    }

    /// The kernel's counts of the pair.
    pub fn note_counts(&mut self, counts: LeaseCounts) -> Option<LeaseUpdate> {
        let (place, _) = self.keeper.want(PAIR, true, self.now);
        self.keeper.note_counts(place, &counts, self.now)
    }

    /// Lets time pass until the path is proved. Returns how long that took, in ms.
    pub fn prove(&mut self, most_ms: u64) -> Option<u64> {
        let begun = self.now;
        while self.now < begun + most_ms * MS {
            self.pass(5);
            let lease = self.keeper.lease(&PAIR)?;
            if lease.proof.proved_ns != 0 {
                return Some((self.now - begun) / MS);
            }
        }
        None
    }
}

fn asking(now: u64) -> AskingTime {
    AskingTime {
        realtime_ns: EPOCH + now,
        raw_ns: now,
    }
}
