//! Names that DNS has for the addresses of exporters whose nodes report none. A thread of its own asks, because that
//! may take seconds.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::exporters::Exporters;
use crate::model::node_identity::MOST_NAME_BYTES;
use crate::model::{ExporterHealth, NameOrigin};

/// The most addresses whose names are kept.
const MOST: usize = 65_536;

/// The most questions that wait. Addresses beyond them have their turn later.
const WAITING: usize = 64;

/// The least time between two questions.
const PAUSE: Duration = Duration::from_millis(50);

/// The times for which names are kept, whatever DNS says, and an address that has none is not asked for.
const SHORTEST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(24 * 3600);
const NAMELESS: Duration = Duration::from_secs(600);

/// When there is no room, addresses that were not exporters for this time make some.
const UNUSED: Duration = Duration::from_secs(3600);

/// A name, and the time for which it may be kept.
pub type AddressName = (String, Duration);

/// The names of addresses, as far as they are known.
pub struct ReverseNames {
    asked: SyncSender<IpAddr>,
    answers: Receiver<(IpAddr, Option<AddressName>)>,
    known: HashMap<IpAddr, KnownAddress>,
}

struct KnownAddress {
    name: Option<String>,
    /// When it is to be asked for again. `None`: it is being asked for.
    due: Option<Instant>,
    used: Instant,
}

impl ReverseNames {
    /// Starts the thread, in which `name_of` may block.
    pub fn start(name_of: impl Fn(IpAddr) -> Option<AddressName> + Send + 'static) -> Self {
        let (asked, questions) = sync_channel(WAITING);
        let (found, answers) = channel();
        thread::spawn(move || {
            while let Ok(address) = questions.recv() {
                if found.send((address, name_of(address))).is_err() {
                    return;
                }
                thread::sleep(PAUSE);
            }
        });
        Self {
            asked,
            answers,
            known: HashMap::new(),
        }
    }

    /// Takes the answers that came.
    fn take_answers(&mut self, now: Instant) {
        if self.known.len() >= MOST {
            let is_used = |one: &KnownAddress| now.saturating_duration_since(one.used) < UNUSED;
            self.known.retain(|_, known| is_used(known));
        }
        while let Ok((address, answer)) = self.answers.try_recv() {
            let Some(known) = self.known.get_mut(&address) else {
                continue;
            };
            let answer = answer.filter(|(name, _)| name.len() <= MOST_NAME_BYTES);
            let lives = answer
                .as_ref()
                .map_or(NAMELESS, |(_, lives)| (*lives).clamp(SHORTEST, LONGEST));
            known.name = answer.map(|(name, _)| name);
            known.due = Some(now + lives);
        }
    }

    /// Gives names to exporters that have none and whose node tells none from another address. A name that another node
    /// has, too, is contested.
    pub fn fill_in(&mut self, health: &mut [ExporterHealth], exporters: &Exporters, now: Instant) {
        self.take_answers(now);
        let reported = exporters.identities.named_nodes();
        for one in health.iter_mut() {
            if one.name.is_some() || one.node.is_some_and(|node| reported.contains(&node)) {
                continue;
            }
            one.name = self.name(one.exporter, now).map(str::to_owned);
            one.name_origin = one.name.is_some().then_some(NameOrigin::Dns);
        }
        let mut owners = HashMap::<String, HashSet<_>>::new();
        for one in health.iter() {
            if let Some(name) = &one.name {
                let owner = one.node.ok_or(one.exporter);
                owners.entry(name.clone()).or_default().insert(owner);
            }
        }
        for one in health {
            if let (Some(NameOrigin::Dns), Some(name)) = (one.name_origin, &one.name) {
                one.name_contested = owners.get(name).is_some_and(|owners| owners.len() > 1);
            }
        }
    }

    /// Returns the name of an address, if it is known, and asks for it if that is due.
    fn name(&mut self, address: IpAddr, now: Instant) -> Option<&str> {
        let is_new = !self.known.contains_key(&address);
        if address.is_loopback() || is_new && self.known.len() >= MOST {
            return None;
        }
        let known = self.known.entry(address).or_insert(KnownAddress {
            name: None,
            due: Some(now),
            used: now,
        });
        known.used = now;
        if known.due.is_some_and(|due| due <= now) && self.asked.try_send(address).is_ok() {
            known.due = None;
        }
        known.name.as_deref()
    }
}
