//! A host's state, from what is pinned.

use anyhow::Result;

use crate::cli::{FlowOrder, StatusArgs};
use crate::commands::peers::read_peers;
use crate::config::{SinkHook, SourceHook};
use crate::datapath::abi::{
    self, daemon_counter, flow_key, sink_flag, sink_flow, sink_settings, source_flow,
};
use crate::datapath::collectors;
use crate::datapath::counters::{self, CounterMeaning};
use crate::datapath::events::encapsulation_of;
use crate::datapath::grants;
use crate::datapath::links::{Link, RunningXdpMode, xdp_mode};
use crate::datapath::maps::Map;
use crate::datapath::pins::Pins;
use crate::datapath::shared_settings::{SharedSettings, clock_state};
use crate::datapath::source_links;
use crate::datapath::source_settings::superpackets_of;
use crate::datapath::watch::Watchlist;
use crate::datapath::{map_names, sink, sink_links};
use crate::model::{
    Attachment, BucketEdge, ClockStatus, CounterStatus, DaemonCounter, Dest, DestStatus,
    Encapsulation, HostStatus, NodeId, Prefix, STATUS_SCHEMA, SinkSettings, SinkStatus,
    SourceStatus, WatchRule, diagnose,
};
use crate::os::{clock, netdev};

/// A daemon that gave no sign of life for so long is taken for dead.
const ALIVE_NS: u64 = 5_000_000_000;

/// What of flows and peers is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub flows: usize,
    pub peers: usize,
    pub sort: FlowOrder,
}

impl Wanted {
    /// As flags say.
    pub fn of(args: &StatusArgs) -> Self {
        Self {
            flows: args.flows,
            peers: args.peers,
            sort: args.sort,
        }
    }
}

pub fn read(pins: &Pins, wanted: Wanted) -> Result<HostStatus> {
    read_and_visit(pins, wanted, |_, _| {})
}

/// The same, and all flows are shown to `visit`.
pub fn read_and_visit(
    pins: &Pins,
    wanted: Wanted,
    visit: impl FnMut(&flow_key, &sink_flow),
) -> Result<HostStatus> {
    let host = SharedSettings::read_pinned(pins)?;
    let mut status = HostStatus {
        schema: STATUS_SCHEMA,
        node_id: host.map(|host| NodeId(host.node_id)),
        clock: host.as_ref().and_then(clock_status),
        sink: read_sink(pins, host.unwrap_or_default(), wanted, visit)?,
        source: read_source(pins)?,
        why: Vec::new(),
    };
    status.why = diagnose(&status);
    if let Some(source) = &mut status.source {
        source.peers.truncate(wanted.peers);
    }
    Ok(status)
}

fn clock_status(host: &abi::host_settings) -> Option<ClockStatus> {
    let state = clock_state(host);
    Some(ClockStatus {
        source: state.source.name()?,
        offset_ns: host.clock_offset_ns,
        synchronised: state.synchronised,
    })
}

fn read_counters(
    pins: &Pins,
    name: &str,
    meanings: &'static [CounterMeaning],
) -> Result<Vec<CounterStatus>> {
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

fn read_sink(
    pins: &Pins,
    host: abi::host_settings,
    wanted: Wanted,
    visit: impl FnMut(&flow_key, &sink_flow),
) -> Result<Option<SinkStatus>> {
    let (Some(settings), Some(flows), Some(daemon)) = (
        Map::<u32, sink_settings>::open(&pins.map(map_names::SINK_SETTINGS))?,
        Map::<flow_key, sink_flow>::open(&pins.map(map_names::SINK_FLOWS))?,
        Map::<u32, u64>::open(&pins.map(map_names::DAEMON_COUNTERS))?,
    ) else {
        return Ok(None);
    };
    let settings = settings.get(&0)?.unwrap_or_default();
    let get =
        |which: daemon_counter| -> Result<u64> { Ok(daemon.get(&which.0)?.unwrap_or_default()) };
    let alive = get(daemon_counter::DAEMON_ALIVE_NS)? + ALIVE_NS > clock::realtime_ns();
    let pid = get(daemon_counter::DAEMON_PID)?;
    let daemon_pid = (alive && pid != 0).then_some(pid);
    let (spread, collectors) = match daemon_pid {
        Some(_) => collectors::read(pins)?,
        None => (false, Vec::new()),
    };
    let (flows_total, found) = crate::commands::flows::read(&flows, wanted, visit)?;
    Ok(Some(SinkStatus {
        attachments: sink_attachments(pins)?,
        daemon_pid,
        settings: sink_status_settings(pins, &settings, &host)?,
        counters: read_counters(pins, map_names::SINK_COUNTERS, counters::SINK)?,
        daemon: counters::DAEMON
            .iter()
            .map(|meaning| {
                Ok(DaemonCounter {
                    name: meaning.name,
                    text: meaning.text,
                    value: daemon.get(&meaning.index)?.unwrap_or_default(),
                })
            })
            .collect::<Result<_>>()?,
        flows_total,
        flows_max: flows.capacity(),
        flows: found,
        leases_granted: grants::held(pins)?.granted,
        spread,
        collectors,
    }))
}

pub fn sink_attachments(pins: &Pins) -> Result<Vec<Attachment>> {
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
        found.push(Attachment {
            dev: netdev::name_of(ifindex).unwrap_or(dev),
            hook: match hook {
                SinkHook::Xdp => "xdp",
                SinkHook::Tc => "tc",
            },
            mode: match hook {
                SinkHook::Xdp => mode_name(ifindex),
                SinkHook::Tc => "tcx",
            },
            superpackets: None,
            encapsulation: None,
            gro: sink::veth_gro(hook, ifindex),
            nic_timestamps: sink::asks_nic(hook, state),
        });
    }
    Ok(found)
}

fn mode_name(ifindex: u32) -> &'static str {
    match xdp_mode(ifindex) {
        Some(RunningXdpMode::Native) => "native",
        Some(RunningXdpMode::Generic) => "generic",
        None => "inactive",
    }
}

fn sink_status_settings(
    pins: &Pins,
    settings: &sink_settings,
    host: &abi::host_settings,
) -> Result<SinkSettings> {
    let has = |flag: sink_flag| settings.flags & flag.0 != 0;
    let mut encapsulations = Vec::new();
    if has(sink_flag::SINK_OVER_TCP_UDP) {
        encapsulations.push(Encapsulation::OverTcpUdp.name());
    }
    if has(sink_flag::SINK_EXTENSION_UDP) {
        encapsulations.push(Encapsulation::ExtensionUdp.name());
    }
    if has(sink_flag::SINK_VXLAN_GPE) {
        encapsulations.push(Encapsulation::VxlanGpe.name());
    }
    Ok(SinkSettings {
        encapsulations,
        dscp_value: settings.tos_value >> 2,
        dscp_mask: settings.tos_mask >> 2,
        extension_port: u16::from_be(settings.extension_port),
        report_period_ns: settings.report_period_ns,
        loss_timeout_ns: settings.loss_timeout_ns,
        bucket_hold_ns: settings.bucket_hold_ns,
        drop_tagged: has(sink_flag::SINK_DROP_TAGGED),
        buckets: settings
            .edge_up
            .iter()
            .zip(settings.edge_down)
            .take(settings.edge_count as usize)
            .map(|(up, down)| BucketEdge {
                up_ns: *up,
                down_ns: down,
            })
            .collect(),
        report_ports: host
            .report_port
            .iter()
            .take(host.report_port_count as usize)
            .map(|port| u16::from_be(*port))
            .collect(),
        clock_offset_ns: host.clock_offset_ns,
        allow: grants::allowed(pins)?
            .iter()
            .map(Prefix::to_string)
            .collect(),
        strict: has(sink_flag::SINK_STRICT),
        lease_key: host.has_lease_key != 0,
        closing: has(sink_flag::SINK_CLOSING),
    })
}

fn read_source(pins: &Pins) -> Result<Option<SourceStatus>> {
    if !source_links::is_loaded(pins) {
        return Ok(None);
    }
    let flows = Map::<flow_key, source_flow>::open(&pins.map(map_names::SOURCE_FLOWS))?;
    let mut flows_total = 0;
    if let Some(flows) = &flows {
        flows.for_each(|_, _| flows_total += 1)?;
    }
    let rules = match Watchlist::open(pins)? {
        Some(list) => list.rules()?,
        None => Vec::new(),
    };
    let mut dests: Vec<Dest> = rules.iter().flat_map(WatchRule::dests).collect();
    dests.sort();
    let attachments = source_links::attachments(pins)?
        .into_iter()
        .map(|(dev, hook, info)| Attachment {
            hook: hook.name(),
            mode: match (hook, info.clsact) {
                (SourceHook::Xdp, _) => mode_name(netdev::index_of(&dev).unwrap_or_default()),
                (_, 0) => "tcx",
                _ => "clsact",
            },
            gro: None,
            nic_timestamps: None,
            superpackets: Some(superpackets_of(&info).name()),
            encapsulation: Some(match encapsulation_of(info.encapsulation) {
                Some(Encapsulation::ExtensionUdp) => {
                    format!("extension-udp port {}", u16::from_be(info.extension_port))
                }
                Some(Encapsulation::VxlanGpe) => "vxlan-gpe".to_owned(),
                _ => format!(
                    "over-tcp-udp dscp {:#04x}/{:#04x}",
                    info.tos_value >> 2,
                    info.tos_mask >> 2
                ),
            }),
            dev,
        })
        .collect();
    let peers = read_peers(pins)?;
    let mut counters = read_counters(pins, map_names::SOURCE_COUNTERS, counters::SOURCE)?;
    counters.extend(read_counters(
        pins,
        map_names::PEER_COUNTERS,
        counters::PEER,
    )?);
    Ok(Some(SourceStatus {
        attachments,
        rules_total: rules.len(),
        dests: dests
            .into_iter()
            .map(|dest| DestStatus {
                prefix: dest.prefix.to_string(),
                name: dest.name,
                fixed: dest.fixed,
            })
            .collect(),
        counters,
        flows_total,
        flows_max: flows.map_or(0, |flows| flows.capacity()),
        peers_total: peers.len(),
        peers,
    }))
}
