//! A source that stays: it does what the sink's daemon does on a host that has one.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::dests::{del_dests, unname_leases};
use super::plan::Plan;
use super::reconfigure::{leave, reconfigure, refuse};
use super::{choose_node, set_file_rules};
use crate::cli::AttachArgs;
use crate::commands::follow::Follower;
use crate::commands::give_up;
use crate::commands::leases::{LeaseKeeping, say_plain};
use crate::commands::reloading::{Planning, summary, tell_refusal};
use crate::commands::state_line;
use crate::commands::troubles::Troubles;
use crate::config::{SOURCE, WATCH};
use crate::datapath::pins::Pins;
use crate::datapath::source::Source;
use crate::datapath::sweeper::{SourceSweeper, rest_after};
use crate::datapath::watch::Watchlist;
use crate::model::Place;
use crate::os::notify::Notify;
use crate::os::{clock, log, privileges, signals};

pub fn look_after(pins: &Pins, source: &Source, args: &AttachArgs, mut plan: Plan) -> Result<()> {
    let key = plan.setup.source.lease_key;
    let mut leases = LeaseKeeping::start(key)?;
    give_up(&privileges::STEADY)?;
    signals::install().context("cannot handle signals")?;
    if args.config.is_some() {
        signals::reload_on_hangup().context("cannot handle signals")?;
    }
    let Some(_lock) = pins.lock().context("cannot lock this host's pins")? else {
        bail!(
            "a hostint sink serves this host already, and looks after its source (leave --foreground out)"
        );
    };
    source.host.set_lease_key(key)?;
    say_plain(key.is_some());
    let mut follower = Follower::start();
    let mut sweeper = SourceSweeper::new()?;
    let mut troubles = Troubles::default();
    let again = args.clone();
    let mut planning = Planning::new(move || Plan::make(&again));
    let mut sweeping = false;
    let mut resume = Instant::now();
    let mut next = Instant::now();
    let mut notify = Notify::from_env();
    notify.ready();
    while !signals::ending() {
        troubles.note("keep leases", leases.tick(pins));
        troubles.note("look after what is attached", follower.follow(pins, None));
        if let Some(now) = planning.step(pins, true) {
            let applied =
                now.and_then(|(now, _changing)| apply(pins, source, &mut leases, now, &plan));
            match applied {
                Ok(now) => {
                    let files = (now.file.as_ref(), plan.file.as_ref());
                    summary(files.0, files.1, &[SOURCE, WATCH], &args.settings);
                    plan = now;
                }
                Err(err) => tell_refusal(&err),
            }
        }
        notify.reload_goes_on(planning.goes_on());
        if Instant::now() >= next {
            next += Duration::from_secs(1);
            let followed = source.host.refresh_clock();
            troubles.note("follow the clock", followed.map(drop).map_err(Into::into));
            sweeping = true;
            notify.alive();
            if notify.listens() {
                let line = state_line::of_source(pins, Some(&leases));
                troubles.note(
                    "tell the service manager",
                    line.map(|line| notify.status(line)),
                );
            }
        }
        if sweeping && Instant::now() >= resume {
            let cpu_ns = clock::thread_cpu_ns();
            let idle_ns = plan.setup.source.idle_flow_timeout.as_ns();
            let step = sweeper.step(pins, clock::realtime_ns(), idle_ns);
            sweeping = step.as_ref().is_ok_and(|step| !step.end);
            troubles.note("pass over flow tables", step.map(drop).map_err(Into::into));
            resume = Instant::now() + rest_after(clock::thread_cpu_ns() - cpu_ns);
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    notify.stopping();
    log::info("ended; the source is still attached (hostint source detach ends that)");
    Ok(())
}

/// All of the new plan, or none: the watchlist and the programs first, which may fail and are undone then. Each
/// program is replaced in place; whoever calls holds the right to do that.
fn apply(
    pins: &Pins,
    source: &Source,
    leases: &mut LeaseKeeping,
    now: Plan,
    before: &Plan,
) -> Result<Plan> {
    let (setup, was) = (&now.setup, &before.setup);
    refuse(pins, setup, now.file.as_ref())?;
    let node = choose_node(pins, &setup.source, true)?;
    let old_node = choose_node(pins, &was.source, true)?;
    let other_key = setup.source.lease_key != was.source.lease_key;
    let rules = set_file_rules(pins, &now.rules);
    let changed = rules.and_then(|()| {
        if setup == was && now.places == before.places {
            return Ok(());
        }
        reconfigure(pins, setup, node, now.dests())
    });
    if let Err(err) = changed {
        for undone in [
            set_file_rules(pins, &before.rules),
            source.host.set_node_id(old_node).map_err(Into::into),
            unwatch(pins, &now.places, &before.places),
        ] {
            if let Err(err) = undone {
                log::error(format_args!("cannot go back: {err:#}"));
            }
        }
        return Err(err);
    }
    if other_key {
        source.host.set_lease_key(setup.source.lease_key)?;
        say_plain(setup.source.lease_key.is_some());
        leases.set_key(setup.source.lease_key);
    }
    let gone: Vec<String> = was
        .devs
        .iter()
        .filter(|dev| !setup.devs.contains(dev))
        .cloned()
        .collect();
    for done in [
        leave(pins, &gone),
        unwatch(pins, &before.places, &now.places),
    ] {
        if let Err(err) = done {
            log::error(format_args!(
                "cannot give up what is no longer named: {err:#}"
            ));
        }
    }
    Ok(now)
}

/// Takes places off the list that only the first of two files of destinations names.
fn unwatch(pins: &Pins, places: &[Place], kept: &[Place]) -> Result<()> {
    let is_kept = |place: &&Place| kept.iter().any(|one| one.text == place.text);
    let gone = places.iter().filter(|place| !is_kept(place));
    let gone: Vec<String> = gone.map(|place| place.text.clone()).collect();
    if gone.is_empty() {
        return Ok(());
    }
    if let Some(list) = Watchlist::open(pins)? {
        del_dests(&list, &gone)?;
        unname_leases(pins, &list).context("cannot end leases")?;
    }
    Ok(())
}
