//! The history's figures are those of the sink: of all packets, fast and slow, lost and late.

use std::collections::{BTreeMap, VecDeque};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Host, Lab, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::Value;

/// The lot of the packets to a port.
#[derive(Clone, Copy)]
struct Path {
    port: u16,
    packets: u32,
    /// A packet takes this much longer, if its number is divisible by this.
    slow: (Duration, u32),
    /// Packets whose number is divisible by this are lost; 0 for none.
    lost_every: u32,
    /// Packets whose number is divisible by this arrive after they were declared lost; 0 for none.
    late_every: u32,
}

const LATE: Duration = Duration::from_millis(700);

const fn path(port: u16, packets: u32) -> Path {
    Path {
        port,
        packets,
        slow: (Duration::ZERO, 1),
        lost_every: 0,
        late_every: 0,
    }
}

const PATHS: [Path; 5] = [
    path(6000, 3000),
    Path {
        slow: (Duration::from_millis(4), 1),
        ..path(6001, 2000)
    },
    Path {
        slow: (Duration::from_millis(9), 50),
        ..path(6002, 3000)
    },
    Path {
        lost_every: 33,
        ..path(6003, 2000)
    },
    Path {
        lost_every: 40,
        late_every: 25,
        ..path(6004, 2000)
    },
];

/// Packets to this port only make the line release those that are due.
const PUMP: u16 = 6099;

fn every(number: u32, of: u32) -> bool {
    of != 0 && number % of == of / 2
}

/// A line on which packets to each port have their lot.
fn install(lab: &Lab) {
    let mut numbers = BTreeMap::<u16, u32>::new();
    let mut held = VecDeque::<(Instant, Vec<u8>)>::new();
    hostint_testing::line::install(lab, move |_, packet| {
        let now = Instant::now();
        let payload = u16::from_be_bytes([packet[packet.len() - 2], packet[packet.len() - 1]]);
        let mut out = Vec::new();
        let path = PATHS.iter().find(|path| path.port == payload);
        match path {
            None => out.push(packet),
            Some(path) => {
                let number = numbers.entry(payload).or_default();
                *number += 1;
                let last = path.packets - *number < 200;
                if !last && every(*number, path.lost_every) {
                } else if !last && every(*number, path.late_every) {
                    held.push_back((now + LATE, packet));
                } else if !path.slow.0.is_zero() && every(*number, path.slow.1.max(1)) {
                    held.push_back((now + path.slow.0, packet));
                } else {
                    out.push(packet);
                }
            }
        }
        held.retain_mut(|(due, packet)| {
            let goes = *due <= now;
            if goes {
                out.push(std::mem::take(packet));
            }
            !goes
        });
        out
    });
}

/// Sends a packet that ends with its port, by which the line knows it whatever it is wrapped in.
fn send(from: &UdpSocket, port: u16) {
    let mut payload = [7; 64];
    payload[62..].copy_from_slice(&port.to_be_bytes());
    from.send_to(&payload, ("10.9.2.1", port)).unwrap();
}

fn history(host: &Host, store: &str, what: &str) -> Vec<Value> {
    let text = host.hostint(&format!("history {what} --json --store {store}"));
    let mut answer: Value = serde_json::from_str(&text).unwrap();
    answer[what.split(' ').next().unwrap()]
        .as_array_mut()
        .map(std::mem::take)
        .unwrap()
}

fn number(value: &Value, key: &str) -> i64 {
    value[key]
        .as_i64()
        .unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// The greatest value of the slot of a sink's histogram in which this share of packets is reached, and of its neighbours.
fn slot_of_quantile(flow: &Value, share: f64) -> (i64, i64) {
    let slots: Vec<u64> = flow["histogram"]
        .as_array()
        .unwrap()
        .iter()
        .map(|count| count.as_u64().unwrap())
        .collect();
    let rank = (share * slots.iter().sum::<u64>() as f64).ceil() as u64;
    let mut seen = 0;
    let slot = slots
        .iter()
        .position(|count| {
            seen += count;
            seen >= rank
        })
        .unwrap();
    ((1 << slot.saturating_sub(2)) - 1, (1 << (slot + 1)) - 1)
}

#[test]
fn each_flow_has_the_figures_that_its_sink_shows() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.name("history.db");
    let _collect = lab.b.start(
        &format!("collect --listen 127.0.0.1 --store {store}"),
        "collecting",
    );
    let _b = lab.b.sink(
        "--dev b0 --node-id 2 --collector 127.0.0.1 --allow 10.9.1.0/24 --summary-period 1s \
         --loss-timeout 100ms",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    install(&lab);
    let from = lab.a.udp("10.9.1.1:5000");
    let _to: Vec<_> = PATHS
        .iter()
        .map(|path| lab.b.udp(&format!("10.9.2.1:{}", path.port)))
        .collect();
    let most = PATHS.iter().map(|path| path.packets).max().unwrap();
    for n in 0..most {
        for path in PATHS.iter().filter(|path| n < path.packets) {
            send(&from, path.port);
        }
        // Packets are apart, so that the sink sees which are late.
        std::thread::sleep(Duration::from_micros(200));
    }
    let shown = || lab.b.status()["sink"]["flows"].as_array().unwrap().clone();
    let of_port = |flows: &[Value], port: u16| {
        let of = |flow: &&Value| flow["flow"]["dport"] == port;
        flows.iter().find(of).cloned()
    };
    let complete = |flow: &Value, path: &Path| {
        let (packets, lost) = (number(flow, "packets"), number(flow, "lost"));
        flow["missing"] == 0 && packets + lost == i64::from(path.packets)
    };
    await_that_or(
        || {
            send(&from, PUMP);
            let flows = shown();
            PATHS
                .iter()
                .all(|path| of_port(&flows, path.port).is_some_and(|flow| complete(&flow, path)))
        },
        || format!("packets do not arrive: {:?}", shown()),
    );
    let flows = shown();
    let known = || history(&lab.b, &store, "flows --limit 50");
    await_that_or(
        || {
            // Flows are told when they have packets.
            send(&from, PUMP);
            let known = known();
            PATHS.iter().all(|path| {
                let (sink, mine) = (of_port(&flows, path.port), of_port(&known, path.port));
                mine.is_some_and(|mine| {
                    mine["measured"]["packets"] == sink.as_ref().unwrap()["packets"]
                        && mine["measured"]["lost"] == sink.unwrap()["lost"]
                })
            })
        },
        || format!("the history differs: {:#?}\n{flows:#?}", known()),
    );
    let known = known();
    for path in PATHS {
        let (sink, mine) = (
            of_port(&flows, path.port).unwrap(),
            of_port(&known, path.port).unwrap(),
        );
        let measured = &mine["measured"];
        let port = path.port;
        for key in ["packets", "bytes", "lost", "reordered", "duplicates"] {
            assert_eq!(measured[key], sink[key], "{port}: {key}: {mine}\n{sink}");
        }
        let latency = &measured["latency"];
        assert_eq!(latency["samples"], sink["packets"], "{port}");
        assert_eq!(latency["mean_ns"], sink["latency_mean_ns"], "{port}");
        for (key, share) in [("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)] {
            let (least, most) = slot_of_quantile(&sink, share);
            let mine = number(latency, key);
            assert!(
                (least..=most).contains(&mine),
                "{port}: {key} {mine}: {sink}"
            );
        }
    }
    let late = of_port(&known, 6004).unwrap();
    assert!(number(&late["measured"], "recovered") > 0, "{late}");
    assert!(
        number(&late, "lost") > number(&late["measured"], "lost"),
        "reports do not take back what arrived late: {late}"
    );
    let text = lab
        .b
        .hostint(&format!("history flows --limit 50 --store {store}"));
    eprintln!("{text}");
}
