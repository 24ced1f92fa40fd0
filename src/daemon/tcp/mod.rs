//! The daemon that tells the state of TCP connections, and what limits them. No packet and no socket is changed.
//!
//! ```text
//! iter/tcp, each period ──────────────────► samples ─► connections ─► what limits each ─► lines
//! tp_btf/inet_sock_set_state ─► endings: ring ───────────┘      └──► sums ─► metrics
//!     each turn of the loop:  duties: signs · samples · rules' names · reload · metrics
//! ```

mod connections;
mod lines;
mod metrics;
mod names;
mod plan;
mod reload;
mod sample;
mod state;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use self::connections::Connections;
use self::lines::{TcpLines, TcpOutput};
use self::metrics::ServeConnections;
use self::names::FollowRules;
use self::plan::TcpDaemonPlan;
use self::reload::read_again;
use self::sample::SampleConnections;
use self::state::TcpDaemon;
use super::duty::Duties;
use super::http;
use super::privileges::give_up_all_but;
use super::signs::{GiveSigns, Signs};
use crate::cli::TcpArgs;
use crate::config::TCP_HTTP_PORT;
use crate::datapath::event_ring::EventRing;
use crate::datapath::tcp::TcpPrograms;
use crate::host::advice::advise_for;
use crate::os::{log, privileges, signals};
use crate::web::HttpListener;

/// The longest wait for endings: they are not worth a wake-up each.
const WAIT: Duration = Duration::from_millis(50);

/// Watches connections until a signal ends that, or for as long as `--once` says.
pub fn run(args: &TcpArgs) -> Result<()> {
    give_up_all_but(&privileges::TCP_BEGIN)?;
    let (mut daemon, mut endings, http) = begin(args)?;
    let mut duties = Duties::default()
        .with(GiveSigns::default())
        .with(SampleConnections::new(args.top))
        .with(FollowRules::start())
        .with(read_again(args));
    if let Some(listener) = http {
        duties = duties.with(ServeConnections::start(listener, &mut daemon)?);
    }
    let end = args.once.map(|once| Instant::now() + once.0);
    daemon.signs.notify.ready();
    log::info("connections are watched");
    while !signals::ending() && end.is_none_or(|end| Instant::now() < end) {
        duties.turn(&mut daemon, Instant::now());
        daemon.tell_endings(&mut endings, WAIT)?;
    }
    duties.finish(&mut daemon);
    daemon.tell_endings(&mut endings, Duration::ZERO)?;
    print_end(&mut daemon, args.top)
}

fn begin(args: &TcpArgs) -> Result<(TcpDaemon, EventRing, Option<HttpListener>)> {
    let plan = TcpDaemonPlan::make(args)?;
    let config = &plan.config;
    let http = http::bind(config.http.as_deref(), TCP_HTTP_PORT)?;
    let programs = TcpPrograms::attach(config.max_connections, &plan.for_programs()?)
        .map_err(|err| advise_for(err, &privileges::TCP))
        .context("cannot read TCP connections (that takes Linux 5.9 with BTF)")?;
    let endings = programs.endings().context("cannot read endings")?;
    give_up_all_but(&privileges::TCP)?;
    signals::install().context("cannot handle signals")?;
    if args.config.is_some() {
        signals::reload_on_hangup().context("cannot handle signals")?;
    }
    let mut connections = Connections::new(config.max_connections as usize);
    connections.set_rules(&plan.rules);
    let output = match (args.once.is_some(), args.watch) {
        (true, _) => TcpOutput::Once,
        (false, true) => TcpOutput::Screen,
        (false, false) => TcpOutput::Lines,
    };
    let daemon = TcpDaemon {
        programs,
        connections,
        lines: TcpLines::new(output, args.json),
        plan,
        signs: Signs::from_env(),
        walk: Duration::ZERO,
    };
    Ok((daemon, endings, http))
}

fn print_end(daemon: &mut TcpDaemon, top: usize) -> Result<()> {
    match daemon.lines.output {
        TcpOutput::Once => daemon.show(top)?,
        TcpOutput::Lines => {
            let totals = daemon.totals()?;
            daemon.lines.add_totals(&totals)?;
        }
        TcpOutput::Screen => {}
    }
    daemon.lines.flush()
}
