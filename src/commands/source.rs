//! `hostint source`: what is tagged, and where.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{Usage, advise, find_pins, make_pins, print};
use crate::cli::{SourceCommand, exit};
use crate::config::{SourceConfig, SourceHook, SourceOptions, Superpackets};
use crate::datapath::dests::Dests;
use crate::datapath::host::Host;
use crate::datapath::peer::{self, Peer, PeerSettings};
use crate::datapath::pins::Pins;
use crate::datapath::sink;
use crate::datapath::source::{self, Attached, Source};
use crate::datapath::source_settings;
use crate::datapath::sweeper::expire_source_flows;
use crate::model::{NodeId, Prefix, REPORT_PORT};
use crate::os::{clock, netdev, resolve, signals};
use crate::views;

pub fn run(bpffs: Option<&Path>, command: &SourceCommand) -> Result<u8> {
    match command {
        SourceCommand::Attach(options) => attach(bpffs, options),
        SourceCommand::Detach { dev } => detach(bpffs, dev),
        SourceCommand::AddDest { host, dest_file } => {
            let mut names = host.clone();
            if let Some(path) = dest_file {
                names.extend(read_dest_file(path)?);
            }
            let found = find_prefixes(&names)?;
            let dests = open_dests(bpffs)?;
            add_dests(&dests, &found)?;
            Ok(exit::OK)
        }
        SourceCommand::DelDest { host } => del_dests(&open_dests(bpffs)?, host),
        SourceCommand::Dests { json } => list_dests(bpffs, *json),
    }
}

fn attach(bpffs: Option<&Path>, options: &SourceOptions) -> Result<u8> {
    let config = options.check()?;
    let names = match &options.dest_file {
        Some(path) => read_dest_file(path)?,
        None => Vec::new(),
    };
    let prefixes = find_prefixes(&names)?;
    for dev in &options.dev {
        let ethernet = netdev::is_ethernet(dev)
            .map_err(advise)
            .with_context(|| format!("cannot use interface {dev}"))?;
        if !ethernet {
            bail!("cannot use interface {dev}: its packets have no Ethernet header");
        }
    }
    let pins = make_pins(bpffs)?;
    let node = choose_node(&pins, &config, options.force)?;
    let mut loaded = None;
    for dev in &options.dev {
        let attached = attach_dev(&pins, dev, &config, node, &prefixes);
        loaded = Some(attached.inspect_err(|_| leave_nothing(&pins))?);
    }
    match loaded {
        Some(source) if options.foreground => look_after(&source, &config)?,
        _ => {}
    }
    Ok(exit::OK)
}

/// A source that could not be attached anywhere leaves no maps behind.
fn leave_nothing(pins: &Pins) {
    if source::attachments(pins).is_ok_and(|attached| attached.is_empty()) {
        let _ = source::detach(pins, &[]);
    }
}

fn attach_dev(
    pins: &Pins,
    dev: &str,
    config: &SourceConfig,
    node: NodeId,
    prefixes: &[(Prefix, String)],
) -> Result<Source> {
    let source = Source::load(pins, dev, config)
        .map_err(advise)
        .context("cannot load the source's kernel programs")?;
    source
        .host
        .refresh_clock()
        .context("cannot set the clock")?;
    source
        .host
        .set_node_id(node)
        .context("cannot set the node id")?;
    if !sink::is_attached(pins)? {
        source.host.set_report_ports(&[REPORT_PORT])?;
    }
    if let Some(dests) = Dests::open(pins)? {
        add_dests(&dests, prefixes)?;
    }
    let peer = load_peer(pins, dev, config)
        .map_err(advise)
        .context("cannot load the program for answers")?;
    let attached = source
        .attach(pins, dev, config)
        .map_err(advise)
        .with_context(|| format!("cannot attach the source to {dev}"))?;
    match peer {
        Some(peer) => peer.attach(pins, dev, config.no_tcx).map(drop),
        None if config.hook == SourceHook::Tc => peer::detach(pins, &[dev.to_owned()]),
        None => Ok(()),
    }
    .map_err(advise)
    .with_context(|| format!("cannot look at answers on {dev}"))?;
    let how = match (config.hook, attached) {
        (SourceHook::Xdp, _) => "XDP",
        (_, Attached::Link) => "tcx",
        (_, Attached::Clsact) => "clsact",
    };
    eprintln!(
        "hostint: source attached to {dev} ({}, {how}), {}, node id {node}",
        config.hook.name(),
        config.encapsulation
    );
    if config.superpackets == Superpackets::NoGso {
        eprintln!(
            "hostint: {dev} is sent no superpackets any more; connections that exist follow when their route changes"
        );
    }
    Ok(source)
}

/// What makes answers suit a stack that does not know of INT, where they come in by the same interface.
fn load_peer(pins: &Pins, dev: &str, config: &SourceConfig) -> io::Result<Option<Peer>> {
    if config.hook != SourceHook::Tc || !config.mss_clamp {
        return Ok(None);
    }
    let (room_ipv4, room_ipv6) = source_settings::room(config);
    let settings = PeerSettings {
        room_ipv4,
        room_ipv6,
        fixed_mtu: config.mtu,
        tos_value: config.mark.tos_value(),
        tos_mask: config.mark.tos_mask(),
        extension_port: config.extension_port,
    };
    Peer::load(pins, dev, &settings).map(Some)
}

/// The node id given, or that of the sink that runs on this host.
fn choose_node(pins: &Pins, config: &SourceConfig, force: bool) -> Result<NodeId> {
    let sink_runs = sink::is_attached(pins).context("cannot look for the sink")?;
    if !sink_runs && !force {
        bail!(
            "no sink runs on this host, so answers to tagged packets could not be stripped here \
             (start hostint sink first, or use --force)"
        );
    }
    match config.node_id {
        Some(node) => Ok(node),
        None if sink_runs => Host::read_pinned(pins)?
            .map(|settings| NodeId(settings.node_id))
            .context("the sink has no node id"),
        None => Err(Usage(
            "no node id given, and no sink to take it from (try --node-id 1)".into(),
        )
        .into()),
    }
}

/// What the sink's daemon does on a host that has one.
fn look_after(source: &Source, config: &SourceConfig) -> Result<()> {
    signals::install().context("cannot handle signals")?;
    let mut next = Instant::now();
    while !signals::ending() {
        if Instant::now() >= next {
            next += Duration::from_secs(1);
            source.host.refresh_clock()?;
            expire_source_flows(
                &source.flows,
                clock::realtime_ns(),
                config.idle_flow_timeout.as_ns(),
            )?;
        }
        std::thread::park_timeout(Duration::from_millis(100));
    }
    eprintln!("hostint: ended; the source is still attached (hostint source detach ends that)");
    Ok(())
}

fn detach(bpffs: Option<&Path>, devs: &[String]) -> Result<u8> {
    let detached = match find_pins(bpffs)? {
        Some(pins) => peer::detach(&pins, devs)
            .and_then(|()| source::detach(&pins, devs))
            .map_err(advise)
            .context("cannot detach the source")?,
        None => Vec::new(),
    };
    for dev in &detached {
        eprintln!("hostint: source detached from {dev}");
    }
    if detached.is_empty() {
        eprintln!("hostint: no source to detach");
        return Ok(exit::NOTHING);
    }
    Ok(exit::OK)
}

fn open_dests(bpffs: Option<&Path>) -> Result<Dests> {
    let dests = match find_pins(bpffs)? {
        Some(pins) => Dests::open(&pins)
            .map_err(advise)
            .context("cannot open the list of destinations")?,
        None => None,
    };
    dests.context("no source on this host (start with hostint source attach --dev DEV)")
}

fn read_dest_file(path: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read destinations from {}", path.display()))?;
    Ok(text
        .lines()
        .filter_map(|line| line.split('#').next())
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect())
}

/// What a name means now. All of them are found before anything is changed.
fn find_prefixes(names: &[String]) -> Result<Vec<(Prefix, String)>> {
    let mut found = Vec::new();
    for name in names {
        for prefix in prefixes_of(name)? {
            found.push((prefix, name.clone()));
        }
    }
    Ok(found)
}

fn prefixes_of(name: &str) -> Result<Vec<Prefix>> {
    let looks_numeric =
        name.contains(['/', ':']) || name.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match name.parse::<Prefix>() {
        Ok(prefix) => return Ok(vec![prefix]),
        Err(err) if looks_numeric => {
            return Err(Usage(format!(
                "cannot use destination {name}: {err} (try 10.0.0.1, 10.0.0.0/24 or 2001:db8::/64)"
            ))
            .into());
        }
        Err(_) => {}
    }
    let addresses =
        resolve::addresses(name).with_context(|| format!("cannot find destination {name}"))?;
    Ok(addresses.into_iter().map(Prefix::host).collect())
}

fn add_dests(dests: &Dests, found: &[(Prefix, String)]) -> Result<()> {
    for (prefix, name) in found {
        dests
            .add(*prefix, name)
            .map_err(advise)
            .with_context(|| format!("cannot add destination {name} ({prefix})"))?;
    }
    Ok(())
}

/// By the name they were added under, or else by what the text means now.
fn del_dests(dests: &Dests, names: &[String]) -> Result<u8> {
    let mut code = exit::OK;
    for name in names {
        let mut prefixes: Vec<Prefix> = dests
            .all()?
            .into_iter()
            .filter(|(_, added_as)| added_as == name)
            .map(|(prefix, _)| prefix)
            .collect();
        if prefixes.is_empty() {
            prefixes = prefixes_of(name)?;
        }
        let mut removed = false;
        for prefix in prefixes {
            removed |= dests
                .remove(prefix)
                .map_err(advise)
                .with_context(|| format!("cannot remove destination {name} ({prefix})"))?;
        }
        if !removed {
            eprintln!("hostint: destination {name} was not watched (see hostint source dests)");
            code = exit::FAILURE;
        }
    }
    Ok(code)
}

fn list_dests(bpffs: Option<&Path>, json: bool) -> Result<u8> {
    let dests = open_dests(bpffs)?
        .all()
        .context("cannot read the list of destinations")?;
    print(&views::dests::render(&dests, json))?;
    Ok(exit::OK)
}
