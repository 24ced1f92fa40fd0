//! `hostint collect`: datagrams become lines.

mod board;
#[cfg(feature = "clickhouse")]
mod clickhouse;
mod engines;
#[cfg(feature = "ipfix")]
mod ipfix;
#[cfg(feature = "kafka")]
mod kafka;
#[cfg(feature = "otlp")]
mod otlp;
mod output;
mod plan;
mod read_reports;
mod report_lines;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::http::{self, Health};
use super::{give_up, keeping, page, pushing};
use crate::cli::{CollectArgs, exit};
use crate::collector::ReportListener;
use crate::config::{COLLECT_HTTP_PORT, ConfigError};
use crate::engines::Patience;
use crate::model::{CollectStatus, EngineStatus, EngineUnit, REPORT_PORT};
use crate::os::notify::Notify;
use crate::os::{clock, log, resolve, signals};
use crate::store::Store;
use crate::views::text::Grouped;

use board::Board;
use output::Output;
use plan::{Plan, Reload};
use report_lines::ReportLines;

/// How often it is said how it goes.
const PUBLISH: Duration = Duration::from_secs(1);

/// What is pushed at the end has this time.
const LAST_PUSH: Duration = Duration::from_secs(5);

/// How long to wait for datagrams before looking at anything else.
const LOOK_UP: Duration = Duration::from_millis(100);

pub fn run(args: &CollectArgs) -> Result<u8> {
    let plan = Plan::make(args)?;
    let config = &plan.config;
    let engines = engines::prepare(&config.engines)?;
    let receivers = pushing::prepare(&config.engines.push, None)?;
    if let Some(file) = &args.read {
        let store = keeping::open(&config.store, true)?;
        let mut reports = report_lines(&plan)?;
        let engines = || engines::start(engines, &config.engines, Patience::Wait);
        return read_reports::run(file, args, store, engines, &mut reports);
    }
    let listener = if config.listen.is_empty() {
        ReportListener::bind_default(config.receivers)?
    } else {
        ReportListener::bind(&listen_addresses(&config.listen)?, config.receivers)?
    };
    let http = http::bind(config.http.as_deref(), COLLECT_HTTP_PORT)?;
    let store = keeping::open(&config.store, false)?;
    // Datagrams of strangers are read from here on, and nothing else is done.
    give_up(&[])?;
    let mut reports = report_lines(&plan)?;
    let store = keeping::start(store)?;
    reports.keeper = store.as_ref().map(Store::keeper);
    let mut engines = engines::start(engines, &config.engines, Patience::Drop)?;
    reports.feed = (!engines.is_empty()).then(|| engines.feed());
    signals::install()
        .and_then(|()| signals::reload_on_hangup())
        .context("cannot handle signals")?;
    let collects_on = listener.local_addresses();
    for address in &collects_on {
        log::info(format_args!("collecting on {address}"));
    }
    let queue = usize::try_from(config.queue.0).unwrap_or(usize::MAX);
    let listener = listener.with_run(engines.run().0);
    let reception = listener.start(queue, clock::realtime_ns)?;
    let board = Arc::new(Board::new(reception.observer()));
    let push = config.engines.push.clone();
    let mut pushers = pushing::begin(receivers, &push)?;
    let (pushed, told) = (pushers.counts(), Arc::clone(&board));
    let (since_ns, read) = (
        board.status().started_ns,
        http::collector_families(move || told.status()),
    );
    pushing::start(&mut pushers, &push, since_ns, read)?;
    let health = Health::new();
    let mut _server = None;
    if let Some(http) = http {
        let (told, shown) = (Arc::clone(&board), Arc::clone(&board));
        let status = move || shown.status();
        let page = page::routes(
            &http,
            store.as_ref(),
            reports.reasons(),
            collects_on,
            status,
        )?;
        let routes = health
            .routes()
            .merge(http::collector_metrics(move || told.status())?)
            .merge(page);
        _server = Some(http::serve(http, routes)?);
    }
    health.lacks(Vec::new());
    let mut reload = Reload::new(args, plan);
    let (mut seen, mut before) = (0, CollectStatus::default());
    let more = |seen| args.count.is_none_or(|count| seen < count);
    let mut notify = Notify::from_env();
    notify.ready();
    let mut next_publication = Instant::now();
    while more(seen) && !reception.is_done() {
        if signals::ending() {
            reception.end();
        }
        let mut written = Ok(());
        reception.next(LOOK_UP, |bytes, arrival| {
            seen += 1;
            written = reports.datagram(bytes, arrival);
            written.is_ok() && more(seen)
        });
        if let Err(err) = written.and_then(|()| reports.flush()) {
            if err.kind() == io::ErrorKind::BrokenPipe {
                break;
            }
            return Err(err).context("cannot write reports to standard output");
        }
        let (asked, reload_asked) = (signals::asked(), signals::reload_asked());
        if asked || reload_asked {
            reports.output_mut().reopen();
        }
        if reload_asked {
            reload.ask();
        }
        if let Some(plan) = reload.step() {
            reports.rename(plan.config.drop_reasons.clone(), plan.classes.clone());
        }
        notify.reload_goes_on(reload.goes_on());
        notify.alive();
        health.is_alive();
        if asked || Instant::now() >= next_publication {
            next_publication = Instant::now() + PUBLISH;
            board.publish(&reports, engines.statuses().chain(pushed.statuses()));
            let status = board.status();
            health.lacks(not_kept(&status, &before));
            if asked {
                summarize(&status, &reports);
            }
            if notify.listens() {
                notify.status(state_line(&status));
            }
            before = status;
        }
    }
    notify.stopping();
    board.publish(&reports, engines.statuses().chain(pushed.statuses()));
    summarize(&board.status(), &reports);
    (reports.keeper, reports.feed) = (None, None);
    let delivered = engines::finish(engines, false);
    pushing::finish(pushers, LAST_PUSH);
    keeping::finish(store)?;
    delivered?;
    ensure!(
        !reception.is_done() || signals::ending(),
        "cannot go on: the receiving threads ended early"
    );
    Ok(exit::OK)
}

fn report_lines(plan: &Plan) -> Result<ReportLines<Output>> {
    Ok(ReportLines::new(
        Output::open(plan.config.output.as_ref())?,
        plan.config.json,
        plan.config.drop_reasons.clone(),
        plan.classes.clone(),
    ))
}

fn listen_addresses(texts: &[String]) -> Result<Vec<SocketAddr>> {
    texts
        .iter()
        .map(|text| {
            resolve::socket_address(text, REPORT_PORT).map_err(|err| {
                ConfigError::one(format!(
                    "cannot listen on {text}: {err} (try 0.0.0.0:32766 or [::]:32766)"
                ))
                .into()
            })
        })
        .collect()
}

/// What came, what did not, what could not be read: on stderr, for each exporter and in all.
fn summarize(status: &CollectStatus, reports: &ReportLines<Output>) {
    reports.summarize_exporters();
    let mut line = format!(
        "{} datagrams, {}, {} dropped by the socket, {} dropped at the queue",
        status.datagrams,
        reports.summary(),
        status.socket_drops,
        status.queue_drops
    );
    if status.probes > 0 {
        line += &format!(", {} probes", status.probes);
    }
    if status.lines_lost > 0 {
        line += &format!(", {} lines not written", status.lines_lost);
    }
    log::info(line);
}

/// What lacks, if reports since the last look are not where they should be.
fn not_kept(now: &CollectStatus, before: &CollectStatus) -> Vec<String> {
    let mut lacking = Vec::new();
    let dropped = now.store_drops - before.store_drops;
    if dropped > 0 {
        lacking.push(format!(
            "{dropped} reports were not stored in the last second"
        ));
    }
    let only = now.rolled_up_only - before.rolled_up_only;
    if only > 0 {
        lacking.push(format!(
            "{only} reports were stored in figures only in the last second"
        ));
    }
    for (at, engine) in now.engines.iter().enumerate() {
        let lost = engine.lost() - before.engines.get(at).map_or(0, EngineStatus::lost);
        // What the collector is for is not to push metrics.
        if lost > 0 && engine.unit == EngineUnit::Reports {
            lacking.push(format!(
                "{lost} reports were not delivered to {} in the last second",
                engine.engine
            ));
        }
    }
    lacking
}

/// `3 exporters; 1,234 reports, 2 lost on the way`, and what else went wrong.
fn state_line(status: &CollectStatus) -> String {
    let mut line = format!(
        "{} exporter{}; {} reports, {} lost on the way",
        Grouped(status.exporters_total as u64),
        if status.exporters_total == 1 { "" } else { "s" },
        Grouped(status.reports),
        Grouped(status.reports_lost)
    );
    let (reports, metrics): (Vec<_>, Vec<_>) = status
        .engines
        .iter()
        .partition(|engine| engine.unit == EngineUnit::Reports);
    let lost = |engines: &[&EngineStatus]| engines.iter().map(|engine| engine.lost()).sum();
    for (count, what) in [
        (status.undecodable, "undecodable"),
        (status.socket_drops, "dropped by the socket"),
        (status.queue_drops, "dropped at the queue"),
        (status.lines_lost, "not written"),
        (status.rolled_up_only, "in figures only"),
        (status.store_drops, "not stored"),
        (lost(&reports), "not delivered"),
        (lost(&metrics), "values of metrics not delivered"),
    ] {
        if count > 0 {
            line += &format!(", {} {what}", Grouped(count));
        }
    }
    line
}
