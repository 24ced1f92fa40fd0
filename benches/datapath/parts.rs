//! What programs and daemons of a pair of hosts take for each connection or request.

use std::fs;

use hostint_testing::netns::{Daemon, Lab};
use libbpf_rs::query::ProgInfoIter;

use crate::programs::{self, Stats};

/// How the names of their programs begin.
const HOSTS: [&str; 2] = ["a:", "b:"];

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
        .filter(|info| info.name == "option_room")
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

/// Prints how often each program ran for a piece of work, and how long, and what each host would take if it were a machine of its
/// own. `work` tells how many pieces it did. The kernel counts runs meanwhile, which takes time by itself.
pub fn print(lab: &Lab, daemons: &[Daemon], work: impl FnOnce() -> f64) {
    let programs = attached(lab);
    let _stats = Stats::enable();
    let daemons_ns = || daemons.iter().map(cpu_ns).collect::<Vec<u64>>();
    let (before, daemons_before) = (runs_and_ns(&programs), daemons_ns());
    let works = work();
    let (after, daemons_after) = (runs_and_ns(&programs), daemons_ns());
    let mut of_hosts = [0.0; 2];
    for (at, (what, _)) in programs.iter().enumerate() {
        let runs = (after[at].0 - before[at].0) as f64 / works;
        let ns = (after[at].1 - before[at].1) as f64 / works;
        match HOSTS.iter().position(|host| what.starts_with(host)) {
            Some(host) => of_hosts[host] += ns,
            // The programs of both hosts run for the sockets of both.
            None => of_hosts.iter_mut().for_each(|host| *host += ns / 4.0),
        }
        let of_one = ns / runs.max(f64::MIN_POSITIVE);
        println!("    {what:<30} {runs:>6.2} runs of {of_one:>6.0} ns");
    }
    for (at, host) in HOSTS.iter().enumerate() {
        let programs = of_hosts[at];
        let daemon = (daemons_after[at] - daemons_before[at]) as f64 / works;
        let all = programs + daemon;
        println!("    host {host} {all:.0} ns: programs {programs:.0}, daemon {daemon:.0}");
    }
}
