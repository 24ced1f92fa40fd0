//! The daemon of postcards: what this host drops, how long packets take through it, and which of its queues were full. No
//! packet is changed.
//!
//! ```text
//! tp_btf/kfree_skb ─► counts by reason and place ─► totals
//!                  └► flows ─► new ones: ring ──► told ─► names ─► lines, collectors
//!                           └► sweep each period ┘
//! TC ingress ─► stamp ─► TC egress: time to the queue ─► net_dev_start_xmit: time behind it ─► totals
//!                                                         └► flows ─► news: ring ──► told ─► lines
//!                                                                  └► sweep each period ┘
//! qdisc_enqueue ─► time ─► qdisc_dequeue: over? ─► episodes: ring ─► flows of each ─► told at begin and end, each period
//!     each turn of the loop:  duties: signs · interfaces · host · flows · rules' names · sums · identity · reload · metrics
//! ```

mod collectors;
mod drop_cards;
pub mod episodes;
mod follow_interfaces;
mod lines;
mod links;
mod metrics;
mod names;
mod passage_cards;
mod passage_interfaces;
mod passage_sweep;
pub mod passages;
mod plan;
mod pods;
mod queue_cards;
mod queue_sweep;
mod reload;
pub mod reported_flows;
mod stacks;
mod state;
mod sweep;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use self::collectors::SendSums;
use self::drop_cards::DropCards;
use self::follow_interfaces::FollowInterfaces;
use self::lines::PostcardLines;
use self::links::HostLinks;
use self::metrics::ServeTotals;
use self::names::KernelNames;
use self::passage_cards::PassageCards;
use self::passage_sweep::{RenewStamps, SendFlowPassages};
use self::passages::SendPassages;
use self::plan::PostcardsPlan;
use self::pods::PodNames;
use self::queue_cards::QueueCards;
use self::queue_sweep::SendQueues;
use self::reload::read_again;
use self::state::PostcardsDaemon;
use self::sweep::SendFlows;
use super::answers;
use super::duties::{FollowHost, FollowRules, SendIdentity};
use super::duty::Duties;
use super::http;
use super::own_host::OwnHost;
use super::privileges::give_up_all_but;
use super::signs::{GiveSigns, Signs};
use crate::cli::PostcardsArgs;
use crate::config::{DropsChoice, HopsChoice, POSTCARDS_HTTP_PORT};
use crate::control::UnpinnedRole;
use crate::model::PartsFound;
use crate::os::{
    clock, log, netns, privileges,
    signals::{self, Hangup},
    wait::Wait,
};
use crate::report::Emitter;
use crate::web::HttpListener;

/// Reports drops and hops until a signal ends that, or for as long as `--once` says.
pub fn run(bpffs: Option<&Path>, args: &PostcardsArgs) -> Result<()> {
    // Seeing the one of another process takes privileges. Without it they are reported all the same.
    let found = bpffs
        .map(Path::to_owned)
        .or_else(|| netns::bpffs(false).ok().flatten());
    // So does that of the cgroups that all others are below, which --local needs.
    let _ = crate::os::cgroup::root();
    give_up_all_but(&privileges::POSTCARDS_BEGIN)?;
    let (mut daemon, http) = begin(found.as_deref(), args)?;
    let mut duties = Duties::default()
        .with(GiveSigns::default())
        .with(FollowInterfaces::default())
        .with(FollowHost)
        .with(SendFlows)
        .with(SendSums::since(daemon.since_ns))
        .with(SendIdentity::default())
        .with(read_again(args));
    if daemon.hops.is_some() {
        duties = duties
            .with(RenewStamps)
            .with(SendFlowPassages)
            .with(SendPassages::since(daemon.since_ns))
            .with(FollowRules::start());
    }
    if daemon.queues.is_some() {
        duties = duties.with(SendQueues);
    }
    if let Some(listener) = http {
        duties = duties.with(ServeTotals::start(listener, &mut daemon)?);
    }
    if let Some(clients) = answers::answer(UnpinnedRole::Postcards, args.config.is_some()) {
        duties = duties.with(clients);
    }
    let end = args.once.map(|once| Instant::now() + once.0);
    daemon.signs.notify.ready();
    log::info(format_args!("{} are reported", daemon.reported_kinds()));
    while !signals::ending() && end.is_none_or(|end| Instant::now() < end) {
        daemon.tell_news()?;
        duties.turn(&mut daemon, Instant::now());
        daemon.emitter.flush();
        let mut wait = Wait::default();
        end.into_iter().for_each(|end| wait.until(end));
        daemon.wakes(&mut wait);
        duties.wait(&daemon, wait);
    }
    daemon.tell_news()?;
    duties.finish(&mut daemon);
    daemon.emitter.flush();
    print_totals(&mut daemon, args.json)?;
    Ok(())
}

fn begin(
    bpffs: Option<&Path>,
    args: &PostcardsArgs,
) -> Result<(PostcardsDaemon, Option<HttpListener>)> {
    let plan = PostcardsPlan::make(args)?;
    let config = &plan.config;
    let host = OwnHost::find(bpffs, config.node_id, !config.collectors.is_empty())?;
    let emitter =
        Emitter::new(plan.destinations()).context("cannot prepare to report to collectors")?;
    let http = http::bind(config.http.as_deref(), POSTCARDS_HTTP_PORT)?;
    let names = KernelNames::read(config.places);
    let links = HostLinks::begin()?;
    let mut found = PartsFound::default();
    let drops = match config.drops {
        DropsChoice::All => DropCards::begin(&plan, &names, &mut found)?,
        _ => None,
    };
    let hops = match config.hops {
        HopsChoice::None => None,
        _ => PassageCards::begin(&plan, &links, &mut found)?,
    };
    let queues = match config.queues.is_empty() {
        true => None,
        false => QueueCards::begin(&plan, &links, &mut found)?,
    };
    if drops.is_none() && hops.is_none() && queues.is_none() {
        bail!("the kernel lacks or refuses all that is asked for (see hostint doctor)");
    }
    give_up_all_but(match &hops {
        Some(_) => &privileges::POSTCARDS_HOPS[..],
        None => &privileges::POSTCARDS[..],
    })?;
    signals::install(Hangup::of_config(args.config.as_ref())).context("cannot handle signals")?;
    let daemon = PostcardsDaemon {
        drops,
        hops,
        queues,
        links,
        pods: PodNames::begin(plan.config.pods).context("cannot look for containers")?,
        lines: args.once.is_none().then(|| PostcardLines::new(args.json)),
        host,
        emitter,
        plan,
        names,
        signs: Signs::from_env(),
        since_ns: clock::realtime_ns(),
        refused: found.refused,
    };
    Ok((daemon, http))
}

fn print_totals(daemon: &mut PostcardsDaemon, json: bool) -> Result<()> {
    let totals = daemon.totals()?;
    let mut lines = PostcardLines::new(json);
    if let Some(drops) = &totals.drops {
        lines.add_totals(drops)?;
    }
    if let Some(hops) = &totals.hops {
        lines.add_hop_totals(hops)?;
    }
    if let Some(queues) = &totals.queues {
        lines.add_queue_totals(queues)?;
    }
    lines.flush()
}
