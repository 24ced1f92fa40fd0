//! A role of the agent, and the process that does its work.

use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::joined::RoleSeen;
use super::part::Part;

/// A role with its process.
pub struct RoleProcess {
    pub part: Part,
    pub child: Option<Child>,
}

impl RoleProcess {
    /// Sends its process a signal, if it has one.
    pub fn ask(&self, signal: Signal) {
        if let Some(child) = &self.child {
            // It may have ended; its number is no other's before it is asked for its exit code.
            let _ = kill(pid_of(child), signal);
        }
    }

    /// The role as others see it.
    pub fn seen(&self) -> RoleSeen {
        RoleSeen {
            role: self.part.role,
            runs: self.part.runs(),
            pid: self.child.as_ref().map(|child| pid_of(child).as_raw()),
        }
    }

    pub fn is_process(&self, pid: i32) -> bool {
        let child = self.child.as_ref();
        child.is_some_and(|child| pid_of(child).as_raw() == pid)
    }
}

pub fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}
