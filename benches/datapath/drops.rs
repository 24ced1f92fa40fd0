//! What a drop costs more where drops are told, and whether its sums are exact.

use std::os::fd::OwnedFd;
use std::time::Instant;

use hostint_testing::netns::{Host, Lab, await_that};
use hostint_testing::random::env_number;
use serde_json::Value;

use crate::postcards::{lines, totals};
use crate::rounds::{ROUNDS, median};
use crate::senders::{raw_socket, send_batch};

/// Packets of a round of drops.
const DROPPED: u64 = 1 << 20;
const BATCH: usize = 64;
const PORT: u16 = 7002;
const VXLAN_PORT: u16 = 4789;

fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    let mut sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// What a flood is of.
#[derive(Clone, Copy)]
struct Kind {
    words: &'static str,
    /// Each frame is of another flow.
    is_spoofed: bool,
    /// The flow is in VXLAN.
    is_tunnelled: bool,
    flags: &'static str,
}

const ONE_FLOW: Kind = Kind {
    words: "one flow",
    is_spoofed: false,
    is_tunnelled: false,
    flags: "",
};

/// Offsets in a frame: of the IP header, and of that in VXLAN.
const IP: usize = 14;
const INNER_IP: usize = IP + 28 + 8 + 14;

/// Frames from a to the router.
struct Flood {
    socket: OwnedFd,
    frames: Vec<Vec<u8>>,
    kind: Kind,
    sent: u32,
}

/// IPv4 and UDP in front of this payload.
fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    let len = payload.len() as u16 + 8;
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0];
    packet[2..4].copy_from_slice(&(len + 20).to_be_bytes());
    packet.extend([10, 9, 1, 1, 10, 9, 2, 1]);
    packet.extend([5000_u16, port, len, 0].map(u16::to_be_bytes).concat());
    packet.extend(payload);
    packet
}

impl Flood {
    fn new(lab: &Lab, kind: Kind) -> Self {
        let mac = |host: &Host, dev: &str| {
            let text = host.sh(&format!("cat /sys/class/net/{dev}/address"));
            let bytes = text.trim().split(':');
            bytes
                .map(|byte| u8::from_str_radix(byte, 16).unwrap())
                .collect::<Vec<u8>>()
        };
        let ethernet = [mac(&lab.m, "m0"), mac(&lab.a, "a0"), vec![8, 0]].concat();
        let mut packet = datagram(PORT, &[0; 18]);
        if kind.is_tunnelled {
            let vxlan = [8, 0, 0, 0, 0, 0, 42, 0];
            packet = datagram(VXLAN_PORT, &[&vxlan[..], &ethernet, &packet].concat());
        }
        let frame = [ethernet, packet].concat();
        let mut flood = Self {
            socket: raw_socket(&lab.a, "a0"),
            frames: vec![frame; BATCH],
            kind,
            sent: 0,
        };
        flood.address();
        flood
    }

    /// Gives each frame its source address.
    fn address(&mut self) {
        for frame in &mut self.frames {
            if self.kind.is_spoofed {
                self.sent = self.sent.wrapping_add(1);
                let [_, bytes @ ..] = self.sent.to_be_bytes();
                let ip = if self.kind.is_tunnelled { INNER_IP } else { IP };
                frame[ip + 13..ip + 16].copy_from_slice(&bytes);
            }
            frame[IP + 10..IP + 12].fill(0);
            let check = sum(&frame[IP..IP + 20]);
            frame[IP + 10..IP + 12].copy_from_slice(&check.to_be_bytes());
        }
    }

    /// Sends this number of packets, and returns ns for each.
    fn send(&mut self, packets: u64) -> f64 {
        let begin = Instant::now();
        for _ in 0..packets / BATCH as u64 {
            if self.kind.is_spoofed {
                self.address();
            }
            send_batch(&self.socket, &mut self.frames);
        }
        begin.elapsed().as_nanos() as f64 / packets as f64
    }
}

fn told_for(totals: &Value, reason: &str) -> u64 {
    let all = totals["reasons"].as_array().unwrap().iter();
    let of = all.filter(|one| one["kernel_reason_name"] == reason);
    of.map(|one| one["packets"].as_u64().unwrap()).sum()
}

/// The cost of a drop, and what was told of as many as are injected.
fn drops(kind: Kind) {
    let lab = Lab::new();
    let port = if kind.is_tunnelled { VXLAN_PORT } else { PORT };
    lab.m.sh(&format!(
        "nft add table ip lab; nft 'add chain ip lab f {{ type filter hook prerouting priority -300; }}'
         nft add rule ip lab f udp dport {port} counter drop"
    ));
    let packets = env_number("HOSTINT_TEST_PACKETS", DROPPED);
    let mut flood = Flood::new(&lab, kind);
    flood.send(packets / 4);
    let mut costs = Vec::new();
    let mut exact = 0;
    let mut most_lines = 0.0_f64;
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let without = flood.send(packets);
        let before = lab.m.counted_by_nft("table ip lab").0;
        let command = format!("postcards --drops --json {}", kind.flags);
        let mut daemon = lab.m.start(&command, "drops are reported");
        let begin = Instant::now();
        let with = flood.send(packets);
        let seconds = begin.elapsed().as_secs_f64();
        // What waits behind the interface is dropped soon: two looks find the same.
        let mut last = before;
        await_that("the packets were dropped", || {
            let now = lab.m.counted_by_nft("table ip lab").0;
            std::mem::replace(&mut last, now) == now && now > before
        });
        let injected = last - before;
        let told = totals(&mut daemon, "drop-totals");
        exact += u32::from(told_for(&told, "NETFILTER_DROP") == injected);
        let of_flow = lines(&daemon)
            .iter()
            .filter(|line| line["kind"] == "host-drop" && line["flow"]["dport"] == PORT)
            .count();
        // The first and the last are told whatever the time is.
        most_lines = most_lines.max((of_flow as f64 - 2.0).max(0.0) / seconds);
        rates.push(1e9 / with);
        costs.push(with - without);
    }
    println!(
        "  {:<30} {:>8.0} ns a drop more, at {:>9.0} drops/s; sums exact in {exact} of {ROUNDS} rounds of {packets}",
        kind.words,
        median(costs),
        median(rates)
    );
    if !kind.is_spoofed {
        println!("    at most {most_lines:.1} lines a second beside the first and the last");
    }
}

pub fn run() {
    println!("drops");
    drops(ONE_FLOW);
    drops(Kind {
        words: "10^6 spoofed flows",
        is_spoofed: true,
        ..ONE_FLOW
    });
    let tunnelled = Kind {
        words: "one flow in VXLAN, --inner",
        is_tunnelled: true,
        flags: "--inner vxlan,geneve,gtp-u",
        ..ONE_FLOW
    };
    drops(tunnelled);
    drops(Kind {
        words: "10^6 such flows",
        is_spoofed: true,
        ..tunnelled
    });
    drops(Kind {
        words: "one flow outside, --inner",
        is_tunnelled: false,
        ..tunnelled
    });
    println!();
}
