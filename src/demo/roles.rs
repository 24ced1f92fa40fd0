//! The roles of the demo: this very binary as daemons and commands on the demo's hosts, as a user would start them.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use super::session::{INTERRUPTED, SLICE};
use crate::os::private_netns::{PrivateNetns, spawn};
use crate::os::signals;

/// The longest time in which a daemon is ready, on a machine that QEMU emulates too.
const READY_WITHIN: Duration = Duration::from_secs(300);
/// A daemon that neither says anything nor uses a processor for this time will not be ready.
const STANDS_STILL: Duration = Duration::from_secs(30);
/// The time in which a daemon ends.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// The daemons that run.
pub struct DemoRoles {
    folder: PathBuf,
    running: Vec<DemoDaemon>,
}

/// A daemon.
struct DemoDaemon {
    /// What the demo calls it.
    name: &'static str,
    ready: &'static str,
    child: Child,
    errors: Receiver<String>,
    /// The lines that it wrote to standard error.
    said: Vec<String>,
}

impl DemoRoles {
    /// Roles run in this folder, where the file system for their pins is bpf/.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            running: Vec::new(),
        }
    }

    /// Starts a daemon on a host, which is this one if none is named, by a command line, and hands each line of its standard output to `take`. When it is ready,
    /// its standard error has the words `ready`.
    pub fn start(
        &mut self,
        name: &'static str,
        host: Option<&PrivateNetns>,
        (line, ready): (&str, &'static str),
        take: impl FnMut(String) + Send + 'static,
    ) -> Result<()> {
        let mut command = self.command(line);
        let spawned = spawn(&mut command, Signal::SIGKILL, host);
        let mut child = spawned.with_context(|| format!("cannot start {name}"))?;
        let (to, errors) = channel();
        hand_on(child.stdout.take(), take)?;
        hand_on(child.stderr.take(), move |line| {
            let _ = to.send(line);
        })?;
        self.running.push(DemoDaemon {
            name,
            ready,
            child,
            errors,
            said: Vec::new(),
        });
        Ok(())
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0("hostint")
            .arg("--bpffs")
            .arg(self.folder.join("bpf"))
            .args(line.split(' '))
            // The demo is the same for all users: what they set for their own daemons does not hold here.
            .env_clear()
            .current_dir(&self.folder)
            // Ctrl-C is for the demo, which ends its roles by itself.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Waits until each daemon is ready, and returns how long that took.
    ///
    /// # Errors
    /// With the last sentence of a daemon that ends instead; or if one stands still, or is not ready in time.
    pub fn await_ready(&mut self) -> Result<Duration> {
        let begun = Instant::now();
        for daemon in &mut self.running {
            let (mut effort, mut since) = (daemon.effort(), Instant::now());
            while !daemon.is_ready() {
                ensure!(!signals::ending(), INTERRUPTED);
                daemon.listen()?;
                if daemon.effort() != effort {
                    (effort, since) = (daemon.effort(), Instant::now());
                }
                ensure!(
                    begun.elapsed() < READY_WITHIN && since.elapsed() < STANDS_STILL,
                    "{} is not ready after {} seconds",
                    daemon.name,
                    begun.elapsed().as_secs()
                );
            }
        }
        Ok(begun.elapsed())
    }

    /// Returns what a daemon said behind these words of a line.
    pub fn printed_behind(&self, words: &str) -> Option<&str> {
        let mut lines = self.running.iter().flat_map(|daemon| &daemon.said);
        lines.find_map(|line| line.split_once(words).map(|(_, behind)| behind))
    }

    /// Fails if a daemon ended.
    pub fn check(&mut self) -> Result<()> {
        for daemon in &mut self.running {
            if daemon.child.try_wait()?.is_some() {
                while daemon.listen().is_ok() {}
                bail!(daemon.ended());
            }
        }
        Ok(())
    }

    /// Runs a command on a host to its end, and returns what it prints.
    pub fn run(&self, host: Option<&PrivateNetns>, line: &str) -> Result<String> {
        let child = spawn(&mut self.command(line), Signal::SIGKILL, host);
        let output = child.and_then(Child::wait_with_output);
        let output = output.with_context(|| format!("cannot start hostint {line}"))?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = errors.lines().collect();
        ensure!(
            output.status.success(),
            "hostint {line} failed: {}",
            sentence(&lines)
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Daemons are asked to end, so that their last reports are sent and nothing is left to the kernel to clean up.
impl Drop for DemoRoles {
    fn drop(&mut self) {
        for daemon in &self.running {
            let pid = Pid::from_raw(daemon.child.id().cast_signed());
            let _ = kill(pid, Signal::SIGTERM);
        }
        let begun = Instant::now();
        for daemon in &mut self.running {
            while matches!(daemon.child.try_wait(), Ok(None)) && begun.elapsed() < ENDS_WITHIN {
                std::thread::sleep(SLICE);
            }
            let _ = daemon.child.kill();
            let _ = daemon.child.wait();
        }
    }
}

impl DemoDaemon {
    fn is_ready(&self) -> bool {
        self.said.iter().any(|line| line.contains(self.ready))
    }

    /// The lines that it said, and the processor time that it used.
    fn effort(&self) -> (usize, Option<Duration>) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        let used = clock_getcpuclockid(pid).and_then(clock_gettime);
        (self.said.len(), used.ok().map(Duration::from))
    }

    /// Takes the next line of standard error, if one comes soon.
    fn listen(&mut self) -> Result<()> {
        match self.errors.recv_timeout(SLICE) {
            Ok(line) => self.said.push(line),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!(self.ended()),
        }
        Ok(())
    }

    fn ended(&self) -> String {
        let lines: Vec<&str> = self.said.iter().map(String::as_str).collect();
        format!("{} ended: {}", self.name, sentence(&lines))
    }
}

/// The sentence with which a program ended: its last line, without its name.
fn sentence<'a>(lines: &[&'a str]) -> &'a str {
    let last = lines.last().copied().unwrap_or("it said nothing");
    last.strip_prefix("hostint: ").unwrap_or(last)
}

/// Reads lines by a thread until the stream ends.
fn hand_on(
    stream: Option<impl Read + Send + 'static>,
    mut take: impl FnMut(String) + Send + 'static,
) -> Result<()> {
    let read = move || {
        for line in stream
            .into_iter()
            .flat_map(|one| BufReader::new(one).lines())
        {
            let Ok(line) = line else { break };
            take(line);
        }
    };
    let started = std::thread::Builder::new().spawn(read);
    started.context("cannot read what a role says").map(drop)
}
