//! The sink's daemon: events of the kernel half become reports, which leave.
//!
//! ```text
//! kernel ring ─► EventRing ─► SinkReports (decode ─► Builder ─► Emitter) ─► collectors, senders, report log
//!     each turn of the loop:  duties: signs · collectors · loss periods · leases · reload · attachments · other
//!                             interfaces · flow tables · links · clock · rules · counters · deliveries
//! ```

mod answers;
mod apply;
mod astray;
mod begin;
mod counters;
mod deliveries;
mod fine_slots;
mod flows;
mod follow_collectors;
mod host_times;
mod links;
mod metrics;
mod paths;
mod plan;
mod reload;
mod report_log;
mod reports;
mod state;
mod unmeasured;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use self::answers::HostAnswers;
use self::astray::WatchOtherInterfaces;
use self::begin::LoadedSink;
use self::counters::KeepCounters;
use self::deliveries::WatchDeliveries;
use self::fine_slots::MakeFineSlots;
use self::flows::{EndLossPeriods, SendSummaries, WalkSinkFlows};
use self::follow_collectors::{FollowCollectors, ShowCollectors};
use self::host_times::SendHostTimes;
use self::links::LookForLinks;
use self::metrics::Metrics;
use self::paths::SendPaths;
use self::plan::SinkPlan;
use self::reload::ReloadSink;
use self::report_log::ReopenReportLog;
use self::reports::SinkReports;
use self::state::{End, SinkDaemon, summary_plan};
use self::unmeasured::SendUnmeasured;
use super::duties::{
    FollowClock, KeepBudget, KeepHostNames, KeepLeases, LookAfterAttachments, MakeOptionRoom,
    SendClocks, SendCoverage, SendCrossings, SendIdentity, SetFileRules, WalkSourceFlows,
};
use super::duty::Duties;
use super::http;
use super::metrics_push;
use super::on_host::HostSide;
use super::signs::{GiveSigns, Signs};
use crate::cli::SinkServeArgs;
use crate::datapath::host::shared_settings::ReportedByDaemon;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::event_ring::EventRing;
use crate::datapath::sink::sweeper::Sweeper;
use crate::engines::push::{Push, Pushers};
use crate::host;
use crate::model::Tally;
use crate::os::{cgroup, clock, log, signals, wait::Wait};
use crate::web::{self, HttpServer};

/// The time that pushed metrics have at the end: another daemon may wait to take over.
const LAST_PUSH: Duration = Duration::from_secs(1);

/// Attaches the sink and serves until a signal ends it, or a command detaches it.
pub fn run(bpffs: Option<&Path>, args: &SinkServeArgs) -> Result<()> {
    // Flows that begin from here on are counted from their first packet on.
    let mut tally = Tally::since(clock::realtime_ns());
    // It is looked for once, with the first privileges.
    cgroup::root();
    let loaded = LoadedSink::load(bpffs, args)?;
    tally.set_classes(loaded.plan.destinations.classes.clone());
    // Sources that ask as soon as the sink is there are to wait for nothing.
    loaded.sink.host.report(ReportedByDaemon {
        sends_strays: loaded.leases.is_some(),
        ..ReportedByDaemon::default()
    })?;
    let host_times = SendHostTimes::begin(&loaded.pins, &loaded.plan.config, &loaded.sink.host)
        .inspect_err(|_| host::sink::leave_nothing(&loaded.pins))?;
    loaded.attach()?;
    serve(loaded, host_times, args, Arc::new(Mutex::new(tally)))
}

/// Attaches the sink and leaves it to itself: packets are stripped and counted, and nothing is reported until a
/// daemon runs.
pub fn attach(bpffs: Option<&Path>, args: &SinkServeArgs) -> Result<()> {
    let loaded = LoadedSink::load(bpffs, args)?;
    loaded.attach()?;
    Ok(loaded.counters.end_life()?)
}

fn serve(
    loaded: LoadedSink,
    host_times: Option<SendHostTimes>,
    args: &SinkServeArgs,
    tally: Arc<Mutex<Tally>>,
) -> Result<()> {
    let LoadedSink {
        lock: _lock,
        pins,
        control,
        http,
        receivers,
        emitter,
        leases,
        counters,
        plan,
        sink,
    } = loaded;
    if let Some(control) = &control {
        let reload = args
            .config
            .is_some()
            .then_some(signals::ask_to_reload as fn());
        control.serve(HostAnswers::new(&pins, reload));
    }
    let signs = Signs::from_env();
    let served = ServedMetrics::start(http, receivers, &pins, &plan, &signs, &tally)?;
    let config = &plan.config;
    let mut flows = Sweeper::new(&sink, config.loss_timeout.0, config.idle_flow_timeout.0)?;
    flows.set_summaries(summary_plan(config));
    flows.set_tally(Arc::clone(&tally));
    let mut side = HostSide::new(pins.clone(), leases);
    side.clock = Some(sink.host.refresh_clock()?);
    let events = sink.event_ring()?;
    let daemon = SinkDaemon {
        reports: SinkReports::new(config, plan.node.id, emitter),
        side,
        sink,
        plan,
        flows,
        counters,
        metrics: served.metrics.clone(),
        tally,
        signs,
        is_detached: false,
    };
    match turn(daemon, events, host_times, args).context("cannot go on as a sink")? {
        // What is pinned ends with this process: sources have to stop first.
        End::Asked if pins.check_visible().is_err() => host::sink::leave(&pins, &[])?,
        End::Asked => log::info("ended; INT is still stripped (hostint sink detach ends that)"),
        End::Detached => log::info("ended, because the sink was detached"),
    }
    metrics_push::finish(served.pushers, LAST_PUSH);
    Ok(())
}

/// The metrics, and all that serves or pushes them.
struct ServedMetrics {
    /// `None` if they are neither served nor pushed.
    metrics: Option<Metrics>,
    pushers: Pushers,
    _server: Option<HttpServer>,
}

impl ServedMetrics {
    fn start(
        http: Option<web::HttpListener>,
        receivers: Vec<Arc<dyn Push>>,
        pins: &Pins,
        plan: &SinkPlan,
        signs: &Signs,
        tally: &Arc<Mutex<Tally>>,
    ) -> Result<Self> {
        let push = &plan.config.push;
        let mut pushers = metrics_push::begin(receivers, push)?;
        if http.is_none() && pushers.is_empty() {
            return Ok(Self {
                metrics: None,
                pushers,
                _server: None,
            });
        }
        let mut metrics = Metrics::new(Arc::clone(tally));
        metrics.pushed = pushers.counts();
        let since_ns = clock::realtime_ns();
        metrics_push::start(&mut pushers, push, since_ns, metrics.families(pins))?;
        let mut server = None;
        if let Some(http) = http {
            let routes = web::metrics(metrics.start(pins)?);
            server = Some(http::serve(http, signs.health.routes().merge(routes))?);
        }
        Ok(Self {
            metrics: Some(metrics),
            pushers,
            _server: server,
        })
    }
}

/// The loop: events become reports, and duties have their turns.
fn turn(
    mut daemon: SinkDaemon,
    mut events: EventRing,
    host_times: Option<SendHostTimes>,
    args: &SinkServeArgs,
) -> Result<End> {
    let mut duties = Duties::default()
        .with(GiveSigns::default())
        .with(FollowCollectors::default())
        .with(SendIdentity::default())
        .with(SendCoverage::new())
        .with(SendCrossings::default())
        .with(SendUnmeasured::new())
        .with(EndLossPeriods)
        .with(KeepHostNames::default())
        .with(KeepBudget::default())
        .with(KeepLeases)
        .with(MakeOptionRoom::default())
        .with(ReloadSink::new(&daemon.side.pins, args))
        .with(LookAfterAttachments::start())
        .with(WatchOtherInterfaces::default())
        .with(MakeFineSlots::default())
        .with(WalkSinkFlows::new())
        .with(SendSummaries::default())
        .with(SendPaths::new(daemon.sink.paths()))
        .with(WalkSourceFlows::new())
        .with(ReopenReportLog)
        .with(LookForLinks)
        .with(FollowClock::default())
        .with(SendClocks::default())
        .with(SetFileRules::default())
        .with(WatchDeliveries::default())
        .with(ShowCollectors)
        .with(KeepCounters);
    if let Some(host_times) = host_times {
        duties = duties.with(host_times);
    }
    daemon.signs.notify.ready();
    let end = loop {
        daemon.report_events(&mut events)?;
        duties.turn(&mut daemon, Instant::now());
        daemon.reports.emitter.flush();
        if let Some(end) = daemon.end() {
            break end;
        }
        let mut wait = Wait::default();
        events.wakes(&mut wait);
        duties.wait(&daemon, wait);
    };
    daemon.report_events(&mut events)?;
    duties.finish(&mut daemon);
    Ok(end)
}
