//! The sink's daemon: kernel events become reports, flow tables are swept, leases kept, attachments looked after.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::collectors::{self, Following};
use super::counts::{Before, Now};
use super::deliveries::Deliveries;
use super::metrics::Metrics;
use super::plan::{Plan, say_form};
use super::reload::{Reload, apply};
use crate::commands::follow::Follower;
use crate::commands::http::Health;
use crate::commands::leases::{Counts, LeaseKeeping, say_plain};
use crate::commands::state_line;
use crate::commands::troubles::Troubles;
use crate::commands::{reloading, source};
use crate::config::{Compat, File, SinkConfig};
use crate::datapath::abi::daemon_counter;
use crate::datapath::pins::Pins;
use crate::datapath::sink::Sink;
use crate::datapath::sink_links;
use crate::datapath::sweeper::{SourceSweeper, SummaryPlan, Sweeper, rest_after};
use crate::datapath::{events, grants, source_links};
use crate::model::{ClockSource, ClockState, SinkEvent};
use crate::os::notify::Notify;
use crate::os::{clock, log, signals};
use crate::report::{Builder, Emitter};

/// How often the ring is looked at: events are not worth a wake-up each.
const POLL: Duration = Duration::from_millis(10);
/// How often the flow tables are passed over, if that does not take longer, and the clock offset is taken.
const PASS: Duration = Duration::from_secs(1);

/// What events lead to.
struct Pipeline {
    builder: Builder,
    compat: Option<Compat>,
    emitter: Emitter,
    sweeper: Sweeper,
    leases: Option<LeaseKeeping>,
    events_read: u64,
    events_malformed: u64,
}

impl Pipeline {
    fn take(&mut self, bytes: &[u8]) {
        self.events_read += 1;
        let mut event = events::decode(bytes);
        // Host-INT's latency report has no room for it.
        if let (Some(Compat::HostInt), Some(SinkEvent::Latency(latency))) =
            (self.compat, &mut event)
        {
            latency.queue = None;
        }
        match event {
            Some(SinkEvent::Gap(flow)) => self.sweeper.expect_loss(&flow, Instant::now()),
            Some(event) => match self.builder.build(&event, clock::realtime_ns()) {
                Some(observation) => self.emitter.emit(observation),
                None => self.events_malformed += 1,
            },
            None => self.events_malformed += 1,
        }
    }
}

impl Pipeline {
    fn counts(&self, follower: &Follower) -> Now {
        let leases = self.leases.as_ref();
        Now {
            events_read: self.events_read,
            events_malformed: self.events_malformed,
            reports: self.emitter.counts(),
            leases: leases.map_or_else(Counts::default, |leases| leases.counts),
            repaired: follower.repaired,
        }
    }

    fn state_line(&self, pins: &Pins) -> Result<String> {
        let lost = self.emitter.counts().lost;
        state_line::of_sink(pins, self.sweeper.seen_in_pass, lost, self.leases.as_ref())
    }
}

/// To whom the daemon says how it is.
pub struct Tells {
    pub notify: Notify,
    pub health: Arc<Health>,
    pub metrics: Option<Metrics>,
}

/// Why a sink's daemon ends.
pub enum End {
    Asked,
    Detached,
}

/// Until a signal asks to end: ring to reports, flow tables swept, clock followed.
pub fn serve(
    pins: &Pins,
    sink: &Sink,
    mut plan: Plan,
    emitter: Emitter,
    leases: Option<LeaseKeeping>,
    mut reload: Reload,
    tells: Tells,
) -> Result<End> {
    let Tells {
        mut notify,
        health,
        metrics,
    } = tells;
    let config = &plan.config;
    let pipeline = RefCell::new(Pipeline {
        builder: Builder {
            sink_node: config.node_id,
            node_id_word: config.node_id_word,
            clock: Some(sink.host.refresh_clock()?),
        },
        compat: config.compat,
        emitter,
        sweeper: Sweeper::new(sink, config.loss_timeout.0, config.idle_flow_timeout.0)?,
        events_read: 0,
        events_malformed: 0,
        leases,
    });
    {
        let sweeper = &mut pipeline.borrow_mut().sweeper;
        sweeper.set_summaries(summary_plan(config));
        if let Some(metrics) = &metrics {
            sweeper.set_tally(Arc::clone(&metrics.tally));
        }
    }
    let mut follower = Follower::start();
    let mut troubles = Troubles::default();
    let mut deliveries = Deliveries::default();
    let mut following = Following::default();
    let ring = sink.events(|bytes| pipeline.borrow_mut().take(bytes))?;
    let mut before = Before::of(sink)?;
    let mut passes =
        Passes::new().context("cannot load the programs that walk over flow tables")?;
    let mut next_pass = Instant::now();
    let mut watching = Watching::default();
    notify.ready();
    loop {
        // Ended by a signal is no error; what waits is read by consume.
        ring.poll_raw(POLL);
        ring.consume()?;
        pipeline.borrow_mut().emitter.flush();
        following.step(&mut plan.collectors, &mut pipeline.borrow_mut().emitter);
        let now = Instant::now();
        let swept = pipeline.borrow_mut().sweeper.end_loss_periods(now);
        troubles.note("end loss periods", swept.map_err(Into::into));
        if let Some(leases) = &mut pipeline.borrow_mut().leases {
            troubles.note("keep leases", leases.tick(pins));
        }
        if let Some(now) = reload.step(pins) {
            let applied = now.and_then(|(now, _changing)| {
                go_on(pins, sink, now, &plan, &mut pipeline.borrow_mut())
            });
            match applied {
                Ok(now) => {
                    reload.done(pins, &now, &plan);
                    if let Some(metrics) = &metrics {
                        metrics.set_classes(now.destinations.classes.clone());
                    }
                    plan = now;
                }
                Err(err) => reloading::tell_refusal(&err),
            }
        }
        notify.reload_goes_on(reload.goes_on());
        let followed = follower.follow(pins, Some((sink, &plan.config)));
        troubles.note("look after what is attached", followed);
        let stepped = passes.step(
            pins,
            sink,
            &plan.config,
            &mut pipeline.borrow_mut(),
            &mut before,
        );
        troubles.note("pass over flow tables", stepped);
        if signals::asked()
            && let Err(err) = pipeline.borrow_mut().emitter.reopen_log()
        {
            log::error(err);
        }
        let ending = signals::ending();
        if ending {
            notify.stopping();
        }
        if now >= next_pass || ending {
            next_pass = now + PASS;
            let links = sink_links::links(pins);
            if !ending && links.as_ref().is_ok_and(Vec::is_empty) {
                reload.end();
                before.write(sink, &pipeline.borrow().counts(&follower))?;
                sink.note(daemon_counter::DAEMON_PID, 0)?;
                return Ok(End::Detached);
            }
            troubles.note(
                "look for the sink's links",
                links.map(drop).map_err(Into::into),
            );
            match sink.host.refresh_clock() {
                Ok(state) => pipeline.borrow_mut().builder.clock = Some(state),
                Err(err) => troubles.note("follow the clock", Err(err.into())),
            }
            let watched = watching.follow(pins, &plan);
            troubles.note("watch what the config file names", watched);
            sink.note(daemon_counter::DAEMON_ALIVE_NS, clock::realtime_ns())?;
            let pipeline = pipeline.borrow();
            let counts = pipeline.counts(&follower);
            before.write(sink, &counts)?;
            deliveries.note(&counts.reports);
            let shown = collectors::show(sink, &pipeline.emitter);
            troubles.note("show the collectors", shown);
            notify.alive();
            health.is_alive();
            health.lacks(lacking(pins, &plan, pipeline.builder.clock));
            if notify.listens() {
                let line = pipeline.state_line(pins);
                troubles.note(
                    "tell the service manager",
                    line.map(|line| notify.status(line)),
                );
            }
        }
        if ending {
            reload.end();
            ring.consume()?;
            pipeline.borrow_mut().emitter.flush();
            before.write(sink, &pipeline.borrow().counts(&follower))?;
            sink.note(daemon_counter::DAEMON_PID, 0)?;
            return Ok(End::Asked);
        }
    }
}

fn summary_plan(config: &SinkConfig) -> SummaryPlan {
    SummaryPlan {
        period: config.summary_period.0,
        report_bytes: config.report_bytes().into(),
        summary_bytes: config.summary_bytes(),
    }
}

/// What a sink lacks to strip and to measure.
fn lacking(pins: &Pins, plan: &Plan, clock: Option<ClockState>) -> Vec<String> {
    let attached = match sink_links::attached_devs(pins) {
        Ok(attached) => attached,
        Err(err) => return vec![format!("cannot look at what is attached: {err}")],
    };
    let devs = plan.config.devs.iter();
    let bare = devs.filter(|dev| !attached.iter().any(|(name, _)| name == *dev));
    let mut lacking: Vec<String> = bare.map(|dev| format!("not attached to {dev}")).collect();
    if clock.is_none_or(|clock| clock.source == ClockSource::Unknown) {
        lacking.push("the clock that stamps packets is not known".to_owned());
    }
    lacking
}

/// A source that is attached later, or anew, gets the rules of the file.
#[derive(Default)]
struct Watching(Option<u32>);

impl Watching {
    fn follow(&mut self, pins: &Pins, plan: &Plan) -> Result<()> {
        let instance = source_links::instance(pins)?;
        if instance == self.0 {
            return Ok(());
        }
        if instance.is_some() && plan.file.as_ref().is_some_and(File::is_about_sources) {
            // The command that attaches is at work still: the next time.
            let Some(_changing) = pins.try_change()? else {
                return Ok(());
            };
            source::set_file_rules(pins, &plan.rules)?;
        }
        self.0 = instance;
        Ok(())
    }
}

/// Goes on with other settings, all of them or none: what may fail comes first.
fn go_on(
    pins: &Pins,
    sink: &Sink,
    now: Plan,
    before: &Plan,
    pipeline: &mut Pipeline,
) -> Result<Plan> {
    let config = &now.config;
    let mut emitter =
        Emitter::new(now.destinations.clone()).context("cannot prepare to send reports")?;
    apply(pins, sink, &now, before)?;
    std::mem::swap(&mut pipeline.emitter, &mut emitter);
    pipeline.emitter.inherit(emitter);
    if config.report_format != before.config.report_format {
        say_form(config);
    }
    pipeline.builder.sink_node = config.node_id;
    pipeline.builder.node_id_word = config.node_id_word;
    pipeline.compat = config.compat;
    pipeline
        .sweeper
        .set_timeouts(config.loss_timeout.0, config.idle_flow_timeout.0);
    pipeline.sweeper.set_summaries(summary_plan(config));
    if let Some(leases) = &mut pipeline.leases
        && config.lease_key != before.config.lease_key
    {
        say_plain(config.lease_key.is_some());
        leases.set_key(config.lease_key);
    }
    Ok(now)
}

/// The flow tables are passed over a slice at a time, so that nothing else waits, and no more often than needed.
struct Passes {
    source: SourceSweeper,
    sink_due: Instant,
    source_due: Instant,
    resume: Instant,
}

impl Passes {
    fn new() -> Result<Self> {
        Ok(Self {
            source: SourceSweeper::new()?,
            sink_due: Instant::now(),
            source_due: Instant::now(),
            resume: Instant::now(),
        })
    }

    fn step(
        &mut self,
        pins: &Pins,
        sink: &Sink,
        config: &SinkConfig,
        pipeline: &mut Pipeline,
        before: &mut Before,
    ) -> Result<()> {
        let now = Instant::now();
        if now < self.sink_due.min(self.source_due).max(self.resume) {
            return Ok(());
        }
        let cpu_ns = clock::thread_cpu_ns();
        let now_ns = clock::realtime_ns();
        if now >= self.sink_due {
            let step = pipeline.sweeper.step(now_ns)?;
            for event in &step.summaries {
                let summary = pipeline.builder.summary(event, now_ns);
                pipeline.emitter.emit(summary);
            }
            before.expired += step.removed;
            if step.end {
                grants::expire(&sink.grants)?;
                before.sweeps += 1;
                self.sink_due = now + PASS;
            }
        }
        if now >= self.source_due {
            let idle_ns = source_links::idle_timeout_ns(pins)?;
            let idle_ns = idle_ns.unwrap_or(config.idle_flow_timeout.as_ns());
            let step = self.source.step(pins, now_ns, idle_ns)?;
            before.source_expired += step.removed;
            if step.end {
                self.source_due = now + PASS;
            }
        }
        let took_ns = clock::thread_cpu_ns() - cpu_ns;
        before.sweep_cpu_ns += took_ns;
        self.resume = now + rest_after(took_ns);
        Ok(())
    }
}
