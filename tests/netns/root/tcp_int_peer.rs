//! Option 114 with a host that runs TCP-INT: each of its echoes is taken once, and it gets each echo once.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Stdio};

use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use serde_json::{Value, json};

use super::tcp_option::{SERVER, fill, last, watch};

const PEER: &str = include_str!("tcp_int_peer.py");
/// One segment.
const REQUEST: usize = 100;
/// What [`fill`] fills in, as TCP-INT echoes it: 40 KiB, hop 1, 100 Gbit/s, 12.3 ms.
const ECHO: &str = "8515bb80";

/// Such a host, whose kernel does not know its connections.
struct TcpInt {
    program: Child,
    out: BufReader<ChildStdout>,
}

impl TcpInt {
    fn start(host: &Host, arguments: &[&str]) -> Self {
        host.sh("nft add table ip quiet
             nft 'add chain ip quiet o { type filter hook output priority 0; }'
             nft add rule ip quiet o 'tcp flags & rst == rst drop'");
        let arguments = [&["-c", PEER], arguments].concat();
        let mut command = host.command("python3", &arguments);
        let mut program = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(program.stdout.take().unwrap());
        Self { program, out }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).unwrap();
        line
    }

    /// What it saw, at its end.
    fn told(&mut self) -> Value {
        let line = self.line();
        assert!(self.program.wait().unwrap().success(), "{line}");
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for TcpInt {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn each_echo_of_tcp_int_is_taken_once() {
    for how in ["echo-only", "enabled"] {
        let lab = Lab::new();
        fill(&lab);
        let asks = watch(&lab.a, "--option all --option-period 1ms");
        let size = REQUEST.to_string();
        let mut peer = TcpInt::start(&lab.b, &["echo", "10.9.2.1", "7000", &size, how]);
        assert_eq!(peer.line(), "ready\n");
        let mut client = lab.a.enter(|| TcpStream::connect(SERVER)).unwrap();
        let port = client.local_addr().unwrap().port();
        let mut exchanges = 0_u64;
        await_that_or(
            || {
                for _ in 0..50 {
                    let mut answer = [0; 2];
                    client.write_all(&[7; REQUEST]).unwrap();
                    client.read_exact(&mut answer).unwrap();
                    exchanges += 1;
                }
                last(&asks, port)["requests"].as_u64() >= Some(400)
            },
            || format!("{how}: {:#}", last(&asks, port)),
        );
        drop(client);
        let saw = peer.told();
        await_that("the end is told", || {
            asks.stdout().contains(r#""why":"end""#)
        });
        let state = last(&asks, port);
        let [requests, samples] = ["requests", "samples"].map(|it| state[it].as_u64().unwrap());
        assert_eq!(saw["tags"], requests, "{how}: {state:#}");
        assert!(samples <= requests, "{how}: {state:#}");
        assert!(samples * 100 >= requests * 99, "{how}: {state:#}");
        assert!(state["off"].is_null(), "{how}: {state:#}");
        // It echoes in each segment, if enabled: two for each exchange.
        let written = saw["written"].as_u64().unwrap();
        let expected = match how {
            "enabled" => 2 * exchanges,
            _ => requests,
        };
        assert!(written >= expected, "{how}: {written} of {expected}");
    }
}

#[test]
fn tcp_int_gets_each_echo_once() {
    const COUNT: usize = 300;
    let lab = Lab::new();
    fill(&lab);
    let _echoes = watch(&lab.b, "--option all --option-period 1ms");
    let listener = lab.b.enter(|| TcpListener::bind(SERVER)).unwrap();
    let count = COUNT.to_string();
    let mut peer = TcpInt::start(&lab.a, &["ask", "10.9.1.1", "40001", SERVER, &count]);
    let (mut server, _) = listener.accept().unwrap();
    let mut request = [0; REQUEST];
    for _ in 0..COUNT {
        server.read_exact(&mut request).unwrap();
        server.write_all(b"!").unwrap();
    }
    assert_eq!(server.read(&mut request).unwrap(), 0);
    drop(server);
    let saw = peer.told();
    // TCP-INT tells an event for each echo that it finds: as many as segments of it were tagged, and no more.
    assert_eq!(saw["events"], json!(vec![ECHO; COUNT]), "{saw:#}");
    // Nothing fills in what the server asks.
    assert_eq!(saw["tags"], 0, "{saw:#}");
}
