//! INT in options of TCP segments: connections that run already are measured, and nothing on the path, at the receiver or at
//! the end of a daemon harms one.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};

use crate::exchange::{exchange_tcp, noise};

const TO_B: &str = "10.9.2.1";

fn source(lab: &Lab) -> Daemon {
    let flags = "--dev a0 --node-id 1 --encap options --force";
    let daemon = lab
        .a
        .start(&format!("source {flags}"), "source attached to a0");
    lab.a.hostint(&format!("source add-dest {TO_B}"));
    daemon
}

fn ways(host: &Host) -> String {
    host.status()["source"]["peers"][0]["ways"].to_string()
}

/// Waits until connections to b may go in options.
fn await_open(lab: &Lab) {
    await_that_or(
        || ways(&lab.a).contains("tcp options"),
        || format!("{:#}", lab.a.status()["source"]),
    );
}

fn tagged(lab: &Lab) -> u64 {
    lab.a.count("source", "tagged")
}

/// Bytes that go from a to b, and are compared there.
struct Stream {
    to: TcpStream,
    reader: JoinHandle<Vec<u8>>,
    sent: Vec<u8>,
}

impl Stream {
    fn open(lab: &Lab, port: u16) -> Self {
        let listener = lab
            .b
            .enter(|| TcpListener::bind((TO_B, port)))
            .expect("the port is free");
        let to = lab.a.enter(|| TcpStream::connect((TO_B, port))).unwrap();
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            let (mut from, _) = listener.accept().unwrap();
            from.read_to_end(&mut all).unwrap();
            all
        });
        Self {
            to,
            reader,
            sent: Vec::new(),
        }
    }

    fn send(&mut self, bytes: usize) {
        let data = noise(self.sent.len() as u64, bytes);
        self.to.write_all(&data).unwrap();
        self.sent.extend(data);
    }

    /// Sends until the counts say that enough was measured.
    fn send_until(&mut self, what: &str, holds: impl Fn() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
            self.send(10_000);
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn end(self) {
        drop(self.to);
        let read = self.reader.join().unwrap();
        assert!(read == self.sent, "the bytes arrived changed");
    }
}

#[test]
fn a_connection_that_runs_already_is_measured_and_each_loss_is_counted() {
    let lab = Lab::new();
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    let mut stream = Stream::open(&lab, 7001);
    stream.send(100_000);
    let _a = source(&lab);
    await_open(&lab);
    stream.send_until("it is tagged", || tagged(&lab) > 0);
    // Full-size segments and superpackets, all of which have room.
    let before = [tagged(&lab), lab.a.count("source", "no_option")];
    stream.send(3_000_000);
    let after = [tagged(&lab), lab.a.count("source", "no_option")];
    let [with, without] = [after[0] - before[0], after[1] - before[1]];
    assert!(with > 2_000, "{with}");
    assert_eq!(without, 0, "of {with}");
    // A superpacket that is lost is as many packets as its segments: the router sees them before they are cut.
    lab.a.sh("ethtool -K a0 tso off gso off");
    stream.send(100_000);
    await_that("all has arrived", || {
        lab.b.count("sink", "received") == tagged(&lab)
    });
    lab.drop_packets(
        "ip daddr 10.9.2.1 tcp dport 7001 tcp option 253 exists numgen inc mod 50 == 7",
    );
    stream.send(2_000_000);
    stream.send_until("the losses are told", || lab.b.count("sink", "lost") > 0);
    let dropped = lab.dropped();
    stream.send(100_000);
    assert!(dropped > 20, "{dropped}");
    await_that_or(
        || lab.b.count("sink", "lost") == dropped,
        || format!("{} of {dropped}", lab.b.count("sink", "lost")),
    );
    stream.end();
    assert_eq!(lab.b.count("sink", "received") + dropped, tagged(&lab));
    assert!(lab.a.count("source", "no_option") > 0, "a FIN has no room");
    assert_eq!(lab.a.count("source", "mss_clamped"), 0);
}

#[test]
fn requests_with_rests_between_them_are_measured() {
    let lab = Lab::new();
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    let _a = source(&lab);
    await_open(&lab);
    let mut stream = Stream::open(&lab, 7003);
    stream.send_until("it is tagged", || tagged(&lab) > 20);
    let before = tagged(&lab);
    for n in 1..=4 {
        // Room is wanted for a second after a packet.
        thread::sleep(Duration::from_millis(1300));
        stream.send(100);
        await_that_or(
            || tagged(&lab) == before + n,
            || format!("request {n}: {} tagged", tagged(&lab) - before),
        );
    }
    stream.end();
}

#[test]
fn a_connection_that_rested_when_the_lease_came_is_measured_from_its_second_request_on() {
    let lab = Lab::new();
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    let mut stream = Stream::open(&lab, 7006);
    let _a = source(&lab);
    await_open(&lab);
    let before = tagged(&lab);
    for n in 0..4 {
        stream.send(100);
        await_that_or(
            || tagged(&lab) == before + n,
            || format!("after request {n}: {} tagged", tagged(&lab) - before),
        );
        // Room is wanted for a second after a packet.
        thread::sleep(Duration::from_millis(1300));
    }
    stream.end();
}

#[test]
fn when_the_daemon_ends_its_connections_go_on_and_the_next_one_measures_them() {
    let lab = Lab::new();
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    let mut first = source(&lab);
    await_open(&lab);
    let mut stream = Stream::open(&lab, 7002);
    stream.send_until("it is tagged", || tagged(&lab) > 20);
    first.kill();
    // Room is made for a second more at the most, and the lease ends by then.
    stream.send_until("it goes on untagged", || {
        lab.a.count("source", "no_lease") > 20
    });
    let last = tagged(&lab);
    let _next = source(&lab);
    stream.send_until("it is tagged again", || tagged(&lab) > last + 20);
    stream.end();
}

/// Whatever a device on the path does to segments with options, nothing is lost, and what the network forbids stays forbidden.
#[test]
fn whatever_a_device_does_to_options_each_byte_arrives_and_ports_stay_closed() {
    // Does the pair of hosts go on with options?
    let cases = [
        (
            "it drops what has an option that it does not know",
            "tcp option 253 exists drop",
            false,
        ),
        ("it takes such options off", "reset tcp option 253", false),
        (
            "it follows connections, and drops what is invalid",
            "ct state invalid drop",
            true,
        ),
        (
            "outside may only answer",
            "iifname m1 ct state new drop",
            true,
        ),
    ];
    for (sentence, rule, goes_on) in cases {
        let lab = Lab::new();
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        lab.m.sh(&format!(
            "nft add table inet middle
             nft 'add chain inet middle forward {{ type filter hook forward priority 0; }}'
             nft 'add rule inet middle forward tcp dport 7009 counter drop'
             nft 'add rule inet middle forward {rule}'"
        ));
        let _a = source(&lab);
        await_open(&lab);
        let exchange = |port| {
            let begun = Instant::now();
            exchange_tcp(&lab.a, &lab.b, port, 300_000);
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(10), "{sentence}: {took:?}");
        };
        (7010..7016).for_each(exchange);
        assert!(tagged(&lab) > 0, "{sentence}");
        if goes_on {
            assert!(ways(&lab.a).contains("tcp options"), "{sentence}");
            assert_eq!(lab.b.count("sink", "received"), tagged(&lab), "{sentence}");
        } else {
            let mut port = 7016;
            let closes = || {
                port += 1;
                exchange(port);
                !ways(&lab.a).contains("tcp options")
            };
            await_that_or(closes, || format!("{sentence}: {}", ways(&lab.a)));
            let before = tagged(&lab);
            exchange(7200);
            assert_eq!(tagged(&lab), before, "{sentence}: the pair goes without");
        }
        let to = format!("{TO_B}:7009").parse().unwrap();
        let closed = lab
            .a
            .enter(|| TcpStream::connect_timeout(&to, Duration::from_millis(500)));
        assert!(closed.is_err(), "{sentence}: a closed port stays closed");
    }
}
