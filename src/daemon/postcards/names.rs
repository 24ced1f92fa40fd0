//! Names for what the program tells by number: reasons, places in the kernel's code, interfaces.

use super::links::HostLinks;
use crate::datapath::drop_reasons::DropReasonNames;
use crate::datapath::drops::CountedPlace;
use crate::model::{HostDrop, PlaceDrops};
use crate::os::kallsyms::Kallsyms;
use crate::os::log;

/// The names of this kernel.
pub struct KernelNames {
    pub reasons: DropReasonNames,
    places: Option<Kallsyms>,
    said_hidden: bool,
}

impl KernelNames {
    pub fn read(places: bool) -> Self {
        Self {
            reasons: DropReasonNames::read(),
            places: places.then(Kallsyms::default),
            said_hidden: false,
        }
    }

    pub fn set_places(&mut self, places: bool) {
        if places != self.places.is_some() {
            self.places = places.then(Kallsyms::default);
        }
    }

    /// Names all that these drops tell.
    pub fn name(&mut self, drops: &mut [HostDrop], links: &HostLinks) {
        self.learn(drops.iter().map(|drop| drop.place_address));
        for drop in drops {
            drop.reason = self.reasons.reason(drop.reason.number);
            drop.place = self.place(drop.place_address);
            drop.in_interface = links.name_of(drop.in_ifindex);
            drop.out_interface = links.name_of(drop.out_ifindex);
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
            drops.interface = links.name_of(ifindex);
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

    /// A function's name, or the address if it has none; nothing if places are not told.
    fn place(&self, address: u64) -> Option<String> {
        let places = self.places.as_ref()?;
        let name = places.name(address).map(str::to_owned);
        Some(name.unwrap_or_else(|| format!("{address:#x}")))
    }

    fn learn(&mut self, addresses: impl Iterator<Item = u64>) {
        let Some(places) = &mut self.places else {
            return;
        };
        let result = places.learn(addresses);
        if self.said_hidden || result.is_ok() && !places.is_hidden() {
            return;
        }
        self.said_hidden = true;
        match result {
            Ok(()) => log::warning(
                "the kernel hides the addresses of its functions, so places are addresses (needs CAP_SYSLOG; see \
                 sysctl kernel.kptr_restrict)",
            ),
            Err(err) => log::warning(format_args!(
                "cannot read /proc/kallsyms, so places are addresses: {err}"
            )),
        }
    }
}
