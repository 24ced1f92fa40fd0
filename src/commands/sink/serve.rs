//! The sink's daemon: kernel events become reports, flow tables are swept, leases kept, attachments looked after.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::plan::Plan;
use super::reload::{Reload, apply};
use crate::commands::follow::Follower;
use crate::commands::leases::{Counts, LeaseKeeping, say_plain};
use crate::commands::troubles::Troubles;
use crate::commands::{reloading, source};
use crate::config::{Compat, File, SinkConfig};
use crate::datapath::abi::daemon_counter;
use crate::datapath::pins::Pins;
use crate::datapath::sink::Sink;
use crate::datapath::sink_links;
use crate::datapath::sweeper::{SourceSweeper, Sweeper, rest_after};
use crate::datapath::{attachments, events, grants};
use crate::model::SinkEvent;
use crate::os::{clock, signals};
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

/// The daemon's counters of an earlier life, to which it adds.
struct Before {
    read: u64,
    malformed: u64,
    sent: u64,
    lost: u64,
    log_written: u64,
    log_lost: u64,
    expired: u64,
    source_expired: u64,
    sweeps: u64,
    sweep_cpu_ns: u64,
    leases: Counts,
    repaired: u64,
}

impl Before {
    fn of(sink: &Sink) -> Result<Self> {
        let get = |which: daemon_counter| -> Result<u64> {
            Ok(sink.daemon.get(&which.0)?.unwrap_or_default())
        };
        Ok(Self {
            read: get(daemon_counter::DAEMON_EVENTS_READ)?,
            malformed: get(daemon_counter::DAEMON_EVENTS_MALFORMED)?,
            sent: get(daemon_counter::DAEMON_REPORTS_SENT)?,
            lost: get(daemon_counter::DAEMON_REPORTS_LOST)?,
            log_written: get(daemon_counter::DAEMON_LOG_WRITTEN)?,
            log_lost: get(daemon_counter::DAEMON_LOG_LOST)?,
            expired: get(daemon_counter::DAEMON_FLOWS_EXPIRED)?,
            source_expired: get(daemon_counter::DAEMON_SOURCE_FLOWS_EXPIRED)?,
            sweeps: get(daemon_counter::DAEMON_SWEEPS)?,
            sweep_cpu_ns: get(daemon_counter::DAEMON_SWEEP_CPU_NS)?,
            repaired: get(daemon_counter::DAEMON_REPAIRED)?,
            leases: Counts {
                asked: get(daemon_counter::DAEMON_LEASES_ASKED)?,
                answered: get(daemon_counter::DAEMON_LEASES_ANSWERED)?,
                refused: get(daemon_counter::DAEMON_LEASES_REFUSED)?,
                cpu_ns: get(daemon_counter::DAEMON_LEASE_CPU_NS)?,
            },
        })
    }
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
) -> Result<End> {
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
    let mut follower = Follower::start();
    let mut troubles = Troubles::default();
    let ring = sink.events(|bytes| pipeline.borrow_mut().take(bytes))?;
    let mut before = Before::of(sink)?;
    let mut passes =
        Passes::new().context("cannot load the programs that walk over flow tables")?;
    let mut next_pass = Instant::now();
    let mut watching = Watching::default();
    loop {
        // Ended by a signal is no error; what waits is read by consume.
        ring.poll_raw(POLL);
        ring.consume()?;
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
                    plan = now;
                }
                Err(err) => reloading::tell_refusal(&err),
            }
        }
        let followed = follower.follow(pins, Some((sink, &plan.config)));
        troubles.note("look after what is attached", followed);
        let stepped = passes.step(
            pins,
            sink,
            &plan.config,
            &mut pipeline.borrow_mut().sweeper,
            &mut before,
        );
        troubles.note("pass over flow tables", stepped);
        if signals::asked()
            && let Err(err) = pipeline.borrow_mut().emitter.reopen_log()
        {
            eprintln!("hostint: {err}");
        }
        let ending = signals::ending();
        if now >= next_pass || ending {
            next_pass = now + PASS;
            let links = sink_links::links(pins);
            if !ending && links.as_ref().is_ok_and(Vec::is_empty) {
                reload.end();
                write_counters(sink, &pipeline.borrow(), &follower, &before)?;
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
            write_counters(sink, &pipeline.borrow(), &follower, &before)?;
        }
        if ending {
            reload.end();
            ring.consume()?;
            write_counters(sink, &pipeline.borrow(), &follower, &before)?;
            sink.note(daemon_counter::DAEMON_PID, 0)?;
            return Ok(End::Asked);
        }
    }
}

/// A source that is attached later, or anew, gets the rules of the file.
#[derive(Default)]
struct Watching(Option<u32>);

impl Watching {
    fn follow(&mut self, pins: &Pins, plan: &Plan) -> Result<()> {
        let instance = attachments::instance(pins)?;
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
    pipeline.builder.sink_node = config.node_id;
    pipeline.builder.node_id_word = config.node_id_word;
    pipeline.compat = config.compat;
    pipeline
        .sweeper
        .set_timeouts(config.loss_timeout.0, config.idle_flow_timeout.0);
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
        sweeper: &mut Sweeper,
        before: &mut Before,
    ) -> Result<()> {
        let now = Instant::now();
        if now < self.sink_due.min(self.source_due).max(self.resume) {
            return Ok(());
        }
        let cpu_ns = clock::thread_cpu_ns();
        let now_ns = clock::realtime_ns();
        if now >= self.sink_due {
            let step = sweeper.step(now_ns)?;
            before.expired += step.removed;
            if step.end {
                grants::expire(&sink.grants)?;
                before.sweeps += 1;
                self.sink_due = now + PASS;
            }
        }
        if now >= self.source_due {
            let idle_ns = attachments::idle_timeout_ns(pins)?;
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

fn write_counters(
    sink: &Sink,
    pipeline: &Pipeline,
    follower: &Follower,
    before: &Before,
) -> Result<()> {
    let counts = pipeline.emitter.counts();
    let log = counts.log.unwrap_or_default();
    let leases = pipeline.leases.as_ref();
    let leases = leases.map_or_else(Counts::default, |leases| leases.counts);
    for (which, value) in [
        (
            daemon_counter::DAEMON_EVENTS_READ,
            before.read + pipeline.events_read,
        ),
        (
            daemon_counter::DAEMON_EVENTS_MALFORMED,
            before.malformed + pipeline.events_malformed,
        ),
        (
            daemon_counter::DAEMON_REPORTS_SENT,
            before.sent + counts.sent,
        ),
        (
            daemon_counter::DAEMON_REPORTS_LOST,
            before.lost + counts.lost,
        ),
        (
            daemon_counter::DAEMON_LOG_WRITTEN,
            before.log_written + log.lines,
        ),
        (daemon_counter::DAEMON_LOG_LOST, before.log_lost + log.lost),
        (daemon_counter::DAEMON_FLOWS_EXPIRED, before.expired),
        (
            daemon_counter::DAEMON_SOURCE_FLOWS_EXPIRED,
            before.source_expired,
        ),
        (daemon_counter::DAEMON_SWEEPS, before.sweeps),
        (daemon_counter::DAEMON_SWEEP_CPU_NS, before.sweep_cpu_ns),
        (
            daemon_counter::DAEMON_REPAIRED,
            before.repaired + follower.repaired,
        ),
        (
            daemon_counter::DAEMON_LEASES_ASKED,
            before.leases.asked + leases.asked,
        ),
        (
            daemon_counter::DAEMON_LEASES_ANSWERED,
            before.leases.answered + leases.answered,
        ),
        (
            daemon_counter::DAEMON_LEASES_REFUSED,
            before.leases.refused + leases.refused,
        ),
        (
            daemon_counter::DAEMON_LEASE_CPU_NS,
            before.leases.cpu_ns + leases.cpu_ns,
        ),
    ] {
        sink.note(which, value)?;
    }
    Ok(())
}
