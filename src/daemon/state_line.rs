//! The state of this host in one line, for the service manager.

use std::fmt::Write;

use anyhow::Result;

use super::leases::LeaseKeeping;
use crate::datapath::host::counters::{self, CounterMeaning};
use crate::datapath::kernel::map_names;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::sink_status;
use crate::datapath::source::source_links;
use crate::datapath::transit::transit_links;
use crate::views::digits::Grouped;

/// `sink on eth1 (xdp native); 12 flows, 3,400 packets received, 2 lost`, and the source's line if there is one.
pub fn of_sink(
    pins: &Pins,
    flows: u64,
    reports_lost: u64,
    leases: Option<&LeaseKeeping>,
) -> Result<String> {
    let devs: Vec<String> = sink_status::attachments(pins)?
        .iter()
        .map(|at| format!("{} ({} {})", at.dev, at.hook, at.mode))
        .collect();
    let [received, lost] = read(
        pins,
        map_names::SINK_COUNTERS,
        counters::SINK,
        ["received", "lost"],
    )?;
    let mut line = format!(
        "sink on {}; {}, {} received, {} lost",
        if devs.is_empty() {
            "no interface for now".to_owned()
        } else {
            devs.join(", ")
        },
        counted(flows, "flow"),
        counted(received, "packet"),
        Grouped(lost)
    );
    if reports_lost > 0 {
        write!(line, "; {} not sent", counted(reports_lost, "report"))?;
    }
    if source_links::is_loaded(pins) {
        write!(line, "; {}", of_source(pins, leases)?)?;
    }
    Ok(line)
}

/// `source on eth1; 2 of 3 peers strip, 8,000 packets tagged`.
pub fn of_source(pins: &Pins, leases: Option<&LeaseKeeping>) -> Result<String> {
    let devs: Vec<String> = source_links::attachments(pins)?
        .into_iter()
        .map(|attached| attached.dev)
        .collect();
    let [tagged] = read(
        pins,
        map_names::SOURCE_COUNTERS,
        counters::SOURCE,
        ["tagged"],
    )?;
    let (granted, peers) = leases.map_or((0, 0), LeaseKeeping::granted);
    Ok(format!(
        "source on {}; {} of {} strip, {} tagged",
        devs.join(", "),
        Grouped(granted as u64),
        counted(peers as u64, "peer"),
        counted(tagged, "packet")
    ))
}

/// `transit hop on eth0, eth1; 8,100 packets with INT arrived, 8,000 got an entry`.
pub fn of_transit(pins: &Pins) -> Result<String> {
    let attached = transit_links::inspect(pins)?;
    let devs = attached.into_iter().filter(|seen| seen.alive);
    let devs: Vec<String> = devs.filter_map(|seen| seen.name).collect();
    let [pushed, arrived] = read(
        pins,
        map_names::TRANSIT_COUNTERS,
        counters::TRANSIT,
        ["pushed", "arrived"],
    )?;
    Ok(format!(
        "transit hop on {}; {} with INT arrived, {} got an entry",
        devs.join(", "),
        counted(arrived, "packet"),
        Grouped(pushed)
    ))
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", Grouped(count))
}

fn read<const N: usize>(
    pins: &Pins,
    map: &str,
    meanings: &'static [CounterMeaning],
    names: [&str; N],
) -> Result<[u64; N]> {
    let counts = counters::read_all(pins, map, meanings)?;
    Ok(names.map(|name| {
        let found = counts.iter().find(|(meaning, _)| meaning.name == name);
        found.map_or(0, |(_, count)| count.packets)
    }))
}
