//! Keeps this host's leases: questions out, answers in, what they mean into the kernel.

use std::collections::HashMap;
use std::net::IpAddr;

use anyhow::{Context, Result};

use crate::datapath::leases::Leases;
use crate::datapath::pins::Pins;
use crate::datapath::renewal::Renewal;
use crate::datapath::shared_settings::SharedSettings;
use crate::datapath::source_links;
use crate::datapath::source_settings::tagging_of;
use crate::lease::{AnswerTime, LeaseKeeper, OwnTagging, Tagging};
use crate::model::{AddressPair, Lease, LeaseKey, LeaseState, NodeId};
use crate::os::log::{self, Event, Level};
use crate::os::{clock, icmp};
use crate::views;
use crate::wire::lease::MAGIC;

/// Answers are read, and questions asked, no sooner than so long after the last: the loop may turn at each packet.
const ROUND_NS: u64 = 5_000_000;
/// How often the kernel's list of leases is looked through for new ones, and longer if that takes long.
const SCAN_NS: u64 = 100_000_000;
/// A new pair waits so long at most.
const LONGEST_SCAN_NS: u64 = 1_000_000_000;
/// Scanning takes at most this part of the time, else.
const SCAN_SHARE: u64 = 1000;
/// Without a packet for so long a pair is idle.
const IDLE_NS: u64 = 10_000_000_000;
/// Pairs of which no packet came for so long are forgotten, unless the user named them.
const FORGET_NS: u64 = 60_000_000_000;

/// Leases of this host's source, kept while this lives.
pub struct LeaseKeeping {
    keeper: LeaseKeeper,
    echo: icmp::Echo,
    renewal: Option<Renewal>,
    next_round_ns: u64,
    next_scan_ns: u64,
    number: u16,
    told: HashMap<IpAddr, LeaseState>,
    pub counts: Counts,
}

/// What was done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub asked: u64,
    pub answered: u64,
    pub refused: u64,
    pub cpu_ns: u64,
}

/// Numbers that nobody can guess, fetched many at a time.
#[derive(Default)]
struct Nonces(Vec<u64>);

impl Nonces {
    fn next(&mut self) -> u64 {
        if self.0.is_empty() {
            let mut bytes = [0; 1024];
            if getrandom::fill(&mut bytes).is_ok() {
                let words = bytes.chunks_exact(8);
                self.0 = words
                    .map(|word| word.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
                    .collect();
            }
        }
        // Without entropy the last resort is one that is at least never used twice.
        self.0.pop().unwrap_or_else(clock::monotonic_ns)
    }
}

/// Leases of a trusted network are plain: said at start.
pub fn say_plain(has_key: bool) {
    if !has_key {
        log::warning("no --lease-key: any host of this network can get, and forge, leases");
    }
}

fn keeper(key: Option<LeaseKey>, mut nonces: Nonces) -> LeaseKeeper {
    LeaseKeeper::new(key.unwrap_or_default(), OwnTagging::default(), move || {
        nonces.next()
    })
}

impl LeaseKeeping {
    /// # Errors
    /// Without CAP_NET_RAW.
    pub fn start(key: Option<LeaseKey>) -> Result<Self> {
        let mut nonces = Nonces::default();
        let echo = icmp::Echo::open(MAGIC, nonces.next() as u16)
            .context("cannot open sockets for lease questions (needs CAP_NET_RAW)")?;
        Ok(Self {
            keeper: keeper(key, nonces),
            echo,
            renewal: None,
            next_round_ns: 0,
            next_scan_ns: 0,
            number: 0,
            told: HashMap::new(),
            counts: Counts::default(),
        })
    }

    /// Another key: all pairs are asked anew, while what they were granted lasts.
    pub fn set_key(&mut self, key: Option<LeaseKey>) {
        self.keeper = keeper(key, Nonces::default());
        self.next_scan_ns = 0;
    }

    /// How many peers strip, and how many there are.
    pub fn granted(&self) -> (usize, usize) {
        let states = self.keeper.pairs().map(|pair| self.keeper.lease(pair));
        let granted =
            states.filter(|lease| lease.is_some_and(|lease| lease.state == LeaseState::Granted));
        (granted.count(), self.keeper.pairs().count())
    }

    /// To be called every few ms.
    pub fn tick(&mut self, pins: &Pins) -> Result<()> {
        let now_ns = clock::monotonic_ns();
        if now_ns < self.next_round_ns {
            return Ok(());
        }
        self.next_round_ns = now_ns + ROUND_NS;
        if now_ns < self.next_scan_ns && !self.keeper.is_busy(now_ns) {
            return Ok(());
        }
        let cpu_ns = clock::thread_cpu_ns();
        let mut scanned = Ok(());
        if now_ns >= self.next_scan_ns {
            scanned = self.scan(pins, now_ns);
            let took_ns = clock::monotonic_ns() - now_ns;
            self.next_scan_ns = now_ns + (took_ns * SCAN_SHARE).clamp(SCAN_NS, LONGEST_SCAN_NS);
        }
        self.take_answers()?;
        self.ask();
        self.counts.cpu_ns += clock::thread_cpu_ns() - cpu_ns;
        // Known leases are kept all the same.
        scanned
    }

    /// Which pairs packets, or users, want leases for.
    fn scan(&mut self, pins: &Pins, now_ns: u64) -> Result<()> {
        // Looked up anew each time: a source that was detached and attached again has another map.
        let Some(table) = Leases::open(pins)? else {
            self.keeper.clear();
            self.renewal = None;
            return Ok(());
        };
        match &self.renewal {
            Some(renewal) if renewal.is_for(&table)? => {}
            _ => {
                let renewal = Renewal::load(&table);
                self.renewal = Some(renewal.context("cannot load the program that renews leases")?);
            }
        }
        let mut tagging = Vec::new();
        for (_, _, info) in source_links::attachments(pins)? {
            let (encapsulations, marks) = tagging_of(&info);
            tagging.push(Tagging {
                encapsulations,
                marks,
            });
        }
        let host = SharedSettings::read_pinned(pins)?.unwrap_or_default();
        self.keeper.set_ours(OwnTagging {
            node: NodeId(host.node_id),
            tagging,
        });
        let keeper = &mut self.keeper;
        let mut idle_for_long = Vec::new();
        let mut silent = Vec::new();
        table.for_each(|pair, entry| {
            let waited_ns = now_ns.saturating_sub(entry.wanted_ns);
            if !entry.named && waited_ns > FORGET_NS {
                idle_for_long.push(pair);
                return;
            }
            let known = keeper.lease(&pair).map(|lease| lease.state);
            if known == Some(LeaseState::Silent) && entry.lease.state != LeaseState::Silent {
                silent.push(pair);
            }
            keeper.want(pair, entry.named, now_ns);
            keeper.set_idle(&pair, waited_ns > IDLE_NS, now_ns);
            // What was right once may have changed with a route.
            if matches!(known, None | Some(LeaseState::Forged))
                && let Some(origin) = icmp::source_address(pair.dest)
            {
                keeper.set_origin(&pair, origin);
            }
        })?;
        for pair in keeper.forget_unwanted() {
            self.told.remove(&pair.dest);
        }
        for pair in idle_for_long {
            table.remove(&pair)?;
        }
        let known = |pair| Some((pair, *self.keeper.lease(&pair)?));
        let silent: Vec<_> = silent.into_iter().filter_map(known).collect();
        for (pair, lease) in &silent {
            tell(&mut self.told, pair.dest, lease);
        }
        self.renew(&silent)
    }

    fn take_answers(&mut self) -> Result<()> {
        let now_ns = clock::monotonic_ns();
        let realtime_now_ns = clock::realtime_ns();
        let keeper = &mut self.keeper;
        let (told, counts) = (&mut self.told, &mut self.counts);
        let mut renewed = Vec::new();
        self.echo.receive(|payload, realtime_ns| {
            let waited_ns = realtime_now_ns.saturating_sub(realtime_ns);
            let at = AnswerTime {
                monotonic_ns: now_ns.saturating_sub(waited_ns),
                realtime_ns,
            };
            let Some(taken) = keeper.take(payload, at) else {
                return;
            };
            match taken.lease.state {
                LeaseState::Granted => counts.answered += 1,
                _ => counts.refused += 1,
            }
            if taken.changed {
                tell(told, taken.pair.dest, &taken.lease);
            }
            renewed.push((taken.pair, taken.lease));
        })?;
        self.renew(&renewed)
    }

    /// Into the kernel.
    fn renew(&self, renewed: &[(AddressPair, Lease)]) -> Result<()> {
        let Some(renewal) = &self.renewal else {
            return Ok(());
        };
        let renewed = renewal.renew(renewed);
        renewed
            .map(drop)
            .context("cannot renew leases in the kernel")
    }

    fn ask(&mut self) {
        let now_ns = clock::monotonic_ns();
        while let Some((_, asked)) = self.keeper.next_due(now_ns, clock::realtime_ns()) {
            self.number = self.number.wrapping_add(1);
            self.counts.asked += 1;
            // No route, a full queue: then there is no answer, which is the same.
            let _ = self.echo.send(asked.to, self.number, &asked.message);
        }
    }
}

/// Says once what became of a destination's sink.
fn tell(told: &mut HashMap<IpAddr, LeaseState>, dest: IpAddr, lease: &Lease) {
    let before = told.insert(dest, lease.state);
    if before == Some(lease.state) {
        return;
    }
    match (before, lease.state) {
        (_, LeaseState::Asking) => {}
        (None, LeaseState::Silent) => {}
        (_, state) => log::event(
            match state {
                LeaseState::Granted => Level::Info,
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
