//! A daemon that has nothing to do sleeps: it wakes a few times a second for what it has to look at, and no more.

use std::cell::Cell;
use std::fs;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Lab, await_that_or};
use hostint_testing::scratch::Folder;

/// The most wake-ups a second of all threads of a daemon, and of one that looks for new destinations ten times a second.
const MOST: f64 = 15.0;
const MOST_WITH_LEASES: f64 = 40.0;
/// Wake-ups are counted for this time at least.
const COUNTED: Duration = Duration::from_secs(2);

/// The number of times that a daemon's threads went to sleep by themselves.
fn sleeps(daemon: &Daemon) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{}/task", daemon.pid())).unwrap();
    let count = |task: fs::DirEntry| {
        // A thread may have ended meanwhile.
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let mut lines = status.lines();
        let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.map_or(0, |count| count.trim().parse::<u64>().unwrap())
    };
    tasks.map(|task| count(task.unwrap())).sum()
}

/// Waits for a while in which the daemon wakes rarely enough: what its start brings is over some time.
fn await_rest(name: &str, most: f64, daemon: &Daemon) {
    let rate = Cell::new(0.0);
    let (mut since, mut before) = (Instant::now(), sleeps(daemon));
    let rests = || {
        let passed = since.elapsed();
        if passed < COUNTED {
            return false;
        }
        let now = sleeps(daemon);
        rate.set(now.saturating_sub(before) as f64 / passed.as_secs_f64());
        (since, before) = (Instant::now(), now);
        rate.get() <= most
    };
    let failure = || format!("{name} wakes {:.0} times a second", rate.get());
    await_that_or(rests, failure);
}

#[test]
fn daemons_without_work_wake_rarely() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("store");
    let told = "--collector 10.9.2.1";
    let collect = lab.b.start(
        &format!(
            "collect --listen 10.9.2.1 --http 127.0.0.1:13283 --store {}",
            store.display()
        ),
        "serving http",
    );
    let sink = lab.b.leasing_sink(&format!(
        "--dev b0 --node-id 2 --http 127.0.0.1:13284 --summary-period 1s {told}"
    ));
    let source = lab.a.start(
        &format!("source --dev a0 --node-id 1 --force {told}"),
        "source attached",
    );
    lab.a.hostint("source add-dest 10.9.2.1");
    let transit = lab.m.start(
        &format!("transit --dev m0,m1 --node-id 9 {told}"),
        "transit hop attached to m1",
    );
    let postcards = lab.m.start(
        &format!("postcards --drops --hops --dev m0,m1 --queue m1=trigger:1ms --node-id 9 {told}"),
        "are reported",
    );
    let tcp = lab.m.start(
        &format!("tcp --node-id 9 {told}"),
        "connections are watched",
    );
    let file = folder.file("hostint.toml");
    fs::write(&file, "[tcp]\n").unwrap();
    let agent = lab
        .a
        .start(&format!("run --config {}", file.display()), "tcp: ");
    for (name, most, daemon) in [
        ("agent", MOST, &agent),
        ("collect", MOST, &collect),
        ("sink", MOST_WITH_LEASES, &sink),
        ("source", MOST_WITH_LEASES, &source),
        ("transit", MOST, &transit),
        ("postcards", MOST, &postcards),
        ("tcp", MOST, &tcp),
    ] {
        await_rest(name, most, daemon);
    }
}
