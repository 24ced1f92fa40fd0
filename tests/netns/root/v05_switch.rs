//! A switch that knows INT v0.5 and nothing of hostint is a hop with its times: it pushes onto probes as onto data. One of v1.0
//! reads the header's counts as others, so its probes are strangers, and packets go in a form that it leaves alone.

use hostint_testing::line;
use hostint_testing::netns::{Daemon, Host, Lab, await_that_or};
use hostint_testing::watched_pair::is_settled;
use serde_json::Value;

use crate::exchange::exchange_udp;

/// The switch's id, and its ports.
const SWITCH: u32 = 77;
const PORTS: [u16; 2] = [5, 6];
/// The time that a packet takes from its ingress to its egress.
const NS: u32 = 1_500;

const UDP: u8 = 17;
const HOP_LEN: usize = 16;

fn grow(packet: &mut [u8], at: usize, by: usize) {
    let value = u16::from_be_bytes([packet[at], packet[at + 1]]) + by as u16;
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn mend_ip(packet: &mut [u8], header_len: usize) {
    packet[10..12].fill(0);
    let words = packet[..header_len].chunks(2);
    let mut sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// How a switch reads the two bytes in front of the bitmap, whether a hop is left, and what its entry changes in them.
type Counts = fn(&mut [u8]) -> bool;

/// Max hops and total hops.
fn of_v05(counts: &mut [u8]) -> bool {
    let is_left = counts[1] < counts[0];
    counts[1] += u8::from(is_left);
    is_left
}

/// The words of a hop, and the hops that are left, as in the published programs for BMv2.
fn of_v10(counts: &mut [u8]) -> bool {
    let is_left = counts[1] > 0;
    counts[1] -= u8::from(is_left);
    is_left
}

/// The transit program of the specification: what the DSCP marks gets an entry of the items of the bitmap in front of
/// all others, while hops are left. It leaves the sum of UDP as it is, as a domain may agree.
fn switch(mut packet: Vec<u8>, now_ns: u32, counts: Counts) -> Vec<u8> {
    let header_len = usize::from(packet[0] & 15) * 4;
    let block = header_len + 8;
    if packet[0] >> 4 != 4 || packet[1] & 4 == 0 || packet[9] != UDP || packet.len() < block + 12 {
        return packet;
    }
    let asks = packet[block + 8..block + 10] == [0xcc, 0];
    if packet[block + 4] != 0 || packet[block + 5] & 31 != 4 || !asks {
        return packet;
    }
    if !counts(&mut packet[block + 6..block + 8]) {
        packet[block + 4] |= 1;
        return packet;
    }
    let mut entry = SWITCH.to_be_bytes().to_vec();
    for port in PORTS {
        entry.extend(port.to_be_bytes());
    }
    entry.extend(now_ns.to_be_bytes());
    entry.extend((now_ns.wrapping_add(NS)).to_be_bytes());
    packet.splice(block + 12..block + 12, entry);
    packet[block + 2] += (HOP_LEN / 4) as u8;
    grow(&mut packet, 2, HOP_LEN);
    grow(&mut packet, header_len + 4, HOP_LEN);
    mend_ip(&mut packet, header_len);
    packet
}

fn latencies(collector: &Daemon) -> Vec<Value> {
    let text = collector.stdout();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["kind"] == "latency").collect()
}

/// Both ends of a line with such a switch: a collector, and sinks.
fn start(lab: &Lab, counts: Counts) -> (Daemon, [Daemon; 2]) {
    // Behind the switch, packets are longer.
    lab.m.sh("ip link set m1 mtu 1600");
    lab.b.sh("ip link set b0 mtu 1600");
    line::install(lab, move |_, packet| {
        let now_ns = hostint::os::clock::realtime_ns() as u32;
        vec![switch(packet, now_ns, counts)]
    });
    let collector = lab
        .b
        .start("collect --json --listen 10.9.2.1", "collecting");
    let sinks = [
        lab.a.leasing_sink("--dev a0 --node-id 1"),
        lab.b.leasing_sink(
            "--dev b0 --node-id 2 --collector 10.9.2.1 --report-period 100ms --summary-period 1s",
        ),
    ];
    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --max-hops 1");
    lab.a.hostint("source add-dest 10.9.2.1");
    await_that_or(|| is_settled(&lab.a), || lab.a.hostint("status --all"));
    (collector, sinks)
}

fn ways(host: &Host) -> String {
    host.status()["source"]["peers"][0]["ways"].to_string()
}

#[test]
fn it_is_a_hop_of_flows_in_over_tcp_udp() {
    let lab = Lab::new();
    let (collector, _sinks) = start(&lab, of_v05);
    let ways = ways(&lab.a);
    assert!(ways.contains("udp over-tcp-udp"), "{ways}");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let told = || {
        let all = latencies(&collector);
        let found = all.iter().find_map(|line| {
            let hops = line["transit"].as_array()?;
            hops.iter().find(|hop| hop["node"] == SWITCH).cloned()
        });
        found.unwrap_or_default()
    };
    await_that_or(
        || {
            exchange_udp(&from, &to, 20, 500);
            !told().is_null()
        },
        || {
            format!(
                "{:#?}\n{}",
                latencies(&collector),
                lab.b.hostint("status --all")
            )
        },
    );
    let hop = told();
    assert_eq!(hop["ingress_port"], PORTS[0], "{hop:#}");
    assert_eq!(hop["egress_port"], PORTS[1], "{hop:#}");
    let times = ["ingress_ts_ns", "egress_ts_ns"].map(|key| hop[key].as_u64().unwrap_or_default());
    assert_eq!(times[1].wrapping_sub(times[0]) as u32, NS, "{hop:#}");
    assert_eq!(lab.b.checksum_errors(), 0);
}

#[test]
fn one_of_v10_is_no_hop_and_packets_pass_it_in_another_form() {
    let lab = Lab::new();
    let (collector, _sinks) = start(&lab, of_v10);
    let ways = ways(&lab.a);
    assert!(ways.contains("udp vxlan-gpe"), "{ways}");
    assert!(!ways.contains("over-tcp-udp"), "{ways}");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    await_that_or(
        || {
            exchange_udp(&from, &to, 20, 500);
            !latencies(&collector).is_empty()
        },
        || lab.b.hostint("status --all"),
    );
    for line in latencies(&collector) {
        assert!(line["transit"].is_null(), "{line:#}");
    }
}
