//! `hostint collect` on loopback: its addresses, its answers over HTTP, and its processor time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::harness::Daemon;
use crate::places;

/// The process, and its addresses for reports and for HTTP.
pub struct Collector {
    pub daemon: Daemon,
    pub reports: SocketAddr,
    pub http: SocketAddr,
}

impl Collector {
    /// With these arguments besides; without a history unless they name one.
    pub fn start(args: &[&str]) -> Self {
        Self::start_with(Command::new(places::hostint()), args)
    }

    /// By a command that only lacks arguments, in another namespace say.
    pub fn start_with(mut command: Command, args: &[&str]) -> Self {
        let mut daemon = Daemon::start(
            command
                .args(["collect", "--listen", "127.0.0.1:0"])
                .args(["--http", "127.0.0.1:0", "--output", "/dev/null"])
                .args(args)
                .env("HOSTINT_STORE", "none")
                .stdin(Stdio::null())
                .stdout(Stdio::null()),
        );
        let mut address = |words: &str, behind: &str| {
            let line = daemon.wait_for(words);
            line.trim().rsplit(behind).next().unwrap().parse().unwrap()
        };
        let reports = address("collecting on ", " ");
        let http = address("serving http://", "/");
        Self {
            daemon,
            reports,
            http,
        }
    }

    /// The body of what it answers.
    pub fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.http).unwrap();
        let host = format!("127.0.0.1:{}", self.http.port());
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{path}: {head} {body}");
        body.to_owned()
    }

    /// The length of what it answers in gzip.
    pub fn get_packed(&self, path: &str) -> usize {
        let mut stream = TcpStream::connect(self.http).unwrap();
        let host = format!("127.0.0.1:{}", self.http.port());
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}");
        let body = answer.windows(4).position(|four| four == b"\r\n\r\n");
        answer.len() - body.unwrap() - 4
    }

    /// As of a second ago at most.
    pub fn status(&self) -> Value {
        serde_json::from_str(&self.get("/api/status")).unwrap()
    }

    /// Its status once all reports that were sent are accounted for, in the history too if it keeps one.
    pub fn settled(&self, sent: u64, history: bool) -> Value {
        loop {
            let status = self.status();
            let count = |name: &str| status[name].as_u64().unwrap();
            let read = count("reports") + count("socket_drops") + count("queue_drops");
            let kept = count("stored") + count("rolled_up_only") + count("store_drops");
            if read == sent && (!history || kept == count("reports")) {
                return status;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// CPU time so far, by the names of its threads.
    pub fn cpu_by_thread(&self) -> BTreeMap<String, Duration> {
        cpu_by_thread(self.daemon.child.id())
    }

    /// Asks it to end: all is written, and these are its last words.
    pub fn end(self) -> String {
        self.daemon.signal(Signal::SIGTERM);
        let (code, says) = self.daemon.end();
        assert_eq!(code, Some(0), "{says}");
        says
    }
}

/// CPU time of a process so far, by the names of its threads.
pub fn cpu_by_thread(process: u32) -> BTreeMap<String, Duration> {
    let mut spent = BTreeMap::new();
    let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    for task in tasks {
        let stat = fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
        let (name, fields) = stat.rsplit_once(')').unwrap();
        let name = name.split_once('(').unwrap().1;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        *spent.entry(name.to_owned()).or_default() += Duration::from_millis(ticks * 10);
    }
    spent
}
