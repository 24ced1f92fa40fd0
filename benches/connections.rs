//! CPU time of the daemon that watches TCP connections, by the number of connections, and of one that watches none of
//! them. Run as root: `cargo bench --bench connections`.

use std::net::TcpStream;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Lab, await_that};
use hostint_testing::open_files;
use hostint_testing::scratch::Folder;

const SIZES: [usize; 3] = [1, 1_000, 10_000];
const WATCHED: Duration = Duration::from_secs(20);

/// The CPU time of a process, in ns.
fn cpu_ns(pid: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

/// The other ends of connections.
struct Acceptor(Child);

impl Acceptor {
    fn start(lab: &Lab) -> Self {
        let script = "import resource, socket
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
listener = socket.create_server(('10.9.2.1', 7001), backlog=4096)
ends = []
while True:
    ends.append(listener.accept())";
        Self(lab.b.command("python3", &["-c", script]).spawn().unwrap())
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The share of a CPU that the daemon takes, in percent.
fn measure(daemon: &Daemon) -> f64 {
    let (begun, before) = (Instant::now(), cpu_ns(daemon.pid()));
    thread::sleep(WATCHED);
    let spent = cpu_ns(daemon.pid()) - before;
    100.0 * spent as f64 / begun.elapsed().as_nanos() as f64
}

fn main() {
    // Each connection is a descriptor of this process.
    open_files::allow_most();
    let lab = Lab::new();
    let folder = Folder::create();
    let config = folder.name("rules.toml");
    let rules = "[[watch]]\nto = [\"10.9.2.0/24\"]\nto-port = [\"7001\"]\n";
    let other_rules = rules.replace("7001", "7002");
    let _acceptor = Acceptor::start(&lab);
    let connect = || lab.a.enter(|| TcpStream::connect("10.9.2.1:7001"));
    let mut open = Vec::new();
    await_that("the port is open", || {
        open.extend(connect());
        !open.is_empty()
    });
    println!("connections  no rules  watched by a rule  unwatched (% of a CPU)");
    for size in SIZES {
        while open.len() < size {
            open.push(connect().unwrap());
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
