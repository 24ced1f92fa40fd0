//! A million flows take at most 1 GiB in all, the kernel's tables and the daemon: an eighth of them is measured.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};

use hostint::datapath::abi::{fine_slots, flow_key, sink_flow};
use hostint::datapath::kernel::map_names::SINK_FLOWS;
use hostint::datapath::kernel::maps::Map;
use hostint::datapath::kernel::pins::Pins;
use hostint::datapath::sink::fine_slots::FineSlots;
use hostint::os::clock;
use hostint_testing::netns::{Daemon, Host, Lab, await_that_or, pins_below};
use libbpf_rs::MapHandle;

/// An eighth of a million. Tables that double have as large a share of empty room as those of a million.
const FLOWS: u32 = 125_000;
const EIGHTHS: u64 = 8;
/// An eighth of the flows that have fine slots by default.
const FINE: u32 = 16_384 / 8;
const MOST_BYTES: u64 = 1 << 30;
/// Packets that each flow had.
const PACKETS: u32 = 20;

fn number_behind(text: &str, title: &str) -> u64 {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(title));
    let rest = rest.unwrap_or_else(|| panic!("no {title} in {text}"));
    rest.trim().trim_end_matches(" kB").parse().unwrap()
}

fn maps_of(host: &Host) -> Pins {
    host.enter(|| Pins::of_this_host(None, false).unwrap().unwrap())
}

/// What the kernel says that the pinned maps of a host take.
fn kernel_bytes(host: &Host) -> u64 {
    let maps = maps_of(host).map(SINK_FLOWS);
    let mut by_id = BTreeMap::new();
    for path in pins_below(maps.parent().unwrap()) {
        let map = MapHandle::from_pinned_path(&path).unwrap();
        let info = format!("/proc/self/fdinfo/{}", map.as_fd().as_raw_fd());
        let info = std::fs::read_to_string(info).unwrap();
        let bytes = number_behind(&info, "memlock:");
        by_id.insert(number_behind(&info, "map_id:"), bytes);
    }
    by_id.values().sum()
}

fn daemon_bytes(daemon: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    1024 * number_behind(&status, "VmRSS:")
}

/// A sink whose summaries are sent, and whose metrics are read.
fn sink(host: &Host, dev: &str, flows: u32, fine: u32) -> Daemon {
    host.sink(&format!(
        "--dev {dev} --node-id 1 --http 127.0.0.1 --collector 127.0.0.1:7001 --idle-flow-timeout 1h \
         --max-flows {flows} --max-fine-flows {fine}"
    ))
}

/// Fills a host's flow table, as its program does when flows begin.
fn fill(host: &Host) {
    let pins = maps_of(host);
    let flows: Map<flow_key, sink_flow> = Map::open(&pins.map(SINK_FLOWS)).unwrap().unwrap();
    let slots = FineSlots::open(&pins).unwrap().unwrap();
    while slots.made().unwrap() < FINE {
        slots.take_all().unwrap();
        slots.make_room().unwrap();
    }
    slots.take_all().unwrap();
    let now_ns = clock::realtime_ns();
    for number in 0..FLOWS {
        let key = flow_key {
            saddr: [0, 0, 0, number.to_be()],
            layers: 17,
            ..flow_key::default()
        };
        let mut flow = sink_flow {
            first_ns: now_ns,
            began_ns: now_ns,
            last_ns: now_ns,
            packets: PACKETS.into(),
            bytes: 1000 * u64::from(PACKETS),
            latency_sum_ns: 40_000 * i64::from(PACKETS),
            latency_min_ns: 35_000,
            latency_max_ns: 60_000,
            source_node: 1 + number % 10,
            ..sink_flow::default()
        };
        if number < FINE {
            flow.fine_slots = number + 1;
            let mut counts = fine_slots::default();
            (0..PACKETS as usize).for_each(|n| counts.count[300 + n] = 1);
            slots.set(number, &counts).unwrap();
        } else {
            flow.histogram[16] = PACKETS;
        }
        flows.set(&key, &flow).unwrap();
    }
}

#[test]
fn a_million_flows_take_at_most_a_gibibyte() {
    let lab = Lab::new();
    let few = sink(&lab.a, "a0", 1, 1);
    let many = sink(&lab.b, "b0", FLOWS, FINE);
    fill(&lab.b);
    let page = || {
        lab.b
            .sh("curl -sf --max-time 60 http://127.0.0.1:13276/metrics || true")
    };
    let counted = || {
        let page = page();
        let lines = page.lines();
        let packets = lines.filter(|line| line.starts_with("hostint_node_packets_total{"));
        let packets = packets.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
        packets.sum::<u64>()
    };
    // The daemon knows each of them by then.
    await_that_or(
        || counted() == u64::from(FLOWS * PACKETS),
        || format!("{} packets are counted", counted()),
    );
    lab.a
        .sh("curl -sf --max-time 60 http://127.0.0.1:13276/metrics");
    // What does not grow with flows is not theirs.
    let flows_take = || {
        let kernel = kernel_bytes(&lab.b) - kernel_bytes(&lab.a);
        let daemon = daemon_bytes(&many).saturating_sub(daemon_bytes(&few));
        (EIGHTHS * kernel, EIGHTHS * daemon)
    };
    let said = || {
        let (kernel, daemon) = flows_take();
        format!("a million flows: {kernel} bytes in the kernel, {daemon} in the daemon")
    };
    eprintln!("{}", said());
    assert!(flows_take().0 > MOST_BYTES / 2, "{}: no flow table", said());
    // What readers of all flows need for a moment is given back.
    await_that_or(
        || {
            let (kernel, daemon) = flows_take();
            kernel + daemon <= MOST_BYTES
        },
        said,
    );
}
