//! Signals that ask a daemon for something are for it to take from its first moment on, and it starts where its parents have
//! ended.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use hostint_testing::netns::{Host, Lab, await_that_or};
use hostint_testing::scratch::{Folder, TempFile};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A daemon that was just started.
struct Starting {
    child: Child,
    log: String,
}

impl Starting {
    fn new(host: &Host, line: &str, log: String) -> Self {
        let args: Vec<&str> = line.split_whitespace().collect();
        let child = host
            .command(host.binary.to_str().unwrap(), &args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self { child, log }
    }

    /// True once hostint runs, which holds signals back before anything else.
    fn holds(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let mut lines = status.lines();
        let blocked = lines.find_map(|line| line.strip_prefix("SigBlk:"));
        let blocked = blocked.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let hangup = 1 << (Signal::SIGHUP as u32 - 1);
        blocked.is_some_and(|mask| mask & hangup != 0)
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_reload_that_is_asked_for_at_once_comes_after_the_start() {
    let lab = Lab::new();
    let folder = Folder::create();
    let config = TempFile::new(
        "early.toml",
        "[sink]\ndev = \"b0\"\nnode-id = 2\n[source]\ndev = \"b0\"\nnode-id = 2\nforce = true\n\
         [transit]\ndev = \"b0\"\nnode-id = 2\n[postcards]\ndrops = \"all\"\n[tcp]\nreport = \"change\"\n\
         [collect]\nlisten = \"127.0.0.1:0\"\nstore = \"none\"\noutput = \"/dev/null\"\n",
    );
    for command in ["sink", "source", "transit", "postcards", "tcp", "collect"] {
        let line = format!("{command} --config {}", config.path());
        let log = folder.file(command).display().to_string();
        let mut daemon = Starting::new(&lab.b, &line, log);
        // The moment is short, so there is no rest between two looks.
        while !daemon.holds() {
            let ended = daemon.child.try_wait().unwrap();
            assert_eq!(ended, None, "{command}: {}", daemon.said());
        }
        daemon.signal(Signal::SIGHUP);
        daemon.signal(Signal::SIGUSR1);
        let reads_again = || daemon.said().contains("read again");
        await_that_or(reads_again, || format!("{command}: {}", daemon.said()));
        daemon.signal(Signal::SIGTERM);
        let status = daemon.child.wait().unwrap();
        assert_eq!(
            (status.code(), status.signal()),
            (Some(0), None),
            "{command}: {}",
            daemon.said()
        );
        for role in ["sink", "source", "transit"] {
            let _ = lab.b.try_hostint(&format!("{role} detach"));
        }
    }
}

/// `ip netns exec` covers the BPF file system, and no process is left that began it.
#[test]
fn a_daemon_whose_parents_have_ended_finds_the_bpf_file_system() {
    let lab = Lab::new();
    let folder = Folder::create();
    let log = folder.file("sink").display().to_string();
    let binary = lab.b.binary.display();
    let line = format!(
        "( ip netns exec {} setsid {binary} sink --dev b0 --node-id 2 >{log} 2>&1 & )",
        lab.b.ns
    );
    let started = Command::new("sh").args(["-ec", &line]).status().unwrap();
    assert!(started.success());
    let said = || fs::read_to_string(&log).unwrap_or_default();
    await_that_or(|| said().contains("sink attached to b0"), said);
    // A command that is started in the usual way finds what is pinned.
    let pid = lab.b.status()["sink"]["daemon_pid"].as_i64().unwrap();
    kill(Pid::from_raw(pid as i32), Signal::SIGTERM).unwrap();
    await_that_or(|| said().contains("ended"), said);
    lab.b.hostint("sink detach");
}
