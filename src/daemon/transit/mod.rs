//! The transit hop's daemon: it keeps the programs attached, follows the clock, shows counters, and tells collectors which
//! host this is. Packets get their entries from the kernel half alone.
//!
//! ```text
//! each turn of the loop:  duties: signs · identity · crossings · option hops · postcards · attachments · reload · clock · waits
//! ```

mod attachments;
mod notices;
mod option_hops;
mod plan;
mod reload;
mod state;
mod waits;
mod while_alone;

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use self::attachments::LookAfterHop;
use self::notices::SendNotices;
use self::option_hops::SendOptionHops;
use self::plan::TransitPlan;
use self::reload::read_again;
use self::state::TransitDaemon;
use self::waits::ReportWaits;
use self::while_alone::WhileAlone;
use super::duties::{FollowClock, SendClocks, SendCrossings, SendIdentity};
use super::duty::Duties;
use super::http;
use super::on_host::HostSide;
use super::privileges::give_up_all_but;
use super::signs::{GiveSigns, Signs};
use crate::cli::TransitServeArgs;
use crate::config::TRANSIT_HTTP_PORT;
use crate::datapath::kernel::kernel_parts;
use crate::datapath::kernel::pins::{Pins, PinsLock};
use crate::datapath::transit::kernel_half::Transit;
use crate::host::{self, pins, state as host_state};
use crate::model::ReportVersion;
use crate::os::{
    log, privileges,
    signals::{self, Hangup},
    wait::Wait,
};
use crate::report::{Destinations, Emitter, ReportForm};
use crate::views;
use crate::web::{self, CachedText, HttpListener, HttpServer};

/// Attaches the transit hop, and leaves it alone.
pub fn attach(bpffs: Option<&Path>, args: &TransitServeArgs) -> Result<()> {
    let plan = TransitPlan::make(args)?;
    let pins = pins::make(bpffs)?;
    attach_all(&pins, &plan).map(drop)
}

fn attach_all(pins: &Pins, plan: &TransitPlan) -> Result<Transit> {
    let _changing = pins.change()?;
    let transit = host::transit::attach(pins, &plan.setup)?;
    host::transit::adopt(pins, &plan.setup.devs)?;
    Ok(transit)
}

/// Attaches the transit hop, and looks after it until a signal ends that.
pub fn run(bpffs: Option<&Path>, args: &TransitServeArgs) -> Result<()> {
    give_up_all_but(&privileges::BEGIN)?;
    let plan = TransitPlan::make(args)?;
    let http = http::bind(plan.setup.http.as_deref(), TRANSIT_HTTP_PORT)?;
    let pins = pins::make(bpffs)?;
    let _lock = lock(&pins)?;
    let transit = attach_all(&pins, &plan)?;
    transit.host.note_parts(kernel_parts::of_hop())?;
    let postcards = SendNotices::begin(&pins)?;
    let waits = ReportWaits::begin(&pins, &plan.setup.transit, &transit.host)?;
    give_up_all_but(&privileges::STEADY)?;
    signals::install(Hangup::of_config(args.config.as_ref())).context("cannot handle signals")?;
    let destinations = Destinations {
        collectors: plan.collectors.clone(),
        // Reports about packets need it.
        form: ReportForm {
            version: ReportVersion::V20,
            dscp: 0,
        },
        ..Destinations::default()
    };
    let mut daemon = TransitDaemon {
        side: HostSide::new(pins, None),
        transit,
        plan,
        emitter: Emitter::new(destinations).context("cannot prepare to report to collectors")?,
        signs: Signs::from_env(),
        is_detached: false,
    };
    let server = http.map(|listener| serve(listener, &daemon));
    let _server = server.transpose()?;
    let mut duties = Duties::default()
        .with(GiveSigns::default())
        .with(SendIdentity::default())
        .with(SendCrossings::new(waits.is_some()))
        .with(SendOptionHops::default())
        .with(postcards)
        .with(LookAfterHop::start())
        .with(read_again(args))
        .with(WhileAlone::new(FollowClock::default()))
        .with(WhileAlone::new(SendClocks::default()));
    if let Some(waits) = waits {
        duties = duties.with(waits);
    }
    daemon.signs.notify.ready();
    loop {
        duties.turn(&mut daemon, Instant::now());
        if signals::ending() || daemon.is_detached {
            break;
        }
        duties.wait(&daemon, Wait::default());
    }
    duties.finish(&mut daemon);
    log::info(match daemon.is_detached {
        true => "ended, because the transit hop was detached",
        false => "ended; the transit hop is still attached (hostint transit detach ends that)",
    });
    Ok(())
}

/// Serves metrics and health from now on.
fn serve(listener: HttpListener, daemon: &TransitDaemon) -> Result<HttpServer> {
    let pins = daemon.side.pins.clone();
    let read = move || {
        host_state::read(&pins, host_state::StatusQuery::NO_FLOWS, None)
            .map(|status| views::metrics::transit::text(&status))
            .map_err(|err| format!("{err:#}"))
    };
    let text = CachedText::start("metrics", read).context("cannot begin to read metrics")?;
    let routes = daemon.signs.health.routes().merge(web::metrics(text));
    http::serve(listener, routes)
}

/// Keeps a second daemon from looking after this host's transit hop.
fn lock(pins: &Pins) -> Result<PinsLock> {
    match pins
        .lock_transit()
        .context("cannot lock this host's pins")?
    {
        Some(lock) => Ok(lock),
        None => bail!("another hostint transit serves this host already (try hostint status)"),
    }
}
