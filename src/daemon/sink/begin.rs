//! A sink's beginning, in two phases: what takes the privileges to begin with, and the programs attached.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::answers;
use super::plan::{SinkPlan, say_form};
use crate::cli::SinkServeArgs;
use crate::config::{HookChoice, SINK_HTTP_PORT, SinkConfig};
use crate::daemon::control::Control;
use crate::daemon::leases::{LeaseKeeping, warn_without_key};
use crate::daemon::privileges::give_up_all_but;
use crate::daemon::{http, metrics_push};
use crate::datapath::host::daemon_counters::DaemonCounters;
use crate::datapath::kernel::hook_choice;
use crate::datapath::kernel::kernel_parts;
use crate::datapath::kernel::pins::{Pins, PinsLock};
use crate::datapath::sink::kernel_half::Sink;
use crate::datapath::sink::sink_links;
use crate::engines::push::Push;
use crate::host::advice::advise;
use crate::host::sink::{adopt, attach, leave_nothing};
use crate::host::{pins, source};
use crate::os::{
    log, privileges,
    signals::{self, Hangup},
};
use crate::report::Emitter;
use crate::web;

/// A sink whose programs are loaded and set, and attached nowhere.
pub struct LoadedSink {
    pub control: Option<Control>,
    pub http: Option<web::HttpListener>,
    pub receivers: Vec<Arc<dyn Push>>,
    pub emitter: Emitter,
    pub leases: Option<LeaseKeeping>,
    pub counters: DaemonCounters,
    pub plan: SinkPlan,
    pub sink: Sink,
    pub pins: Pins,
    /// Only one daemon serves a host.
    pub lock: PinsLock,
}

impl LoadedSink {
    /// Makes all that takes the privileges to begin with, and gives them up.
    pub fn load(bpffs: Option<&Path>, args: &SinkServeArgs) -> Result<Self> {
        give_up_all_but(&privileges::BEGIN)?;
        let plan = SinkPlan::make(|| pins::find_to_change(bpffs), args)?;
        let config = &plan.config;
        let emitter =
            Emitter::new(plan.destinations.clone()).context("cannot prepare to send reports")?;
        let http = http::bind(config.http.as_deref(), SINK_HTTP_PORT)?;
        let receivers = metrics_push::prepare(&config.push, Some(plan.node.id.0))?;
        let pins = pins::make(bpffs)?;
        let lock = pins
            .lock()
            .context("cannot lock this host's pins")?
            .context(
                "another hostint sink serves this host already, or hostint source does (end it first; a sink takes several interfaces, --dev repeats, and looks after the source)",
            )?;
        let sink = hook_choice::expected(&pins, config)
            .and_then(|hooks| Sink::load(&pins, &hooks, config.max_flows, config.max_fine_flows))
            .map_err(advise)
            .context("cannot load the sink's kernel programs")?;
        let counters = prepare(&sink, &pins, &plan).inspect_err(|_| leave_nothing(&pins))?;
        say_form(config);
        let leases = keep_leases(config);
        let control = answers::bind(config.control.as_deref())
            .inspect_err(|err| {
                log::warning(format_args!(
                    "no control socket, so only users who may read pins see the status: {err:#}"
                ));
            })
            .ok();
        // Threads keep the privileges that they begin with: from here on there are threads.
        give_up_all_but(&privileges::STEADY)?;
        signals::install(Hangup::of_config(args.config.as_ref()))
            .context("cannot handle signals")?;
        Ok(Self {
            control,
            http,
            receivers,
            emitter,
            leases,
            counters,
            plan,
            sink,
            pins,
            lock,
        })
    }

    /// Attaches the programs to the plan's interfaces, and takes over what an earlier run or another version of
    /// hostint left attached.
    pub fn attach(&self) -> Result<()> {
        let Self {
            sink, pins, plan, ..
        } = self;
        let config = &plan.config;
        let _changing = pins.change().context("cannot attach the sink")?;
        for dev in &config.devs {
            attach(sink, pins, dev, config).inspect_err(|_| leave_nothing(pins))?;
        }
        adopt(sink, pins, config)?;
        sink_links::take_over(pins).context("cannot take over from another version")?;
        source::attach::adopt(pins).context("cannot take over the source of another version")
    }
}

/// Sets the programs, and looks whether the hooks are free.
fn prepare(sink: &Sink, pins: &Pins, plan: &SinkPlan) -> Result<DaemonCounters> {
    let config = &plan.config;
    let counters = set(sink, plan).context("cannot set up the sink")?;
    if config.hook == HookChoice::Xdp {
        for dev in &config.devs {
            Sink::check_free(pins, dev)
                .map_err(advise)
                .with_context(|| format!("cannot attach the sink to {dev}"))?;
        }
    }
    Ok(counters)
}

fn set(sink: &Sink, plan: &SinkPlan) -> Result<DaemonCounters> {
    sink.host.refresh_clock()?;
    sink.host.note_parts(kernel_parts::of_every_role())?;
    plan.name_host(sink)?;
    sink.apply(&plan.config)?;
    let counters = DaemonCounters::of(sink)?;
    counters.begin_life()?;
    Ok(counters)
}

/// Without leases this host tags only destinations that are watched with --static; the sink serves others all the
/// same.
fn keep_leases(config: &SinkConfig) -> Option<LeaseKeeping> {
    warn_without_key(config.lease_key);
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
