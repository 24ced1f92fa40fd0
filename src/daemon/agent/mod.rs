//! The agent of a host: it starts the roles that the config file gives this host, each as a process of its own, and looks after
//! them.
//!
//! ```text
//! hostint.toml ─► roles ─► processes: sink · source · transit · postcards · tcp · collect
//!                              │ ready, state in words, signs of life; exit codes
//! service manager ◄── state ◄──┴─► started again · killed · asked to read the file again
//! ```
//!
//! A process for each role keeps each to its own privileges: the collector reads strangers' bytes without any, postcards change
//! no packet, and what ends one role ends no other. Pages of the one binary are shared.

mod child;
mod child_news;
mod part;

use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use self::child::Starter;
use self::child_news::ChildNews;
pub use self::part::{Ended, Part, RoleWork, STANDS_STILL, SinkSeen, State};
use super::reload::say_refusal;
use crate::config::{ConfigError, File, Role};
use crate::host::advice::Usage;
use crate::host::off;
use crate::os::log;
use crate::os::notify::Notify;
use crate::os::signals::{self, Hangup};
use crate::os::wait::Wait;

/// The time between two looks whether hostint is off, a role is due, or one stands still.
const LOOK: Duration = Duration::from_secs(1);
/// Processes that have not ended this time after they were asked to are killed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs all roles that the file gives this host, until a signal ends that.
pub fn run(bpffs: Option<&Path>, path: &Path) -> Result<()> {
    let roles = read_roles(path)?;
    signals::install(Hangup::Reloads).context("cannot handle signals")?;
    let (sender, news) = channel();
    let manager =
        child_news::listen(sender.clone()).context("cannot listen to the roles' processes")?;
    let mut agent = Agent {
        starter: Starter {
            bpffs,
            config: path,
            manager: &manager,
        },
        sender,
        parts: Vec::new(),
        children: Vec::new(),
        notify: Notify::from_env(),
        is_ready: false,
        roles,
        off_since_ns: None,
    };
    agent.follow_switch();
    agent.give(Instant::now());
    let end = agent.serve(&news);
    agent.notify.stopping();
    agent.end(&news);
    end
}

fn read_roles(path: &Path) -> Result<Vec<Role>, ConfigError> {
    File::check_but_collectors_secrets(path)?.roles()
}

struct Agent<'a> {
    starter: Starter<'a>,
    sender: Sender<ChildNews>,
    parts: Vec<Part>,
    /// The processes of parts, by role and work.
    children: Vec<(Role, Child)>,
    notify: Notify,
    is_ready: bool,
    /// What the file gives.
    roles: Vec<Role>,
    /// While hostint is off, nothing but the collector runs.
    off_since_ns: Option<u64>,
}

/// A source beside a sink has no daemon of its own.
fn work_of(role: Role, roles: &[Role]) -> RoleWork {
    match role == Role::Source && roles.contains(&Role::Sink) {
        true => RoleWork::Attach,
        false => RoleWork::Serve,
    }
}

/// Programs of these roles stay when their process ends.
fn stays_attached(role: Role) -> bool {
    matches!(role, Role::Sink | Role::Source | Role::Transit)
}

impl Agent<'_> {
    /// The roles that are to run now.
    fn wanted(&self) -> Vec<Role> {
        let runs = |role: &Role| self.off_since_ns.is_none() || *role == Role::Collect;
        self.roles.iter().copied().filter(runs).collect()
    }

    /// Looks whether hostint is off. Returns true if that changed.
    fn follow_switch(&mut self) -> bool {
        let before = std::mem::replace(&mut self.off_since_ns, off::since_ns());
        if let Some(since_ns) = self.off_since_ns.filter(|_| before.is_none()) {
            log::warning(off::said(since_ns));
        }
        self.off_since_ns.is_some() != before.is_some()
    }

    /// Makes the wanted roles those of this host.
    fn give(&mut self, now: Instant) {
        let roles = &self.wanted();
        for part in &mut self.parts {
            let is_wanted = roles.contains(&part.role) && part.work == work_of(part.role, roles);
            if is_wanted || part.leaves {
                continue;
            }
            let is_role = roles.contains(&part.role);
            if part.note_unwanted(!is_role && stays_attached(part.role), now) {
                log::info(format_args!("{} ends", part.role.name()));
            } else {
                part.state = State::Done;
            }
            ask(&self.children, part.role, Signal::SIGTERM);
        }
        self.parts
            .retain(|part| !part.leaves || part.state != State::Done);
        for role in roles {
            if !self
                .parts
                .iter()
                .any(|part| part.role == *role && !part.leaves)
            {
                self.parts
                    .push(Part::new(*role, work_of(*role, roles), now));
            }
        }
        self.parts.sort_by_key(|part| part.role);
    }

    fn serve(&mut self, news: &Receiver<ChildNews>) -> Result<()> {
        while !signals::ending() {
            if signals::reload_asked() {
                self.reload();
            }
            if self.follow_switch() {
                self.give(Instant::now());
            }
            if signals::usr1_received() {
                // What only attaches ends by itself, and by such a signal.
                let serves = |part: &&Part| part.work == RoleWork::Serve;
                for part in self.parts.iter().filter(serves) {
                    ask(&self.children, part.role, Signal::SIGUSR1);
                }
            }
            for one in news.try_iter() {
                self.take(one, Instant::now());
            }
            self.start_due()?;
            self.kill_those_that_stand_still(Instant::now());
            self.give_signs()?;
            let mut wait = Wait::default();
            wait.until(Instant::now() + LOOK);
            wait.sleep();
        }
        Ok(())
    }

    /// Reads the file again. All of it is checked before any role is.
    fn reload(&mut self) {
        let now = Instant::now();
        match read_roles(self.starter.config) {
            Ok(roles) => self.roles = roles,
            Err(mistakes) => return say_refusal(&mistakes.into()),
        }
        self.give(now);
        for part in self.parts.iter_mut().filter(|part| !part.leaves) {
            if part.note_reload(now) {
                ask(&self.children, part.role, Signal::SIGHUP);
            }
        }
    }

    fn start_due(&mut self) -> Result<()> {
        let now = Instant::now();
        let sink = self.parts.iter().find(|part| part.role == Role::Sink);
        let sink = match sink {
            Some(part) if part.state == State::Runs => SinkSeen::Serves,
            Some(part) if !part.leaves && !part.is_settled() => SinkSeen::Begins,
            _ => SinkSeen::Not,
        };
        let alone = !self.parts.iter().any(|part| part.role == Role::Sink);
        for part in &mut self.parts {
            let is_taken = self.children.iter().any(|(role, _)| *role == part.role);
            if is_taken || !part.is_due(sink, now) {
                continue;
            }
            let role = part.role;
            let child = self
                .starter
                .start(role, part.work, alone)
                .with_context(|| format!("cannot start a process for {}", role.name()))?;
            part.note_start(now);
            let pid = child.id().cast_signed();
            self.children.push((role, child));
            child_news::await_end(pid, self.sender.clone()).context("cannot wait for a process")?;
        }
        Ok(())
    }

    fn take(&mut self, news: ChildNews, now: Instant) {
        match news {
            ChildNews::Said(pid, message) => {
                let sender = self.children.iter().find(|(_, child)| is_of(child, pid));
                let role = sender.map(|(role, _)| *role);
                let part = self.parts.iter_mut().find(|part| Some(part.role) == role);
                if let Some(part) = part.filter(|part| part.has_process()) {
                    part.note_message(&message, now);
                }
            }
            ChildNews::Ended(pid) => {
                let place = self
                    .children
                    .iter()
                    .position(|(_, child)| is_of(child, pid));
                let Some((role, mut child)) = place.map(|place| self.children.swap_remove(place))
                else {
                    return;
                };
                // It has ended, so this waits for nothing.
                if let Ok(status) = child.wait() {
                    self.note_end(role, status, now);
                }
            }
        }
    }

    fn note_end(&mut self, role: Role, status: ExitStatus, now: Instant) {
        let Some(part) = self.parts.iter_mut().find(|part| part.role == role) else {
            return;
        };
        let name = role.name();
        let work = part.work;
        if part.leaves && work != RoleWork::Detach {
            match stays_attached(role) {
                true => part.begin_detaching(now),
                false => part.state = State::Done,
            }
        } else {
            match part.note_end(status.code(), now) {
                Ended::Well => {}
                Ended::Alone => log::warning(format_args!(
                    "{name} has ended, and is started again when the file is read again"
                )),
                Ended::Refused => log::error(format_args!(
                    "{name} does not start with these settings; the other roles go on (mend the file, then reload)"
                )),
                Ended::Failed(pause) => log::warning(format_args!(
                    "{name} failed ({status}): it is started again in {} s; the other roles go on",
                    pause.as_secs()
                )),
            }
        }
        self.parts
            .retain(|part| !part.leaves || part.state != State::Done);
    }

    fn kill_those_that_stand_still(&mut self, now: Instant) {
        for part in self.parts.iter().filter(|part| part.stands_still(now)) {
            log::error(format_args!(
                "{} gave no sign of life for {} s: it is killed, and started again",
                part.role.name(),
                STANDS_STILL.as_secs()
            ));
            ask(&self.children, part.role, Signal::SIGKILL);
        }
    }

    /// Tells the service manager how the roles are.
    fn give_signs(&mut self) -> Result<()> {
        self.notify.alive();
        let settled = self.parts.iter().all(Part::is_settled);
        if settled && !self.is_ready {
            let is_refused = |part: &Part| part.state == State::Refused;
            if !self.parts.is_empty() && self.parts.iter().all(is_refused) {
                return Err(Usage("no role can start with these settings".to_owned()).into());
            }
            self.is_ready = true;
            self.notify.ready();
            log::info(format_args!("{}", self.said()));
        }
        if self.notify.listens() {
            let said = self.said();
            self.notify.status(said);
        }
        Ok(())
    }

    fn said(&self) -> String {
        let off = self.off_since_ns.map(off::said);
        let parts = self.parts.iter().map(Part::said);
        let said: Vec<String> = off.into_iter().chain(parts).collect();
        said.join("; ")
    }

    /// Ends all processes, and waits for them.
    fn end(&mut self, news: &Receiver<ChildNews>) {
        for (role, _) in &self.children {
            ask(&self.children, *role, Signal::SIGTERM);
        }
        let end = Instant::now() + PATIENCE;
        while !self.children.is_empty() {
            match news.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(ChildNews::Ended(pid)) => self.children.retain_mut(|(_, child)| {
                    let ended = is_of(child, pid);
                    if ended {
                        let _ = child.wait();
                    }
                    !ended
                }),
                Ok(ChildNews::Said(..)) => {}
                Err(_) => {
                    for (role, child) in &mut self.children {
                        log::error(format_args!("{} does not end, and is killed", role.name()));
                        let _ = child.kill();
                        let _ = child.wait();
                    }
                    self.children.clear();
                }
            }
        }
    }
}

fn is_of(child: &Child, pid: i32) -> bool {
    child.id().cast_signed() == pid
}

/// Sends a signal to the process of a role, if it has one.
fn ask(children: &[(Role, Child)], role: Role, signal: Signal) {
    for (_, child) in children.iter().filter(|(one, _)| *one == role) {
        // It may have ended; its number is no other's before it is asked for its exit code.
        let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
    }
}
