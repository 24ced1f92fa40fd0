//! The daemon that tells the state of TCP connections, and what limits them. No packet and no socket is changed.
//!
//! ```text
//! iter/tcp, each period ──────────────────► samples ─► connections ─► what limits each ─► lines, collectors
//! tp_btf/inet_sock_set_state ─► endings: ring ───────────┘      └──► sums ─► metrics
//!     each turn of the loop:  duties: signs · host · samples · reports · identity · rules' names · reload · metrics
//! ```

mod collectors;
mod connections;
mod lines;
mod metrics;
mod option_peers;
mod plan;
mod reload;
mod report_fifo;
mod sample;
mod state;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use self::collectors::SendConnections;
use self::connections::Connections;
use self::lines::{TcpLines, TcpOutput};
use self::metrics::ServeConnections;
use self::option_peers::FollowOptionPeers;
use self::plan::TcpDaemonPlan;
use self::reload::read_again;
use self::report_fifo::ReportFifo;
use self::sample::SampleConnections;
use self::state::TcpDaemon;
use super::answers;
use super::duties::{FollowHost, FollowRules, SendIdentity};
use super::duty::Duties;
use super::http;
use super::own_host::OwnHost;
use super::privileges::give_up_all_but;
use super::signs::{GiveSigns, Signs};
use crate::cli::TcpArgs;
use crate::config::TCP_HTTP_PORT;
use crate::control::UnpinnedRole;
use crate::datapath::sink::event_ring::EventRing;
use crate::datapath::tcp::programs::TcpPrograms;
use crate::host::advice::{advise_for, require};
use crate::os::{
    cgroup, clock, log, netns, privileges,
    signals::{self, Hangup},
    wait::Wait,
};
use crate::report::{Destinations, Emitter};
use crate::web::HttpListener;

/// Watches connections until a signal ends that, or for as long as `--once` says.
pub fn run(bpffs: Option<&Path>, args: &TcpArgs) -> Result<()> {
    // Seeing the one of another process takes privileges. Without it connections are reported all the same.
    let found = bpffs
        .map(Path::to_owned)
        .or_else(|| netns::bpffs(false).ok().flatten());
    let cgroups = cgroup::root();
    give_up_all_but(&privileges::TCP_BEGIN)?;
    let (mut daemon, mut endings, http) = begin(found.as_deref(), cgroups.as_deref(), args)?;
    let mut duties = Duties::default()
        .with(GiveSigns::default())
        .with(FollowHost)
        .with(SampleConnections::new(args.top))
        .with(FollowOptionPeers::default())
        .with(SendConnections::default())
        .with(SendIdentity::default())
        .with(FollowRules::start())
        .with(read_again(args, cgroups));
    if let Some(listener) = http {
        duties = duties.with(ServeConnections::start(listener, &mut daemon)?);
    }
    if let Some(clients) = answers::answer(UnpinnedRole::Tcp, args.config.is_some()) {
        duties = duties.with(clients);
    }
    let end = args.once.map(|once| Instant::now() + once.0);
    daemon.signs.notify.ready();
    log::info("connections are watched");
    while !signals::ending() && end.is_none_or(|end| Instant::now() < end) {
        daemon.report_endings(&mut endings)?;
        duties.turn(&mut daemon, Instant::now());
        let mut wait = Wait::default();
        end.into_iter().for_each(|end| wait.until(end));
        endings.wakes(&mut wait);
        duties.wait(&daemon, wait);
    }
    duties.finish(&mut daemon);
    daemon.report_endings(&mut endings)?;
    daemon.report_collectors(Instant::now());
    print_end(&mut daemon, args.top)
}

fn begin(
    bpffs: Option<&Path>,
    cgroups: Option<&Path>,
    args: &TcpArgs,
) -> Result<(TcpDaemon, EventRing, Option<HttpListener>)> {
    let plan = TcpDaemonPlan::make(args, cgroups)?;
    let config = &plan.config;
    let host = OwnHost::find(bpffs, config.node_id, !config.collectors.is_empty())?;
    let destinations = Destinations {
        collectors: plan.collectors.clone(),
        ..Destinations::default()
    };
    let emitter = Emitter::new(destinations).context("cannot prepare to report to collectors")?;
    let http = http::bind(config.http.as_deref(), TCP_HTTP_PORT)?;
    require(match config.option.sends() {
        true => &privileges::TCP_OPTION[..],
        false => &privileges::TCP[..],
    })
    .context("cannot read TCP connections")?;
    let programs = TcpPrograms::attach(config.max_connections, &plan.for_programs()?)
        .map_err(|err| advise_for(err, &privileges::TCP))
        .context("cannot read TCP connections (that takes Linux 5.9 with BTF)")?;
    let endings = programs.endings().context("cannot read endings")?;
    give_up_all_but(&privileges::TCP)?;
    signals::install(Hangup::of_config(args.config.as_ref())).context("cannot handle signals")?;
    let most = config.max_connections as usize;
    // Numbers of a later run are higher than those of this one.
    let mut connections = Connections::new(most, clock::realtime_ns() / 1000);
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
        host,
        emitter,
        queue: ReportFifo::new(config.max_reports),
        plan,
        signs: Signs::from_env(),
        walk: Duration::ZERO,
        since_ns: clock::realtime_ns(),
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
