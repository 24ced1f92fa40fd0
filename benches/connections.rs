//! CPU time of the daemon that watches TCP connections, by the number of connections, and of one that watches none of
//! them. Run as root: `cargo bench --bench connections`.

use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Lab, await_that};
use hostint_testing::scratch::Folder;
use nix::libc;

const SIZES: [usize; 3] = [0, 1_000, 10_000];
const WATCHED: Duration = Duration::from_secs(20);

/// The CPU time of a process, in ns.
fn cpu_ns(pid: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// Both ends of a connection are descriptors of this process.
fn make_room_for_descriptors() {
    let limit = libc::rlimit {
        rlim_cur: 65_536,
        rlim_max: 65_536,
    };
    // SAFETY: the limits are valid during the call.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    assert_eq!(result, 0, "root may raise the limit");
}

/// The share of a CPU that the daemon takes, in percent, and the time of one walk.
fn measure(daemon: &Daemon) -> f64 {
    let (begun, before) = (Instant::now(), cpu_ns(daemon.pid()));
    thread::sleep(WATCHED);
    let spent = cpu_ns(daemon.pid()) - before;
    100.0 * spent as f64 / begun.elapsed().as_nanos() as f64
}

fn main() {
    make_room_for_descriptors();
    let lab = Lab::new();
    let folder = Folder::create();
    let config = folder.name("rules.toml");
    let rules = "[[watch]]\nto = [\"10.9.2.0/24\"]\nto-port = [\"7001\"]\n";
    let other_rules = rules.replace("7001", "7002");
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let mut open = Vec::new();
    println!("connections  no rules  watched by a rule  unwatched (% of a CPU)");
    for size in SIZES {
        while open.len() < size {
            let client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001")).unwrap();
            open.push((client, listener.accept().unwrap()));
        }
        let mut shares = Vec::new();
        for text in ["", rules, &other_rules] {
            std::fs::write(&config, text).unwrap();
            let daemon = lab.a.start(
                &format!("tcp --config {config} --report end"),
                "connections are watched",
            );
            // The first walk is not like the others.
            let pid = daemon.pid();
            await_that("it walked", || cpu_ns(pid) > 0);
            thread::sleep(Duration::from_secs(2));
            shares.push(measure(&daemon));
        }
        println!(
            "{size:>11}  {:>8.2}  {:>17.2}  {:>9.2}",
            shares[0], shares[1], shares[2]
        );
    }
}
