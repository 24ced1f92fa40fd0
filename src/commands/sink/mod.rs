//! `hostint sink`: its kernel programs loaded, attached and set.

mod collectors;
mod counts;
mod deliveries;
mod detach;
mod metrics;
mod plan;
mod reload;
mod serve;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::control::Control;
use super::http::{self, Health};
use super::leases::{LeaseKeeping, say_plain};
use super::{advise, give_up, make_pins, pushing, source};
use crate::cli::{SinkArgs, exit};
use crate::config::{SINK_HTTP_PORT, SinkConfig, SinkHook};
use crate::datapath::abi::daemon_counter;
use crate::datapath::pins::Pins;
use crate::datapath::sink::{self, Sink, SinkMode};
use crate::datapath::sink_links;
use crate::os::log::{self, Event, Level};
use crate::os::notify::Notify;
use crate::os::{clock, netdev, privileges, signals};
use crate::report::Emitter;
use crate::web;
use detach::detach;
use metrics::Metrics;
use plan::{Plan, say_form};
use reload::Reload;
use serve::{End, Tells, serve};

/// What is pushed at the end has this time; another daemon may wait to take over.
const LAST_PUSH: Duration = Duration::from_secs(1);

pub fn run(bpffs: Option<&Path>, args: &SinkArgs) -> Result<u8> {
    if args.detach {
        return detach(bpffs, &args.settings.options, args.now);
    }
    give_up(&privileges::BEGIN)?;
    let plan = Plan::make(args)?;
    let config = &plan.config;
    let emitter =
        Emitter::new(plan.destinations.clone()).context("cannot prepare to send reports")?;
    let listener = http::bind(config.http.as_deref(), SINK_HTTP_PORT)?;
    let receivers = pushing::prepare(&config.push, Some(config.node_id.0))?;
    let pins = make_pins(bpffs)?;
    let _lock = pins
        .lock()
        .context("cannot lock this host's pins")?
        .context(
            "another hostint sink serves this host already (give it all interfaces: --dev repeats)",
        )?;
    let sink = Sink::load(&pins, config.max_flows)
        .map_err(advise)
        .context("cannot load the sink's kernel programs")?;
    prepare(&sink, &plan)
        .context("cannot set up the sink")
        .inspect_err(|_| leave_nothing(&pins))?;
    for dev in config.devs.iter().filter(|_| config.hook == SinkHook::Xdp) {
        Sink::check_free(&pins, dev)
            .map_err(advise)
            .with_context(|| format!("cannot attach the sink to {dev}"))
            .inspect_err(|_| leave_nothing(&pins))?;
    }
    say_form(config);
    let leases = keep_leases(config);
    let control = Control::bind(config.control.as_deref())
        .inspect_err(|err| {
            log::warning(format_args!(
                "no control socket, so only who may read pins sees the status: {err:#}"
            ));
        })
        .ok();
    // Threads keep what they begin with: from here on there are some.
    give_up(&privileges::STEADY)?;
    signals::install().context("cannot handle signals")?;
    if args.config.is_some() {
        signals::reload_on_hangup().context("cannot handle signals")?;
    }
    let changing = pins.change().context("cannot attach the sink")?;
    for dev in &config.devs {
        let mode = attach(&sink, &pins, dev, config)
            .with_context(|| format!("cannot attach the sink to {dev}"))
            .inspect_err(|_| leave_nothing(&pins))?;
        log::event(
            Level::Info,
            Event::Attached,
            &[
                ("DEV", dev),
                ("ROLE", &"sink"),
                ("MODE", &mode),
                ("NODE_ID", &config.node_id),
            ],
            format_args!(
                "sink attached to {dev} ({mode}), node id {}",
                config.node_id
            ),
        );
        let gro = sink::veth_gro(config.hook, netdev::index_of(dev)?);
        if gro == Some(false) {
            log::warning(format_args!(
                "{dev} is a veth with GRO off: received segments are not merged after the strip \
                 (try: ethtool -K {dev} gro on)"
            ));
        }
    }
    adopt(&sink, &pins, config)?;
    sink_links::take_over(&pins).context("cannot take over from another version")?;
    source::adopt(&pins).context("cannot take over the source of another version")?;
    drop(changing);
    if let Some(control) = &control {
        let reload = args
            .config
            .is_some()
            .then_some(signals::ask_to_reload as fn());
        control.serve(&pins, reload);
    }
    let push = config.push.clone();
    let mut pushers = pushing::begin(receivers, &push)?;
    let (health, mut metrics, mut _server) = (Health::new(), None, None);
    if listener.is_some() || !pushers.is_empty() {
        let told = metrics.insert(Metrics::default());
        told.set_classes(plan.destinations.classes.clone());
        told.pushed = pushers.counts();
        pushing::start(
            &mut pushers,
            &push,
            clock::realtime_ns(),
            told.families(&pins),
        )?;
    }
    if let (Some(listener), Some(told)) = (listener, &metrics) {
        let routes = health.routes().merge(web::metrics(told.start(&pins)?));
        _server = Some(http::serve(listener, routes)?);
    }
    let tells = Tells {
        notify: Notify::from_env(),
        health,
        metrics,
    };
    match serve(
        &pins,
        &sink,
        plan,
        emitter,
        leases,
        Reload::new(args),
        tells,
    )
    .context("cannot go on as a sink")?
    {
        End::Asked => {
            log::info("ended; INT is still stripped (hostint sink --detach ends that)");
        }
        End::Detached => log::info("ended, because the sink was detached"),
    }
    pushing::finish(pushers, LAST_PUSH);
    Ok(exit::OK)
}

/// A sink that could not be attached anywhere leaves no maps behind.
fn leave_nothing(pins: &Pins) {
    if sink_links::is_attached(pins).is_ok_and(|attached| !attached) {
        let _ = sink_links::detach(pins, &[]);
    }
}

fn attach(sink: &Sink, pins: &Pins, dev: &str, config: &SinkConfig) -> Result<&'static str> {
    Ok(match sink.attach(pins, dev, config).map_err(advise)? {
        SinkMode::XdpNative => "native XDP",
        SinkMode::XdpNic => "native XDP, network card's timestamps",
        SinkMode::XdpGeneric => "generic XDP",
        SinkMode::Tcx => "tc, tcx",
    })
}

/// Interfaces from an earlier run keep being stripped, by the new program.
fn adopt(sink: &Sink, pins: &Pins, config: &SinkConfig) -> Result<()> {
    for (dev, hook) in sink_links::attached_devs(pins).context("cannot look for attached sinks")? {
        if config.devs.contains(&dev) {
            continue;
        }
        let as_it_was = SinkConfig {
            hook,
            ..config.clone()
        };
        match attach(sink, pins, &dev, &as_it_was) {
            Ok(_) => log::info(format_args!(
                "sink still attached to {dev} (hostint sink --detach --dev {dev} ends that)"
            )),
            Err(err) => log::warning(format_args!("an older sink stays on {dev}: {err:#}")),
        }
    }
    Ok(())
}

/// Without leases this host tags only what is watched with --static; a sink serves others all the same.
fn keep_leases(config: &SinkConfig) -> Option<LeaseKeeping> {
    say_plain(config.lease_key.is_some());
    match LeaseKeeping::start(config.lease_key) {
        Ok(leases) => Some(leases),
        Err(err) => {
            log::warning(format_args!(
                "no leases are kept, so only --static destinations are tagged: {err:#}"
            ));
            None
        }
    }
}

fn prepare(sink: &Sink, plan: &Plan) -> Result<()> {
    sink.host.refresh_clock()?;
    plan.name_host(sink)?;
    sink.apply(&plan.config)?;
    sink.note(daemon_counter::DAEMON_PID, std::process::id().into())?;
    sink.note(daemon_counter::DAEMON_STARTED_NS, clock::realtime_ns())?;
    sink.note(daemon_counter::DAEMON_ALIVE_NS, clock::realtime_ns())?;
    Ok(())
}
