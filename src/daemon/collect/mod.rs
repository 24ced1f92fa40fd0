//! The collector's daemon: datagrams become reports, which the hub hands to lines, the history and engines.
//!
//! ```text
//! Reception (threads with sockets, a queue) ─► ReportHub ─► Takers: history · engines · lines
//!        each turn of the loop:               duties: signals · reload · board · signs
//! ```

mod board;
mod cluster_pods;
mod collector;
mod end_slots;
mod engines;
mod event_book;
mod follow_pods;
mod host_events;
mod judging;
mod line_choice;
mod metrics;
mod output;
mod page;
mod past;
mod plan;
pub mod posting;
mod publish;
mod readiness;
mod reload;
mod report_file_lines;
mod report_lines;
mod reports_file;
mod signals;
mod signs;
mod store;
pub mod stored_reports;
mod summary;
mod takers;
mod wall;
mod webhook;

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use self::board::Board;
use self::cluster_pods::ClusterPods;
use self::collector::Collector;
use self::end_slots::EndSlots;
use self::event_book::EventBook;
use self::follow_pods::FollowPods;
use self::output::Output;
use self::page::Shown;
use self::plan::CollectPlan;
use self::publish::PublishBoard;
use self::readiness::Readiness;
use self::reload::ReloadPlan;
use self::report_lines::{LineForm, ReportLines};
use self::signals::HeedSignals;
use super::duty::Duties;
use super::http;
use super::metrics_push;
use super::privileges::give_up_all_but;
use super::reload::Reload;
use super::signs::{GiveSigns, Signs};
use crate::cli::{CollectArgs, LineArgs};
use crate::collector::{Reception, ReportListener, ReverseNames};
use crate::config::{COLLECT_HTTP_PORT, CollectConfig};
use crate::engines::push::{Push, Pushers};
use crate::engines::{Engine, Patience};
use crate::os::{
    dns, log,
    signals::{self as os_signals, Hangup},
    wait::Wait,
};
use crate::store::{OpenedStore, Store};
use crate::web::{self, EventEntry, HttpServer};

/// The most flows and groups whose last totals are kept for the next run: they take some 100 MB of the store.
const MOST_BASES: usize = 1 << 18;

/// The time that pushed metrics have at the end.
const LAST_PUSH: Duration = Duration::from_secs(5);

/// Receives reports until a signal or `--count` ends it, or reads the file of `--read`.
pub fn run(args: &CollectArgs) -> Result<()> {
    let plan = CollectPlan::make(args)?;
    let engines = engines::prepare(&plan.config.engines)?;
    let receivers = metrics_push::prepare(&plan.config.engines.push, None)?;
    if let Some(file) = &args.read {
        return reports_file::run(file, args, plan, engines);
    }
    let opened = Opening::open(plan, engines, receivers)?;
    // From here on bytes of strangers are read, and nothing else is done.
    give_up_all_but(&[])?;
    let mut serving = opened.start(args)?;
    let received = serving.receive();
    serving.finish()?;
    received
}

/// All that takes the privileges to begin with.
struct Opening {
    plan: CollectPlan,
    engines: Vec<Box<dyn Engine>>,
    receivers: Vec<Arc<dyn Push>>,
    listener: ReportListener,
    http: Option<web::HttpListener>,
    store: Option<OpenedStore>,
}

impl Opening {
    fn open(
        plan: CollectPlan,
        engines: Vec<Box<dyn Engine>>,
        receivers: Vec<Arc<dyn Push>>,
    ) -> Result<Self> {
        let config = &plan.config;
        let listener = if config.listen.is_empty() {
            ReportListener::bind_default(config.receivers)?
        } else {
            ReportListener::bind(&plan.listen_addresses()?, config.receivers)?
        };
        Ok(Self {
            engines,
            receivers,
            listener,
            http: http::bind(config.http.as_deref(), COLLECT_HTTP_PORT)?,
            store: store::open(&config.store, false)?,
            plan,
        })
    }

    fn start(mut self, args: &CollectArgs) -> Result<Serving> {
        let Self { plan, listener, .. } = self;
        let (lines, pods) = named_lines(&plan, args, self.store.as_ref())?;
        let (seen, bases, events) = (self.store.as_mut().map(store::kept)).unwrap_or_default();
        let store = store::start(self.store)?;
        let mut engines = engines::start(self.engines, &plan.config.engines, Patience::Drop)?;
        let mut hub = takers::live_hub(&plan, lines, store.as_ref(), &mut engines);
        let now_ns = wall::now_ns();
        hub.ledgers.start_at(now_ns);
        hub.ledgers.increments.resume(bases);
        hub.ledgers.exporters.remember(&seen, now_ns);
        os_signals::install(Hangup::Reloads).context("cannot handle signals")?;
        let collects_on = listener.local_addresses();
        collects_on.iter().for_each(say_address);
        let queue = usize::try_from(plan.config.queue.0).unwrap_or(usize::MAX);
        let listener = listener.with_run(engines.run().0);
        let reception = listener.start(queue, wall::now_ns)?;
        let board = Arc::new(Board::new(reception.observer()));
        let webhook = plan.config.webhook.as_deref();
        let (judge, book) = judging::of(store.as_ref(), &board, events, webhook)?;
        let push = &plan.config.engines.push;
        let mut pushers = metrics_push::begin(self.receivers, push)?;
        let pushed = pushers.counts();
        let since_ns = board.status().started_ns;
        metrics_push::start(&mut pushers, push, since_ns, metrics::families(&board))?;
        let signs = Signs::from_env();
        let serve = |http| {
            let reasons = hub.reasons();
            let events = entry(&plan.config, &book);
            let shown = (store.as_ref(), reasons, collects_on, events);
            serve(http, &signs, shown, &board)
        };
        let server = self.http.map(serve).transpose()?;
        let again = args.clone();
        let collector = Collector {
            hub,
            judge,
            engines,
            pushed,
            board,
            signs,
            reload: Reload::new(move || CollectPlan::make(&again)),
            reverse_names: reverse_names(&plan.config),
            pods,
            plan,
            args: args.clone(),
            datagrams: 0,
            readiness: Readiness::default(),
        };
        Ok(Serving {
            collector,
            reception,
            pushers,
            store,
            _server: server,
        })
    }
}

/// The lines, and the pods that they name.
fn named_lines(
    plan: &CollectPlan,
    args: &CollectArgs,
    store: Option<&OpenedStore>,
) -> Result<(ReportLines<Output>, Option<ClusterPods>)> {
    let output = Output::open(plan.config.output.as_ref())?;
    let form = line_form(&plan.config, &args.lines, store.is_some());
    let mut lines = ReportLines::new(output, form, &args.lines);
    let pods = ClusterPods::begin(plan.config.kubernetes.as_ref(), store)?;
    lines.name_pods(pods.as_ref().map(ClusterPods::book));
    Ok((lines, pods))
}

/// Where posted events go.
fn entry(config: &CollectConfig, book: &Arc<EventBook>) -> EventEntry {
    let book = Arc::clone(book);
    EventEntry {
        token: config.events_token.as_ref().map(|token| token.0.clone()),
        take: Box::new(move |posted| book.take(posted)),
    }
}

/// Serves health and metrics, and the page where people can reach it.
fn serve(
    http: web::HttpListener,
    signs: &Signs,
    (store, reasons, collects_on, events): Shown<'_>,
    board: &Arc<Board>,
) -> Result<HttpServer> {
    let mut routes = signs.health.routes().merge(metrics::route(board)?);
    if let Some(bound) = http.address().context("cannot serve the page")? {
        let page = page::routes(bound, (store, reasons, collects_on, events), board)?;
        routes = routes.merge(page);
    }
    http::serve(http, routes)
}

/// With a history, lines are not written to where they were not asked for, such as a journal.
fn line_form(config: &CollectConfig, lines: &LineArgs, has_history: bool) -> LineForm {
    let is_asked =
        config.json || config.output.is_some() || lines.is_chosen() || io::stdout().is_terminal();
    if is_asked || !has_history {
        return LineForm::of(config);
    }
    log::info(
        "reports go to the history alone: standard output is no terminal, and neither --json nor --output is given",
    );
    LineForm::Nothing
}

fn say_address(address: &SocketAddr) {
    log::info(format_args!("collecting on {address}"));
}

fn reverse_names(config: &CollectConfig) -> Option<ReverseNames> {
    config
        .reverse_dns
        .then(|| ReverseNames::start(dns::name_of))
}

/// A collector that receives.
struct Serving {
    collector: Collector,
    reception: Reception,
    pushers: Pushers,
    store: Option<Store>,
    _server: Option<HttpServer>,
}

impl Serving {
    fn receive(&mut self) -> Result<()> {
        let mut duties = Duties::default()
            .with(HeedSignals)
            .with(ReloadPlan)
            .with(FollowPods::default())
            .with(PublishBoard)
            .with(EndSlots)
            .with(GiveSigns::default());
        let (collector, reception) = (&mut self.collector, &self.reception);
        collector.signs.health.lacks(Vec::new());
        collector.signs.notify.ready();
        while collector.wants_more() && !reception.is_done() {
            if os_signals::ending() {
                reception.end();
            }
            if !collector.take_datagrams(reception)? {
                break;
            }
            duties.turn(collector, Instant::now());
            let mut wait = Wait::default();
            collector.wakes(reception, &mut wait);
            duties.wait(collector, wait);
        }
        duties.finish(collector);
        collector.end()
    }

    fn finish(self) -> Result<()> {
        let Collector {
            hub,
            engines,
            judge,
            ..
        } = self.collector;
        // The last slot is judged before the history is finished.
        drop(judge);
        if let Some(store) = &self.store {
            let increments = &hub.ledgers.increments;
            store.leave_bases(increments.bases(MOST_BASES, wall::now_ns()));
        }
        // The history and engines are finished once nothing can hand them reports.
        drop(hub);
        let delivered = engines::finish(engines, false);
        metrics_push::finish(self.pushers, LAST_PUSH);
        store::finish(self.store)?;
        delivered?;
        ensure!(
            !self.reception.is_done() || os_signals::ending(),
            "cannot go on: the receiving threads ended early"
        );
        Ok(())
    }
}
