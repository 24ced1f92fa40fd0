//! Where the time goes: kernel functions below the programs, by samples of all CPUs. Needs perf.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use hostint_testing::netns::sh;
use nix::unistd::gettid;

use crate::lab::{Pair, Setup, SinkAt};
use crate::rate::PAYLOAD;
use crate::senders::{Datagrams, Receiver, bulk_tcp};

/// How long the traffic runs.
pub const TIME: Duration = Duration::from_secs(4);
const PACKET: u32 = 1400;
const HERTZ: u32 = 4999;
const ROWS: usize = 40;
/// What connections keep busy, and no other work of the machine.
const COMMS: &str = "--comms ab,nginx,hostint,swapper,ksoftirqd/0,ksoftirqd/1";

/// ns by the name of a kernel function.
type Functions = BTreeMap<String, f64>;

/// Runs the traffic while perf takes samples of `what`. Returns perf's file, and what the traffic returned.
fn record<T>(what: &str, traffic: impl FnOnce() -> T) -> (String, T) {
    let file = std::env::temp_dir().join(format!("hostint-{}.perf", std::process::id()));
    let file = file.display().to_string();
    let seconds = TIME.as_secs();
    let mut perf = Command::new("sh")
        .args([
            "-c",
            &format!(
                "exec perf record -q -F {HERTZ} -e cpu-clock {what} -o {file} sleep {seconds}"
            ),
        ])
        .spawn()
        .unwrap();
    let done = traffic();
    assert!(perf.wait().unwrap().success(), "perf records");
    (file, done)
}

/// What perf saw while the traffic ran, below programs of this name.
fn print_profile(name: &str, program: &str, traffic: impl FnOnce()) {
    let (file, ()) = record("-a -g", traffic);
    println!("profile: {name}, below {program}: % of its samples");
    let report = sh(&format!(
        "perf report -i {file} -q --no-children -g none --sort parent,symbol --parent '_{program}$' \
         --exclude-other 2>/dev/null | grep '%' > {file}.txt
         awk '{{ all += $1 }} END {{ print \"  \" all \" % of what all CPUs did\" }}' {file}.txt
         awk 'NR == FNR {{ all += $1; next }} FNR <= 24 {{ printf \"  %5.1f  %s\\n\", 100 * $1 / all, $4 }}' \
             {file}.txt {file}.txt
         rm {file} {file}.txt"
    ));
    print!("{report}");
    println!();
}

/// What the sending thread does for a small datagram, with what follows in its context until the datagram is in the receiver's
/// socket: the rate, and ns by kernel function.
fn functions_of_small(sink: SinkAt, watched: bool) -> (f64, Functions) {
    let pair = Pair::new(&Setup {
        sink,
        source: Some("--encap over-tcp-udp"),
        watched,
        ..Setup::NOTHING
    });
    let datagrams = Datagrams::new(&pair.lab.a, &pair.lab.b, PAYLOAD);
    let (file, rate) = record(&format!("-t {}", gettid()), || {
        datagrams.rate_to(Receiver::Polls, TIME)
    });
    (rate, functions(&file, "", rate * TIME.as_secs_f64()))
}

/// ns of each kernel function for one of so many pieces of work, in these processes.
fn functions(file: &str, comms: &str, pieces: f64) -> Functions {
    let report = sh(&format!(
        "perf report -i {file} -q -n --sort symbol {comms} 2>/dev/null | grep '%.*\\[k\\]'; rm {file}"
    ));
    let mut functions = Functions::new();
    for line in report.lines() {
        // 12.34%  5678  [k] name
        let mut words = line.split_whitespace().skip(1);
        let samples: f64 = words.next().unwrap().parse().unwrap();
        let name = words.nth(1).unwrap().to_owned();
        *functions.entry(name).or_insert(0.0) += samples * 1e9 / f64::from(HERTZ) / pieces;
    }
    functions
}

/// Prints the functions whose times differ most.
fn print_differences(base: &Functions, other: &Functions) {
    let names: BTreeSet<&String> = base.keys().chain(other.keys()).collect();
    let ns = |of: &Functions, name: &String| of.get(name).copied().unwrap_or(0.0);
    let row = |name| (ns(base, name), ns(other, name), name);
    let mut rows: Vec<_> = names.into_iter().map(row).collect();
    rows.sort_by(|a, b| (b.1 - b.0).abs().total_cmp(&(a.1 - a.0).abs()));
    for (base, other, name) in rows.into_iter().take(ROWS) {
        let more = other - base;
        println!("  {name:<52} {base:>8.1} {other:>8.1} {more:>+8.1}");
    }
    println!();
}

/// What both CPUs do for a piece of work, by kernel function, with nothing attached and with what is compared to it. Each
/// works for some seconds and returns how many pieces it did.
pub fn compare(title: &str, base: impl Fn() -> f64, other: impl Fn() -> f64) {
    let of = |work: &dyn Fn() -> f64| {
        let (file, pieces) = record("-a", work);
        functions(&file, COMMS, pieces)
    };
    let (base, other) = (of(&base), of(&other));
    let all = |of: &Functions| of.values().sum::<f64>();
    println!("profile: {title}, ns of both CPUs: with nothing attached, with it, difference");
    println!("  all: {:.0}, {:.0}", all(&base), all(&other));
    print_differences(&base, &other);
}

/// The functions in which a tagged small datagram takes another time than one that is not watched.
fn print_small() {
    for sink in [SinkAt::Tc, SinkAt::Xdp] {
        let (base_rate, base) = functions_of_small(sink, false);
        let (rate, tagged) = functions_of_small(sink, true);
        println!(
            "profile: datagrams in frames of 64 bytes, sink at {sink:?}, ns a datagram of the sending thread: unwatched, tagged, \
             difference"
        );
        println!(
            "  a datagram in ns: {:.0}, {:.0}",
            1e9 / base_rate,
            1e9 / rate
        );
        print_differences(&base, &tagged);
    }
}

pub fn run() {
    print_small();
    for sink in [SinkAt::Xdp, SinkAt::Tc] {
        let pair = Pair::new(&Setup {
            sink,
            source: Some("--superpackets skip"),
            watched: true,
            mtu: PACKET,
            no_gso: true,
            ..Setup::NOTHING
        });
        let (a, b) = (&pair.lab.a, &pair.lab.b);
        let datagrams = Datagrams::new(a, b, PACKET as usize - 28);
        let sink = if sink == SinkAt::Xdp {
            "sink"
        } else {
            "sink_tc"
        };
        for program in ["source_tc", sink] {
            print_profile("UDP", program, || {
                datagrams.rate(TIME);
            });
            print_profile("TCP", program, || {
                bulk_tcp(a, b, TIME);
            });
        }
    }
}
