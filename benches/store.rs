//! What the collector's history costs on this machine: `cargo bench --bench store -- [write] [day] [give-back]`.
//! Without a name, all. `-- lines NODES FLOWS REPORTS` prints so many reports of the last hour as JSON lines instead, for
//! `hostint collect --read - --store FILE`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hostint::collector::decode;
use hostint::model::*;
use hostint::store::*;
use hostint_testing::synthetic::Synthetic;

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;
const DAY: u64 = 24 * HOUR;
const MIB: f64 = 1024.0 * 1024.0;

/// A store in the folder that HOSTINT_BENCH_DIR names, else in the build's: a disk, not memory.
struct RuleHost(PathBuf);

impl RuleHost {
    fn new(name: &str) -> Self {
        let folder = std::env::var_os("HOSTINT_BENCH_DIR");
        let folder = folder.map_or(Path::new(env!("CARGO_TARGET_TMPDIR")).into(), PathBuf::from);
        let folder = folder.join(format!("bench-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn open(&self, limits: StoreLimits) -> Store {
        let settings = StoreSettings {
            path: self.0.join("history.db"),
            limits,
            queue_bytes: 64 << 20,
            most_flows: 200_000,
            from_file: true,
            clock: host_clock,
        };
        let warn = Box::new(|trouble: &str| panic!("{trouble}"));
        OpenedStore::open(settings).unwrap().start(warn).unwrap()
    }

    fn reader(&self) -> HistoryReader {
        let decode = |evidence: &Evidence<'_>| {
            let group = decode(evidence.bytes).ok()?;
            Some(Record::new(
                group.reports.get(evidence.part)?,
                evidence.arrival,
            ))
        };
        HistoryReader::open(&self.0.join("history.db"), Box::new(decode)).unwrap()
    }

    fn mib(&self) -> f64 {
        let files = std::fs::read_dir(&self.0).unwrap();
        files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum::<u64>() as f64
            / MIB
    }
}

impl Drop for RuleHost {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn limits() -> StoreLimits {
    StoreLimits {
        raw_ns: DAY,
        ten_seconds_ns: DAY,
        minutes_ns: 14 * DAY,
        hours_ns: 365 * DAY,
        bytes: 4 << 30,
    }
}

/// A report, ready to be kept.
type Ready = (ReportFacts, Option<&'static str>, Vec<u8>);

fn ready(network: &mut Synthetic, flow: usize, time_ns: u64) -> Ready {
    let sample = network.report(flow, time_ns);
    let observed = ReportFacts::new(&sample.report, Some(sample.arrival), || 0);
    (observed, sample.class, sample.datagram())
}

/// Seconds of CPU that the process had so far: what other programs take does not count.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind_name = stat.rsplit(')').next().unwrap();
    let ticks: Vec<f64> = behind_name
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(|ticks| ticks.parse().unwrap())
        .collect();
    (ticks[0] + ticks[1]) / 100.0
}

/// Milliseconds that a question takes, the middle of five.
fn ask<T>(mut question: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let begin = Instant::now();
            std::hint::black_box(question());
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[2]
}

fn questions(place: &RuleHost, end_ns: u64) {
    let mut reader = place.reader();
    let query = |order, limit| FlowQuery {
        order,
        limit,
        ..FlowQuery::default()
    };
    for (name, since_ns) in [
        ("the last hour", end_ns - HOUR),
        ("the last day", end_ns - DAY),
    ] {
        let span = Span {
            since_ns,
            until_ns: end_ns,
        };
        let pairs = ask(|| reader.pairs(span).unwrap());
        println!("  {name}: pairs                     {pairs:9.1} ms");
        for order in [FlowOrder::Loss, FlowOrder::Latency] {
            let took = ask(|| reader.flows(&query(order, 50), span).unwrap());
            println!("  {name}: top flows by {order:<8?}     {took:9.1} ms");
        }
        let took = ask(|| reader.series(&Subject::All, span, 300).unwrap());
        println!("  {name}: series of all             {took:9.1} ms");
        let id = reader.flows(&query(FlowOrder::Loss, 1), span).unwrap()[0].id;
        let took = ask(|| reader.series(&Subject::Flow(id), span, 300).unwrap());
        println!("  {name}: series of a flow          {took:9.1} ms");
        let query = ReportQuery {
            subject: Subject::Flow(id),
            limit: 100,
        };
        let took = ask(|| reader.reports(&query, span).unwrap());
        println!("  {name}: 100 reports of a flow     {took:9.1} ms");
    }
}

/// How fast reports of 100,000 flows are stored, from memory, and how fast the first view is then.
fn write() {
    const FLOWS: usize = 100_000;
    const ROUNDS: usize = 20;
    let place = RuleHost::new("write");
    let mut network = Synthetic::new(1, 30, FLOWS);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64;
    let begin_ns = now - 10 * 60 * SECOND;
    let store = place.open(limits());
    let mut keeper = store.keeper();
    let counts = store.counts();
    let mut time_ns = begin_ns;
    println!("reports of {FLOWS} flows, each once in a round of ten seconds of their time:");
    let mut all = Vec::with_capacity(ROUNDS * FLOWS);
    for n in 0..ROUNDS * FLOWS {
        // Not in the order of their ids.
        let flow = n % FLOWS * 48_271 % FLOWS;
        all.push(ready(&mut network, flow, time_ns));
        time_ns += 10 * SECOND / FLOWS as u64;
    }
    let (begin, cpu_before) = (Instant::now(), cpu());
    for (observed, class, datagram) in all {
        keeper.take(observed, 0, class, None, &datagram);
    }
    drop((keeper, store));
    let (busy, cpu_s) = (begin.elapsed().as_secs_f64(), cpu() - cpu_before);
    println!(
        "  in all {} reports in {busy:.1} s: {:.0} reports/s, {:.0} in a second of CPU; {} dropped; {:.0} MiB, {:.0} bytes a report",
        counts.stored(),
        counts.stored() as f64 / busy,
        counts.stored() as f64 / cpu_s,
        counts.drops(),
        place.mib(),
        place.mib() * MIB / counts.stored() as f64
    );
    questions(&place, time_ns);
}

/// A day of 100 nodes: as many flows as pairs, a report of each about every half hour, and some busy ones.
fn day() {
    const NODES: u32 = 100;
    const FLOWS: usize = 9_900;
    const REPORTS: u64 = 5_000_000;
    let place = RuleHost::new("day");
    let mut network = Synthetic::new(2, NODES, FLOWS);
    let mut random = hostint_testing::random::Random::seeded(2);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64;
    let store = place.open(limits());
    let mut keeper = store.keeper();
    let counts = store.counts();
    let begin = Instant::now();
    for n in 0..REPORTS {
        let time_ns = now - DAY + n * (DAY / REPORTS);
        // A tenth of the flows has half of the reports.
        let flow = match random.one_in(2) {
            true => random.below(FLOWS / 10) * 10,
            false => random.below(FLOWS),
        };
        let (observed, class, datagram) = ready(&mut network, flow, time_ns);
        keeper.take(observed, 0, class, None, &datagram);
    }
    drop((keeper, store));
    let took = begin.elapsed().as_secs_f64();
    println!(
        "a day of {NODES} nodes, {FLOWS} flows: {} reports in {took:.0} s: {:.0} reports/s with making them; {:.0} MiB, {:.0} bytes a report",
        counts.stored(),
        counts.stored() as f64 / took,
        place.mib(),
        place.mib() * MIB / counts.stored() as f64
    );
    questions(&place, now);
}

/// What it costs to take away the oldest, and whether the file gets shorter.
fn give_back() {
    let place = RuleHost::new("give-back");
    let mut network = Synthetic::new(3, 30, 10_000);
    let mut keep = |limits: StoreLimits, reports: u64, from_ns: u64| {
        let store = place.open(limits);
        let mut keeper = store.keeper();
        let begin = Instant::now();
        for n in 0..reports {
            let (observed, class, datagram) = ready(
                &mut network,
                n as usize % 10_000,
                from_ns + n * SECOND / 10_000,
            );
            keeper.take(observed, 0, class, None, &datagram);
        }
        drop((keeper, store));
        begin.elapsed().as_secs_f64()
    };
    let plain = keep(limits(), 1_000_000, 1000 * DAY);
    let full = place.mib();
    // All of the old ones are too old now.
    let with = keep(limits(), 1_000_000, 1002 * DAY);
    println!(
        "a million reports: {plain:.1} s, {full:.0} MiB; a million more while the first one goes: {with:.1} s, {:.0} MiB after",
        place.mib()
    );
    let little = StoreLimits {
        bytes: 64 << 20,
        ..limits()
    };
    let took = keep(little, 100_000, 1002 * DAY + 100 * SECOND);
    println!(
        "a tenth more within 64 MiB: {took:.1} s, {:.0} MiB after",
        place.mib()
    );
}

/// Reports of the last hour, as JSON lines.
fn lines(numbers: &[usize]) {
    let [nodes, flows, reports] = *numbers else {
        panic!("lines NODES FLOWS REPORTS");
    };
    let mut network = Synthetic::new(1, nodes as u32, flows);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for n in 0..reports {
        let time_ns = now - HOUR + n as u64 * (HOUR / reports as u64);
        out.write_all(&network.report(n % flows, time_ns).line())
            .unwrap();
        out.write_all(b"\n").unwrap();
    }
}

fn main() {
    // cargo adds --bench.
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    if args.first().is_some_and(|name| name == "lines") {
        let numbers: Vec<usize> = args[1..].iter().map(|arg| arg.parse().unwrap()).collect();
        return lines(&numbers);
    }
    for (name, run) in [
        ("write", write as fn()),
        ("day", day),
        ("give-back", give_back),
    ] {
        if args.is_empty() || args.iter().any(|arg| arg == name) {
            run();
        }
    }
}
