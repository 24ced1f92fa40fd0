//! The history's figures are those of the sink: of all packets, fast and slow, lost and late.

use std::collections::{BTreeMap, VecDeque};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hostint::datapath::abi::{flow_key, sink_flow};
use hostint::datapath::kernel::map_names::SINK_FLOWS;
use hostint::datapath::kernel::maps::Map;
use hostint::datapath::kernel::pins::Pins;
use hostint::datapath::sink::fine_slots::FineSlots;
use hostint::model::{LatencyHistogram, LatencyResolution};
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

const COUNTS: [&str; 5] = ["packets", "bytes", "lost", "reordered", "duplicates"];

/// What the sink shows of some flows, and the latencies that its tables have of them.
struct Truth {
    counts: BTreeMap<&'static str, i64>,
    latency: LatencyHistogram,
}

impl Truth {
    fn of<'a>(flows: impl IntoIterator<Item = &'a SinkFlow>) -> Self {
        let mut truth = Self {
            counts: BTreeMap::new(),
            latency: LatencyHistogram::default(),
        };
        for flow in flows {
            for key in COUNTS {
                *truth.counts.entry(key).or_default() += number(&flow.shown, key);
            }
            truth.latency.merge(&flow.latency);
        }
        truth
    }
}

#[derive(Clone, Debug)]
struct SinkFlow {
    port: u16,
    shown: Value,
    latency: LatencyHistogram,
}

/// The latencies of each flow, by its port, from the tables of the sink's kernel half.
fn latencies(host: &Host) -> BTreeMap<u16, LatencyHistogram> {
    host.enter(|| {
        let pins = Pins::of_this_host(None, false).unwrap().unwrap();
        let slots = FineSlots::open(&pins).unwrap().unwrap();
        let flows: Map<flow_key, sink_flow> = Map::open(&pins.map(SINK_FLOWS)).unwrap().unwrap();
        let mut found = BTreeMap::new();
        flows
            .for_each(|key, flow| {
                let ends = (flow.latency_min_ns, flow.latency_max_ns);
                let counts = slots.of_flow(&flow).unwrap();
                let latency = counts.histogram(ends, flow.all_latency_sum_ns().into());
                found.insert(u16::from_be(key.dport), latency);
            })
            .unwrap();
        found
    })
}

/// The history's figures of all packets are those of the sink, and quantiles are in the same slot.
fn equal(name: &str, mine: &Value, sink: &Truth, resolution: LatencyResolution) {
    let measured = &mine["measured"];
    for key in COUNTS {
        assert_eq!(measured[key], sink.counts[key], "{name}: {key}: {mine}");
    }
    let latency = &measured["latency"];
    assert_eq!(measured["steps"], resolution.steps(), "{name}");
    assert_eq!(latency["samples"], sink.latency.samples(), "{name}");
    let truth = sink.latency.figures().unwrap();
    assert_eq!(latency["mean_ns"], truth.mean_ns, "{name}: {mine}");
    for (key, truth) in [
        ("p50_ns", truth.p50_ns.unwrap()),
        ("p90_ns", truth.p90_ns.unwrap()),
        ("p99_ns", truth.p99_ns.unwrap()),
    ] {
        let mine = number(latency, key);
        assert_eq!(
            resolution.bounds(mine),
            resolution.bounds(truth),
            "{name}: {key} is {mine}, not {truth}"
        );
    }
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
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
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
    let latencies = latencies(&lab.b);
    let flows: Vec<SinkFlow> = shown()
        .into_iter()
        .map(|shown| {
            let port = u16::try_from(number(&shown["flow"], "dport")).unwrap();
            let latency = latencies[&port].clone();
            assert_eq!(shown["latency_steps"], 32, "{shown}");
            let p99 = latency.figures().unwrap().p99_ns.unwrap();
            assert_eq!(shown["latency_p99_ns"], p99, "{shown}");
            SinkFlow {
                port,
                shown,
                latency,
            }
        })
        .collect();
    let of = |port: u16| Truth::of(flows.iter().filter(|flow| flow.port == port));
    let all = Truth::of(&flows);
    let known = |what: &str| history(&lab.b, &store, what);
    let told = |mine: Option<&Value>, sink: &Truth| {
        mine.is_some_and(|mine| {
            ["packets", "lost"]
                .iter()
                .all(|key| mine["measured"][key] == sink.counts[key])
        })
    };
    await_that_or(
        || {
            let known_flows = known("flows --limit 50");
            told(known("pairs").first(), &all)
                && PATHS
                    .iter()
                    .all(|path| told(of_port(&known_flows, path.port).as_ref(), &of(path.port)))
        },
        || {
            let known = [known("flows --limit 50"), known("pairs")];
            format!("the history differs: {known:#?}\n{flows:#?}")
        },
    );

    let known_flows = known("flows --limit 50");
    for path in PATHS {
        let mine = of_port(&known_flows, path.port).unwrap();
        let name = format!("port {}", path.port);
        equal(&name, &mine, &of(path.port), LatencyResolution::Middle);
    }
    let late = of_port(&known_flows, 6004).unwrap();
    assert!(number(&late["measured"], "recovered") > 0, "{late}");
    assert!(
        number(&late["reported"], "lost") > number(&late, "lost"),
        "reports do not take back what arrived late: {late}"
    );
    let fine = LatencyResolution::Fine;
    let pair = &known("pairs")[0];
    equal("all packets from node 1 to node 2", pair, &all, fine);
    let classes = known("classes");
    assert_eq!(classes.len(), 1, "{classes:?}");
    let slow = Truth::of(
        flows
            .iter()
            .filter(|flow| [6001, 6002].contains(&flow.port)),
    );
    equal("the slow class", &classes[0], &slow, fine);
    let text = |what: &str| lab.b.hostint(&format!("history {what} --store {store}"));
    let marked = |text: &str, mark: &str| text.lines().filter(|line| line.ends_with(mark)).count();
    let of_flows = text("flows --limit 50");
    assert!(
        marked(&of_flows, "p50 and p99 are up to 13 % high") == 1,
        "{of_flows}"
    );
    let of_pairs = text("pairs");
    assert_eq!(
        marked(&of_pairs, "p50 and p99 are up to 3 % high"),
        1,
        "{of_pairs}"
    );
}
