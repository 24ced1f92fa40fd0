//! The source's daemon: it does for the source what the sink's daemon does on a host that has one.
//!
//! ```text
//! packets are tagged by the kernel half alone; each turn of the loop:
//!     duties: signs · identity · coverage · leases · attachments · reload · clock · flow table · rules
//! ```

mod begin;
mod plan;
mod reload;
mod state;

use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use self::begin::AttachedSource;
use self::reload::read_again;
use super::duties::{
    FollowClock, KeepBudget, KeepHostNames, KeepLeases, LookAfterAttachments, MakeOptionRoom,
    SendClocks, SendCoverage, SendCrossings, SendIdentity, SetFileRules, WalkSourceFlows,
};
use super::duty::Duties;
use super::privileges::give_up_all_but;
use super::signs::GiveSigns;
use crate::cli::SourceServeArgs;
use crate::os::{cgroup, log, privileges, signals, wait::Wait};

/// Attaches the source and leaves it to the sink's daemon.
pub fn attach(bpffs: Option<&Path>, args: &SourceServeArgs) -> Result<()> {
    AttachedSource::attach(bpffs, args).map(drop)
}

/// Attaches the source, and looks after it until a signal ends that.
pub fn run(bpffs: Option<&Path>, args: &SourceServeArgs) -> Result<()> {
    give_up_all_but(&privileges::BEGIN)?;
    // It is looked for once, with these privileges.
    cgroup::root();
    let (mut daemon, _lock) = AttachedSource::attach(bpffs, args)?.into_daemon(args)?;
    let mut duties = Duties::default()
        .with(GiveSigns::default())
        .with(SendIdentity::default())
        .with(SendCoverage::new())
        .with(SendCrossings::default())
        .with(KeepHostNames::default())
        .with(KeepBudget::default())
        .with(KeepLeases)
        .with(MakeOptionRoom::default())
        .with(LookAfterAttachments::start())
        .with(read_again(args))
        .with(FollowClock::default())
        .with(SendClocks::default())
        .with(WalkSourceFlows::new())
        .with(SetFileRules::default());
    daemon.signs.notify.ready();
    while !signals::ending() {
        duties.turn(&mut daemon, Instant::now());
        duties.wait(&daemon, Wait::default());
    }
    duties.finish(&mut daemon);
    log::info("ended; the source is still attached (hostint source detach ends that)");
    Ok(())
}
