//! Where the time goes: kernel functions below the programs, by samples of all CPUs. Needs perf.

use std::process::Command;
use std::time::Duration;

use hostint_testing::netns::sh;

use crate::lab::{Pair, Setup, SinkAt};
use crate::senders::{Datagrams, bulk_tcp};

const TIME: Duration = Duration::from_secs(4);
const PACKET: u32 = 1400;

/// What perf saw while the traffic ran, below programs of this name.
fn print_profile(name: &str, program: &str, traffic: impl FnOnce()) {
    let file = std::env::temp_dir().join(format!("hostint-{}.perf", std::process::id()));
    let file = file.display();
    let seconds = TIME.as_secs();
    let mut perf = Command::new("sh")
        .args([
            "-c",
            &format!("exec perf record -q -F 4999 -e cpu-clock -a -g -o {file} sleep {seconds}"),
        ])
        .spawn()
        .unwrap();
    traffic();
    assert!(perf.wait().unwrap().success(), "perf records");
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

pub fn run() {
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
