//! `hostint demo` reports what its router drops; ended or killed at any moment it leaves nothing, and a role that cannot start
//! ends it.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostint_testing::demo::{RunningDemo, binary};
use hostint_testing::netns::{await_that, await_that_or, sh};
use hostint_testing::{places, program_info};
use nix::sys::signal::Signal;

/// Demos look for the same port, and what is left is looked for in the whole kernel.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start(args: &[&str]) -> RunningDemo {
    let mut command = Command::new(places::hostint());
    command.arg("demo").args(args);
    RunningDemo::start(command, None)
}

/// What a demo could leave on this host: interfaces, mounts, files.
fn traces() -> String {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mounts: Vec<&str> = mounts
        .lines()
        .filter(|line| line.contains("demo"))
        .collect();
    let files = Path::new("/run/hostint-demo").exists();
    let names =
        sh("ip -o link show | cut -d : -f 2 | grep -x ' eth0@.*\\| right@.*\\| left@.*' || true");
    let programs = program_info::loaded("demo_loss");
    format!("{mounts:?} {files} {names} {programs}")
}

fn await_no_trace(name: &str, before: &str, children: &[i32]) {
    let is_left = |pid: &&i32| Path::new(&format!("/proc/{pid}/exe")).exists();
    await_that_or(
        || traces() == before && !children.iter().any(|pid| is_left(&pid)),
        || format!("{name}: {} of {children:?}, not {before}", traces()),
    );
}

/// The numbers of the last line.
fn counts(said: &str) -> (u64, u64) {
    let last = said.lines().last().unwrap();
    let numbers = last.split_whitespace().filter_map(|word| word.parse().ok());
    match numbers.collect::<Vec<u64>>()[..] {
        [dropped, lost] => (dropped, lost),
        _ => panic!("the last line is no result: {said}"),
    }
}

#[test]
fn all_packets_that_the_router_drops_are_reported() {
    let _alone = alone();
    let before = traces();
    let (status, said, errors) = start(&[]).end();
    assert_eq!(status.code(), Some(0), "{said}{errors}");
    let (dropped, lost) = counts(&said);
    assert!(dropped > 0 && dropped == lost, "{said}");
    for protocol in ["udp", "tcp"] {
        let loss = format!("LOSS     {protocol} 10.77.1.1:");
        assert!(said.contains(&loss), "{protocol}: {said}");
    }
    await_no_trace("a demo that ended by itself", &before, &[]);
}

#[test]
fn a_demo_that_is_ended_leaves_nothing() {
    let _alone = alone();
    let before = traces();
    let asked = (Some(1), "was ended before its result");
    let cases = [
        (
            "Ctrl-C while roles start",
            "a collector",
            Signal::SIGINT,
            asked,
        ),
        ("SIGTERM during traffic", "traffic:", Signal::SIGTERM, asked),
        (
            "kill -9 while roles start",
            "a collector",
            Signal::SIGKILL,
            (None, ""),
        ),
        (
            "kill -9 during traffic",
            "traffic:",
            Signal::SIGKILL,
            (None, ""),
        ),
    ];
    for (name, words, signal, (code, says)) in cases {
        let mut demo = start(&[]);
        demo.await_line(words);
        await_that_or(
            || !demo.children().is_empty(),
            || format!("{name}: no roles"),
        );
        let children = demo.children();
        demo.signal(signal);
        let (status, said, errors) = demo.end();
        assert_eq!(status.code(), code, "{name}: {said}{errors}");
        assert!(errors.contains(says), "{name}: {errors}");
        await_no_trace(name, &before, &children);
    }
}

#[test]
fn the_page_is_at_a_port_of_this_host_until_the_demo_ends() {
    let _alone = alone();
    let before = traces();
    let mut demo = start(&["--seconds", "600"]);
    let page = demo.page();
    await_that("the page shows the pair of the two hosts", || {
        let pair = &RunningDemo::ask_page(&page, "/api/pairs")["pairs"][0];
        pair[0] == 1 && pair[1] == 2
    });
    let line = demo.await_line("the router dropped");
    let children = demo.children();
    demo.signal(Signal::SIGINT);
    let (status, said, errors) = demo.end();
    assert_eq!(status.code(), Some(0), "{said}{errors}");
    let (dropped, lost) = counts(&line);
    assert_eq!(dropped, lost, "{said}");
    await_no_trace("a demo with a look at the page", &before, &children);
}

#[test]
fn a_role_that_cannot_start_ends_the_demo_with_its_sentence() {
    let _alone = alone();
    let before = traces();
    let script = format!("ulimit -n 28; exec {} demo", places::hostint());
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    let (status, said, errors) = RunningDemo::start(command, None).end();
    assert_eq!(status.code(), Some(1), "{said}{errors}");
    assert!(
        errors.contains(" ended: ") && errors.contains("28 files open"),
        "{errors}"
    );
    assert!(!said.contains("the router dropped"), "{said}");
    await_no_trace("a demo whose role cannot start", &before, &[]);
}

#[test]
fn where_it_may_not_run_it_names_the_recorded_one() {
    let (_file, mut as_user) = binary();
    as_user.arg("demo").uid(65534).gid(65534);
    // As in a container without privileges.
    let mut as_weak_root = Command::new("setpriv");
    as_weak_root.args([
        "--bounding-set=-all",
        "--inh-caps=-all",
        places::hostint(),
        "demo",
    ]);
    let cases = [
        (
            "a user",
            as_user,
            1,
            "(try sudo, or hostint demo --recorded",
        ),
        (
            "root without capabilities",
            as_weak_root,
            3,
            "(try hostint demo --recorded",
        ),
    ];
    for (name, command, code, try_this) in cases {
        let (status, said, errors) = RunningDemo::start(command, None).end();
        assert_eq!(status.code(), Some(code), "{name}: {errors}");
        assert!(said.is_empty(), "{name}: {said}");
        for words in ["CAP_BPF", try_this] {
            assert!(errors.contains(words), "{name}: {errors}");
        }
        assert_eq!(errors.lines().count(), 1, "{name}: {errors}");
    }
}
