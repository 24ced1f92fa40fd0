//! The history's figures are those of the sink: of all packets, fast and slow, lost and late.

use std::collections::{BTreeMap, VecDeque};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Host, Lab, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::{Value, json};

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

/// The sums of the sink's flows, as it shows each of them.
fn sum(flows: &[Value]) -> Value {
    let mut slots = [0_i64; 32];
    let mut latency_sum = 0;
    for flow in flows {
        let histogram = flow["histogram"].as_array().unwrap();
        for (sum, count) in slots.iter_mut().zip(histogram) {
            *sum += count.as_i64().unwrap();
        }
        latency_sum += number(flow, "latency_mean_ns") * number(flow, "packets");
    }
    let mut all = json!({"histogram": slots});
    for key in COUNTS {
        let sum: i64 = flows.iter().map(|flow| number(flow, key)).sum();
        all[key] = sum.into();
    }
    all["latency_mean_ns"] = (latency_sum / number(&all, "packets")).into();
    all
}

const COUNTS: [&str; 5] = ["packets", "bytes", "lost", "reordered", "duplicates"];

/// The history's figures of all packets are those of the sink.
fn equal(name: &str, mine: &Value, sink: &Value) {
    let measured = &mine["measured"];
    for key in COUNTS {
        assert_eq!(measured[key], sink[key], "{name}: {key}: {mine}\n{sink}");
    }
    let latency = &measured["latency"];
    assert_eq!(latency["samples"], sink["packets"], "{name}");
    // The means of several flows are rounded.
    let mean = number(latency, "mean_ns").abs_diff(number(sink, "latency_mean_ns"));
    assert!(mean <= 1, "{name}: {mine}\n{sink}");
    for (key, share) in [("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)] {
        let (least, most) = slot_of_quantile(sink, share);
        let mine = number(latency, key);
        assert!(
            (least..=most).contains(&mine),
            "{name}: {key} {mine}: {sink}"
        );
    }
}

/// The values of the slot of a sink's histogram in which this share of packets is reached, and of its neighbours.
fn slot_of_quantile(sink: &Value, share: f64) -> (i64, i64) {
    let slots: Vec<u64> = sink["histogram"]
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

/// What the sink strips, and the class of the slow packets.
const SETTINGS: &str = r#"
[sink]
dev = "b0"
node-id = 2
collector = "127.0.0.1"
allow = "10.9.1.0/24"
summary-period = "1s"
loss-timeout = "100ms"

[[watch]]
to = "10.9.2.0/24"
to-port = ["6001-6002"]
class = "slow"

[[watch]]
to = "10.9.2.0/24"
"#;

#[test]
fn flows_pairs_and_classes_have_the_figures_that_the_sink_shows() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.name("history.db");
    let config = folder.name("hostint.toml");
    std::fs::write(&config, SETTINGS).unwrap();
    let _collect = lab.b.start(
        &format!("collect --listen 127.0.0.1 --store {store}"),
        "collecting",
    );
    let _b = lab
        .b
        .start(&format!("sink --config {config}"), "sink attached");
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
    let known = |what: &str| history(&lab.b, &store, what);
    let told = |mine: Option<&Value>, sink: &Value| {
        mine.is_some_and(|mine| {
            ["packets", "lost"]
                .iter()
                .all(|key| mine["measured"][key] == sink[key])
        })
    };
    let all = sum(&flows);
    await_that_or(
        || {
            let known_flows = known("flows --limit 50");
            told(known("pairs").first(), &all)
                && PATHS.iter().all(|path| {
                    let sink = of_port(&flows, path.port).unwrap();
                    told(of_port(&known_flows, path.port).as_ref(), &sink)
                })
        },
        || {
            let known = [known("flows --limit 50"), known("pairs")];
            format!("the history differs: {known:#?}\n{flows:#?}")
        },
    );

    let known_flows = known("flows --limit 50");
    for path in PATHS {
        let sink = of_port(&flows, path.port).unwrap();
        let mine = of_port(&known_flows, path.port).unwrap();
        equal(&format!("port {}", path.port), &mine, &sink);
    }
    let late = of_port(&known_flows, 6004).unwrap();
    assert!(number(&late["measured"], "recovered") > 0, "{late}");
    assert!(
        number(&late, "lost") > number(&late["measured"], "lost"),
        "reports do not take back what arrived late: {late}"
    );
    equal(
        "all packets from node 1 to node 2",
        &known("pairs")[0],
        &all,
    );
    let slow = [6001, 6002].map(|port| of_port(&flows, port).unwrap());
    let classes = known("classes");
    assert_eq!(classes.len(), 1, "{classes:?}");
    equal("the slow class", &classes[0], &sum(&slow));
    let text = lab
        .b
        .hostint(&format!("history flows --limit 50 --store {store}"));
    let of_packets =
        (text.lines()).filter(|line| line.ends_with("  packets") || line.ends_with("  packets x2"));
    assert!(of_packets.count() >= PATHS.len(), "{text}");
}
