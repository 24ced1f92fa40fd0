//! Keeps this host's leases: questions out, answers in, what they mean into the kernel.

use std::collections::HashMap;
use std::net::IpAddr;

use anyhow::{Context, Result};

use crate::datapath::attachments;
use crate::datapath::host::Host;
use crate::datapath::leases::{Entry, Leases};
use crate::datapath::pins::Pins;
use crate::datapath::source_settings::tagging_of;
use crate::lease::{Keeper, Ours, Received, Tagging};
use crate::model::{AddressPair, Lease, LeaseKey, LeaseState, NodeId};
use crate::os::log::{self, Event, Level};
use crate::os::{clock, icmp};
use crate::views;
use crate::wire::lease::MAGIC;

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
    keeper: Keeper,
    echo: icmp::Echo,
    table: Option<Leases>,
    entries: HashMap<AddressPair, Entry>,
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

fn keeper(key: Option<LeaseKey>, mut nonces: Nonces) -> Keeper {
    Keeper::new(key.unwrap_or_default(), Ours::default(), move || {
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
            table: None,
            entries: HashMap::new(),
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
        let cpu_ns = clock::thread_cpu_ns();
        let now_ns = clock::monotonic_ns();
        let mut scanned = Ok(());
        if now_ns >= self.next_scan_ns {
            scanned = self.scan(pins, now_ns);
            let took_ns = clock::monotonic_ns() - now_ns;
            self.next_scan_ns = now_ns + (took_ns * SCAN_SHARE).clamp(SCAN_NS, LONGEST_SCAN_NS);
        }
        if !self.keeper.is_empty() {
            self.take_answers()?;
            self.ask()?;
        }
        self.counts.cpu_ns += clock::thread_cpu_ns() - cpu_ns;
        // Known leases are kept all the same.
        scanned
    }

    /// Which pairs packets, or users, want leases for.
    fn scan(&mut self, pins: &Pins, now_ns: u64) -> Result<()> {
        // Looked up anew each time: a source that was detached and attached again has another map.
        self.table = Leases::open(pins)?;
        let Some(table) = &self.table else {
            self.keeper.clear();
            self.entries.clear();
            return Ok(());
        };
        let mut tagging = Vec::new();
        for (_, _, info) in attachments::attachments(pins)? {
            let (encapsulations, marks) = tagging_of(&info);
            tagging.push(Tagging {
                encapsulations,
                marks,
            });
        }
        let host = Host::read_pinned(pins)?.unwrap_or_default();
        self.keeper.set_ours(Ours {
            node: NodeId(host.node_id),
            tagging,
        });
        let mut seen = HashMap::with_capacity(self.entries.len());
        table.for_each(|pair, entry| {
            seen.insert(pair, entry);
        })?;
        let idle: Vec<AddressPair> = seen
            .iter()
            .filter(|(_, entry)| !entry.named && now_ns.saturating_sub(entry.wanted_ns) > FORGET_NS)
            .map(|(pair, _)| *pair)
            .collect();
        for pair in idle {
            table.remove(&pair)?;
            seen.remove(&pair);
        }
        let gone: Vec<AddressPair> = self
            .keeper
            .pairs()
            .filter(|pair| !seen.contains_key(pair))
            .copied()
            .collect();
        for pair in gone {
            self.keeper.forget(&pair);
            self.told.remove(&pair.dest);
        }
        for (pair, entry) in &seen {
            let known = self.keeper.lease(pair).map(|lease| lease.state);
            self.keeper.want(*pair, entry.named, now_ns);
            let idle = now_ns.saturating_sub(entry.wanted_ns) > IDLE_NS;
            self.keeper.set_idle(pair, idle, now_ns);
            // What was right once may have changed with a route.
            if matches!(known, None | Some(LeaseState::Forged))
                && let Some(origin) = icmp::source_address(pair.dest)
            {
                self.keeper.set_origin(pair, origin);
            }
        }
        self.entries = seen;
        Ok(())
    }

    fn take_answers(&mut self) -> Result<()> {
        let now_ns = clock::monotonic_ns();
        let realtime_now_ns = clock::realtime_ns();
        let keeper = &mut self.keeper;
        let mut changed = Vec::new();
        self.echo.receive(|payload, realtime_ns| {
            let waited_ns = realtime_now_ns.saturating_sub(realtime_ns);
            let at = Received {
                monotonic_ns: now_ns.saturating_sub(waited_ns),
                realtime_ns,
            };
            if let Some(pair) = keeper.take(payload, at) {
                changed.push(pair);
            }
        })?;
        for pair in changed {
            let Some(lease) = self.keeper.lease(&pair).copied() else {
                continue;
            };
            match lease.state {
                LeaseState::Granted => self.counts.answered += 1,
                _ => self.counts.refused += 1,
            }
            self.store(&pair, lease)?;
        }
        Ok(())
    }

    fn ask(&mut self) -> Result<()> {
        let now_ns = clock::monotonic_ns();
        while let Some((pair, asked)) = self.keeper.next_due(now_ns, clock::realtime_ns()) {
            self.number = self.number.wrapping_add(1);
            self.counts.asked += 1;
            // No route, a full queue: then there is no answer, which is the same.
            let _ = self.echo.send(asked.to, self.number, &asked.message);
            let Some(lease) = self.keeper.lease(&pair).copied() else {
                continue;
            };
            let before = self.entries.get(&pair).map(|entry| entry.lease.state);
            if before.is_some_and(|before| before != lease.state) {
                self.store(&pair, lease)?;
            }
        }
        Ok(())
    }

    /// Into the kernel, and to people.
    fn store(&mut self, pair: &AddressPair, lease: Lease) -> Result<()> {
        let (Some(entry), Some(table)) = (self.entries.get_mut(pair), &self.table) else {
            return Ok(());
        };
        // A user may have named it since the last scan, or taken it off the list.
        let Some(now) = table.get(pair)? else {
            return Ok(());
        };
        *entry = Entry { lease, ..now };
        table.set(pair, entry)?;
        tell(&mut self.told, pair.dest, &lease);
        Ok(())
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
