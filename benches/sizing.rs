//! How many reports a network of 10,000 hosts makes, and what they are to one collector:
//! `cargo bench --bench sizing -- [model] [load]`. Needs no privileges; as root sockets have room for more.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

#[allow(dead_code)] // the tests use the rest
#[path = "../tests/support/random.rs"]
mod random;
#[path = "../tests/support/report_rules.rs"]
mod report_rules;
#[path = "../tests/support/simulation.rs"]
mod simulation;
#[allow(dead_code)] // the tests use the rest
#[path = "../tests/support/synthetic.rs"]
mod synthetic;

use report_rules::Rules;
use simulation::{PROFILES, Profile, simulate};
use synthetic::Synthetic;

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

/// `hostint collect` on loopback.
struct Collector {
    child: Child,
    log: BufReader<ChildStderr>,
    reports: SocketAddr,
    http: SocketAddr,
}

impl Collector {
    fn start(store: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hostint"))
            .args([
                "collect",
                "--listen",
                "127.0.0.1:0",
                "--http",
                "127.0.0.1:0",
            ])
            .args(["--output", "/dev/null", "--store", store])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut address = |words: &str, behind: &str| {
            let mut line = String::new();
            while !line.contains(words) {
                line.clear();
                assert_ne!(log.read_line(&mut line).unwrap(), 0, "never said {words}");
            }
            line.trim().rsplit(behind).next().unwrap().parse().unwrap()
        };
        let reports = address("collecting on ", " ");
        let http = address("serving http://", "/");
        Self {
            child,
            log,
            reports,
            http,
        }
    }

    fn status(&self) -> Value {
        let mut stream = TcpStream::connect(self.http).unwrap();
        write!(
            stream,
            "GET /api/status HTTP/1.0\r\nHost: {}\r\n\r\n",
            self.http
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// CPU time so far.
    fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat
            .rsplit(')')
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        Duration::from_millis(ticks * 10)
    }

    /// Ends it, so that all is written.
    fn end(mut self) {
        use nix::sys::signal::{Signal, kill};
        kill(
            nix::unistd::Pid::from_raw(self.child.id() as i32),
            Signal::SIGTERM,
        )
        .unwrap();
        let mut rest = String::new();
        let _ = self.log.read_to_string(&mut rest);
        assert!(self.child.wait().unwrap().success(), "{rest}");
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
    let collector = Collector::start(if history {
        store.to_str().unwrap()
    } else {
        "none"
    });
    let (begun, cpu) = (Instant::now(), collector.cpu());
    let sent = offer(collector.reports, rate, flows);
    let seconds = begun.elapsed().as_secs_f64();
    let settled = |status: &Value| {
        let count = |name: &str| status[name].as_u64().unwrap();
        let read = count("reports") + count("socket_drops") + count("queue_drops");
        read == sent && (!history || count("stored") + count("store_drops") == count("reports"))
    };
    while !settled(&collector.status()) {
        thread::sleep(Duration::from_millis(50));
    }
    let (status, used) = (collector.status(), collector.cpu() - cpu);
    collector.end();
    let bytes = match fs::metadata(&store) {
        Ok(file) if history => format!(
            "{:.0}",
            file.len() as f64 / status["stored"].as_f64().unwrap()
        ),
        _ => "-".to_owned(),
    };
    println!(
        "| {} | {} | {flows} | {:.1} k/s | {} | {} | {} | {} | {:.0} % | {bytes} |",
        profile.name,
        if history { "yes" } else { "no" },
        sent as f64 / seconds / 1e3,
        status["reports"],
        status["socket_drops"].as_u64().unwrap() + status["queue_drops"].as_u64().unwrap(),
        status["reports_lost"],
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
        "| | history | flows | sent | read | dropped | gaps | not stored | collector's CPU | bytes a report |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
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
