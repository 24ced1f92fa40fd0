//! CPU time of one pass over a full flow table: idle check only, with a loss period to end in every flow,
//! and with every flow summarised to a collector.
//! Run as root: `cargo bench --bench sweep`.

use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;

use hostint::datapath::abi::{flow_key, sink_flow};
use hostint::datapath::kernel::pins::Pins;
use hostint::datapath::sink::kernel_half::Sink;
use hostint::datapath::sink::sweeper::{SummaryPlan, Sweeper};
use hostint::model::NodeId;
use hostint::os::clock;
use hostint::report::{Builder, Destinations, Emitter};

const SIZES: [u32; 3] = [1_024, 65_536, 1_000_000];

fn fill(sink: &Sink, flows: u32, gap: bool) {
    for i in 0..flows {
        let key = flow_key {
            saddr: [0, 0, 0, i],
            daddr: [0, 0, 0, !i],
            layers: 17,
            ..Default::default()
        };
        let now = clock::realtime_ns();
        let mut flow = sink_flow {
            head: 1000,
            first: 1,
            packets: 1000,
            first_ns: now,
            last_ns: now,
            earned_bytes: 1_000_000,
            histogram: std::array::from_fn(|slot| u32::from(slot % 8 == 0)),
            ..Default::default()
        };
        if gap {
            flow.aging = [1, 0, 0, 0];
            flow.awaited = 1;
            flow.gap_ns = 1;
        }
        sink.flows.set(&key, &flow).unwrap();
    }
}

/// Median milliseconds of CPU time of seven passes.
fn measure(mut pass: impl FnMut()) -> f64 {
    let mut times: Vec<u64> = (0..7)
        .map(|_| {
            let before = clock::thread_cpu_ns();
            pass();
            clock::thread_cpu_ns() - before
        })
        .collect();
    times.sort_unstable();
    times[3] as f64 / 1e6
}

fn bench(flows: u32) {
    let dir = std::env::temp_dir().join(format!("hostint-bench-{}-{flows}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let run = |command: &str, args: &[&str]| {
        assert!(
            Command::new(command)
                .args(args)
                .arg(&dir)
                .status()
                .unwrap()
                .success()
        );
    };
    run("mount", &["-t", "bpf", "bpf"]);
    let pins = Pins::of_this_host(Some(&dir), true).unwrap().unwrap();
    let sink = Sink::load(&pins, &[], flows, 16_384).unwrap();
    sink.host.refresh_clock().unwrap();
    let mut sweeper =
        Sweeper::new(&sink, Duration::from_millis(200), Duration::from_secs(120)).unwrap();

    fill(&sink, flows, false);
    let mut slices = 0u32;
    let mut longest_ns = 0;
    let quiet = measure(|| {
        slices = 0;
        loop {
            let before = clock::thread_cpu_ns();
            let step = sweeper.step(clock::realtime_ns()).unwrap();
            longest_ns = longest_ns.max(clock::thread_cpu_ns() - before);
            slices += 1;
            if step.end {
                break;
            }
        }
    });
    // As the daemon does: it rests 64 times as long as a slice took, and passes over the table once a second at most.
    let seconds = (quiet * 65.0 / 1000.0).max(1.0);
    println!(
        "{flows} flows, none lossy: {quiet:.1} ms of CPU a pass, {slices} slices, the longest {:.2} ms; a pass in \
         {seconds:.1} s, {:.1} ms of CPU a second",
        longest_ns as f64 / 1e6,
        quiet / seconds
    );

    let mut lossy = Vec::new();
    for _ in 0..3 {
        fill(&sink, flows, true);
        let before = clock::thread_cpu_ns();
        let now_ns = clock::realtime_ns();
        while !sweeper.step(now_ns).unwrap().end {}
        lossy.push(clock::thread_cpu_ns() - before);
    }
    lossy.sort_unstable();
    println!(
        "{flows} flows, a loss period ends in each: {:.1} ms of CPU a pass",
        lossy[1] as f64 / 1e6
    );

    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut emitter = Emitter::new(Destinations {
        collectors: vec![socket.local_addr().unwrap()],
        ..Destinations::default()
    })
    .unwrap();
    let builder = Builder {
        sink_node: NodeId(2),
        node_id_word: true,
        host_int: false,
        packet_headers: true,
        clock: None,
    };
    sweeper.set_summaries(SummaryPlan {
        period: Duration::from_millis(1),
        report_bytes: 256,
        copies: 1,
        most_per_s: u32::MAX,
    });
    let mut told = 0;
    let mut summarised = Vec::new();
    for _ in 0..3 {
        fill(&sink, flows, false);
        let before = clock::thread_cpu_ns();
        loop {
            let now_ns = clock::realtime_ns();
            let step = sweeper.step(now_ns).unwrap();
            told += step.summaries.len();
            for event in &step.summaries {
                for part in builder.summary(event, now_ns) {
                    emitter.emit(part);
                }
            }
            if step.end {
                break;
            }
        }
        summarised.push(clock::thread_cpu_ns() - before);
    }
    summarised.sort_unstable();
    let each = summarised[1] as f64 / f64::from(flows);
    println!(
        "{flows} flows, each summarised to a collector ({told} in 3 passes): {:.1} ms of CPU a pass, {each:.0} ns a flow; \
         with its rests {:.0} s",
        summarised[1] as f64 / 1e6,
        summarised[1] as f64 * 65.0 / 1e9
    );
    // Programs and maps close a moment after their handles.
    run("umount", &["--lazy"]);
    std::fs::remove_dir(&dir).unwrap();
}

fn main() {
    for flows in SIZES {
        bench(flows);
    }
}
