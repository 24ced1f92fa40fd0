//! `hostint collect` as a process, on loopback.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// The process, and where it listens.
pub struct Collector {
    child: Child,
    log: BufReader<ChildStderr>,
    pub reports: SocketAddr,
    http: SocketAddr,
}

impl Collector {
    pub fn start(store: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hostint"))
            .args([
                "collect",
                "--listen",
                "127.0.0.1:0",
                "--http",
                "127.0.0.1:0",
            ])
            .args(["--output", "/dev/null", "--store", store])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut address = |words: &str, behind: &str| {
            let mut line = String::new();
            while !line.contains(words) {
                line.clear();
                assert_ne!(log.read_line(&mut line).unwrap(), 0, "never said {words}");
            }
            line.trim().rsplit(behind).next().unwrap().parse().unwrap()
        };
        let reports = address("collecting on ", " ");
        let http = address("serving http://", "/");
        Self {
            child,
            log,
            reports,
            http,
        }
    }

    pub fn status(&self) -> Value {
        let mut stream = TcpStream::connect(self.http).unwrap();
        write!(
            stream,
            "GET /api/status HTTP/1.0\r\nHost: {}\r\n\r\n",
            self.http
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Its status once so many reports that were sent are all accounted for, in the history too if it keeps one.
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
        let mut spent = BTreeMap::new();
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        for task in tasks {
            let stat = fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
            let (name, fields) = stat.rsplit_once(')').unwrap();
            let name = name.split_once('(').unwrap().1;
            let fields: Vec<&str> = fields.split_whitespace().collect();
            let ticks: u64 =
                fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
            *spent.entry(name.to_owned()).or_default() += Duration::from_millis(ticks * 10);
        }
        spent
    }

    /// Ends it, so that all is written, and gives its last words.
    pub fn end(mut self) -> String {
        use nix::sys::signal::{Signal, kill};
        kill(
            nix::unistd::Pid::from_raw(self.child.id() as i32),
            Signal::SIGTERM,
        )
        .unwrap();
        let mut rest = String::new();
        let _ = self.log.read_to_string(&mut rest);
        assert!(self.child.wait().unwrap().success(), "{rest}");
        rest
    }
}
