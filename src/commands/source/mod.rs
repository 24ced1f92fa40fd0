//! `hostint source`: what is tagged, and where.

mod attach;
mod dests;
pub mod rules;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::follow::Follower;
use super::leases::{LeaseKeeping, say_plain};
use super::troubles::Troubles;
use super::{Usage, advise, find_pins, give_up, make_pins};
use crate::cli::{SourceCommand, exit};
use crate::config::{SourceConfig, SourceOptions};
use crate::datapath::attachments;
use crate::datapath::host::Host;
use crate::datapath::pins::Pins;
use crate::datapath::source::Source;
use crate::datapath::sweeper::{SourceSweeper, rest_after};
use crate::datapath::{peer, sink_links};
use crate::model::NodeId;
use crate::os::{clock, netdev, privileges, signals};
use attach::attach_dev;
pub use attach::{adopt, reattach};
pub use dests::follow_addresses;
use dests::{
    await_leases, del_dests, find_places, list_dests, open_list, read_dest_file, unname_leases,
    watch,
};
pub use rules::{follow_interfaces, rename_addresses};

pub fn run(bpffs: Option<&Path>, command: &SourceCommand) -> Result<u8> {
    match command {
        SourceCommand::Attach(options) => attach(bpffs, options),
        SourceCommand::Detach { dev } => detach(bpffs, dev),
        SourceCommand::AddDest {
            host,
            dest_file,
            fixed,
        } => {
            let mut names = host.clone();
            if let Some(path) = dest_file {
                names.extend(read_dest_file(path)?);
            }
            let found = find_places(&names)?;
            let (pins, list) = open_list(bpffs)?;
            let changing = pins.change().context("cannot change the watchlist")?;
            watch(&list, &found, *fixed)?;
            drop(changing);
            if !fixed {
                let prefixes = found.into_iter().flat_map(|place| place.prefixes);
                await_leases(&pins, &prefixes.collect::<Vec<_>>())?;
            }
            Ok(exit::OK)
        }
        SourceCommand::DelDest { host } => {
            let (pins, list) = open_list(bpffs)?;
            let _changing = pins.change().context("cannot change the watchlist")?;
            let code = del_dests(&list, host)?;
            unname_leases(&pins, &list).context("cannot end leases")?;
            Ok(code)
        }
        SourceCommand::Rules { json } => rules::list_rules(bpffs, *json),
        SourceCommand::Dests { json } => list_dests(bpffs, *json),
    }
}

fn attach(bpffs: Option<&Path>, options: &SourceOptions) -> Result<u8> {
    if options.foreground {
        give_up(&privileges::BEGIN)?;
    }
    let config = options.check()?;
    let names = match &options.dest_file {
        Some(path) => read_dest_file(path)?,
        None => Vec::new(),
    };
    let places = find_places(&names)?;
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
    let changing = pins.change()?;
    let mut loaded = None;
    for dev in &options.dev {
        let attached = attach_dev(&pins, dev, &config, node, (&places, options.fixed));
        loaded = Some(attached.inspect_err(|_| leave_nothing(&pins))?);
    }
    drop(changing);
    attachments::take_over(&pins).context("cannot take over from another version")?;
    match loaded {
        Some(source) if options.foreground => look_after(&pins, &source, &config)?,
        _ => {}
    }
    Ok(exit::OK)
}

/// A source that could not be attached anywhere leaves no maps behind.
fn leave_nothing(pins: &Pins) {
    if attachments::attachments(pins).is_ok_and(|attached| attached.is_empty()) {
        let _ = attachments::detach(pins, &[]);
    }
}

/// The node id given, or that of the sink that runs on this host.
fn choose_node(pins: &Pins, config: &SourceConfig, force: bool) -> Result<NodeId> {
    let sink_runs = sink_links::is_attached(pins).context("cannot look for the sink")?;
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
fn look_after(pins: &Pins, source: &Source, config: &SourceConfig) -> Result<()> {
    let mut leases = LeaseKeeping::start(config.lease_key)?;
    give_up(&privileges::STEADY)?;
    signals::install().context("cannot handle signals")?;
    let Some(_lock) = pins.lock().context("cannot lock this host's pins")? else {
        bail!(
            "a hostint sink serves this host already, and looks after its source (leave --foreground out)"
        );
    };
    source.host.set_lease_key(config.lease_key)?;
    say_plain(config.lease_key.is_some());
    let mut follower = Follower::start();
    let mut sweeper = SourceSweeper::new()?;
    let mut troubles = Troubles::default();
    let mut sweeping = false;
    let mut resume = Instant::now();
    let mut next = Instant::now();
    while !signals::ending() {
        troubles.note("keep leases", leases.tick(pins));
        troubles.note("look after what is attached", follower.follow(pins, None));
        if Instant::now() >= next {
            next += Duration::from_secs(1);
            let followed = source.host.refresh_clock();
            troubles.note("follow the clock", followed.map(drop).map_err(Into::into));
            sweeping = true;
        }
        if sweeping && Instant::now() >= resume {
            let cpu_ns = clock::thread_cpu_ns();
            let idle_ns = config.idle_flow_timeout.as_ns();
            let step = sweeper.step(pins, clock::realtime_ns(), idle_ns);
            sweeping = step.as_ref().is_ok_and(|step| !step.end);
            troubles.note("pass over flow tables", step.map(drop).map_err(Into::into));
            resume = Instant::now() + rest_after(clock::thread_cpu_ns() - cpu_ns);
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    eprintln!("hostint: ended; the source is still attached (hostint source detach ends that)");
    Ok(())
}

fn detach(bpffs: Option<&Path>, devs: &[String]) -> Result<u8> {
    let detached = match find_pins(bpffs)? {
        Some(pins) => pins
            .change()
            .and_then(|_changing| {
                peer::detach(&pins, devs)?;
                attachments::detach(&pins, devs)
            })
            .map_err(advise)
            .context("cannot detach the source")?,
        None => {
            attachments::clean_up().context("cannot clean up")?;
            Vec::new()
        }
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
