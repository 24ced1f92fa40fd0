//! Keeps the leases of this host's source: questions go out, answers come in, and the kernel learns what they mean.

mod exchanges;
mod logged;
mod nonces;
mod own_tagging;
mod path_changes;
mod probes;
mod reverse;

use std::collections::HashMap;
use std::net::IpAddr;

use anyhow::{Context, Result};

use self::exchanges::Exchanges;
use self::logged::{LoggedLease, say};
use self::nonces::Nonces;
use self::path_changes::PathChanges;
use self::probes::Probes;
use self::reverse::Strays;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::lease::leases::Leases;
use crate::datapath::lease::renewal::Renewal;
use crate::datapath::source::source_links::SeenSources;
use crate::host::advice::advise_for;
use crate::lease::{AnswerTime, AskingTime, LeaseKeeper, LeaseUpdate, NameExchange, OwnTagging};
use crate::model::{AddressPair, Lease, LeaseKey, LeaseState};
use crate::os::{clock, icmp, log, privileges, tick, wait::Wait};
use crate::wire::lease::MAGIC;

/// The rest behind a round that found something, or leaves something to send: what follows is not worth a round each.
const ROUND_NS: u64 = 5_000_000;
/// The time between two scans of the kernel's list of leases for new ones; more if a scan takes long.
const SCAN_NS: u64 = 200_000_000;
/// The longest time that a new pair waits for a scan.
const LONGEST_SCAN_NS: u64 = 1_000_000_000;
/// Until then, scanning takes at most this fraction of the time.
const SCAN_SHARE: u64 = 1000;
/// A pair without a packet for this long is idle.
const IDLE_NS: u64 = 10_000_000_000;
/// A new daemon goes on with the paths that an earlier one proved, if its leases ended no longer ago.
const ADOPT_NS: u64 = 10_000_000_000;
/// A pair without a packet for this long is forgotten, unless the user named it.
const FORGET_NS: u64 = 60_000_000_000;

/// The leases of this host's source, kept while this lives.
pub struct LeaseKeeping {
    keeper: LeaseKeeper,
    echo: icmp::Echo,
    probes: Probes,
    reverse: Strays,
    pub names: NameExchange,
    path_changes: PathChanges,
    sources: SeenSources,
    renewal: Option<Renewal>,
    rests_until_ns: u64,
    /// An answer came in the last round.
    answered: bool,
    next_scan_ns: u64,
    number: u16,
    said: HashMap<IpAddr, LoggedLease>,
    pub exchanges: Exchanges,
    pub counts: QuestionCounts,
}

/// Questions and answers so far, and the CPU time that they took.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuestionCounts {
    pub asked: u64,
    pub answered: u64,
    pub refused: u64,
    pub cpu_ns: u64,
}

/// Warns of leases without a key, which suit a trusted network only.
pub fn warn_without_key(key: Option<LeaseKey>) {
    if key.is_none() {
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
            .map_err(|err| advise_for(err, &privileges::LEASES))
            .context("cannot open sockets for lease questions")?;
        Ok(Self {
            keeper: keeper(key, nonces),
            echo,
            probes: Probes::open()?,
            reverse: Strays::open()?,
            names: NameExchange::default(),
            path_changes: PathChanges::default(),
            sources: SeenSources::default(),
            renewal: None,
            rests_until_ns: 0,
            answered: false,
            next_scan_ns: 0,
            number: 0,
            said: HashMap::new(),
            exchanges: Exchanges::default(),
            counts: QuestionCounts::default(),
        })
    }

    /// Changes the key. All pairs are asked anew; what they were granted lasts meanwhile.
    pub fn set_key(&mut self, key: Option<LeaseKey>) {
        self.keeper = keeper(key, Nonces::default());
        self.sources = SeenSources::default();
        self.next_scan_ns = 0;
    }

    /// Returns the number of peers that strip, and the number of all.
    pub fn granted(&self) -> (usize, usize) {
        let states = self.keeper.pairs().map(|pair| self.keeper.lease(pair));
        let granted =
            states.filter(|lease| lease.is_some_and(|lease| lease.state == LeaseState::Granted));
        (granted.count(), self.keeper.pairs().count())
    }

    /// Lets the daemon wake for the next round.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        if self.rests_until_ns > 0 {
            return wait.until_ns(self.rests_until_ns);
        }
        self.echo.wakes(wait);
        self.reverse.wakes(wait);
        let next = self.keeper.next_ns().into_iter();
        next.for_each(|next_ns| wait.until_ns(next_ns));
        wait.until_ns(self.next_scan_ns);
    }

    /// Does a round, unless it is to rest.
    pub fn tick(&mut self, pins: &Pins) -> Result<()> {
        let now_ns = clock::monotonic_ns();
        if now_ns < self.rests_until_ns {
            return Ok(());
        }
        let done = self.round(pins, now_ns);
        let goes_on = self.answered
            || self.reverse.came
            || self.keeper.is_probing()
            || self.keeper.watches_rounds()
            || done.is_err();
        self.rests_until_ns = if goes_on { now_ns + ROUND_NS } else { 0 };
        done
    }

    fn round(&mut self, pins: &Pins, now_ns: u64) -> Result<()> {
        self.answered = false;
        self.reverse(pins, now_ns)?;
        let cpu_ns = clock::thread_cpu_ns();
        let mut scanned = Ok(());
        if now_ns >= self.next_scan_ns {
            scanned = self.scan(pins, now_ns);
            let took_ns = clock::monotonic_ns() - now_ns;
            let pause_ns = (took_ns * SCAN_SHARE).clamp(SCAN_NS, LONGEST_SCAN_NS);
            self.next_scan_ns = tick::before_ns(now_ns) + pause_ns;
        }
        self.take_answers(pins)?;
        self.ask();
        self.reverse.listen(&self.keeper, now_ns)?;
        self.probe();
        self.counts.cpu_ns += clock::thread_cpu_ns() - cpu_ns;
        // Known leases are kept all the same.
        scanned
    }

    /// Loads the program that renews leases, unless it is there for this table.
    fn load_renewal(&mut self, table: &Leases) -> Result<()> {
        if let Some(renewal) = &self.renewal
            && renewal.is_for(table)
        {
            return Ok(());
        }
        let renewal = Renewal::load(table);
        self.renewal = Some(renewal.context("cannot load the program that renews leases")?);
        Ok(())
    }

    /// Finds the pairs that packets or users want leases for.
    fn scan(&mut self, pins: &Pins, now_ns: u64) -> Result<()> {
        // Looked up anew each time: a source that was detached and attached again has another map.
        let Some(table) = Leases::open(pins)? else {
            self.keeper.clear();
            self.renewal = None;
            self.sources = SeenSources::default();
            return Ok(());
        };
        self.load_renewal(&table)?;
        if let Some(attached) = self.sources.news(pins)? {
            self.keeper.set_ours(own_tagging::of(pins, &attached)?);
            self.path_changes.watch(&attached);
        }
        let heard = self.path_changes.apply(&mut self.keeper, now_ns);
        let keeper = &mut self.keeper;
        let mut idle_for_long = Vec::new();
        let mut silent = Vec::new();
        let mut closed = Vec::new();
        table.for_each(|pair, entry| {
            let waited_ns = now_ns.saturating_sub(entry.wanted_ns);
            if !entry.named && waited_ns > FORGET_NS {
                idle_for_long.push(pair);
                return;
            }
            let (place, known) = keeper.want(pair, entry.named, now_ns);
            if known == Some(LeaseState::Silent) && entry.lease.state != LeaseState::Silent {
                silent.push(pair);
            }
            if known.is_none()
                && entry.lease.state == LeaseState::Granted
                && now_ns < entry.lease.until_ns + ADOPT_NS
            {
                keeper.adopt(&pair, &entry.lease.proof);
            }
            closed.extend(keeper.note_counts(place, &entry.counts, now_ns));
            keeper.set_idle(place, waited_ns > IDLE_NS, now_ns);
            // What was right once may have changed with a route.
            if matches!(known, None | Some(LeaseState::Forged))
                && let Some(origin) = icmp::source_address(pair.dest)
            {
                keeper.set_origin(&pair, origin);
            }
        })?;
        for pair in keeper.forget_unwanted(now_ns) {
            self.said.remove(&pair.dest);
        }
        for pair in idle_for_long {
            table.remove(&pair)?;
        }
        let known = |pair| Some((pair, *self.keeper.lease(&pair)?));
        let mut changed: Vec<_> = silent.into_iter().filter_map(known).collect();
        changed.extend(closed.iter().map(|update| (update.pair, update.lease)));
        for (pair, lease) in &changed {
            say(&mut self.said, pair.dest, lease);
        }
        self.renew(&changed)?;
        heard
    }

    fn take_answers(&mut self, pins: &Pins) -> Result<()> {
        let now_ns = clock::monotonic_ns();
        let now = asking_time();
        let keeper = &mut self.keeper;
        let (said, counts) = (&mut self.said, &mut self.counts);
        let exchanges = &mut self.exchanges;
        let (names, sockets) = (&mut self.names, &self.probes.0);
        let mut renewed = Vec::new();
        let mut silent = Vec::new();
        let answered = &mut self.answered;
        self.echo.receive(|payload, realtime_ns| {
            *answered = true;
            let waited_ns = now.realtime_ns.saturating_sub(realtime_ns);
            let at = AnswerTime {
                monotonic_ns: now_ns.saturating_sub(waited_ns),
                realtime_ns,
                // Packets that arrived since the clocks were read are in the future.
                raw_ns: (now.raw_ns).wrapping_add(realtime_ns.wrapping_sub(now.realtime_ns)),
            };
            let Some(taken) = keeper.take(payload, at) else {
                return;
            };
            match taken.lease.state {
                LeaseState::Granted => counts.answered += 1,
                _ => counts.refused += 1,
            }
            if taken.lease.state == LeaseState::Granted
                && let Some(name) = names.note_answer(keeper, payload, &taken.pair, now_ns)
            {
                reverse::send(sockets, (name.from, name.to), &name.message);
            }
            if taken.changed {
                say(said, taken.pair.dest, &taken.lease);
            }
            exchanges.note(&taken);
            silent.extend(taken.silent.then_some(taken.pair));
            renewed.push((taken.pair, taken.lease));
        })?;
        self.renew(&renewed)?;
        self.look_at(&silent, pins, now_ns)
    }

    /// Reads the kernel's counts of pairs for which their sinks count no packets: the next scan may be a second away.
    fn look_at(&mut self, silent: &[AddressPair], pins: &Pins, now_ns: u64) -> Result<()> {
        let Some(table) = silent
            .first()
            .map(|_| Leases::open(pins))
            .transpose()?
            .flatten()
        else {
            return Ok(());
        };
        let mut closed = Vec::new();
        for pair in silent {
            if let Some(entry) = table.get(pair)? {
                let (place, _) = self.keeper.want(*pair, entry.named, now_ns);
                closed.extend(self.keeper.note_counts(place, &entry.counts, now_ns));
            }
        }
        self.report_changed(&closed)
    }

    fn report_changed(&mut self, updates: &[LeaseUpdate]) -> Result<()> {
        let changed: Vec<_> = (updates.iter())
            .map(|update| (update.pair, update.lease))
            .collect();
        for (pair, lease) in &changed {
            say(&mut self.said, pair.dest, lease);
        }
        match changed.is_empty() {
            true => Ok(()),
            false => self.renew(&changed),
        }
    }

    /// Tells the kernel.
    fn renew(&self, renewed: &[(AddressPair, Lease)]) -> Result<()> {
        let Some(renewal) = &self.renewal else {
            return Ok(());
        };
        let renewed = renewal.renew(renewed);
        renewed
            .map(drop)
            .context("cannot renew leases in the kernel")
    }

    fn reverse(&mut self, pins: &Pins, now_ns: u64) -> Result<()> {
        let hosts = (&mut self.keeper, &mut self.names);
        let updates = self.reverse.turn(hosts, &mut self.probes, pins, now_ns)?;
        self.report_changed(&updates)
    }

    fn ask(&mut self) {
        let now_ns = clock::monotonic_ns();
        while let Some((_, asked)) = self.keeper.next_due(now_ns, asking_time()) {
            self.number = self.number.wrapping_add(1);
            self.counts.asked += 1;
            // No route, a full queue: then there is no answer, which is the same.
            let _ = self.echo.send(asked.to, self.number, &asked.message);
        }
    }

    fn probe(&mut self) {
        if !self.keeper.is_probing() {
            return self.probes.rest();
        }
        let now_ns = clock::monotonic_ns();
        for _ in 0..probes::MOST {
            let Some(probe) = self.keeper.next_probe(now_ns) else {
                return;
            };
            if let Some(len) = self.probes.send(&probe) {
                self.keeper.note_length(&probe, len);
            }
        }
    }
}

/// The time before a question is sent.
fn asking_time() -> AskingTime {
    let unsigned = |ns: i64| u64::try_from(ns).unwrap_or(0);
    clock::pair().map_or_else(
        |_| AskingTime {
            realtime_ns: clock::realtime_ns(),
            raw_ns: 0,
        },
        |pair| AskingTime {
            realtime_ns: unsigned(pair.realtime_ns),
            raw_ns: unsigned(pair.raw_ns),
        },
    )
}
