//! How many reports a network of 10,000 hosts makes, and what they are to one collector:
//! `cargo bench --bench sizing -- [model] [load] [summaries] [told] [budget]`. Needs no privileges; as root sockets have room for more.

mod budget;
mod told;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hostint::collector::ReportHub;
use hostint::model::*;
use hostint::store::{OpenedStore, StoreLimits, StoreSettings, host_clock};
use hostint::wire::report_v05;
use hostint_testing::collector::Collector;
use hostint_testing::random::Random;
use hostint_testing::report_rules::Rules;
use hostint_testing::simulation::{PROFILES, Profile, simulate};
use hostint_testing::summary_simulation::{self, SummaryRules};
use hostint_testing::synthetic::Synthetic;
use hostint_testing::wanted::Wanted;
use nix::time::{ClockId, clock_gettime};

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

/// A collector decodes the summaries of so many hosts, again and again.
const TOLD_HOSTS: u32 = 400;
const TOLD_PERIODS: u64 = 12;

/// A summary that ends with some packets of the last period.
fn summary(host: u32, subject: SummarySubject, period: u64, random: &mut Random) -> Summary {
    let mut latency = LatencyHistogram::default();
    // So many that the slots around the median are filled in each period.
    for _ in 0..200 * (period + 1) {
        let spread = random.below(20_000) + random.below(20_000) + random.below(20_000);
        latency.add(20_000 + spread as i64);
    }
    if let SummarySubject::Flow { .. } = subject {
        latency = latency.coarsened(LatencyResolution::Middle);
    }
    Summary {
        time_s: (1_700_000_000 + 10 * period) as u32,
        period_ns: 10_000_000_000,
        source_node: NodeId(1 + random.below(10) as u32),
        sink_node: NodeId(host),
        subject,
        totals: SubjectTotals {
            epoch_ns: 1_700_000_000_000_000_000,
            last_ns: 1_700_000_000_000_000_000 + 10_000_000_000 * period,
            packets: latency.samples(),
            bytes: 900 * latency.samples(),
            latency,
            ..SubjectTotals::default()
        },
    }
}

fn class(number: u32) -> SummarySubject {
    let name = ["web", "database", "storage"][number as usize % 3];
    SummarySubject::Group {
        class: Some(name.to_owned()),
    }
}

fn flow(number: u32) -> SummarySubject {
    SummarySubject::Flow {
        flow: FlowKey {
            src: Ipv4Addr::from(0x0a00_0000 + number).into(),
            dst: "10.255.0.1".parse().unwrap(),
            sport: 40_000,
            dport: 443,
            protocol: 6,
            vlans: Vlans::NONE,
        },
        source_port: 0,
        sink_port: 0,
    }
}

/// The CPU time of this process.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .unwrap()
        .into()
}

/// The CPU time for a summary, and its bytes as an IP packet: all of these subjects are told in each period.
fn cost_of(subjects: u32, subject: fn(u32) -> SummarySubject, store: Option<&Path>) -> (f64, f64) {
    let datagrams: Vec<_> = (0..TOLD_PERIODS)
        .flat_map(|period| (0..subjects).map(move |number| (period, number)))
        .map(|(period, number)| {
            let mut one = Random::seeded(number.into());
            let mut told = summary(number % TOLD_HOSTS, subject(number), period, &mut one);
            told.source_node = NodeId(1 + number / TOLD_HOSTS / 3);
            let mut bytes = Vec::new();
            let report = Report {
                sequence: (period * u64::from(subjects / TOLD_HOSTS)
                    + u64::from(number / TOLD_HOSTS)) as u32,
                observation: Observation {
                    hw_id: HwId::default(),
                    flags: Flags::default(),
                    clock: None,
                    body: Body::Summary(Box::new(told)),
                },
            };
            report_v05::emit(&report, &mut bytes);
            (period, number % TOLD_HOSTS, bytes)
        })
        .collect();
    let bytes: usize = datagrams.iter().map(|(.., bytes)| bytes.len() + 28).sum();
    let opened = store.map(|path| {
        let settings = StoreSettings {
            path: path.to_owned(),
            ..settings()
        };
        OpenedStore::open(settings)
            .unwrap()
            .start(Box::new(|trouble| println!("{trouble}")))
            .unwrap()
    });
    let keeper = opened.as_ref().map(|store| store.keeper());
    let mut hub = ReportHub::new(keeper, None, Classes::default());
    let before = cpu();
    for (period, host, bytes) in &datagrams {
        let exporter = (Ipv4Addr::from(0x0a80_0000 + host), 40_000).into();
        let received_ns = 1_700_000_000_000_000_000 + 10_000_000_000 * period;
        let arrival = Arrival {
            exporter,
            received_ns,
        };
        hub.datagram(bytes, arrival).unwrap();
    }
    hub.flush().unwrap();
    assert_eq!(
        hub.ledgers.exporters.counts().reports,
        datagrams.len() as u64
    );
    drop((hub, opened));
    let used = (cpu() - before).as_secs_f64();
    let count = datagrams.len() as f64;
    (1e6 * used / count, bytes as f64 / count)
}

fn settings() -> StoreSettings {
    const DAY: u64 = 86_400_000_000_000;
    StoreSettings {
        path: PathBuf::new(),
        limits: StoreLimits {
            raw_ns: DAY,
            ten_seconds_ns: DAY,
            minutes_ns: DAY,
            hours_ns: DAY,
            bytes: 4 << 30,
        },
        queue_bytes: 64 << 20,
        most_flows: 1 << 20,
        from_file: true,
        clock: host_clock,
    }
}

fn summaries() {
    let rules = SummaryRules::default();
    println!(
        "\nsummaries: {HOSTS} hosts, ten source nodes each in three classes; reports of a host in a second\n"
    );
    println!("| | simulated | formula | off by |");
    println!("|---|---|---|---|");
    for profile in PROFILES {
        let is = summary_simulation::simulate(&profile, &rules, HOSTS, 6, 1);
        let said = profile.summaries(&rules);
        println!(
            "| {} | {:.2} | {:.2} | {:+.1} % |",
            profile.name,
            is.all(),
            said.all(),
            100.0 * (said.all() / is.all() - 1.0)
        );
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("summaries-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    println!("\nwhat one costs a collector: decoded, subtracted, and in the history\n");
    println!("| | bytes | us of CPU | with history |");
    println!("|---|---|---|---|");
    let of_groups = cost_of(30 * TOLD_HOSTS, class, None);
    let kept = cost_of(30 * TOLD_HOSTS, class, Some(&folder.join("groups.db")));
    println!(
        "| of a class | {:.0} | {:.1} | {:.1} |",
        of_groups.1, of_groups.0, kept.0
    );
    let of_flows = cost_of(20 * TOLD_HOSTS, flow, None);
    let kept_flows = cost_of(20 * TOLD_HOSTS, flow, Some(&folder.join("flows.db")));
    println!(
        "| of a flow | {:.0} | {:.1} | {:.1} |",
        of_flows.1, of_flows.0, kept_flows.0
    );
    fs::remove_dir_all(&folder).unwrap();
    println!("\n{HOSTS} hosts\n");
    println!("| | reports/s | Mbit/s | cores | with history |");
    println!("|---|---|---|---|---|");
    for profile in PROFILES {
        let said = profile.summaries(&rules);
        let (groups, flows) = (said.groups * HOSTS as f64, said.flows * HOSTS as f64);
        let bits = 8.0 * (groups * of_groups.1 + flows * of_flows.1);
        println!(
            "| {} | {:.0} | {:.0} | {:.2} | {:.2} |",
            profile.name,
            groups + flows,
            bits / 1e6,
            (groups * of_groups.0 + flows * of_flows.0) / 1e6,
            (groups * kept.0 + flows * kept_flows.0) / 1e6,
        );
    }
}

const SECTIONS: [(&str, fn()); 5] = [
    ("model", model),
    ("load", load),
    ("summaries", summaries),
    ("told", told::run),
    ("budget", budget::run),
];

fn main() {
    Wanted::run(&SECTIONS);
}
