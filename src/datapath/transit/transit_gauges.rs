//! What a transit hop fills into TCP option 114 at each interface: its settings, and the speed of the link.

use std::io;

use crate::config::{OptionHop, TransitConfig};
use crate::datapath::abi::transit_gauge;
use crate::datapath::kernel::map_names::TRANSIT_GAUGES;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::model::link_code;
use crate::os::ethtool;

fn open(pins: &Pins) -> io::Result<Option<Map<u32, transit_gauge>>> {
    Map::open(&pins.map(TRANSIT_GAUGES))
}

/// The speed in Mbit/s that the user gave, or else that of the device; 0: unknown.
fn speed(dev: &str, hop: &OptionHop) -> u32 {
    let of_device = || ethtool::speed_mbit(dev).ok().flatten();
    hop.link_mbit.or_else(of_device).unwrap_or_default()
}

/// Begins to gauge an interface at which a hop with this configuration is attached, if it fills the option in.
pub(in crate::datapath) fn begin(
    pins: &Pins,
    ifindex: u32,
    dev: &str,
    config: &TransitConfig,
) -> io::Result<()> {
    let Some(gauges) = open(pins)? else {
        return Ok(());
    };
    let Some(hop) = &config.carriers.tcp_int else {
        return gauges.remove(&ifindex).map(drop);
    };
    let link_mbit = speed(dev, hop);
    gauges.set(
        &ifindex,
        &transit_gauge {
            hold_ns: hop.hold_ns,
            link_mbit,
            link_code: link_code(link_mbit).into(),
            ..transit_gauge::default()
        },
    )
}

/// Ends that.
pub(in crate::datapath) fn end(pins: &Pins, ifindex: u32) -> io::Result<()> {
    match open(pins)? {
        Some(gauges) => gauges.remove(&ifindex).map(drop),
        None => Ok(()),
    }
}

/// Goes on with the link's present speed, where the hop fills the option in.
pub fn follow_speed(
    pins: &Pins,
    ifindex: u32,
    dev: &str,
    config: &TransitConfig,
) -> io::Result<()> {
    let Some(hop) = &config.carriers.tcp_int else {
        return Ok(());
    };
    let now = speed(dev, hop);
    match link_mbit(pins, ifindex)?.unwrap_or_default() == now {
        true => Ok(()),
        false => begin(pins, ifindex, dev, config),
    }
}

/// The speed of an interface's link, as the hop knows it.
pub(in crate::datapath) fn link_mbit(pins: &Pins, ifindex: u32) -> io::Result<Option<u32>> {
    let Some(gauges) = open(pins)? else {
        return Ok(None);
    };
    let gauge = gauges.get(&ifindex)?;
    Ok(gauge.map(|gauge| gauge.link_mbit).filter(|mbit| *mbit != 0))
}
