//! Where the time goes: kernel functions below the programs, by samples of all CPUs. Needs perf.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use hostint_testing::netns::sh;
use nix::unistd::gettid;

use crate::lab::{Pair, Setup, SinkAt};
use crate::rate::PAYLOAD;
use crate::senders::{Datagrams, Receiver, bulk_tcp};

const TIME: Duration = Duration::from_secs(4);
const PACKET: u32 = 1400;
const HERTZ: u32 = 4999;

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
fn functions_of_small(sink: SinkAt, watched: bool) -> (f64, BTreeMap<String, f64>) {
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
    let report = sh(&format!(
        "perf report -i {file} -q -n --sort symbol 2>/dev/null | grep '%'; rm {file}"
    ));
    let packets = rate * TIME.as_secs_f64();
    let mut functions = BTreeMap::new();
    for line in report.lines() {
        // 12.34%  5678  [k] name
        let mut words = line.split_whitespace().skip(1);
        let samples: f64 = words.next().unwrap().parse().unwrap();
        let name = words.nth(1).unwrap().to_owned();
        *functions.entry(name).or_insert(0.0) += samples * 1e9 / f64::from(HERTZ) / packets;
    }
    (rate, functions)
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
        let names: BTreeSet<&String> = base.keys().chain(tagged.keys()).collect();
        let ns = |of: &BTreeMap<String, f64>, name: &String| of.get(name).copied().unwrap_or(0.0);
        let row = |name| (ns(&base, name), ns(&tagged, name), name);
        let mut rows: Vec<_> = names.into_iter().map(row).collect();
        rows.sort_by(|a, b| (b.1 - b.0).abs().total_cmp(&(a.1 - a.0).abs()));
        for (unwatched, tagged, name) in rows.into_iter().take(24) {
            let more = tagged - unwatched;
            println!("  {name:<44} {unwatched:>8.1} {tagged:>8.1} {more:>+8.1}");
        }
        println!();
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
