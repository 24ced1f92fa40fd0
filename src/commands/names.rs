//! Names on the watchlist are resolved again when their records expire, beside everything else: that may take
//! long.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::source::rename_addresses;
use crate::datapath::pins::Pins;
use crate::datapath::watch::Watchlist;
use crate::model::{Place, Prefix, WatchRule};
use crate::os::{log, resolve};

/// For names that DNS knows no lifetime of, as those of /etc/hosts, and those that are not found.
const UNKNOWN: Duration = Duration::from_secs(60);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(24 * 3600);

struct Answer {
    name: String,
    found: io::Result<Vec<IpAddr>>,
    lives: Option<Duration>,
}

struct Name {
    prefixes: Vec<Prefix>,
    /// `None`: it is being resolved.
    next: Option<Instant>,
    /// That it cannot be found was said already.
    told: bool,
}

/// The names of the watchlist.
pub struct Names {
    asked: Sender<String>,
    answers: Receiver<Answer>,
    names: BTreeMap<String, Name>,
    serial: Option<u32>,
}

fn resolve_all(asked: &Receiver<String>, answers: &Sender<Answer>) {
    while let Ok(name) = asked.recv() {
        let answer = Answer {
            found: resolve::addresses(&name),
            lives: resolve::time_to_live(&name),
            name,
        };
        if answers.send(answer).is_err() {
            return;
        }
    }
}

/// What the rules name, and what that means as far as is known.
fn names_of(rules: &[WatchRule]) -> BTreeMap<String, Vec<Prefix>> {
    let places = rules
        .iter()
        .flat_map(|rule| rule.from.iter().chain(&rule.to));
    places
        .filter(|place| place.text.parse::<Prefix>().is_err())
        .map(|place| (place.text.clone(), place.prefixes.clone()))
        .collect()
}

fn list(prefixes: &[Prefix]) -> String {
    let texts: Vec<String> = prefixes.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

impl Names {
    pub fn start() -> Self {
        let (asked, questions) = channel();
        let (found, answers) = channel();
        thread::spawn(move || resolve_all(&questions, &found));
        Self {
            asked,
            answers,
            names: BTreeMap::new(),
            serial: None,
        }
    }

    /// To be called a few times a second, while nobody else changes the list.
    pub fn follow(&mut self, pins: &Pins) -> Result<()> {
        let Some(watchlist) = Watchlist::open(pins)? else {
            return Ok(());
        };
        let serial = watchlist.serial()?;
        let now = Instant::now();
        if self.serial != Some(serial) {
            self.take_names(&watchlist.rules()?, now);
            self.serial = Some(serial);
        }
        for (text, name) in &mut self.names {
            if name.next.is_some_and(|next| next <= now) && self.asked.send(text.clone()).is_ok() {
                name.next = None;
            }
        }
        let mut changed = Vec::new();
        while let Ok(answer) = self.answers.try_recv() {
            changed.extend(self.take_answer(answer, now));
        }
        if changed.is_empty() {
            return Ok(());
        }
        rename_addresses(pins, &watchlist, &changed).context("cannot follow changed names")
    }

    fn take_names(&mut self, rules: &[WatchRule], now: Instant) {
        let named = names_of(rules);
        self.names.retain(|text, _| named.contains_key(text));
        for (text, prefixes) in named {
            let name = self.names.entry(text).or_insert(Name {
                prefixes: Vec::new(),
                next: Some(now),
                told: prefixes.is_empty(),
            });
            name.prefixes = prefixes;
        }
    }

    /// The name, if it means something else now.
    fn take_answer(&mut self, answer: Answer, now: Instant) -> Option<Place> {
        let name = self.names.get_mut(&answer.name)?;
        let lives = answer.lives.unwrap_or(UNKNOWN).clamp(SHORTEST, LONGEST);
        let text = answer.name;
        match answer.found {
            Ok(found) if !found.is_empty() => {
                name.next = Some(now + lives);
                name.told = false;
                let found: BTreeSet<Prefix> = found.into_iter().map(Prefix::host).collect();
                if found == name.prefixes.iter().copied().collect() {
                    return None;
                }
                let prefixes: Vec<Prefix> = found.into_iter().collect();
                log::info(format_args!("{text} is {} now", list(&prefixes)));
                name.prefixes.clone_from(&prefixes);
                Some(Place { text, prefixes })
            }
            failed => {
                name.next = Some(now + UNKNOWN);
                if !std::mem::replace(&mut name.told, true) {
                    let why = match failed {
                        Err(err) => err.to_string(),
                        Ok(_) => "the name has no address".to_owned(),
                    };
                    log::warning(format_args!(
                        "cannot find {text} any more, so it stays {}: {why}",
                        list(&name.prefixes)
                    ));
                }
                None
            }
        }
    }
}
