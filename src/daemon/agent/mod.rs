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
mod file_of_host;
mod joined;
mod orders;
mod part;
mod role_process;

use std::path::Path;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nix::sys::signal::Signal;

use self::child::Starter;
use self::child_news::ChildNews;
use self::file_of_host::{FileOfHost, read};
use self::joined::ServedRoles;
use self::orders::FleetOrders;
pub use self::part::{Ended, Leave, Part, RoleWork, STANDS_STILL, SinkSeen, State};
use self::role_process::{RoleProcess, pid_of};
use super::reload::say_refusal;
use crate::cli::RunArgs;
use crate::config::{Role, RunConfig};
use crate::host::advice::Usage;
use crate::host::off;
use crate::model::LeaseKey;
use crate::os::log;
use crate::os::notify::Notify;
use crate::os::signals::{self, Hangup};
use crate::os::wait::Wait;

/// The time between two looks whether hostint is off, a role is due, or one stands still.
const LOOK: Duration = Duration::from_secs(1);
/// Processes that have not ended this time after they were asked to are killed.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs all roles that the file gives this host, until a signal ends that.
pub fn run(bpffs: Option<&Path>, args: &RunArgs) -> Result<()> {
    let path = &*args.config;
    let FileOfHost { roles, config, key } = read(args)?;
    signals::install(Hangup::Reloads).context("cannot handle signals")?;
    let (sender, news) = channel();
    let manager =
        child_news::listen(sender.clone()).context("cannot listen to the roles' processes")?;
    let served = ServedRoles::start(config.http.as_deref())?;
    let mut agent = Agent {
        starter: Starter {
            bpffs,
            config: path,
            manager: &manager,
            has_http: config.http.is_some(),
        },
        args,
        config,
        served,
        sender,
        processes: Vec::new(),
        notify: Notify::from_env(),
        is_ready: false,
        roles,
        off_since_ns: None,
        orders: None,
    };
    agent.follow_orders(key);
    agent.follow_switch();
    agent.give(Instant::now());
    let end = agent.serve(&news);
    agent.notify.stopping();
    agent.end(&news);
    end
}

struct Agent<'a> {
    starter: Starter<'a>,
    args: &'a RunArgs,
    config: RunConfig,
    served: ServedRoles,
    sender: Sender<ChildNews>,
    processes: Vec<RoleProcess>,
    notify: Notify,
    is_ready: bool,
    /// What the file gives.
    roles: Vec<Role>,
    /// While hostint is off, nothing but the collector runs.
    off_since_ns: Option<u64>,
    /// Only hosts with the key are obeyed: without one, none is.
    orders: Option<FleetOrders>,
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

    /// Obeys orders of hosts with this key from now on.
    fn follow_orders(&mut self, key: Option<LeaseKey>) {
        let orders = self.orders.take();
        let Some(key) = key else {
            return;
        };
        self.orders = orders.filter(|orders| orders.has_key(key));
        if self.orders.is_none() {
            match FleetOrders::start(key, self.starter.bpffs) {
                Ok(orders) => self.orders = Some(orders),
                Err(err) => log::warning(format_args!("no order to the fleet is heard: {err:#}")),
            }
        }
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
        for process in &mut self.processes {
            let part = &mut process.part;
            let is_wanted = roles.contains(&part.role) && part.work == work_of(part.role, roles);
            if is_wanted || part.leave.is_some() {
                continue;
            }
            // A source that a sink looks after from now on stays attached.
            let leave = match !roles.contains(&part.role) && stays_attached(part.role) {
                true => Leave::IsDetached,
                false => Leave::Ends,
            };
            part.note_unwanted(leave, now);
            log::info(format_args!("{} ends", part.role.name()));
            process.ask(Signal::SIGTERM);
        }
        self.forget_gone();
        for role in roles {
            let is_this = |part: &Part| part.role == *role && part.leave.is_none();
            if !self.parts().any(is_this) {
                let part = Part::new(*role, work_of(*role, roles), now);
                self.processes.push(RoleProcess { part, child: None });
            }
        }
        self.processes.sort_by_key(|process| process.part.role);
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.processes.iter().map(|process| &process.part)
    }

    fn forget_gone(&mut self) {
        self.processes.retain(|process| !process.part.is_gone());
    }

    fn serve(&mut self, news: &Receiver<ChildNews>) -> Result<()> {
        while !signals::ending() {
            if signals::reload_asked() {
                self.reload();
            }
            self.orders.iter().for_each(FleetOrders::turn);
            if self.follow_switch() {
                self.give(Instant::now());
            }
            if signals::usr1_received() {
                // What only attaches ends by itself, and by such a signal.
                let serves = |process: &&RoleProcess| process.part.work == RoleWork::Serve;
                for process in self.processes.iter().filter(serves) {
                    process.ask(Signal::SIGUSR1);
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
        match read(self.args) {
            Ok(FileOfHost { roles, config, key }) => {
                self.roles = roles;
                self.follow_orders(key);
                if config != self.config {
                    log::warning("what [run] says changes when the agent is started again");
                }
            }
            Err(mistakes) => return say_refusal(&mistakes.into()),
        }
        self.give(now);
        for process in &mut self.processes {
            if process.part.leave.is_none() && process.part.note_reload(now) {
                process.ask(Signal::SIGHUP);
            }
        }
    }

    fn sink_seen(&self) -> SinkSeen {
        let sinks = || self.parts().filter(|part| part.role == Role::Sink);
        // Programs that cannot be taken off keep no other role waiting.
        let leaves = |sink: &Part| sink.leave.is_some() && sink.has_process();
        if sinks().any(|sink| leaves(sink) || !sink.is_settled()) {
            return SinkSeen::Changes;
        }
        match sinks().any(|sink| sink.state == State::Runs) {
            true => SinkSeen::Serves,
            false => SinkSeen::Not,
        }
    }

    fn start_due(&mut self) -> Result<()> {
        let now = Instant::now();
        let sink = self.sink_seen();
        for place in 0..self.processes.len() {
            let Part { role, work, .. } = self.processes[place].part;
            let has_process = |one: &RoleProcess| one.part.role == role && one.child.is_some();
            let is_due = self.processes[place].part.is_due(sink, now);
            if !is_due || self.processes.iter().any(has_process) {
                continue;
            }
            let child = self
                .starter
                .start(role, work)
                .with_context(|| format!("cannot start a process for {}", role.name()))?;
            let pid = pid_of(&child).as_raw();
            let process = &mut self.processes[place];
            process.part.note_start(now);
            process.child = Some(child);
            child_news::await_end(pid, self.sender.clone()).context("cannot wait for a process")?;
        }
        Ok(())
    }

    fn take(&mut self, news: ChildNews, now: Instant) {
        let (ChildNews::Said(pid, _) | ChildNews::Ended(pid)) = news;
        let Some(process) = self.processes.iter_mut().find(|one| one.is_process(pid)) else {
            return;
        };
        match news {
            ChildNews::Said(_, message) => process.part.note_message(&message, now),
            ChildNews::Ended(_) => {
                // It has ended, so this waits for nothing.
                let status = process.child.take().map(|mut child| child.wait());
                if let Some(Ok(status)) = status {
                    note_end(&mut process.part, status, now);
                }
                self.forget_gone();
            }
        }
    }

    fn kill_those_that_stand_still(&mut self, now: Instant) {
        let stands_still = |process: &&RoleProcess| process.part.stands_still(now);
        for process in self.processes.iter().filter(stands_still) {
            log::error(format_args!(
                "{} gave no sign of life for {} s: it is killed, and started again",
                process.part.role.name(),
                STANDS_STILL.as_secs()
            ));
            process.ask(Signal::SIGKILL);
        }
    }

    /// Tells the service manager how the roles are.
    fn give_signs(&mut self) -> Result<()> {
        self.notify.alive();
        self.show_roles();
        let settled = self.parts().all(Part::is_settled);
        if settled && !self.is_ready {
            let is_refused = |part: &Part| part.state == State::Refused;
            if !self.processes.is_empty() && self.parts().all(is_refused) {
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

    /// Shows the HTTP server how the roles are.
    fn show_roles(&self) {
        self.served.health.is_alive();
        let off = self.off_since_ns.map(off::said);
        let troubles = self.parts().filter_map(Part::trouble);
        self.served
            .health
            .lacks(off.into_iter().chain(troubles).collect());
        self.served
            .show(self.processes.iter().map(RoleProcess::seen).collect());
    }

    fn said(&self) -> String {
        let off = self.off_since_ns.map(off::said);
        let parts = self.parts().map(Part::said);
        let said: Vec<String> = off.into_iter().chain(parts).collect();
        said.join("; ")
    }

    /// Ends all processes, and waits for them.
    fn end(&mut self, news: &Receiver<ChildNews>) {
        self.processes.retain(|process| process.child.is_some());
        for process in &self.processes {
            process.ask(Signal::SIGTERM);
        }
        let end = Instant::now() + PATIENCE;
        while !self.processes.is_empty() {
            match news.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(ChildNews::Ended(pid)) => {
                    let ended = |one: &mut RoleProcess| one.is_process(pid);
                    self.processes.extract_if(.., ended).for_each(wait_for);
                }
                Ok(ChildNews::Said(..)) => {}
                Err(_) => {
                    for process in self.processes.drain(..) {
                        let name = process.part.role.name();
                        log::error(format_args!("{name} does not end, and is killed"));
                        process.ask(Signal::SIGKILL);
                        wait_for(process);
                    }
                }
            }
        }
    }
}

/// Waits for the end of a process that has ended, or soon will have.
fn wait_for(process: RoleProcess) {
    if let Some(mut child) = process.child {
        let _ = child.wait();
    }
}

/// Takes how the process of a role ended, and says what comes of it.
fn note_end(part: &mut Part, status: ExitStatus, now: Instant) {
    let name = part.role.name();
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
