//! How many reports a network of 10,000 hosts makes, and what they are to one collector:
//! `cargo bench --bench sizing -- [model] [load]`. Needs no privileges; as root sockets have room for more.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hostint_testing::collector::Collector;
use hostint_testing::report_rules::Rules;
use hostint_testing::simulation::{PROFILES, Profile, simulate};
use hostint_testing::synthetic::Synthetic;

const HOSTS: u64 = 10_000;
const SECONDS: u64 = 20;

/// One collector is offered the reports of so many hosts, for so long.
const OFFERED_HOSTS: u64 = 1000;
const OFFERED: Duration = Duration::from_secs(15);
/// Flows that reports are about, at most; the names of others come again.
const MOST_FLOWS: usize = 200_000;

fn model() {
    println!(
        "\nmodel: {HOSTS} hosts, {SECONDS} s, packet by packet; reports of a host in a second\n"
    );
    println!(
        "| | packets | latency, simulated | formula | losses, simulated | formula | all, off by |"
    );
    println!("|---|---|---|---|---|---|---|");
    for profile in PROFILES {
        let rules = Rules::new(1);
        let counted = simulate(&profile, &rules, HOSTS, SECONDS, 1);
        let (is, said) = (counted.reports(), profile.formula(&rules));
        println!(
            "| {} | {:.0} M | {:.2} | {:.2} | {:.3} | {:.3} | {:+.1} % |",
            profile.name,
            counted.packets as f64 / 1e6,
            is.latency,
            said.latency,
            is.losses,
            said.losses,
            100.0 * (said.all() / is.all() - 1.0),
        );
    }
}

/// Paced reports about so many flows; how many were sent.
fn offer(to: SocketAddr, rate: f64, flows: usize) -> u64 {
    let mut synthetic = Synthetic::new(1, OFFERED_HOSTS as u32, flows);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (begin, mut sent) = (Instant::now(), 0_u64);
    while begin.elapsed() < OFFERED {
        let due = (begin.elapsed().as_secs_f64() * rate) as u64;
        if sent >= due {
            thread::sleep(Duration::from_micros(200));
            continue;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        while sent < due {
            let flow = (sent % flows as u64) as usize;
            let mut sample = synthetic.report(flow, now.as_nanos() as u64);
            sent += 1;
            sample.report.sequence = sent as u32;
            socket.send_to(&sample.datagram(), to).unwrap();
        }
    }
    sent
}

fn load_of(profile: &Profile, folder: &Path, history: bool) {
    let rate = OFFERED_HOSTS as f64 * profile.formula(&Rules::new(1)).all();
    let flows = match profile.duration < 1.0 {
        true => MOST_FLOWS,
        false => (OFFERED_HOSTS as f64 * profile.new_flows * profile.duration) as usize,
    };
    let store = folder.join(format!("{}.db", profile.name.replace(' ', "-")));
    let kept = if history {
        store.to_str().unwrap()
    } else {
        "none"
    };
    let collector = Collector::start(&["--store", kept]);
    let cpu = || collector.cpu_by_thread().values().sum::<Duration>();
    let (begun, cpu_before) = (Instant::now(), cpu());
    let sent = offer(collector.reports, rate, flows);
    let seconds = begun.elapsed().as_secs_f64();
    let status = collector.settled(sent, history);
    let used = cpu() - cpu_before;
    collector.end();
    let bytes = match fs::metadata(&store) {
        Ok(file) if history => format!(
            "{:.0}",
            file.len() as f64 / status["stored"].as_f64().unwrap()
        ),
        _ => "-".to_owned(),
    };
    println!(
        "| {} | {} | {flows} | {:.1} k/s | {} | {} | {} | {} | {} | {:.0} % | {bytes} |",
        profile.name,
        if history { "yes" } else { "no" },
        sent as f64 / seconds / 1e3,
        status["reports"],
        status["socket_drops"].as_u64().unwrap() + status["queue_drops"].as_u64().unwrap(),
        status["reports_lost"],
        status["rolled_up_only"],
        status["store_drops"],
        100.0 * used.as_secs_f64() / seconds,
    );
}

/// What a row takes in the file, with its table's indices.
fn rows(store: &Path) {
    let conn = rusqlite::Connection::open(store).unwrap();
    let bytes = "SELECT sum(pgsize) FROM dbstat JOIN sqlite_schema USING (name) \
                 WHERE aggregate = 1 AND tbl_name = ?1";
    println!("\n| table | rows | bytes a row |");
    println!("|---|---|---|");
    for table in ["report", "flow", "flow_10s", "pair_10s"] {
        let bytes: f64 = conn.query_row(bytes, [table], |row| row.get(0)).unwrap();
        let count = format!("SELECT count(*) FROM {table}");
        let rows: f64 = conn.query_row(&count, [], |row| row.get(0)).unwrap();
        println!("| {table} | {rows} | {:.0} |", bytes / rows);
    }
}

fn load() {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("sizing-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    println!(
        "\nload: the reports of {OFFERED_HOSTS} hosts, offered to one collector over loopback for {OFFERED:?}\n"
    );
    println!(
        "| | history | flows | sent | read | dropped | gaps | in figures only | not stored | collector's CPU | bytes a report |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for profile in PROFILES {
        for history in [false, true] {
            load_of(&profile, &folder, history);
        }
    }
    rows(&folder.join("few-long-flows.db"));
    fs::remove_dir_all(&folder).unwrap();
}

const SECTIONS: [(&str, fn()); 2] = [("model", model), ("load", load)];

fn main() {
    // cargo bench adds --bench
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|name| name != "--bench")
        .collect();
    for (name, run) in SECTIONS {
        if wanted.is_empty() || wanted.iter().any(|section| section == name) {
            run();
        }
    }
}
