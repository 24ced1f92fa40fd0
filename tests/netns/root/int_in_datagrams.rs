//! INT in options behind datagrams: applications get what was sent, whatever the devices on the path do, and each loss is
//! counted.

use std::net::UdpSocket;
use std::time::Duration;

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use serde_json::Value;

use crate::exchange::{exchange_udp, exchange_udp_superpackets, noise, set_option};

const TO_B: &str = "10.9.2.1";
const LONGEST: usize = 1472;

fn source(lab: &Lab) -> Daemon {
    let daemon = lab.a.start(
        "source --dev a0 --node-id 1 --force",
        "source attached to a0",
    );
    lab.a.hostint(&format!("source add-dest {TO_B}"));
    daemon
}

fn peer(lab: &Lab) -> Value {
    lab.a.status()["source"]["peers"][0].take()
}

/// Waits until datagrams to b go in options.
fn await_open(lab: &Lab, sentence: &str) {
    await_that_or(
        || peer(lab)["ways"].to_string().contains("udp options"),
        || format!("{sentence}: {:#}", lab.a.status()["source"]),
    );
}

fn tagged(lab: &Lab) -> u64 {
    lab.a.count("source", "tagged")
}

fn read(lab: &Lab) -> u64 {
    lab.b.count("sink", "received")
}

/// A socket of each host, which wait no longer than a moment.
fn sockets(lab: &Lab, port: u16) -> (UdpSocket, UdpSocket) {
    let open = |host: &Host, at: (&str, u16)| {
        let socket = host
            .enter(|| UdpSocket::bind(at))
            .expect("the port is free");
        let most = Some(Duration::from_secs(5));
        socket.set_read_timeout(most).expect("it is not 0");
        socket
    };
    (open(&lab.a, ("10.9.1.1", 0)), open(&lab.b, (TO_B, port)))
}

/// Datagrams whose checksum the kernel found wrong.
fn bad_checksums(host: &Host) -> u64 {
    let text = host.sh("nstat -az UdpInCsumErrors | tail -1");
    let word = text.split_whitespace().nth(1).expect("it has a value");
    word.parse().expect("it is a number")
}

#[test]
fn datagrams_of_all_lengths_arrive_as_they_were_sent_and_each_loss_is_counted() {
    // Who finishes the checksum: the sender's stack, a device, or nobody on veth, where it is left unfinished.
    for offload in ["", "ethtool -K a0 tx off", "ethtool -K m1 tx off"] {
        let lab = Lab::new();
        if let Some(off) = offload.strip_prefix("ethtool -K m1") {
            lab.m.sh(&format!("ethtool -K m1{off}"));
        } else {
            lab.a.sh(offload);
        }
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        let (from, to) = sockets(&lab, 7101);
        exchange_udp(&from, &to, 10, 500);
        let _a = source(&lab);
        exchange_udp(&from, &to, 10, 500);
        await_open(&lab, offload);
        exchange_udp(&from, &to, 300, LONGEST);
        let (with, long) = (tagged(&lab), lab.a.count("source", "too_long"));
        assert!(with > 270 && long > 0, "{offload}: {with}, {long} too long");
        await_that("all has arrived", || read(&lab) == tagged(&lab));
        // Without checksum, and more in one packet than an option can be put behind.
        set_option(&from, nix::libc::SOL_SOCKET, nix::libc::SO_NO_CHECK, 1);
        exchange_udp(&from, &to, 50, 900);
        set_option(&from, nix::libc::SOL_SOCKET, nix::libc::SO_NO_CHECK, 0);
        exchange_udp_superpackets(&from, &to, 20, 700);
        assert!(lab.a.count("source", "superpacket") > 20, "{offload}");
        await_that("all has arrived", || read(&lab) == tagged(&lab));
        assert_eq!(bad_checksums(&lab.b), 0, "{offload}");
        let before = tagged(&lab);
        lab.drop_packets("ip daddr 10.9.2.1 udp dport 7101 numgen inc mod 10 == 7");
        for number in 0..200 {
            let data = noise(number, 200);
            from.send_to(&data, to.local_addr().unwrap()).unwrap();
        }
        await_that("all is sent", || tagged(&lab) == before + 200);
        let dropped = lab.dropped();
        assert_eq!(dropped, 20);
        // They ask the sink for what came before them.
        let more = noise(1, 100);
        await_that_or(
            || {
                from.send_to(&more, to.local_addr().unwrap()).unwrap();
                lab.b.count("sink", "lost") == dropped
            },
            || format!("{offload}: {} lost", lab.b.count("sink", "lost")),
        );
    }
}

#[test]
fn whatever_a_device_does_to_options_datagrams_arrive_and_ports_stay_closed() {
    // Drops datagrams whose IP packet is longer than the UDP length says.
    const WITH_OPTIONS: &str = "tc qdisc add dev m1 clsact
tc filter add dev m1 egress protocol ip bpf da bytecode \
        '9,48 0 0 23,21 0 6 17,40 0 0 16,20 0 0 20,7 0 0 0,40 0 0 38,29 1 0 0,6 0 0 2,6 0 0 0'";
    let cases = [
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
        ("it drops datagrams with options", "", false),
    ];
    for (sentence, rule, goes) in cases {
        let lab = Lab::new();
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        lab.m.sh("nft add table inet middle
             nft 'add chain inet middle forward { type filter hook forward priority 0; }'
             nft 'add rule inet middle forward udp dport 7109 drop'");
        match rule {
            "" => lab.m.sh(WITH_OPTIONS),
            rule => lab
                .m
                .sh(&format!("nft 'add rule inet middle forward {rule}'")),
        };
        let _a = source(&lab);
        if goes {
            await_open(&lab, sentence);
        } else {
            await_that_or(
                || peer(&lab)["eaten"].to_string().contains("options"),
                || format!("{sentence}: {:#}", lab.a.status()["source"]),
            );
        }
        let (from, to) = sockets(&lab, 7102);
        exchange_udp(&from, &to, 100, 1400);
        exchange_udp(&to, &from, 100, 1400);
        assert_eq!(tagged(&lab), if goes { 100 } else { 0 }, "{sentence}");
        await_that("all has arrived", || read(&lab) == tagged(&lab));
        let (from, to) = sockets(&lab, 7109);
        from.send_to(b"?", to.local_addr().unwrap()).unwrap();
        to.set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let closed = to.recv_from(&mut [0; 9]);
        assert!(closed.is_err(), "{sentence}: a closed port stays closed");
    }
}
