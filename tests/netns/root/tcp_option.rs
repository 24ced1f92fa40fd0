//! TCP option 114: requests go out where they may, hops' values come back once, and no connection suffers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, pins_below};
use hostint_testing::watched_pair;
use serde_json::Value;

pub(super) const SERVER: &str = "10.9.2.1:7000";
/// Large enough for several segments.
const REQUEST: usize = 20_000;

pub(super) fn watch(host: &Host, flags: &str) -> Daemon {
    host.start(
        &format!("tcp --json --report sample --sample-period 100ms {flags}"),
        "connections are watched",
    )
}

/// A client of the first host and a server of the second one, which answers each request with two bytes.
pub(super) struct Conversation {
    client: TcpStream,
    server: Option<JoinHandle<u64>>,
    /// Bytes.
    request: usize,
}

impl Conversation {
    fn begin(lab: &Lab) -> Self {
        Self::begin_with(lab, SERVER, REQUEST)
    }

    pub(super) fn begin_with(lab: &Lab, server: &str, size: usize) -> Self {
        let listener = lab.b.enter(|| TcpListener::bind(server)).unwrap();
        let client = lab.a.enter(|| TcpStream::connect(server)).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let server = std::thread::spawn(move || {
            let mut request = vec![0; size];
            let mut served = 0;
            while stream.read_exact(&mut request).is_ok() {
                stream.write_all(b"ok").unwrap();
                served += 1;
            }
            served
        });
        Self {
            client,
            server: Some(server),
            request: size,
        }
    }

    pub(super) fn exchange(&mut self, times: usize) {
        let (request, mut answer) = (vec![7; self.request], [0; 2]);
        for _ in 0..times {
            self.client.write_all(&request).unwrap();
            self.client.read_exact(&mut answer).unwrap();
            assert_eq!(&answer, b"ok");
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.client.local_addr().unwrap().port()
    }

    /// Ends the connection, and returns the requests that were answered.
    pub(super) fn end(mut self) -> u64 {
        let server = self.server.take().unwrap();
        drop(self.client);
        server.join().unwrap()
    }
}

/// What was told of option 114 in each line about a connection of this port.
pub(super) fn told(daemon: &Daemon, port: u16) -> Vec<Value> {
    let text = daemon.stdout();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_one = |line: &Value| {
        let ports = [&line["flow"]["sport"], &line["flow"]["dport"]];
        ports.into_iter().any(|one| *one == port) && line["option"].is_object()
    };
    lines
        .filter(is_one)
        .map(|line| line["option"].clone())
        .collect()
}

pub(super) fn last(daemon: &Daemon, port: u16) -> Value {
    told(daemon, port).pop().unwrap_or_default()
}

/// The router fills in requests of the first host as a switch would: a queue of 40 KiB at a link of 100 Gbit/s, the first
/// hop, and 12.3 ms. The sum of these values is 0, so that checksums stay right.
pub(super) fn fill(lab: &Lab) {
    for (host, dev) in [
        (&lab.a, "a0"),
        (&lab.m, "m0"),
        (&lab.m, "m1"),
        (&lab.b, "b0"),
    ] {
        host.sh(&format!("ethtool -K {dev} tso off gso off gro off"));
    }
    lab.m.sh(
        "nft add table ip hop; nft 'add chain ip hop f { type filter hook forward priority 0; }'
         nft add rule ip hop f iifname m0 tcp option 114 exists counter \
             @th,272,16 set 0xf585 @th,288,16 set 0x3f00 @th,304,16 set 0xbb7a",
    );
}

/// Packets with the option that the router saw.
fn seen(lab: &Lab) -> u64 {
    lab.m.counted_by_nft("chain ip hop f").0
}

#[test]
fn each_request_that_a_hop_fills_in_is_one_sample() {
    let lab = Lab::new();
    fill(&lab);
    // This one was there before the daemon.
    let mut old = Conversation::begin(&lab);
    let flags = "--option all --option-period 1ms";
    let mut asks = watch(&lab.a, flags);
    let echoes = watch(&lab.b, flags);
    let mut new = Conversation::begin(&lab);
    for conversation in [&mut old, &mut new] {
        let port = conversation.port();
        await_that_or(
            || {
                conversation.exchange(20);
                last(&asks, port)["samples"].as_u64() >= Some(50)
            },
            || format!("{:#}", last(&asks, port)),
        );
        let state = last(&asks, port);
        let [requests, samples] = ["requests", "samples"].map(|it| state[it].as_u64().unwrap());
        assert!(samples <= requests, "{state:#}");
        assert!(samples * 10 >= requests * 9, "{state:#}");
        assert!(state["off"].is_null(), "{state:#}");
        let worst = told(&asks, port)
            .into_iter()
            .rev()
            .find(|state| state["worst"].is_object());
        let worst = &worst.unwrap()["worst"];
        assert_eq!(worst["hop"], 1, "{worst:#}");
        assert_eq!(worst["link_gbit_s"], 100);
        assert_eq!(worst["queue_bytes"], 40_960);
        assert_eq!(worst["latency_ns"], 187 * 65_536);
        assert!(worst["age_ns"].as_u64().unwrap() > 0);
        // Those that come back are echoes of data alone, and nothing fills in what the server asks.
        let server = last(&echoes, port);
        assert!(server["echoes"].as_u64() >= Some(samples), "{server:#}");
        assert_eq!(server["samples"], 0, "{server:#}");
    }
    assert_eq!(lab.a.checksum_errors() + lab.b.checksum_errors(), 0);

    assert_eq!(asks.end(), Some(0));
    let after = seen(&lab);
    old.exchange(50);
    new.exchange(50);
    assert_eq!(seen(&lab), after, "without the daemon no request is sent");
    assert!(old.end() >= 70);
    assert!(new.end() >= 70);
}

#[test]
fn where_the_option_is_dropped_connections_go_on_without_it() {
    let lab = Lab::new();
    lab.m.sh(
        "nft add table ip hop; nft 'add chain ip hop f { type filter hook forward priority 0; }'
         nft add rule ip hop f tcp option 114 exists counter drop",
    );
    let asks = watch(&lab.a, "--option all --option-period 1ms");
    let _echoes = watch(&lab.b, "--option all --option-period 1ms");
    // Their requests and answers are single segments: nothing comes after one that is dropped.
    let listener = lab.b.enter(|| TcpListener::bind(SERVER)).unwrap();
    for _ in 0..4 {
        let mut client = lab.a.enter(|| TcpStream::connect(SERVER)).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let port = client.local_addr().unwrap().port();
        let mut byte = [0];
        for _ in 0..20 {
            client.write_all(b"?").unwrap();
            server.read_exact(&mut byte).unwrap();
            server.write_all(b"!").unwrap();
            client.read_exact(&mut byte).unwrap();
        }
        // The state is told at the end, too.
        drop((client, server));
        await_that("the end is told", || !told(&asks, port).is_empty());
        let state = last(&asks, port);
        assert_eq!(state["samples"], 0, "{state:#}");
        let asked = state["requests"].as_u64().unwrap();
        assert!(asked <= 2, "{state:#}");
        assert_eq!(state["off"].is_null(), asked == 0, "{state:#}");
    }
    let status = lab.a.hostint("status --json --flows 0");
    let status: Value = serde_json::from_str(&status).unwrap();
    let option = &status["tcp"]["option"];
    // After three connections no other one of this pair asks.
    assert_eq!(option["off"], 3, "{option:#}");
    assert_eq!(option["samples"], 0, "{option:#}");
}

#[test]
fn leases_say_which_hosts_take_the_option() {
    let lab = Lab::new();
    let _sinks = watched_pair::start(&lab);
    let asks = watch(&lab.a, "--option leased --option-period 1ms");
    let mut conversation = Conversation::begin(&lab);
    let port = conversation.port();
    await_that("the pair has a lease", || {
        conversation.exchange(1);
        watched_pair::is_settled(&lab.a)
    });
    conversation.exchange(20);
    await_that("the connection is told", || !told(&asks, port).is_empty());
    assert_eq!(last(&asks, port)["requests"], 0, "nobody reads them there");

    let mut echoes = watch(&lab.b, "--option leased --option-period 1ms");
    let asked = |asks: &Daemon| last(asks, port)["requests"].as_u64().unwrap();
    await_that("the lease says that the option is read", || {
        conversation.exchange(1);
        asked(&asks) > 0
    });
    assert_eq!(echoes.end(), Some(0));
    await_that("the lease says that it is not read any more", || {
        let before = asked(&asks);
        let lines = told(&asks, port).len();
        conversation.exchange(1);
        await_that("two more samples are told", || {
            conversation.exchange(1);
            told(&asks, port).len() > lines + 2
        });
        asked(&asks) == before
    });
}

#[test]
fn running_connections_take_part_at_once_and_nothing_stays_behind() {
    const RUNNING: usize = 200;
    let lab = Lab::new();
    let listener = lab.b.enter(|| TcpListener::bind(SERVER)).unwrap();
    let connect = |_| {
        let client = lab.a.enter(|| TcpStream::connect(SERVER)).unwrap();
        (client, listener.accept().unwrap().0)
    };
    let mut running: Vec<_> = (0..RUNNING).map(connect).collect();
    let mut exchange = || {
        for (client, server) in &mut running {
            let mut byte = [0];
            client.write_all(b"?").unwrap();
            server.read_exact(&mut byte).unwrap();
        }
    };
    let mut asks = watch(&lab.a, "--option all");
    exchange();
    let status = lab.a.hostint("status --json --flows 0");
    let status: Value = serde_json::from_str(&status).unwrap();
    let asked = status["tcp"]["option"]["requests"].as_u64().unwrap();
    assert!(asked * 100 >= RUNNING as u64 * 99, "{asked} of {RUNNING}");
    assert_eq!(asks.end(), Some(0));
    exchange();
    assert_eq!(pins_below(&lab.a.pins()), Vec::<String>::new());
}
