//! CPU time of what a scrape costs a sink: its whole flow table read, added up by node and class, and written.
//! Run as root: `cargo bench --bench scrape`.

use std::process::Command;

use hostint::datapath::abi::{flow_key, sink_flow};
use hostint::datapath::kernel::pins::Pins;
use hostint::datapath::sink::flow_status::{self, FlowSelection, VisitFlow};
use hostint::datapath::sink::kernel_half::Sink;
use hostint::model::{Classes, FlowSort, RuleHost, Tally, WatchRule};
use hostint::os::clock;
use hostint::views::metrics;
use hostint_testing::status_samples::nothing;

const SIZES: [u32; 2] = [65_536, 1_000_000];
/// Source nodes of the flows.
const NODES: u32 = 200;

fn fill(sink: &Sink, flows: u32, packets: u64) {
    for i in 0..flows {
        let key = flow_key {
            saddr: [0, 0, 0, i],
            daddr: [0, 0, 0, !i],
            layers: 17,
            ..Default::default()
        };
        let mut flow = sink_flow {
            packets,
            first_ns: 1,
            last_ns: clock::realtime_ns(),
            source_node: i % NODES,
            ..Default::default()
        };
        flow.histogram[12] = packets as u32;
        sink.flows.set(&key, &flow).unwrap();
    }
}

fn everything(class: &str) -> Classes {
    let to = RuleHost {
        text: String::new(),
        prefixes: vec!["::/0".parse().unwrap()],
    };
    Classes::new(&[WatchRule {
        class: Some(class.to_owned()),
        to: vec![to],
        ..WatchRule::default()
    }])
}

/// Milliseconds of CPU time.
fn spent(run: impl FnOnce()) -> f64 {
    let before = clock::thread_cpu_ns();
    run();
    (clock::thread_cpu_ns() - before) as f64 / 1e6
}

fn bench(flows: u32) {
    let dir = std::env::temp_dir().join(format!("hostint-bench-{}-{flows}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let run = |command: &str, args: &[&str]| {
        let status = Command::new(command).args(args).arg(&dir).status();
        assert!(status.unwrap().success());
    };
    run("mount", &["-t", "bpf", "bpf"]);
    let pins = Pins::of_this_host(Some(&dir), true).unwrap().unwrap();
    let sink = Sink::load(&pins, &[], flows, 16_384).unwrap();
    let status = nothing();
    let mut tally = Tally::default();
    tally.set_classes(everything("all"));
    let mut bytes = 0;
    let mut scrape = || {
        spent(|| {
            tally.begin();
            let visit: VisitFlow<'_> = &mut |flow, counts| tally.look(flow, counts);
            let selection = FlowSelection {
                sort: FlowSort::Packets,
                most: 0,
            };
            flow_status::read(&sink.flows, Some(&sink.fine), selection, Some(visit)).unwrap();
            tally.complete();
            bytes = metrics::text(&metrics::sink::families(&status, &tally, &[])).len();
        })
    };
    fill(&sink, flows, 1);
    let first = scrape();
    let mut times = Vec::new();
    for packets in 2..9 {
        fill(&sink, flows, packets);
        times.push(scrape());
    }
    times.sort_unstable_by(f64::total_cmp);
    println!(
        "{flows} flows of {NODES} nodes: {:.1} ms of CPU a scrape, the first {first:.1} ms; {bytes} bytes",
        times[3]
    );
    run("umount", &[]);
    std::fs::remove_dir(&dir).unwrap();
}

fn main() {
    for flows in SIZES {
        bench(flows);
    }
}
