//! What programs and daemons of a pair of hosts take for each connection or request.

use std::fs;

use hostint_testing::netns::{Daemon, Lab};
use libbpf_rs::query::ProgInfoIter;

use crate::programs::{self, Stats};

/// The CPU time of all threads of a process, in ns.
fn cpu_ns(daemon: &Daemon) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid())).expect("the daemon runs");
    let spent = |path: std::path::PathBuf| {
        let text = fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        let first = text.split(' ').next().and_then(|ns| ns.parse().ok());
        first.unwrap_or(0)
    };
    tasks
        .map(|task| spent(task.expect("is listed").path()))
        .sum()
}

/// The programs of both hosts that packets pass, and those that all sockets of the machine pass, of each host.
fn attached(lab: &Lab) -> Vec<(String, u32)> {
    let roles = [
        ("source", "source-tc"),
        ("its peer program", "source-peer"),
        ("sink", "sink-tc"),
    ];
    let hosts = [("a", &lab.a, "a0"), ("b", &lab.b, "b0")];
    let of_host = |(name, host, dev)| {
        roles.map(|(what, role)| (format!("{name}: {what}"), programs::pinned(host, role, dev)))
    };
    let of_sockets = ProgInfoIter::default()
        .filter(|info| info.name.to_bytes() == b"option_room")
        .map(|info| ("rooms of sockets".to_owned(), info.id));
    hosts
        .into_iter()
        .flat_map(of_host)
        .chain(of_sockets)
        .collect()
}

fn runs_and_ns(programs: &[(String, u32)]) -> Vec<(u64, u64)> {
    let all: Vec<_> = ProgInfoIter::default().collect();
    let find = |id| all.iter().find(|info| info.id == id).expect("is attached");
    let read = |(_, id): &(String, u32)| (find(*id).run_cnt, find(*id).run_time_ns);
    programs.iter().map(read).collect()
}

/// Prints how often each program ran for a piece of work, and how long, and the CPU time of the daemons. `work` tells how many pieces
/// it did. The kernel counts runs meanwhile, which takes time by itself.
pub fn print(lab: &Lab, daemons: &[Daemon], work: impl FnOnce() -> f64) {
    let programs = attached(lab);
    let _stats = Stats::enable();
    let (before, daemons_before) = (
        runs_and_ns(&programs),
        daemons.iter().map(cpu_ns).sum::<u64>(),
    );
    let works = work();
    let (after, daemons_after) = (
        runs_and_ns(&programs),
        daemons.iter().map(cpu_ns).sum::<u64>(),
    );
    let mut sum = 0.0;
    for (at, (what, _)) in programs.iter().enumerate() {
        let runs = (after[at].0 - before[at].0) as f64;
        let ns = (after[at].1 - before[at].1) as f64;
        sum += ns / works;
        println!(
            "    {what:<30} {:>6.2} runs of {:>6.0} ns",
            runs / works,
            ns / runs.max(1.0)
        );
    }
    let daemons = (daemons_after - daemons_before) as f64 / works;
    println!("    all programs {sum:.0} ns, daemons {daemons:.0} ns of CPU time");
}
