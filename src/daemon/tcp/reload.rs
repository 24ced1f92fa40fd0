//! Goes on with what the config file says after a SIGHUP.

use std::path::PathBuf;

use anyhow::Result;

use super::plan::TcpDaemonPlan;
use super::state::TcpDaemon;
use crate::cli::TcpArgs;
use crate::config::{File, TCP, TcpOptions, WATCH};
use crate::daemon::duties::{ReadFileAgain, ReadsFile};
use crate::daemon::reload::refuse_changed;

/// The duty to read the config file again after a SIGHUP.
pub fn read_again(args: &TcpArgs, cgroups: Option<PathBuf>) -> ReadFileAgain<TcpDaemon> {
    let again = args.clone();
    ReadFileAgain::new(args.settings.clone(), move || {
        TcpDaemonPlan::make(&again, cgroups.as_deref())
    })
}

impl ReadsFile for TcpDaemon {
    type Plan = TcpDaemonPlan;
    type Options = TcpOptions;
    const TABLES: &'static [&'static str] = &[TCP, WATCH];

    fn plan(&self) -> &TcpDaemonPlan {
        &self.plan
    }

    fn file(plan: &TcpDaemonPlan) -> Option<&File> {
        plan.file.as_ref()
    }

    /// Goes on with all of the new plan, or none. Returns the plan before.
    fn go_on(&mut self, now: TcpDaemonPlan) -> Result<TcpDaemonPlan> {
        let (new, old) = (&now.config, &self.plan.config);
        let table = format!(
            "the table has room for {} connections, and cannot grow or shrink (try to start hostint tcp again)",
            old.max_connections
        );
        let address = "the address is bound at the start (try to start hostint tcp again)";
        let option = "the program is attached at the start (try to start hostint tcp again)";
        let settled = [
            (
                new.max_connections != old.max_connections,
                "max-connections",
                &*table,
            ),
            (new.http != old.http, "http", address),
            (new.option.sends() != old.option.sends(), "option", option),
        ];
        refuse_changed(now.file.as_ref(), |file| &file.tcp, &settled)?;
        self.host
            .set_node(new.node_id, !new.collectors.is_empty())?;
        self.programs.set(&now.for_programs()?)?;
        self.queue.set_most(new.max_reports);
        if now.collectors != self.plan.collectors {
            self.emitter.set_collectors(now.collectors.clone());
        }
        self.connections.set_rules(&now.rules);
        Ok(std::mem::replace(&mut self.plan, now))
    }
}
