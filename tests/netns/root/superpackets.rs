//! Segments of superpackets that are lost, doubled or reordered on the way are counted one by one.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use hostint_testing::netns::{Host, Lab, await_that, await_that_or, sh, with_form};
use hostint_testing::watched_pair::is_settled;
use nix::libc;

use crate::exchange::{exchange_tcp_with, exchange_udp_superpackets, noise, set_option};

/// Behind IP header and outer UDP header; see hostint-wire(7).
struct Block<'a>(&'a [u8]);

impl Block<'_> {
    fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.0[at..at + 4].try_into().unwrap())
    }

    fn half(&self, at: usize) -> u32 {
        u32::from(u16::from_be_bytes([self.0[at], self.0[at + 1]]))
    }
}

/// The number that a packet on the line has in its flow, and whether it is one of many of a superpacket.
fn number_of(packet: &[u8]) -> (u32, bool) {
    let outer_len = if packet[0] >> 4 == 4 { 20 } else { 40 };
    assert_eq!(packet[outer_len + 2..outer_len + 4], 4790u16.to_be_bytes());
    let block = Block(&packet[outer_len + 8..]);
    let (first, base, size, count) = (
        block.word(44),
        block.word(52),
        block.half(56),
        block.half(58),
    );
    if count <= 1 {
        return (first, false);
    }
    let inner = &block.0[60..];
    let index = match (inner[0] >> 4, inner[9]) {
        (4, 17) => {
            u32::from(u16::from_be_bytes([packet[4], packet[5]])).wrapping_sub(base) & 0xffff
        }
        _ => {
            let offset = Block(&inner[outer_len..]).word(4).wrapping_sub(base);
            assert_eq!(offset % size, 0, "a segment begins at a multiple");
            offset / size
        }
    };
    assert!(index < count);
    (first + index, true)
}

#[derive(Debug, Default, PartialEq)]
struct Truth {
    packets: u64,
    lost: u64,
    reordered: u64,
    duplicates: u64,
}

/// What a sink must say of numbers that came in this order.
fn truth(numbers: &[u32]) -> Truth {
    let mut seen = HashSet::new();
    let mut newest = 0;
    let mut truth = Truth::default();
    for number in numbers {
        truth.packets += 1;
        if !seen.insert(*number) {
            truth.duplicates += 1;
        } else if *number < newest {
            truth.reordered += 1;
        }
        newest = newest.max(*number);
    }
    truth.lost = u64::from(newest) - seen.len() as u64;
    truth
}

fn reported(host: &Host) -> Truth {
    let status = host.status();
    let mut truth = Truth::default();
    for flow in status["sink"]["flows"].as_array().unwrap() {
        let of = |name: &str| flow[name].as_u64().unwrap();
        truth.packets += of("packets");
        truth.lost += of("lost");
        truth.reordered += of("reordered");
        truth.duplicates += of("duplicates");
    }
    truth
}

/// So many packets from one that is lost, doubled or held to the next; 0: none is.
#[derive(Clone, Copy)]
struct Plan {
    lose: u64,
    double: u64,
    hold: u64,
    overtaken_by: usize,
}

impl Plan {
    /// The plan ends before the stream does, so that its last packets make all losses known.
    const PACKETS: u64 = 2500;

    fn meets(period: u64, n: u64) -> bool {
        period != 0 && n < Self::PACKETS && n % period == period - 1
    }
}

struct Case {
    name: &'static str,
    source: &'static str,
    sink: &'static str,
    ipv6: bool,
    udp: bool,
    plan: Plan,
}

fn check(case: &Case) {
    let (name, plan) = (case.name, case.plan);
    let lab = Lab::new();
    lab.add_ipv6();
    let _a = lab.a.sink("--dev a0 --node-id 1");
    let _b = lab.b.sink(&format!("--dev b0 --node-id 2 {}", case.sink));
    lab.a.hostint(&format!(
        "source attach --dev a0 --encap vxlan-gpe {}",
        case.source
    ));
    lab.a.hostint("source add-dest --static 10.9.2.1 fd09:2::1");
    let passed: Arc<Mutex<Vec<u32>>> = Arc::default();
    let segments: Arc<AtomicU64> = Arc::default();
    let (numbers, came) = (passed.clone(), segments.clone());
    let mut held: Vec<(usize, Vec<u8>)> = Vec::new();
    hostint_testing::line::install(&lab, move |n, packet| {
        let mut out = Vec::new();
        came.fetch_add(u64::from(number_of(&packet).1), Relaxed);
        if Plan::meets(plan.lose, n) {
            return out;
        }
        if Plan::meets(plan.hold, n) {
            held.push((plan.overtaken_by, packet));
        } else {
            if Plan::meets(plan.double, n) {
                out.push(packet.clone());
            }
            out.push(packet);
            for entry in &mut held {
                entry.0 = entry.0.saturating_sub(1);
            }
            out.extend(
                held.extract_if(.., |entry| entry.0 == 0)
                    .map(|entry| entry.1),
            );
        }
        let passing = out.iter().map(|packet| number_of(packet).0);
        numbers.lock().unwrap().extend(passing);
        out
    });
    let host = if case.ipv6 { "[fd09:2::1]" } else { "10.9.2.1" };
    let to: SocketAddr = format!("{host}:7000").parse().unwrap();
    if case.udp {
        use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};
        let (from, _to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp(&to.to_string()));
        set_option(
            &from,
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            libc::IP_PMTUDISC_DO,
        );
        setsockopt(&from, UdpGsoSegment, &1000).unwrap();
        for i in 0..400 {
            from.send_to(&noise(i, 9500), to).unwrap();
        }
        await_that("all segments are on the line", || {
            segments.load(Relaxed) == 4000
        });
    } else {
        exchange_tcp_with(&lab.a, &lab.b, to, 6_000_000);
    }
    let expected = || truth(&passed.lock().unwrap());
    await_that_or(
        || reported(&lab.b) == expected(),
        || {
            let (said, counters) = (reported(&lab.b), lab.b.counters("sink"));
            format!(
                "{name}: {said:?} is reported, {:?} is true: {counters:?}",
                expected()
            )
        },
    );
    let expected = expected();
    println!("{name}: {expected:?}");
    let segments = segments.load(Relaxed);
    assert!(
        segments > 2000,
        "{name}: only {segments} segments of superpackets"
    );
    for (period, counted) in [
        (plan.lose, expected.lost),
        (plan.hold, expected.reordered),
        (plan.double, expected.duplicates),
    ] {
        assert_eq!(period != 0, counted != 0, "{name}: {expected:?}");
    }
    assert_eq!(lab.b.count("sink", "bad_segment"), 0, "{name}");
    assert_eq!(
        lab.a.checksum_errors() + lab.b.checksum_errors(),
        0,
        "{name}"
    );
}

#[test]
fn lost_doubled_and_reordered_segments_are_told_apart_exactly() {
    const ALL: Plan = Plan {
        lose: 97,
        double: 89,
        hold: 83,
        overtaken_by: 3,
    };
    for case in [
        Case {
            name: "neighbours change places",
            source: "",
            sink: "",
            ipv6: false,
            udp: false,
            plan: Plan {
                lose: 0,
                double: 0,
                hold: 5,
                overtaken_by: 1,
            },
        },
        Case {
            name: "all at once over IPv4",
            source: "",
            sink: "",
            ipv6: false,
            udp: false,
            plan: ALL,
        },
        Case {
            name: "all at once over IPv6",
            source: "",
            sink: "",
            ipv6: true,
            udp: false,
            plan: ALL,
        },
        Case {
            name: "all at once, sink at TC",
            source: "",
            sink: "--hook tc",
            ipv6: false,
            udp: false,
            plan: ALL,
        },
        Case {
            name: "all at once with superpackets of UDP",
            source: "--superpackets encap-all",
            sink: "--hook xdp",
            ipv6: false,
            udp: true,
            plan: Plan {
                lose: 7,
                double: 11,
                hold: 10,
                overtaken_by: 12,
            },
        },
    ] {
        check(&case);
    }
}

#[test]
fn a_guests_superpackets_are_tagged_on_the_hosts_end_of_its_veth() {
    for (flags, sink) in [
        ("", ""),
        ("--encap vxlan-gpe", "--hook tc"),
        ("--encap extension-udp", "--xdp-mode generic"),
    ] {
        let lab = Lab::new();
        let guest = lab.host("g");
        let (a, g) = (&lab.a.ns, &guest.ns);
        // a becomes a bridge between its uplink and the guest
        sh(&format!(
            "ip -n {a} addr flush dev a0
             ip link add g0 netns {g} type veth peer name v0 netns {a}
             ip -n {a} link add br0 type bridge
             ip -n {a} link set a0 master br0; ip -n {a} link set v0 master br0
             ip -n {a} link set br0 up; ip -n {a} link set v0 up
             ip -n {g} addr add 10.9.1.1/24 dev g0; ip -n {g} link set g0 up
             ip -n {g} route add default via 10.9.1.2"
        ));
        lab.a.hostint(&format!(
            "source attach --dev v0 --hook tc-ingress {} --force --node-id 9",
            with_form(flags)
        ));
        lab.a.hostint("source add-dest --static 10.9.2.1");
        let _b = lab.b.sink(&format!("--dev b0 --node-id 2 {sink}"));
        let to = "10.9.2.1:7000".parse().unwrap();
        exchange_tcp_with(&guest, &lab.b, to, 3_000_000);
        let source = || lab.a.counters("source");
        await_that_or(
            || {
                let sink = lab.b.counters("sink");
                source()["tagged"] == sink["received"] + sink["lost"] - sink["recovered"]
            },
            || format!("{flags}: {:?} {:?}", source(), lab.b.counters("sink")),
        );
        let source = source();
        assert!(source["encapsulated"] > 20, "{flags}: {source:?}");
        let errors = lab.b.checksum_errors() + guest.checksum_errors();
        assert_eq!(errors, 0, "{flags}");
    }
}

#[test]
fn datagrams_of_a_superpacket_arrive_wherever_the_sink_is() {
    for (hook, are_tagged) in [
        ("--hook xdp --xdp-mode native", true),
        ("--hook tc", false),
        ("--hook xdp --xdp-mode generic", false),
    ] {
        let lab = Lab::new();
        let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
        let _b = lab.b.leasing_sink(&format!("--dev b0 --node-id 2 {hook}"));
        lab.a
            .hostint("source attach --dev a0 --superpackets encap-all");
        lab.a.hostint("source add-dest 10.9.2.1");
        await_that("the path is proved", || is_settled(&lab.a));
        let to = lab.b.udp("10.9.2.1:6100");
        let from = lab.a.udp("10.9.1.1:6100");
        exchange_udp_superpackets(&from, &to, 40, 1200);
        let source = lab.a.counters("source");
        let tagged = (source["encapsulated"], source["superpacket"]);
        assert_eq!(tagged.0 != 0, are_tagged, "{hook}: {tagged:?}");
        assert_eq!(tagged.1 == 0, are_tagged, "{hook}: {tagged:?}");
    }
}
