//! What a collector can take on this machine: `cargo bench --bench collect -- [decode] [receive] [lines] [history]
//! [hops] [shares]`. Needs no privileges; as root sockets have room for more.

mod shares;

use std::fs;
use std::hint::black_box;
use std::io::IoSlice;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use hostint::collector::{Exporters, ReportListener, decode};
use hostint::model::{Arrival, Record};
use hostint::os::clock;
use hostint_testing::collector::Collector;
use hostint_testing::synthetic::Synthetic;
use hostint_testing::wanted::Wanted;
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrIn, sendmsg};

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(300);

/// Longer than minutes are: they are rolled up meanwhile.
const HISTORY: Duration = Duration::from_secs(75);

/// Which report, and the datagram that has it.
const FORMATS: [(&str, &str); 8] = [
    ("v0.5 Host-INT latency", "hostint_report_l4_udp"),
    ("v0.5 Host-INT drop summary", "hostint_drop_summary_udp"),
    ("v0.5 hostint latency, IPv6", "hostint_report_extended_udp6"),
    ("v0.5 int-host-reporter", "ihr_flow_udp"),
    ("v0.5 flow with INT v0.5", "tr05_flow_int05"),
    ("v1.0 flow with INT v1.0", "tr10_flow_int10"),
    ("v2.0 drop", "tr20_drop"),
    ("v2.0 group of two", "tr20_coalesced"),
];

/// Median of the rounds: how often `work` can be done in a second of this thread's CPU time.
fn per_second(mut work: impl FnMut()) -> f64 {
    let mut rates: Vec<f64> = (0..=ROUNDS)
        .map(|_| {
            let (begin, mut times) = (clock::thread_cpu_ns(), 0_u32);
            loop {
                for _ in 0..1000 {
                    work();
                }
                times += 1000;
                let spent = clock::thread_cpu_ns() - begin;
                if u128::from(spent) >= ROUND.as_nanos() {
                    return f64::from(times) * 1e9 / spent as f64;
                }
            }
        })
        .skip(1)
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[ROUNDS / 2]
}

fn arrival() -> Arrival {
    Arrival {
        exporter: SocketAddr::from(([10, 0, 0, 1], 5000)),
        received_ns: 1_700_000_000_000_000_000,
    }
}

fn million(rate: f64) -> String {
    format!("{:.2} M/s", rate / 1e6)
}

/// Datagrams in a second of one core, by what is in them.
fn decode_rates() {
    println!("\ndecode: reports a second and core\n");
    println!("| report | bytes | decoded | and counted for the exporter |");
    println!("|---|---|---|---|");
    for (name, file) in FORMATS {
        let datagram = hostint_testing::golden::udp_payload(file);
        let reports = decode(&datagram).map_or(0, |group| group.reports.len()) as f64;
        let decoded = per_second(|| drop(black_box(decode(black_box(&datagram)))));
        let mut exporters = Exporters::default();
        let counted = per_second(|| {
            if let Ok(group) = decode(black_box(&datagram)) {
                black_box(exporters.received(arrival(), &group));
            }
        });
        let (decoded, counted) = (million(decoded * reports), million(counted * reports));
        println!("| {name} | {} | {decoded} | {counted} |", datagram.len());
    }
}

/// JSON lines in a second of one core.
fn line_rates() {
    println!("\nlines: JSON lines made a second and core, decoding included\n");
    println!("| report | bytes of the line | lines |");
    println!("|---|---|---|");
    for (name, file) in FORMATS {
        let datagram = hostint_testing::golden::udp_payload(file);
        let mut line = Vec::new();
        let mut reports = 0.0;
        let rate = per_second(|| {
            let Ok(group) = decode(black_box(&datagram)) else {
                return;
            };
            line.clear();
            for report in &group.reports {
                let record = Record::new(report, Some(arrival()));
                record.append_line(&mut line).unwrap();
            }
            reports = group.reports.len() as f64;
            black_box(&line);
        });
        let bytes = line.len() as f64 / reports;
        println!("| {name} | {bytes:.0} | {} |", million(rate * reports));
    }
}

/// Sends so many reports a second in all from eight addresses, numbered each by itself: these datagrams, again and again;
/// the kernel cuts what is sent at once into them, which is cheap for the sender.
fn send(to: SocketAddrV4, rate: u64, time: Duration, datagrams: &[Vec<u8>]) -> u64 {
    const AT_ONCE: usize = 32;
    let mut sockets: Vec<_> = (1..=8)
        .map(|host| {
            let socket = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, host), 0)).unwrap();
            (socket, 0_u32)
        })
        .collect();
    let to = SockaddrIn::from(to);
    let (begin, mut sent) = (Instant::now(), 0_u64);
    let (mut next, mut bytes) = (0, Vec::new());
    while begin.elapsed() < time {
        let due = (begin.elapsed().as_secs_f64() * rate as f64) as u64;
        if sent >= due {
            thread::sleep(Duration::from_micros(200));
            continue;
        }
        for (socket, number) in &mut sockets {
            bytes.clear();
            let size = datagrams[next].len();
            for _ in 0..AT_ONCE {
                let datagram = &datagrams[next];
                // Only the last one may be shorter.
                if datagram.len() != size {
                    break;
                }
                let at = bytes.len();
                bytes.extend_from_slice(datagram);
                *number += 1;
                bytes[at + 4..at + 8].copy_from_slice(&number.to_be_bytes());
                next = (next + 1) % datagrams.len();
                sent += 1;
            }
            let taken = sendmsg(
                socket.as_raw_fd(),
                &[IoSlice::new(&bytes)],
                &[ControlMessage::UdpGsoSegments(&(size as u16))],
                MsgFlags::empty(),
                Some(&to),
            );
            assert_eq!(taken.unwrap(), bytes.len());
        }
    }
    sent
}

/// Received, decoded and counted while another thread of this machine sends at this rate.
fn receive(receivers: usize, rate: u64) {
    let listener = ReportListener::bind(&["127.0.0.1:0".parse().unwrap()], receivers).unwrap();
    let SocketAddr::V4(address) = listener.local_addresses()[0] else {
        return;
    };
    let reception = listener.start(64 << 20, clock::realtime_ns).unwrap();
    let time = Duration::from_secs(4);
    let datagrams = [hostint_testing::golden::udp_payload(
        "hostint_report_l4_udp",
    )];
    let sender = thread::spawn(move || {
        let begin = Instant::now();
        (begin, send(address, rate, time, &datagrams), Instant::now())
    });
    let mut exporters = Exporters::default();
    let cpu = clock::thread_cpu_ns();
    while !reception.is_done() {
        if sender.is_finished() {
            reception.end();
        }
        reception.next(Duration::from_millis(20), |bytes, arrival| {
            match decode(bytes) {
                Ok(group) => {
                    exporters.received(arrival, &group);
                }
                Err(err) => exporters.undecodable(arrival, &err),
            }
            true
        });
    }
    let cpu = (clock::thread_cpu_ns() - cpu) as f64;
    let (begin, sent, end) = sender.join().unwrap();
    let seconds = (end - begin).as_secs_f64();
    let (counts, sums) = (reception.observer().get(), exporters.counts());
    assert_eq!(sent, counts.datagrams + counts.socket_drops);
    assert_eq!(counts.datagrams, counts.queue_drops + sums.decoded);
    println!(
        "| {receivers} | {:.0} k/s | {:.0} k/s | {} | {} | {} | {:.0} % |",
        sent as f64 / seconds / 1e3,
        sums.decoded as f64 / seconds / 1e3,
        counts.socket_drops,
        counts.queue_drops,
        sums.numbers.lost,
        cpu / seconds / 1e7,
    );
}

fn receive_rates() {
    println!("\nreceive: over loopback, the sender on the same machine\n");
    println!(
        "| threads | sent | decoded and counted | dropped by sockets | at the queue | gaps | decoder's CPU |"
    );
    println!("|---|---|---|---|---|---|---|");
    for receivers in [1, 2] {
        for rate in [100_000, 300_000, 500_000, 10_000_000] {
            receive(receivers, rate);
        }
    }
}

/// A folder for a history: on the disk that HOSTINT_BENCH_DIR names, else in the build's.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::var_os("HOSTINT_BENCH_DIR");
    let folder = folder.map_or(Path::new(env!("CARGO_TARGET_TMPDIR")).into(), PathBuf::from);
    let folder = folder.join(format!("{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Received, decoded and kept in the history by a collector of its own, while this process sends.
fn history(flows: usize, rate: u64) {
    let folder = folder("collect");
    let store = folder.join("history.db");
    let collector = Collector::start(&["--store", store.to_str().unwrap()]);
    let SocketAddr::V4(address) = collector.reports else {
        return;
    };
    let mut network = Synthetic::new(1, 30, flows);
    // Each flow has several, lest its sequence stands still.
    let datagrams: Vec<_> = (0..flows.max(200_000))
        .map(|n| network.report(n % flows, n as u64 * 1000).datagram())
        .collect();
    let before = collector.cpu_by_thread();
    let begin = Instant::now();
    let sent = send(address, rate, HISTORY, &datagrams);
    let seconds = begin.elapsed().as_secs_f64();
    let status = collector.settled(sent, true);
    let cpu = collector.cpu_by_thread();
    collector.end();
    fs::remove_dir_all(&folder).unwrap();
    let threads: Vec<_> = cpu
        .iter()
        .map(|(name, spent)| (name, *spent - before.get(name).copied().unwrap_or_default()))
        .filter(|(_, spent)| spent.as_secs_f64() > 0.01 * seconds)
        .map(|(name, spent)| format!("{name} {:.0} %", 100.0 * spent.as_secs_f64() / seconds))
        .collect();
    let count = |name: &str| status[name].as_u64().unwrap();
    println!(
        "| {flows} | {:.0} k/s | {} | {} | {} | {:.0} k/s | {:.0} k/s | {} | {} |",
        sent as f64 / seconds / 1e3,
        count("reports"),
        count("socket_drops"),
        count("queue_drops"),
        count("stored") as f64 / seconds / 1e3,
        count("rolled_up_only") as f64 / seconds / 1e3,
        count("store_drops"),
        threads.join(", "),
    );
}

fn history_rates() {
    println!(
        "\nhistory: received by `hostint collect --output /dev/null --store FILE` for {HISTORY:?}\n"
    );
    println!(
        "| flows | sent | read | dropped by sockets | at the queue | stored | in figures only | not stored | CPU by thread |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for flows in [1_000, 10_000, 100_000] {
        for rate in [100_000, 300_000] {
            history(flows, rate);
        }
    }
}

/// Reports that a collector with a history takes in a second of its CPU time: each from this number of transit hops.
fn reports_of(hops: u32) -> f64 {
    const FLOWS: usize = 10_000;
    let folder = folder("hops");
    let store = folder.join("history.db");
    let collector = Collector::start(&["--store", store.to_str().unwrap()]);
    let SocketAddr::V4(address) = collector.reports else {
        return f64::NAN;
    };
    let mut network = Synthetic::new(1, 30, FLOWS);
    let datagrams: Vec<_> = (0..10 * FLOWS)
        .map(|n| {
            let report = network.report(n % FLOWS, n as u64 * 1000);
            report.over_hops(hops).datagram()
        })
        .collect();
    let spent = || collector.cpu_by_thread().into_values().sum::<Duration>();
    let before = spent();
    let sent = send(address, 30_000, Duration::from_secs(15), &datagrams);
    let status = collector.settled(sent, true);
    let spent = spent() - before;
    collector.end();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(status["socket_drops"], 0, "reports were lost");
    sent as f64 / spent.as_secs_f64()
}

fn hop_rates() {
    println!(
        "\nhops: reports a second of the CPU time of `hostint collect --store FILE`, rounds in turn\n"
    );
    println!("| round | 0 hops | 4 hops | 4 / 0 |");
    println!("|---|---|---|---|");
    for round in 1..=3 {
        let [without, over_four] = [0, 4].map(reports_of);
        println!(
            "| {round} | {:.0} k/s | {:.0} k/s | {:.3} |",
            without / 1e3,
            over_four / 1e3,
            over_four / without
        );
    }
}

const SECTIONS: [(&str, fn()); 6] = [
    ("decode", decode_rates),
    ("receive", receive_rates),
    ("lines", line_rates),
    ("history", history_rates),
    ("hops", hop_rates),
    ("shares", shares::shares),
];

fn main() {
    Wanted::run(&SECTIONS);
}
