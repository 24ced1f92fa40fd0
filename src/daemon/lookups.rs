//! Resolves names again when their records expire, in a thread of its own: that may take seconds.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::os::{dns, log, resolve, wait};

/// The lifetime of names that DNS states none for: those of /etc/hosts, and those that are not found.
const UNKNOWN: Duration = Duration::from_secs(60);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(24 * 3600);

struct LookupAnswer {
    name: String,
    found: io::Result<Vec<IpAddr>>,
    lives: Option<Duration>,
}

struct Name {
    /// Ascending.
    addresses: Vec<IpAddr>,
    /// `None`: it is being resolved.
    next: Option<Instant>,
    /// The log says already that it cannot be found.
    missing_logged: bool,
}

/// The names that are followed.
pub struct Lookups {
    asked: Sender<String>,
    answers: Receiver<LookupAnswer>,
    names: BTreeMap<String, Name>,
}

fn resolve_all(asked: &Receiver<String>, answers: &Sender<LookupAnswer>) {
    while let Ok(name) = asked.recv() {
        let answer = LookupAnswer {
            found: resolve::addresses(&name),
            lives: dns::time_to_live(&name),
            name,
        };
        if answers.send(answer).is_err() {
            return;
        }
        wait::wake();
    }
}

fn list(addresses: &[IpAddr]) -> String {
    let texts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

impl Lookups {
    pub fn start() -> Self {
        let (asked, questions) = channel();
        let (found, answers) = channel();
        thread::spawn(move || resolve_all(&questions, &found));
        Self {
            asked,
            answers,
            names: BTreeMap::new(),
        }
    }

    /// Follows these names from now on, each with its addresses as far as they are known.
    pub fn set(&mut self, named: BTreeMap<String, Vec<IpAddr>>, now: Instant) {
        self.names.retain(|text, _| named.contains_key(text));
        for (text, mut addresses) in named {
            let name = self.names.entry(text).or_insert(Name {
                addresses: Vec::new(),
                next: Some(now),
                missing_logged: addresses.is_empty(),
            });
            addresses.sort_unstable();
            name.addresses = addresses;
        }
    }

    /// Lets the daemon wake when a name is to be resolved again.
    pub fn wakes(&self, wait: &mut wait::Wait<'_>) {
        let next = self.names.values().filter_map(|name| name.next);
        next.for_each(|next| wait.until(next));
    }

    /// Returns the names whose addresses have changed.
    pub fn step(&mut self, now: Instant) -> BTreeMap<String, Vec<IpAddr>> {
        for (text, name) in &mut self.names {
            if name.next.is_some_and(|next| next <= now) && self.asked.send(text.clone()).is_ok() {
                name.next = None;
            }
        }
        let mut changed = BTreeMap::new();
        while let Ok(answer) = self.answers.try_recv() {
            changed.extend(self.take_answer(answer, now));
        }
        changed
    }

    /// Returns the name if its addresses have changed.
    fn take_answer(&mut self, answer: LookupAnswer, now: Instant) -> Option<(String, Vec<IpAddr>)> {
        let name = self.names.get_mut(&answer.name)?;
        let lives = answer.lives.unwrap_or(UNKNOWN).clamp(SHORTEST, LONGEST);
        let text = answer.name;
        match answer.found {
            Ok(found) if !found.is_empty() => {
                name.next = Some(now + lives);
                name.missing_logged = false;
                if found == name.addresses {
                    return None;
                }
                log::info(format_args!("{text} is {} now", list(&found)));
                name.addresses.clone_from(&found);
                Some((text, found))
            }
            failed => {
                name.next = Some(now + UNKNOWN);
                if !std::mem::replace(&mut name.missing_logged, true) {
                    let why = match failed {
                        Err(err) => err.to_string(),
                        Ok(_) => "the name has no address".to_owned(),
                    };
                    log::warning(format_args!(
                        "cannot find {text} any more, so it stays {}: {why}",
                        list(&name.addresses)
                    ));
                }
                None
            }
        }
    }
}
