//! A source's beginning: its programs are attached, and a daemon may look after them from then on.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::plan::SourcePlan;
use super::state::SourceDaemon;
use crate::cli::SourceServeArgs;
use crate::daemon::leases::{LeaseKeeping, warn_without_key};
use crate::daemon::on_host::HostSide;
use crate::daemon::privileges::give_up_all_but;
use crate::daemon::signs::Signs;
use crate::datapath::kernel::kernel_parts;
use crate::datapath::kernel::pins::{Pins, PinsLock};
use crate::datapath::source::kernel_half::Source;
use crate::datapath::source::source_links;
use crate::datapath::watch;
use crate::host::pins;
use crate::host::source::attach::attach_dev;
use crate::host::source::forms::require_form_of;
use crate::host::source::rules::set_file_rules;
use crate::host::source::{choose_node, leave_nothing};
use crate::os::{
    privileges,
    signals::{self, Hangup},
};
use crate::report::{Destinations, Emitter};

/// A source that is attached to the plan's interfaces.
pub struct AttachedSource {
    pins: Pins,
    plan: SourcePlan,
    /// The programs of the last interface.
    source: Source,
}

impl AttachedSource {
    pub fn attach(bpffs: Option<&Path>, args: &SourceServeArgs) -> Result<Self> {
        let plan = SourcePlan::make(args)?;
        let config = &plan.setup.source;
        let pins = pins::make(bpffs)?;
        require_form_of(&pins, config)?;
        let node = choose_node(&pins, config, plan.setup.force)?;
        let changing = pins.change()?;
        watch::make_room(&pins, &plan.rules).context("cannot make room for the watchlist")?;
        let mut last = None;
        for dev in &plan.setup.devs {
            let attached = attach_dev(&pins, dev, config, node, plan.dests());
            last = Some(attached.inspect_err(|_| leave_nothing(&pins))?);
        }
        let source = last.context("cannot attach the source: no interface is given (try --dev)")?;
        if plan.file.is_some() {
            set_file_rules(&pins, &plan.rules).inspect_err(|_| leave_nothing(&pins))?;
        }
        drop(changing);
        source_links::take_over(&pins).context("cannot take over from another version")?;
        Ok(Self { pins, plan, source })
    }

    /// Makes the daemon that looks after it.
    ///
    /// # Errors
    /// If a sink's daemon serves this host: it looks after the source, too.
    pub fn into_daemon(self, args: &SourceServeArgs) -> Result<(SourceDaemon, PinsLock)> {
        let Self { pins, plan, source } = self;
        let key = plan.setup.source.lease_key;
        let destinations = Destinations {
            collectors: plan.collectors.clone(),
            ..Destinations::default()
        };
        let emitter =
            Emitter::new(destinations).context("cannot prepare to report to collectors")?;
        let leases = LeaseKeeping::start(key)?;
        give_up_all_but(&privileges::STEADY)?;
        signals::install(Hangup::of_config(args.config.as_ref()))
            .context("cannot handle signals")?;
        let Some(lock) = pins.lock().context("cannot lock this host's pins")? else {
            bail!(
                "a hostint sink serves this host already, and looks after its source (try hostint source attach)"
            );
        };
        source.host.note_parts(kernel_parts::of_every_role())?;
        source.host.note_parts(kernel_parts::of_source())?;
        source.host.set_lease_key(key)?;
        source.host.set_report_ports(&plan.report_ports())?;
        warn_without_key(key);
        let daemon = SourceDaemon {
            side: HostSide::new(pins, Some(leases)),
            source,
            plan,
            emitter,
            signs: Signs::from_env(),
        };
        Ok((daemon, lock))
    }
}
