//! Names for what the program tells by number: reasons, places in the kernel's code, interfaces.

use std::io;

use super::links::HostLinks;
use crate::daemon::side_thread::SideThread;
use crate::datapath::postcards::drop_reasons::DropReasonNames;
use crate::datapath::postcards::drops::CountedPlace;
use crate::model::{HostDrop, PlaceDrops};
use crate::os::kallsyms::{self, Kallsyms};
use crate::os::log;

/// The most drops that wait for the names of their places.
const MOST_HELD: usize = 65_536;

/// Addresses, and what was found of them.
type Found = (Vec<u64>, io::Result<Option<Vec<Option<String>>>>);

/// The names of this kernel. Places are looked up by a thread, as that takes long, and drops wait for it.
pub struct KernelNames {
    pub reasons: DropReasonNames,
    places: Option<Kallsyms>,
    looking: Option<SideThread<Found>>,
    held: Vec<HostDrop>,
    logged_hidden: bool,
}

impl KernelNames {
    pub fn read(places: bool) -> Self {
        Self {
            reasons: DropReasonNames::read(),
            places: places.then(Kallsyms::default),
            looking: None,
            held: Vec::new(),
            logged_hidden: false,
        }
    }

    pub fn set_places(&mut self, places: bool) {
        if places != self.places.is_some() {
            self.places = places.then(Kallsyms::default);
        }
    }

    /// Asks for the names of the places at these addresses. Returns true if all are known.
    pub fn ask(&mut self, addresses: impl Iterator<Item = u64>) -> bool {
        if let Some(Ok((addresses, found))) = SideThread::take_result(&mut self.looking) {
            self.add(addresses, found);
        }
        let Some(places) = &self.places else {
            return true;
        };
        let new = places.unknown(addresses);
        if new.is_empty() {
            return true;
        }
        if self.looking.is_none() {
            let look = move || {
                let found = kallsyms::look_up(&new);
                Ok((new, found))
            };
            self.looking = SideThread::start("places", look).ok();
        }
        false
    }

    /// Takes these drops, and returns those whose places are known by now, the oldest first.
    pub fn hold(&mut self, drops: Vec<HostDrop>) -> Vec<HostDrop> {
        let mut all = std::mem::take(&mut self.held);
        all.extend(drops);
        if self.ask(all.iter().map(|drop| drop.place_address)) || all.len() > MOST_HELD {
            return all;
        }
        let Some(places) = &self.places else {
            return all;
        };
        let (known, held) = all
            .into_iter()
            .partition(|drop| places.knows(drop.place_address));
        self.held = held;
        known
    }

    /// Returns the drops that wait, and waits no longer.
    pub fn release(&mut self) -> Vec<HostDrop> {
        std::mem::take(&mut self.held)
    }

    /// Names all that these drops tell.
    pub fn name(&mut self, drops: &mut [HostDrop], links: &HostLinks) {
        self.learn(drops.iter().map(|drop| drop.place_address));
        for drop in drops {
            drop.reason = self.reasons.reason(drop.reason.number);
            drop.place = self.place(drop.place_address);
            drop.in_interface = links.name_in(drop.netns, drop.in_ifindex);
            drop.out_interface = links.name_in(drop.netns, drop.out_ifindex);
        }
    }

    /// Names places, and adds up those that are one function.
    pub fn name_places(
        &mut self,
        counted: Vec<CountedPlace>,
        links: &HostLinks,
    ) -> Vec<PlaceDrops> {
        self.learn(counted.iter().map(|place| place.address));
        let mut found: Vec<PlaceDrops> = Vec::new();
        for CountedPlace {
            address,
            ifindex,
            mut drops,
        } in counted
        {
            drops.place = self.place(address);
            drops.interface = links.name_in(drops.netns, ifindex);
            let same = |one: &&mut PlaceDrops| {
                (
                    &one.reason,
                    &one.place,
                    &one.interface,
                    one.netns,
                    one.tagged_by,
                    one.ignored,
                ) == (
                    &drops.reason,
                    &drops.place,
                    &drops.interface,
                    drops.netns,
                    drops.tagged_by,
                    drops.ignored,
                )
            };
            match found.iter_mut().find(same) {
                Some(known) => known.count.add(drops.count),
                None => found.push(drops),
            }
        }
        found
    }

    /// A function's name, or the address if it has none; nothing if places are not reported.
    fn place(&self, address: u64) -> Option<String> {
        let places = self.places.as_ref()?;
        let name = places.name(address).map(str::to_owned);
        Some(name.unwrap_or_else(|| format!("{address:#x}")))
    }

    /// Looks up at once what is not known yet.
    fn learn(&mut self, addresses: impl Iterator<Item = u64>) {
        let Some(places) = &self.places else {
            return;
        };
        let new = places.unknown(addresses);
        if !new.is_empty() {
            let found = kallsyms::look_up(&new);
            self.add(new, found);
        }
    }

    fn add(&mut self, addresses: Vec<u64>, found: io::Result<Option<Vec<Option<String>>>>) {
        let Some(places) = &mut self.places else {
            return;
        };
        let trouble = match found {
            Ok(found) => {
                places.add(addresses, found);
                None
            }
            Err(err) => {
                places.add(addresses, None);
                Some(err)
            }
        };
        if self.logged_hidden || !places.is_hidden() {
            return;
        }
        self.logged_hidden = true;
        match trouble {
            None => log::warning(
                "the kernel hides the addresses of its functions, so places are addresses (needs CAP_SYSLOG; see \
                 sysctl kernel.kptr_restrict)",
            ),
            Some(err) => log::warning(format_args!(
                "cannot read /proc/kallsyms, so places are addresses: {err}"
            )),
        }
    }
}
