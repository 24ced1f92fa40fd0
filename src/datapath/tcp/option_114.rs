//! Whether this host reads and echoes TCP option 114, which its sink's answers tell others.

use std::io;
use std::time::Duration;

use crate::datapath::kernel::map_names::SINK_OPTION_114;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::os::clock;

/// Lets this host's sink tell that it does, for this time. Without a sink this does nothing.
pub fn announce(pins: &Pins, time: Duration) -> io::Result<()> {
    let Some(map) = Map::<u32, u64>::open(&pins.map(SINK_OPTION_114))? else {
        return Ok(());
    };
    let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    map.set(&0, &clock::monotonic_ns().saturating_add(time_ns))
}
