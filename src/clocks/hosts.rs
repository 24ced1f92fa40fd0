//! The clocks of hosts that tell what they know: their readings and stamps become links between raw clocks.

use std::collections::{HashMap, HashSet, VecDeque};

use super::drift::Drift;
use super::interval::ClockInterval;
use super::known_until::KnownUntil;
use super::link::{ClockLink, RawMinimum};
use super::own_clock::{OwnClock, Reading};

/// Evidence is kept for this long, by the receiver's raw clock.
const KEEP_NS: i128 = 17_000_000_000;
/// Stamps wait this long for readings of the other host's clock.
const WAIT_NS: u64 = 10_000_000_000;
/// A host that told nothing for this long has an unknown clock.
const SILENT_NS: u64 = 5_000_000_000;
/// Stamps of packets have 32 bits.
const STAMP_WRAPS_NS: i128 = 1 << 32;
/// The most hosts and directions between two hosts, and the most stamps of a direction.
const MOST_HOSTS: usize = 16_384;
const MOST_DIRECTIONS: usize = 20_000;
const MOST_STAMPS: usize = 96;

/// The time of an event by one of a host's clocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stamp {
    Raw(i128),
    /// By the clock that stamps packets.
    Clock(i128),
}

/// A packet from one host to another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StampedPacket {
    Whole {
        sent: Stamp,
        arrived: Stamp,
    },
    /// Only the low 32 bits of the difference of both stamps are known.
    Wrapped {
        arrived_ns: i128,
        latency_ns: i32,
    },
}

/// What a host says of its clocks beside readings.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Statement {
    /// Raw clocks of two instances cannot be compared.
    pub instance: u64,
    /// Hosts with the same number are network namespaces of one kernel, and share its raw clock; 0: it does not say.
    pub kernel: u64,
    /// The kernel's own clock stamps packets, the same for all its network namespaces.
    pub stamps_by_kernel: bool,
    /// Network cards may stamp arrivals, of whose clocks nothing is known.
    pub arrivals_by_card: bool,
    /// The error of the clock that stamps packets, according to the host's time daemon.
    pub error_ns: Option<u32>,
}

#[derive(Debug)]
struct Host {
    said: Statement,
    clock: OwnClock,
    heard_ns: u64,
    known: KnownUntil,
}

/// What is known of one direction.
#[derive(Debug, Default)]
struct Direction {
    /// Packets whose stamps cannot be converted yet, with the time when they were reported.
    waiting: VecDeque<(u64, StampedPacket)>,
    minima: VecDeque<RawMinimum>,
}

/// All hosts, by their numbers, and what they reported. Times without a host are of the collecting host's clock.
#[derive(Debug, Default)]
pub struct HostClocks {
    hosts: HashMap<u32, Host>,
    /// By sender and receiver.
    directions: HashMap<(u32, u32), Direction>,
}

impl HostClocks {
    /// Takes what a host says, and its readings, oldest first. What was known is forgotten if it is another instance.
    pub fn note_readings(
        &mut self,
        host: u32,
        said: Statement,
        readings: impl IntoIterator<Item = Reading>,
        now_ns: u64,
    ) {
        match self.hosts.get(&host) {
            Some(known) if known.said.instance == said.instance => {}
            Some(_) => self.forget(host),
            None if self.hosts.len() >= MOST_HOSTS => return,
            None => {}
        }
        let host = self.hosts.entry(host).or_insert_with(|| Host {
            said,
            clock: OwnClock::default(),
            heard_ns: now_ns,
            known: KnownUntil::default(),
        });
        host.said = said;
        host.heard_ns = now_ns;
        for reading in readings {
            let newest = host.clock.newest(1).next();
            // Readings are reported several times, and datagrams overtake each other.
            if newest.is_none_or(|newest| reading.raw_ns > newest.raw_ns + newest.took_ns) {
                host.clock.note(reading);
            }
        }
        if let Some(newest) = host.clock.newest(1).next() {
            host.known.note(newest.raw_ns, now_ns);
        }
    }

    /// True if the host reports readings.
    pub fn sends_readings(&self, host: u32) -> bool {
        self.hosts.contains_key(&host)
    }

    /// How often the host's clock was set since it was first heard of.
    pub fn steps(&self, host: u32) -> u64 {
        self.hosts.get(&host).map_or(0, |host| host.clock.steps)
    }

    /// True if the host's readings go beyond all that it had done by this time: if its clock was set before, they show it.
    pub fn has_reported(&self, host: u32, until_ns: u64) -> bool {
        let known = |host: &Host| host.known.is_beyond(until_ns);
        self.hosts.get(&host).is_some_and(known)
    }

    /// True if the host's clock was not set from a little before it showed this until its newest reading: then the low 32
    /// bits of a stamp tell the others.
    pub fn is_steady_since(&self, host: u32, stamp_ns: i128) -> bool {
        let since = |clock: &OwnClock| {
            let begin_ns = clock.raw_of(stamp_ns)?.low_ns - STAMP_WRAPS_NS;
            Some(ClockInterval::new(begin_ns, clock.newest_raw_ns()?))
        };
        let is_steady = |clock: &OwnClock| since(clock).is_some_and(|since| clock.is_steady(since));
        self.clock(host).is_some_and(is_steady)
    }

    /// Takes the stamps of a packet.
    pub fn note_packet(&mut self, from: u32, to: u32, packet: StampedPacket, now_ns: u64) {
        if from == to {
            return;
        }
        let has_room = self.directions.len() < MOST_DIRECTIONS;
        if has_room || self.directions.contains_key(&(from, to)) {
            let direction = self.directions.entry((from, to)).or_default();
            direction.waiting.push_back((now_ns, packet));
            if direction.waiting.len() > MOST_STAMPS {
                direction.waiting.pop_front();
            }
        }
    }

    fn forget(&mut self, host: u32) {
        self.hosts.remove(&host);
        self.directions
            .retain(|(from, to), _| *from != host && *to != host);
    }

    /// Converts stamps, and forgets what is old or of silent hosts.
    pub fn settle(&mut self, now_ns: u64) {
        let silent = |host: &Host| now_ns.saturating_sub(host.heard_ns) > SILENT_NS;
        let gone = self.hosts.iter().filter(|(_, host)| silent(host));
        let gone: Vec<u32> = gone.map(|(host, _)| *host).collect();
        for host in gone {
            self.forget(host);
        }
        // Whole stamps first: they tell which multiple of 2^32 ns the others lack.
        for wrapped in [false, true] {
            let pairs: Vec<_> = self.directions.keys().copied().collect();
            for pair in pairs {
                self.convert(pair, wrapped, now_ns);
            }
        }
        for ((_, to), direction) in &mut self.directions {
            let newest = self
                .hosts
                .get(to)
                .and_then(|host| host.clock.newest(1).next());
            if let Some(newest) = newest {
                let minima = &mut direction.minima;
                minima.retain(|one| one.arrived.high_ns > newest.raw_ns - KEEP_NS);
            }
        }
        self.directions
            .retain(|_, one| !one.waiting.is_empty() || !one.minima.is_empty());
    }

    fn convert(&mut self, (from, to): (u32, u32), wrapped: bool, now_ns: u64) {
        let (Some(sender), Some(receiver)) = (self.hosts.get(&from), self.hosts.get(&to)) else {
            if let Some(direction) = self.directions.get_mut(&(from, to)) {
                let fresh = |noted_ns: u64| now_ns.saturating_sub(noted_ns) < WAIT_NS;
                direction.waiting.retain(|(noted_ns, _)| fresh(*noted_ns));
            }
            return;
        };
        let link = wrapped.then(|| self.link(to, from));
        let Some(direction) = self.directions.get_mut(&(from, to)) else {
            return;
        };
        let mut kept = VecDeque::new();
        let are_reported = |ns: u64| sender.known.is_beyond(ns) && receiver.known.is_beyond(ns);
        for (noted_ns, packet) in std::mem::take(&mut direction.waiting) {
            let found = match (packet, &link) {
                _ if !are_reported(noted_ns) => None,
                (StampedPacket::Whole { sent, arrived }, None) => {
                    raw_minimum(sender, receiver, sent, arrived)
                }
                (
                    StampedPacket::Wrapped {
                        arrived_ns,
                        latency_ns,
                    },
                    Some(link),
                ) => unwrapped(sender, receiver, link, arrived_ns, latency_ns),
                _ => None,
            };
            match found {
                Some(minimum) => direction.minima.push_back(minimum),
                None if now_ns.saturating_sub(noted_ns) < WAIT_NS => {
                    kept.push_back((noted_ns, packet));
                }
                None => {}
            }
        }
        direction.waiting = kept;
        while direction.minima.len() > MOST_STAMPS {
            direction.minima.pop_front();
        }
    }

    /// All that is known of two hosts, by the places 0 and 1.
    fn link(&self, from: u32, to: u32) -> ClockLink {
        let minima = |pair| match self.directions.get(&pair) {
            Some(direction) => direction.minima.iter().copied().collect(),
            None => Vec::new(),
        };
        ClockLink {
            from: 0,
            to: 1,
            forward: minima((from, to)),
            reverse: minima((to, from)),
            same_clock: false,
        }
    }

    /// The hosts whose clocks may be known, and the links between them by their places in that list.
    pub(super) fn links(&self) -> (Vec<u32>, Vec<ClockLink>) {
        let mut hosts: Vec<u32> = self.hosts.keys().copied().collect();
        hosts.sort_unstable();
        let place = |host: &u32| hosts.binary_search(host).ok();
        let mut links = Vec::new();
        for (from, to) in self.directions.keys() {
            let turned = self.directions.contains_key(&(*to, *from));
            // Of two directions, one makes the link.
            if turned && from > to {
                continue;
            }
            if let (Some(at), Some(end)) = (place(from), place(to)) {
                links.push(ClockLink {
                    from: at,
                    to: end,
                    ..self.link(*from, *to)
                });
            }
        }
        self.share_kernels(&hosts, &mut links);
        links.sort_by_key(|link| (link.from, link.to));
        (hosts, links)
    }

    /// Links the hosts of each kernel, one with the next. Their packets tell nothing about clocks beside that. A virtual
    /// machine that was cloned while it ran is another kernel with the same number: if packets show that, nothing is
    /// made of the number.
    fn share_kernels(&self, hosts: &[u32], links: &mut Vec<ClockLink>) {
        let kernel = |place: usize| {
            let host = self.hosts.get(hosts.get(place)?)?;
            (host.said.kernel != 0).then_some(host.said.kernel)
        };
        let inside =
            |link: &ClockLink| kernel(link.from).filter(|one| kernel(link.to) == Some(*one));
        let refuted = links.iter().filter(|link| link.refutes_one_clock());
        let refuted: HashSet<u64> = refuted.filter_map(inside).collect();
        let shared = |kernel: &u64| !refuted.contains(kernel);
        links.retain(|link| !inside(link).is_some_and(|kernel| shared(&kernel)));
        let mut last = HashMap::new();
        for place in 0..hosts.len() {
            let Some(kernel) = kernel(place).filter(shared) else {
                continue;
            };
            if let Some(from) = last.insert(kernel, place) {
                links.push(ClockLink {
                    from,
                    to: place,
                    forward: Vec::new(),
                    reverse: Vec::new(),
                    same_clock: true,
                });
            }
        }
    }

    pub fn said(&self, host: u32) -> Statement {
        self.hosts
            .get(&host)
            .map(|host| host.said)
            .unwrap_or_default()
    }

    pub(super) fn clock(&self, host: u32) -> Option<&OwnClock> {
        Some(&self.hosts.get(&host)?.clock)
    }

    /// The time since a host reported something.
    pub(super) fn heard_ago_ns(&self, host: u32, now_ns: u64) -> Option<u64> {
        Some(now_ns.saturating_sub(self.hosts.get(&host)?.heard_ns))
    }

    /// The number of directions between two hosts of which packets are known.
    pub fn directions(&self) -> usize {
        self.directions.len()
    }

    /// The number of hosts that tell what they know.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

impl Host {
    fn raw_of(&self, stamp: Stamp) -> Option<ClockInterval> {
        match stamp {
            Stamp::Raw(ns) => Some(ClockInterval::exactly(ns)),
            Stamp::Clock(ns) => self.clock.raw_of(ns),
        }
    }
}

fn raw_minimum(sender: &Host, receiver: &Host, sent: Stamp, arrived: Stamp) -> Option<RawMinimum> {
    Some(RawMinimum {
        sent: sender.raw_of(sent)?,
        arrived: receiver.raw_of(arrived)?,
    })
}

/// The packet was sent at the latest time before its arrival that has the low bits of its stamp: none takes 4 s. `link`
/// goes from the receiver to the sender.
fn unwrapped(
    sender: &Host,
    receiver: &Host,
    link: &ClockLink,
    arrived_ns: i128,
    latency_ns: i32,
) -> Option<RawMinimum> {
    let arrived = receiver.clock.raw_of(arrived_ns)?;
    let (Some(most), Some(least)) = link.bounds_at(arrived, Drift::CRYSTALS) else {
        return None;
    };
    let then = ClockInterval::new(arrived.low_ns + least, arrived.high_ns + most);
    let latest_ns = then.plus(sender.clock.ahead_within(then)?).high_ns;
    // If the sender's clock was set by as much as stamps wrap, the packet may have been sent later than that says.
    let before = ClockInterval::new(then.low_ns - STAMP_WRAPS_NS, then.high_ns);
    if sender.clock.stepped_by(STAMP_WRAPS_NS / 2, before) {
        return None;
    }
    let stamp = arrived_ns - i128::from(latency_ns);
    let sent_ns = latest_ns - (latest_ns - stamp).rem_euclid(STAMP_WRAPS_NS);
    Some(RawMinimum {
        sent: sender.clock.raw_of(sent_ns)?,
        arrived,
    })
}
