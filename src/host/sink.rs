//! The sink of this host, attached to interfaces and detached from them.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::advice::advise;
use super::{events, pins};
use crate::config::SinkConfig;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::lease::grants;
use crate::datapath::sink::kernel_half::{AttachedSink, Sink, SinkMode, veth_gro};
use crate::datapath::sink::sink_links;
use crate::os::{log, netdev};

/// Attaches the sink to an interface, says so, and warns of what keeps the interface slow.
pub fn attach(sink: &Sink, pins: &Pins, dev: &str, config: &SinkConfig) -> Result<()> {
    let attached = attach_quietly(sink, pins, dev, config)
        .with_context(|| format!("cannot attach the sink to {dev}"))?;
    let mode = mode_name(attached.mode);
    let node = sink.host.node().context("cannot read the node id")?.id;
    let why = attached
        .why
        .map_or_else(String::new, |why| format!("; --hook auto: {why}"));
    events::attached(
        "sink",
        dev,
        mode,
        node,
        format_args!("sink attached to {dev} ({mode}), node id {node}{why}"),
    );
    if veth_gro(attached.mode.hook(), netdev::index_of(dev)?) == Some(false) {
        log::warning(format_args!(
            "{dev} is a veth with GRO off: received segments are not merged after the strip \
             (try: ethtool -K {dev} gro on)"
        ));
    }
    Ok(())
}

/// Attaches the sink to an interface, and returns how.
pub fn attach_quietly(
    sink: &Sink,
    pins: &Pins,
    dev: &str,
    config: &SinkConfig,
) -> Result<AttachedSink> {
    sink.attach(pins, dev, config).map_err(advise)
}

fn mode_name(mode: SinkMode) -> &'static str {
    match mode {
        SinkMode::XdpNative => "native XDP",
        SinkMode::XdpNic => "native XDP, network card's timestamps",
        SinkMode::XdpGeneric => "generic XDP",
        SinkMode::Tcx => "tc, tcx",
    }
}

/// Gives interfaces from an earlier run, which `config` does not name, the new program: they keep being stripped.
pub fn adopt(sink: &Sink, pins: &Pins, config: &SinkConfig) -> Result<()> {
    for (dev, hook) in sink_links::attached_devs(pins).context("cannot look for attached sinks")? {
        if config.devs.contains(&dev) {
            continue;
        }
        let as_it_was = SinkConfig {
            hook: hook.into(),
            ..config.clone()
        };
        match attach_quietly(sink, pins, &dev, &as_it_was) {
            Ok(_) => log::info(format_args!(
                "sink still attached to {dev} (hostint sink detach --dev {dev} ends that)"
            )),
            Err(err) => log::warning(format_args!("an older sink stays on {dev}: {err:#}")),
        }
    }
    Ok(())
}

/// Removes the maps of a sink that could not be attached anywhere.
pub fn leave_nothing(pins: &Pins) {
    if sink_links::is_attached(pins).is_ok_and(|attached| !attached) {
        let _ = sink_links::detach(pins, &[]);
    }
}

/// Detaches the sink from these interfaces, from all if none is named, and returns which they were. Sources stop
/// tagging first, unless `now`.
pub fn detach(bpffs: Option<&Path>, devs: &[String], now: bool) -> Result<Vec<String>> {
    let Some(pins) = pins::find(bpffs)? else {
        return Ok(Vec::new());
    };
    if now {
        warn_of_sources(&pins, devs);
    } else {
        let tagged = tagged_devs(&pins, devs).context("cannot detach the sink")?;
        stop_sources(&pins, devs, tagged)
            .context("cannot end leases before detaching (try --now)")?;
    }
    let _changing = pins.change().context("cannot detach the sink")?;
    detach_links(&pins, devs).context("cannot detach the sink")
}

/// Detaches the sink from these interfaces after sources have stopped tagging.
pub fn leave(pins: &Pins, devs: &[String]) -> Result<()> {
    tagged_devs(pins, devs)
        .and_then(|tagged| stop_sources(pins, devs, tagged))
        .context("cannot end leases before detaching")?;
    let _changing = pins.change()?;
    detach_links(pins, devs).map(drop)
}

fn detach_links(pins: &Pins, devs: &[String]) -> Result<Vec<String>> {
    let detached = sink_links::detach(pins, devs).map_err(advise)?;
    for dev in &detached {
        events::detached("sink", dev);
    }
    Ok(detached)
}

/// The attached interfaces, among them some that are to be detached, if a source may still tag packets by a lease.
fn tagged_devs(pins: &Pins, devs: &[String]) -> Result<Option<Vec<String>>> {
    let attached = sink_links::attached_devs(pins).map_err(advise)?;
    let attached: Vec<String> = attached.into_iter().map(|(dev, _)| dev).collect();
    let any = devs.is_empty() || devs.iter().any(|dev| attached.contains(dev));
    let tagged = any && !attached.is_empty() && grants::in_use(pins).map_err(advise)?;
    Ok(tagged.then_some(attached))
}

/// Says what sources do to traffic until their leases end, if there are any.
fn warn_of_sources(pins: &Pins, devs: &[String]) {
    if let Ok(Some(_)) = tagged_devs(pins, devs) {
        log::warning(
            "sources go on tagging for up to a second: tagged packets are lost meanwhile, or reach applications with \
             INT, and connections in tunnels may rest for 1.5 s (without --now, sources stop first)",
        );
    }
}

/// Makes sources stop tagging, and waits until they have, while their packets are still stripped. `tagged` is what
/// [`tagged_devs`] found.
fn stop_sources(pins: &Pins, devs: &[String], tagged: Option<Vec<String>>) -> Result<()> {
    let Some(attached) = tagged else {
        return Ok(());
    };
    sink_links::set_closing(pins, true)?;
    log::info("waiting until sources have stopped tagging");
    std::thread::sleep(Duration::from_nanos(grants::LEASE_ENDS_NS));
    let all = devs.is_empty() || attached.iter().all(|dev| devs.contains(dev));
    if !all {
        sink_links::set_closing(pins, false)?;
    }
    Ok(())
}
