//! `hostint demo` as a process, its standard output read line by line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::places;

/// A demo that runs.
pub struct RunningDemo {
    child: Child,
    out: BufReader<ChildStdout>,
    said: String,
}

/// The binary by a descriptor, which users may execute that cannot reach its folder.
pub fn binary() -> (File, Command) {
    let file = File::open(places::hostint()).unwrap();
    let command = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
    (file, command)
}

impl RunningDemo {
    /// Files go below this folder, if there is one.
    pub fn start(mut command: Command, folder: Option<&Path>) -> Self {
        if let Some(folder) = folder {
            command.env("TMPDIR", folder);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            out,
            said: String::new(),
        }
    }

    /// The first line with these words.
    pub fn await_line(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.out.read_line(&mut line).unwrap();
            self.said.push_str(&line);
            if read == 0 {
                let errors = self.errors();
                panic!("{errors}never said {words}: {}", self.said);
            }
            if line.contains(words) {
                return line;
            }
        }
    }

    /// The address of its page.
    pub fn page(&mut self) -> String {
        let line = self.await_line("http://");
        let (_, behind) = line.split_once("http://").unwrap();
        behind.split('/').next().unwrap().to_owned()
    }

    /// The answer of its page to this question, in JSON.
    pub fn ask_page(address: &str, question: &str) -> Value {
        let mut stream = TcpStream::connect(address).unwrap();
        let request =
            format!("GET {question} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        serde_json::from_str(body).unwrap()
    }

    /// The processes that it started and that run.
    pub fn children(&self) -> Vec<i32> {
        let pid = self.child.id();
        let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let listed = listed.unwrap();
        let pids = listed.split_whitespace().map(|pid| pid.parse().unwrap());
        pids.collect()
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    /// Waits for its end, and returns all that it said on standard output and on standard error.
    pub fn end(mut self) -> (ExitStatus, String, String) {
        self.out.read_to_string(&mut self.said).unwrap();
        let errors = self.errors();
        (
            self.child.wait().unwrap(),
            std::mem::take(&mut self.said),
            errors,
        )
    }

    fn errors(&mut self) -> String {
        let mut errors = String::new();
        let stream = self.child.stderr.as_mut().unwrap();
        stream.read_to_string(&mut errors).unwrap();
        errors
    }
}

impl Drop for RunningDemo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
