//! The sink of this host as `hostint status` shows it, from what is pinned.

use std::io;

use super::astray;
use super::fine_slots::FineSlots;
use super::flow_status::{self, FlowSelection, VisitFlow};
use super::kernel_half as sink;
use super::paths;
use super::sink_links;
use crate::config::SinkHook;
use crate::datapath::abi::{daemon_counter, flow_key, sink_flow, sink_settings};
use crate::datapath::host::collectors;
use crate::datapath::host::counters::{self, CounterMeaning};
use crate::datapath::host::daemon_counters;
use crate::datapath::host::settings_status::sink_settings_status;
use crate::datapath::kernel::hook_choice::HookFacts;
use crate::datapath::kernel::links::{Link, RunningXdpMode, xdp_mode};
use crate::datapath::kernel::map_names::{
    DAEMON_COUNTERS, SINK_COUNTERS, SINK_FLOWS, SINK_SETTINGS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::lease::grant_status;
use crate::model::{Attachment, CounterStatus, DaemonCounter, SinkStatus};
use crate::os::{clock, netdev};

/// A daemon that gave no sign of life for this long counts as dead.
const ALIVE_NS: u64 = 5_000_000_000;

/// Reads the sink's state, if there is a sink; `visit` sees all of its flows.
pub fn read(
    pins: &Pins,
    query: FlowSelection,
    visit: Option<VisitFlow<'_>>,
) -> io::Result<Option<SinkStatus>> {
    let (Some(settings), Some(flows), Some(daemon)) = (
        Map::<u32, sink_settings>::open(&pins.map(SINK_SETTINGS))?,
        Map::<flow_key, sink_flow>::open(&pins.map(SINK_FLOWS))?,
        Map::<u32, u64>::open(&pins.map(DAEMON_COUNTERS))?,
    ) else {
        return Ok(None);
    };
    let settings = settings.get(&0)?.unwrap_or_default();
    let daemon_pid = daemon_pid(pins, &daemon)?;
    let (spread, collectors) = match daemon_pid {
        Some(_) => collectors::read(pins)?,
        None => (false, Vec::new()),
    };
    let grants = grant_status::read(pins)?;
    let slots = FineSlots::open(pins)?;
    let paths = match query.most {
        0 => Vec::new(),
        _ => paths::read(pins)?,
    };
    let read = flow_status::read(&flows, slots.as_ref(), query, visit)?;
    Ok(Some(SinkStatus {
        attachments: attachments(pins)?,
        daemon_pid,
        settings: sink_settings_status(pins, &settings)?,
        summaries: match daemon_pid {
            Some(_) => daemon_counters::budget(&daemon)?,
            None => None,
        },
        counters: read_counters(pins, SINK_COUNTERS, counters::SINK)?,
        daemon: counters::DAEMON
            .iter()
            .map(|meaning| {
                Ok(DaemonCounter {
                    name: meaning.name,
                    text: meaning.text,
                    value: daemon.get(&meaning.index)?.unwrap_or_default(),
                })
            })
            .collect::<io::Result<_>>()?,
        flows_total: read.total,
        flows_max: flows.capacity(),
        flows_fine: read.fine,
        flows_fine_max: slots.map_or(0, |slots| slots.capacity()),
        flows: read.selected,
        paths,
        leases_granted: grants.len(),
        grants,
        astray: astray::read(pins)?,
        spread,
        collectors,
    }))
}

/// The daemon's process. One that was killed leaves its signs of life behind, and the clock may have been set back since.
fn daemon_pid(pins: &Pins, daemon: &Map<u32, u64>) -> io::Result<Option<u64>> {
    let get = |which: daemon_counter| -> io::Result<u64> {
        Ok(daemon.get(&which.0)?.unwrap_or_default())
    };
    let alive = get(daemon_counter::DAEMON_ALIVE_NS)? + ALIVE_NS > clock::realtime_ns();
    let pid = get(daemon_counter::DAEMON_PID)?;
    // A user who may not open the folder sees what the daemon showed last.
    let runs = alive && pid != 0 && pins.is_served().unwrap_or(true);
    Ok(runs.then_some(pid))
}

pub(in crate::datapath) fn read_counters(
    pins: &Pins,
    name: &str,
    meanings: &'static [CounterMeaning],
) -> io::Result<Vec<CounterStatus>> {
    let counts = counters::read_all(pins, name, meanings)?;
    Ok(counts
        .into_iter()
        .map(|(meaning, count)| CounterStatus {
            name: meaning.name,
            text: meaning.text,
            packets: count.packets,
            bytes: count.bytes,
        })
        .collect())
}

/// The interfaces that the sink is attached to.
pub fn attachments(pins: &Pins) -> io::Result<Vec<Attachment>> {
    let mut found = Vec::new();
    for (role, dev) in pins.links()? {
        let Some(hook) = sink_links::hook_of(&role) else {
            continue;
        };
        let Some(link) = Link::open(&pins.link(&role, &dev))? else {
            continue;
        };
        let state = link.state()?;
        let ifindex = state.ifindex;
        if ifindex == 0 {
            continue;
        }
        let (hook_name, mode) = match hook {
            SinkHook::Xdp => ("xdp", xdp_mode_name(ifindex)),
            SinkHook::Tc => ("tc", "tcx"),
        };
        let dev = netdev::name_of(ifindex).unwrap_or(dev);
        let why = HookFacts::of(Some(pins), &dev)
            .ok()
            .map(|facts| facts.describe(hook));
        found.push(Attachment {
            dev,
            hook: hook_name,
            mode,
            why,
            superpackets: None,
            encapsulation: None,
            gro: sink::veth_gro(hook, ifindex),
            nic_timestamps: sink::asks_nic(hook, state),
            max_hops: None,
            path_items: Vec::new(),
        });
    }
    Ok(found)
}

pub(in crate::datapath) fn xdp_mode_name(ifindex: u32) -> &'static str {
    match xdp_mode(ifindex) {
        Some(RunningXdpMode::Native) => "native",
        Some(RunningXdpMode::Generic) => "generic",
        None => "inactive",
    }
}
