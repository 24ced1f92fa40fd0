//! The pairs of hosts whose requests of TCP option 114 this host's transit hop filled in.

use std::io;

use crate::datapath::abi::transit_asker;
use crate::datapath::kernel::map_names::TRANSIT_ASKERS;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::events::address;
use crate::model::option_hops::OptionHopPair;
use crate::os::clock;

/// Returns those since a time of the monotonic clock.
pub fn since(pins: &Pins, since_ns: u64) -> io::Result<Vec<OptionHopPair>> {
    let Some(askers) = Map::<transit_asker, u64>::open(&pins.map(TRANSIT_ASKERS))? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    askers.for_each(|asker, last_ns| {
        if last_ns >= since_ns {
            found.push(OptionHopPair {
                source: address(asker.saddr),
                dest: address(asker.daddr),
                ttl: asker.ttl as u8,
            });
        }
    })?;
    Ok(found)
}

/// The time by which requests are noted.
pub fn now_ns() -> u64 {
    clock::monotonic_ns()
}
