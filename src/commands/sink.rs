//! `hostint sink`: kernel events become reports.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::{advise, find_pins, make_pins};
use crate::cli::{SinkArgs, exit};
use crate::config::{Compat, ConfigError, LogFormatName, SinkConfig, SinkOptions, load_file};
use crate::datapath::abi::{MAX_REPORT_PORTS, daemon_counter, flow_key, source_flow};
use crate::datapath::maps::Map;
use crate::datapath::pins::Pins;
use crate::datapath::sink::{self, Attached, Sink};
use crate::datapath::sweeper::{Sweeper, expire_source_flows};
use crate::datapath::{events, source};
use crate::model::{REPORT_PORT, SinkEvent};
use crate::os::{clock, netdev, resolve, signals};
use crate::report::{Builder, Destinations, Emitter, LogFormat, LogSettings};

/// How often the ring is looked at: events are not worth a wake-up each.
const POLL: Duration = Duration::from_millis(10);
/// How often the flow tables are passed over and the clock offset is taken.
const PASS: Duration = Duration::from_secs(1);

pub fn run(bpffs: Option<&Path>, args: &SinkArgs) -> Result<u8> {
    if args.detach {
        return detach(bpffs, &args.options);
    }
    let file = match &args.config {
        Some(path) => load_file(path)?,
        None => SinkOptions::default(),
    };
    let config = args.options.clone().over(file).check()?;
    let collectors = resolve_collectors(&config)?;
    let destinations = Destinations {
        collectors: collectors.clone(),
        report_to_sender: config.report_to_sender,
        log: config.report_log.clone().map(|path| LogSettings {
            path,
            format: match config.log_format {
                LogFormatName::HostInt => LogFormat::HostInt,
                LogFormatName::Json => LogFormat::Json,
            },
        }),
    };
    for dev in &config.devs {
        check_device(dev)?;
    }
    let emitter = Emitter::new(destinations).context("cannot prepare to send reports")?;
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
    prepare(&sink, &config, &collectors)
        .context("cannot set up the sink")
        .inspect_err(|_| leave_nothing(&pins))?;
    signals::install().context("cannot handle signals")?;
    for dev in &config.devs {
        let mode = attach(&sink, &pins, dev, &config)
            .with_context(|| format!("cannot attach the sink to {dev}"))
            .inspect_err(|_| leave_nothing(&pins))?;
        eprintln!(
            "hostint: sink attached to {dev} ({mode}), node id {}",
            config.node_id
        );
        let gro = sink::veth_gro(config.hook, netdev::index_of(dev)?);
        if gro == Some(false) {
            eprintln!(
                "hostint: {dev} is a veth with GRO off: received segments are not merged after the strip \
                 (try: ethtool -K {dev} gro on)"
            );
        }
    }
    adopt(&sink, &pins, &config)?;
    match serve(&pins, &sink, &config, emitter).context("cannot go on as a sink")? {
        End::Asked => {
            eprintln!("hostint: ended; INT is still stripped (hostint sink --detach ends that)");
        }
        End::Detached => eprintln!("hostint: ended, because the sink was detached"),
    }
    Ok(exit::OK)
}

/// A sink that could not be attached anywhere leaves no maps behind.
fn leave_nothing(pins: &Pins) {
    if sink::is_attached(pins).is_ok_and(|attached| !attached) {
        let _ = sink::detach(pins, &[]);
    }
}

fn attach(sink: &Sink, pins: &Pins, dev: &str, config: &SinkConfig) -> Result<&'static str> {
    Ok(match sink.attach(pins, dev, config).map_err(advise)? {
        Attached::XdpNative => "native XDP",
        Attached::XdpGeneric => "generic XDP",
        Attached::Tcx => "tc, tcx",
    })
}

/// Interfaces from an earlier run keep being stripped, by the new program.
fn adopt(sink: &Sink, pins: &Pins, config: &SinkConfig) -> Result<()> {
    for (dev, hook) in sink::attached_devs(pins).context("cannot look for attached sinks")? {
        if config.devs.contains(&dev) {
            continue;
        }
        let as_it_was = SinkConfig {
            hook,
            ..config.clone()
        };
        match attach(sink, pins, &dev, &as_it_was) {
            Ok(_) => eprintln!(
                "hostint: sink still attached to {dev} (hostint sink --detach --dev {dev} ends that)"
            ),
            Err(err) => eprintln!("hostint: an older sink stays on {dev}: {err:#}"),
        }
    }
    Ok(())
}

fn detach(bpffs: Option<&Path>, options: &SinkOptions) -> Result<u8> {
    let Some(pins) = find_pins(bpffs)? else {
        eprintln!("hostint: no sink on this host");
        return Ok(exit::NOTHING);
    };
    let detached = sink::detach(&pins, &options.dev)
        .map_err(advise)
        .context("cannot detach the sink")?;
    for dev in &detached {
        eprintln!("hostint: sink detached from {dev}");
    }
    if detached.is_empty() {
        eprintln!("hostint: no sink to detach");
        return Ok(exit::NOTHING);
    }
    Ok(exit::OK)
}

fn check_device(dev: &str) -> Result<()> {
    let ethernet = netdev::is_ethernet(dev)
        .map_err(advise)
        .with_context(|| format!("cannot use interface {dev}"))?;
    anyhow::ensure!(
        ethernet,
        "cannot use interface {dev}: its packets have no Ethernet header"
    );
    Ok(())
}

fn resolve_collectors(config: &SinkConfig) -> Result<Vec<SocketAddr>> {
    let mut found = Vec::new();
    let mut mistakes = Vec::new();
    for name in &config.collectors {
        match resolve::socket_address(name, REPORT_PORT) {
            Ok(address) if address.port() == 0 => {
                mistakes.push(format!(
                    "cannot use collector {name}: reports cannot be sent to port 0"
                ));
            }
            Ok(address) => found.push(address),
            Err(err) if err.kind() == std::io::ErrorKind::InvalidInput => {
                mistakes.push(format!("cannot use collector {name}: {err}"));
            }
            Err(err) => return Err(err).with_context(|| format!("cannot find collector {name}")),
        }
    }
    let ports = config.report_ports(found.iter().map(SocketAddr::port));
    if ports.len() > MAX_REPORT_PORTS {
        mistakes.push(format!(
            "{} different report ports, the default one included: {MAX_REPORT_PORTS} are possible",
            ports.len()
        ));
    }
    if !mistakes.is_empty() {
        return Err(ConfigError(mistakes).into());
    }
    Ok(found)
}

fn prepare(sink: &Sink, config: &SinkConfig, collectors: &[SocketAddr]) -> Result<()> {
    let ports = config.report_ports(collectors.iter().map(SocketAddr::port));
    sink.host.refresh_clock()?;
    sink.host.set_node_id(config.node_id)?;
    sink.host.set_report_ports(&ports)?;
    sink.apply(config)?;
    sink.note(daemon_counter::DAEMON_PID, std::process::id().into())?;
    sink.note(daemon_counter::DAEMON_STARTED_NS, clock::realtime_ns())?;
    sink.note(daemon_counter::DAEMON_ALIVE_NS, clock::realtime_ns())?;
    Ok(())
}

/// What events lead to.
struct Pipeline {
    builder: Builder,
    compat: Option<Compat>,
    emitter: Emitter,
    sweeper: Sweeper,
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
        })
    }
}

/// Why a sink's daemon ends.
enum End {
    Asked,
    Detached,
}

/// Until a signal asks to end: ring to reports, flow tables swept, clock followed.
fn serve(pins: &Pins, sink: &Sink, config: &SinkConfig, emitter: Emitter) -> Result<End> {
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
    });
    let ring = sink.events(|bytes| pipeline.borrow_mut().take(bytes))?;
    let mut before = Before::of(sink)?;
    let mut next_pass = Instant::now();
    loop {
        // Ended by a signal is no error; what waits is read by consume.
        ring.poll_raw(POLL);
        ring.consume()?;
        let now = Instant::now();
        pipeline.borrow_mut().sweeper.end_loss_periods(now)?;
        if signals::asked()
            && let Err(err) = pipeline.borrow_mut().emitter.reopen_log()
        {
            eprintln!("hostint: {err}");
        }
        let ending = signals::ending();
        if now >= next_pass || ending {
            next_pass = now + PASS;
            if !ending && !sink::is_attached(pins)? {
                write_counters(sink, &pipeline.borrow(), &before)?;
                sink.note(daemon_counter::DAEMON_PID, 0)?;
                return Ok(End::Detached);
            }
            pipeline.borrow_mut().builder.clock = Some(sink.host.refresh_clock()?);
            pass(pins, sink, config, &pipeline, &mut before)?;
            write_counters(sink, &pipeline.borrow(), &before)?;
        }
        if ending {
            ring.consume()?;
            write_counters(sink, &pipeline.borrow(), &before)?;
            sink.note(daemon_counter::DAEMON_PID, 0)?;
            return Ok(End::Asked);
        }
    }
}

fn pass(
    pins: &Pins,
    sink: &Sink,
    config: &SinkConfig,
    pipeline: &RefCell<Pipeline>,
    before: &mut Before,
) -> Result<()> {
    let cpu = clock::thread_cpu_ns();
    let now_ns = clock::realtime_ns();
    before.expired += pipeline.borrow_mut().sweeper.pass(now_ns)?;
    if let Some(flows) = Map::<flow_key, source_flow>::open(&pins.map(source::FLOWS_MAP))? {
        let idle_ns = source::attachments(pins)?
            .iter()
            .map(|(_, _, info)| info.idle_timeout_ns)
            .min()
            .unwrap_or(config.idle_flow_timeout.as_ns());
        before.source_expired += expire_source_flows(&flows, now_ns, idle_ns)?;
    }
    before.sweeps += 1;
    before.sweep_cpu_ns += clock::thread_cpu_ns() - cpu;
    sink.note(daemon_counter::DAEMON_ALIVE_NS, now_ns)?;
    Ok(())
}

fn write_counters(sink: &Sink, pipeline: &Pipeline, before: &Before) -> Result<()> {
    let counts = pipeline.emitter.counts();
    let log = counts.log.unwrap_or_default();
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
    ] {
        sink.note(which, value)?;
    }
    Ok(())
}
