//! Starts the process of a role: this binary, with the role's own command, user and privileges.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;
use nix::unistd::User;

use super::joined::address_of;
use super::part::{RoleWork, STANDS_STILL};
use crate::config::Role;
use crate::daemon::http::AGENT_ADDRESS;
use crate::host::history;
use crate::os::privileges::{self, Capability};
use crate::os::{log, private_netns};

/// The collector reads strangers' bytes, so it has a user of its own if the package made one.
const COLLECTOR_USER: &str = "hostint-collector";

/// This binary, even if its file was replaced meanwhile.
const SELF: &str = "/proc/self/exe";

/// What all processes of roles are started with.
pub struct Starter<'a> {
    pub bpffs: Option<&'a Path>,
    pub config: &'a Path,
    /// The address that they send their messages to.
    pub manager: &'a str,
    /// The agent serves their metrics.
    pub has_http: bool,
}

impl Starter<'_> {
    /// Starts a process for this work of a role.
    ///
    /// # Errors
    /// If the system starts none.
    pub fn start(&self, role: Role, work: RoleWork) -> io::Result<Child> {
        let mut command = Command::new(SELF);
        command.arg0("hostint").args(arguments(role, work));
        if work != RoleWork::Detach {
            command.arg("--config").arg(self.config);
        }
        if role == Role::Source && work == RoleWork::Serve {
            // No sink of this host gives it a node id.
            command.arg("--force");
        }
        if let Some(bpffs) = self.bpffs {
            command.arg("--bpffs").arg(bpffs);
        }
        let watchdog_us = STANDS_STILL.as_micros().to_string();
        command
            .env("NOTIFY_SOCKET", self.manager)
            .env("WATCHDOG_USEC", watchdog_us)
            .env_remove("WATCHDOG_PID")
            .env(log::ROLE, OsStr::new(role.name()))
            .stdin(Stdio::null());
        if self.has_http && work == RoleWork::Serve {
            command.env(AGENT_ADDRESS, address_of(role, std::process::id()));
        }
        if role != Role::Collect {
            command.stdout(Stdio::null());
        }
        if role == Role::Collect && nix::unistd::geteuid().is_root() {
            // The service manager names the folder of the other roles.
            command.env(history::STATE_VARIABLE, history::STATE);
            if may_change_user() {
                take_user(&mut command);
            }
        }
        private_netns::spawn(&mut command, Signal::SIGTERM, None)
    }
}

fn arguments(role: Role, work: RoleWork) -> Vec<&'static str> {
    match work {
        RoleWork::Serve => vec![role.name()],
        RoleWork::Attach => vec![role.name(), "attach"],
        RoleWork::Detach => vec![role.name(), "detach"],
    }
}

/// Without CAP_KILL the agent could end or reload no process of another user.
fn may_change_user() -> bool {
    let needed = [
        Capability::CAP_SETUID,
        Capability::CAP_SETGID,
        Capability::CAP_KILL,
    ];
    privileges::missing(&needed).is_ok_and(|missing| missing.is_empty())
}

fn take_user(command: &mut Command) {
    match User::from_name(COLLECTOR_USER) {
        Ok(Some(user)) => {
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        _ => log::info(format_args!(
            "there is no user {COLLECTOR_USER}: the collector runs as this one, without capabilities"
        )),
    }
}
