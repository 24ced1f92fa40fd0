//! Runs hostint and checks its exit code and words.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::places;

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn run(mut command: Command) -> Output {
    command.stdin(Stdio::null()).output().unwrap()
}

pub fn hostint(args: &[&str]) -> Output {
    let mut command = Command::new(places::hostint());
    command
        .args(args)
        .env_remove("HOSTINT_BPFFS")
        .env("HOSTINT_STORE", "none");
    run(command)
}

pub fn check(name: &str, output: &Output, code: i32, says: &[&str]) {
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{name}\n{err}");
    for part in says {
        assert!(err.contains(part), "{name}\n{err}does not say: {part}");
    }
    assert!(output.stdout.is_empty(), "{name}: wrote data");
    assert!(!err.contains("panicked"), "{name}\n{err}");
}

/// Cases as transcripts: a name, `$` and the arguments, then what standard error says, one part a line.
pub fn check_all(code: i32, cases: &str, start: impl Fn(&[&str]) -> Output) {
    for case in cases.trim().split("\n\n") {
        let lines: Vec<&str> = case.lines().map(str::trim).collect();
        let [name, command, says @ ..] = &lines[..] else {
            panic!("no case: {case}");
        };
        let args: Vec<&str> = command
            .strip_prefix('$')
            .unwrap()
            .split_whitespace()
            .collect();
        check(
            &format!("{name}: hostint {}", args.join(" ")),
            &start(&args),
            code,
            says,
        );
    }
}

/// A running hostint, its standard error read line by line.
pub struct Daemon {
    pub child: Child,
    err: BufReader<std::process::ChildStderr>,
}

impl Daemon {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let err = BufReader::new(child.stderr.take().unwrap());
        Self { child, err }
    }

    /// The first line that contains `part`.
    pub fn wait_for(&mut self, part: &str) -> String {
        let mut seen = String::new();
        loop {
            let start = seen.len();
            assert!(
                self.err.read_line(&mut seen).unwrap() > 0,
                "ended without saying {part}:\n{seen}"
            );
            if seen[start..].contains(part) {
                return seen[start..].to_owned();
            }
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    /// Waits for its end: exit code and what it still said.
    pub fn end(mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut rest = String::new();
        self.err.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
