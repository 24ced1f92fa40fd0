//! The daemon of postcards: what this host drops, as the kernel's tracepoint shows it. No packet is changed.
//!
//! ```text
//! tp_btf/kfree_skb ─► counts by reason and place ─► totals
//!                  └► flows ─► new ones: ring ──► told ─► names ─► lines, collectors
//!                           └► sweep each period ┘
//!     each turn of the loop:  duties: signs · host · flows · sums · identity · reload · metrics
//! ```

mod collectors;
mod lines;
mod metrics;
mod names;
mod plan;
mod reload;
mod state;
mod sweep;
mod told;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use self::collectors::TellSums;
use self::lines::PostcardLines;
use self::metrics::ServeTotals;
use self::names::KernelNames;
use self::plan::PostcardsPlan;
use self::reload::read_again;
use self::state::PostcardsDaemon;
use self::sweep::TellFlows;
use self::told::ToldDrops;
use super::duties::{FollowHost, TellIdentity};
use super::duty::Duties;
use super::http;
use super::own_host::OwnHost;
use super::privileges::give_up_all_but;
use super::signs::{GiveSigns, Signs};
use crate::cli::PostcardsArgs;
use crate::config::POSTCARDS_HTTP_PORT;
use crate::datapath::drops::DropProgram;
use crate::datapath::event_ring::EventRing;
use crate::host::advice::advise_for;
use crate::os::{clock, kernel_counters, log, netns, privileges, signals};
use crate::report::{Destinations, Emitter};
use crate::web::HttpListener;

/// The longest wait for new flows: they are not worth a wake-up each.
const WAIT: Duration = Duration::from_millis(20);

/// Tells drops until a signal ends that, or for as long as `--once` says.
pub fn run(bpffs: Option<&Path>, args: &PostcardsArgs) -> Result<()> {
    // Seeing the one of another process takes privileges. Without it drops are told all the same.
    let found = bpffs
        .map(Path::to_owned)
        .or_else(|| netns::bpffs(false).ok().flatten());
    give_up_all_but(&privileges::POSTCARDS_BEGIN)?;
    let (mut daemon, mut events, http) = begin(found.as_deref(), args)?;
    let mut duties = Duties::default()
        .with(GiveSigns::default())
        .with(FollowHost)
        .with(TellFlows::default())
        .with(TellSums::since(clock::realtime_ns()))
        .with(TellIdentity)
        .with(read_again(args));
    if let Some(listener) = http {
        duties = duties.with(ServeTotals::start(listener, &mut daemon)?);
    }
    let end = args.once.map(|once| Instant::now() + once.0);
    daemon.signs.notify.ready();
    log::info("drops are told");
    while !signals::ending() && end.is_none_or(|end| Instant::now() < end) {
        daemon.tell_new_flows(&mut events, WAIT)?;
        duties.turn(&mut daemon, Instant::now());
    }
    daemon.tell_new_flows(&mut events, Duration::ZERO)?;
    duties.finish(&mut daemon);
    print_totals(&mut daemon, args.json)?;
    Ok(())
}

fn begin(
    bpffs: Option<&Path>,
    args: &PostcardsArgs,
) -> Result<(PostcardsDaemon, EventRing, Option<HttpListener>)> {
    let plan = PostcardsPlan::make(args)?;
    let config = &plan.config;
    let host = OwnHost::find(bpffs, config.node_id, !config.collectors.is_empty())?;
    let destinations = Destinations {
        collectors: plan.collectors.clone(),
        ..Destinations::default()
    };
    let emitter = Emitter::new(destinations).context("cannot prepare to tell collectors")?;
    let http = http::bind(config.http.as_deref(), POSTCARDS_HTTP_PORT)?;
    let names = KernelNames::read(config.places);
    if !names.reasons.exist() {
        log::warning(
            "this kernel gives no reasons for drops (Linux 5.17 does): packets are told by the place that freed them, \
             and many of those were no loss",
        );
    }
    // What was lost before is not told; what is lost from here on is.
    let counters_before = kernel_counters::read().context("cannot read the kernel's counters")?;
    let programmed = plan.for_program(&names.reasons)?;
    let program = DropProgram::attach(config.max_flows, &programmed)
        .map_err(|err| advise_for(err, &privileges::POSTCARDS))
        .context("cannot see drops")?;
    let events = program.events().context("cannot read drops")?;
    give_up_all_but(&privileges::POSTCARDS)?;
    signals::install().context("cannot handle signals")?;
    if args.config.is_some() {
        signals::reload_on_hangup().context("cannot handle signals")?;
    }
    let daemon = PostcardsDaemon {
        told: ToldDrops::new(config.max_reports),
        lines: args.once.is_none().then(|| PostcardLines::new(args.json)),
        program,
        host,
        emitter,
        plan,
        programmed,
        names,
        signs: Signs::from_env(),
        counters_before,
    };
    Ok((daemon, events, http))
}

fn print_totals(daemon: &mut PostcardsDaemon, json: bool) -> Result<()> {
    let totals = daemon.totals()?;
    let mut lines = PostcardLines::new(json);
    lines.add_totals(&totals)?;
    lines.flush()
}
