//! What applications do in a second: short connections, and requests over connections that stay, with the default settings on
//! both hosts. Needs nginx, ab, redis and memcached (packaging/install-build-deps.sh --bench).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use hostint::datapath::kernel::links::Hook;
use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair;

use crate::parts;
use crate::profile;
use crate::programs::Noop;
use crate::rounds::{Rounds, print_row};

const ROUNDS: usize = 15;

/// What runs on both hosts.
#[derive(Clone, Copy, PartialEq)]
enum With {
    Nothing,
    Sinks,
    Both,
}

const CASES: [(&str, With); 3] = [
    ("nothing attached", With::Nothing),
    ("sinks on both hosts", With::Sinks),
    ("sinks and sources on both hosts", With::Both),
];

/// What each host may take of the CPUs' time.
const BUDGETS: [&str; 4] = ["off", "4%", "2%", "1%"];

/// A server on host b.
struct Server(Child);

impl Server {
    fn start(host: &Host, program: &str, args: &[&str]) -> Self {
        let mut command = host.command(program, args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.spawn().expect("ip runs it"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // `ip netns exec` became the server.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two hosts, the servers on b, and what runs on both.
struct Case {
    _servers: Vec<Server>,
    daemons: Vec<Daemon>,
    lab: Lab,
}

/// Work that was done.
struct Done {
    count: f64,
    in_a_second: f64,
}

impl Case {
    fn new(with: With, folder: &Folder) -> Self {
        Self::with_budget(with, "off", folder)
    }

    /// Each host may take so much of the CPUs' time.
    fn with_budget(with: With, budget: &'static str, folder: &Folder) -> Self {
        let mut lab = Lab::new();
        lab.a.budget = budget;
        lab.b.budget = budget;
        for (host, dev) in [(&lab.a, "a0"), (&lab.b, "b0")] {
            host.sh(&format!("ethtool -K {dev} gro on"));
        }
        let daemons = match with {
            With::Nothing => Vec::new(),
            With::Sinks => [(&lab.a, "a0"), (&lab.b, "b0")]
                .map(|(host, dev)| host.leasing_sink(&format!("--dev {dev}")))
                .into(),
            With::Both => watched_pair::start(&lab).into(),
        };
        if with == With::Both {
            await_that("all paths are proved", || {
                watched_pair::is_settled(&lab.a) && watched_pair::is_settled(&lab.b)
            });
        }
        let redis = ["--bind", "10.9.2.1", "--protected-mode", "no"];
        let redis = [&redis[..], &["--save", "", "--appendonly", "no"]].concat();
        let configured = folder.name("nginx.conf");
        let nginx = ["-c", &configured, "-e", "stderr", "-g", "daemon off;"];
        let memcached = ["-u", "root", "-l", "10.9.2.1"];
        let servers = vec![
            Server::start(&lab.b, "nginx", &nginx),
            Server::start(&lab.b, "redis-server", &redis),
            Server::start(&lab.b, "memcached", &memcached),
        ];
        for port in [8080, 6379, 11211] {
            await_that("the servers listen", || {
                let to = ("10.9.2.1", port);
                lab.a.enter(|| TcpStream::connect(to)).is_ok()
            });
        }
        Self {
            _servers: servers,
            daemons,
            lab,
        }
    }

    /// Requests of `ab` in a second, each in a connection of its own unless `keep`.
    fn http(&self, requests: u32, keep: bool) -> Done {
        let keep = if keep { "-k" } else { "" };
        let said = self.lab.a.sh(&format!(
            "ab -q {keep} -n {requests} -c 8 http://10.9.2.1:8080/answer"
        ));
        assert!(said.contains("Failed requests:        0"), "{said}");
        let line = said.lines().find(|line| line.starts_with("Requests per"));
        let rate = line.and_then(|line| line.split_whitespace().nth(3));
        let in_a_second = rate.and_then(|rate| rate.parse().ok());
        Done {
            count: f64::from(requests),
            in_a_second: in_a_second.unwrap_or_else(|| panic!("ab tells a rate: {said}")),
        }
    }

    /// Requests of redis-benchmark in a second.
    fn redis(&self, requests: u32, test: &str) -> Done {
        let said = self.lab.a.sh(&format!(
            "redis-benchmark -h 10.9.2.1 -c 8 -n {requests} -t {test} --csv"
        ));
        let last = said.lines().last().unwrap_or_default();
        let rate = last.split(',').nth(1).map(|rate| rate.trim_matches('"'));
        let in_a_second = rate.and_then(|rate| rate.parse().ok());
        Done {
            count: f64::from(requests),
            in_a_second: in_a_second
                .unwrap_or_else(|| panic!("redis-benchmark tells a rate: {said}")),
        }
    }

    /// Requests to memcached in a second, by one thread with eight connections.
    fn memcached(&self, time: Duration) -> Done {
        const ANSWER: usize = "VALUE key 0 100\r\n".len() + 100 + "\r\nEND\r\n".len();
        let connect = || {
            let stream = TcpStream::connect("10.9.2.1:11211").expect("memcached listens");
            stream.set_nodelay(true).expect("is TCP");
            stream
        };
        let mut streams: Vec<TcpStream> = (0..8).map(|_| self.lab.a.enter(connect)).collect();
        let set = format!("set key 0 0 100\r\n{}\r\n", "x".repeat(100));
        streams[0].write_all(set.as_bytes()).expect("is open");
        let mut answer = [0; ANSWER];
        streams[0]
            .read_exact(&mut answer[.."STORED\r\n".len()])
            .expect("is open");
        let (begin, mut requests) = (Instant::now(), 0);
        while begin.elapsed() < time {
            for stream in &mut streams {
                stream.write_all(b"get key\r\n").expect("is open");
            }
            for stream in &mut streams {
                stream.read_exact(&mut answer).expect("is open");
                requests += 1;
            }
        }
        let count = f64::from(requests);
        Done {
            count,
            in_a_second: count / begin.elapsed().as_secs_f64(),
        }
    }
}

/// nginx with one worker, and an answer of 1 kB.
fn configure(folder: &Folder) {
    let path = folder.path().display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|what| format!("{what}_temp_path {path}/{what};"))
        .concat();
    let text = format!(
        "user root; master_process off; pid {path}/nginx.pid; error_log stderr; events {{ }}
         http {{
             access_log off; keepalive_requests 1000000; {temporary}
             server {{ listen 10.9.2.1:8080; root {path}; }}
         }}"
    );
    std::fs::write(folder.name("nginx.conf"), text).expect("the folder is ours");
    std::fs::write(folder.name("answer"), "x".repeat(1_000)).expect("the folder is ours");
}

type Work = fn(&Case) -> Done;

/// Compares what the three cases reach in a second, and prints what programs and daemons took for a piece of each work.
fn compare(title: &str, works: &[(&str, Work, f64)]) {
    println!("{title}");
    for (what, work, target) in works {
        let folder = Folder::create();
        configure(&folder);
        let cases = CASES.map(|(_, with)| Case::new(with, &folder));
        let rounds = Rounds::repeat(ROUNDS, cases.len(), |case| work(&cases[case]).in_a_second);
        for (case, (name, _)) in CASES.iter().enumerate() {
            let base = format!("{}, target {target}", CASES[0].0);
            let ratio = (case > 0).then(|| (rounds.ratio(case, 0), base.as_str()));
            print_row(&format!("{what}, {name}"), rounds.median(case), "/s", ratio);
        }
        println!("  of one, with sinks and sources:");
        let [.., both] = &cases;
        parts::print(&both.lab, &both.daemons, || work(both).count);
    }
    println!();
}

/// A connection for each request.
pub fn short() {
    compare(
        "short: connections of ab to nginx (1 worker, 8 at once, 1 kB), default settings",
        &[("connections", |case| case.http(10_000, false), 0.90)],
    );
}

/// Many requests in each connection.
pub fn run() {
    compare(
        "requests: 8 connections that stay, default settings",
        &[
            ("HTTP", |case| case.http(20_000, true), 0.95),
            ("redis GET", |case| case.redis(20_000, "get"), 0.95),
            ("redis LRANGE", |case| case.redis(5_000, "lrange_100"), 0.95),
            (
                "memcached get",
                |case| case.memcached(Duration::from_millis(500)),
                0.95,
            ),
        ],
    );
}

/// Which kernel functions and programs a short connection takes more, by what each host may take of the CPUs' time.
pub fn profile() {
    let folder = Folder::create();
    configure(&folder);
    let nothing = Case::new(With::Nothing, &folder);
    let for_a_while = |case: &Case| {
        let (begun, mut count) = (Instant::now(), 0.0);
        while begun.elapsed() < profile::TIME {
            count += case.http(5_000, false).count;
        }
        count
    };
    for budget in ["off", "2%"] {
        let case = Case::with_budget(With::Both, budget, &folder);
        for _ in 0..6 {
            for_a_while(&case);
        }
        for host in [&case.lab.a, &case.lab.b] {
            println!("  {}", host.figures()["budget"]);
        }
        profile::compare(
            &format!("short connections, budget {budget}"),
            || for_a_while(&nothing),
            || for_a_while(&case),
        );
        parts::print(&case.lab, &case.daemons, || for_a_while(&case));
    }
}

/// Connections for 10 s, so that the share of flows is what the budget allows, and requests, with nothing attached, and programs
/// that do nothing at the same places, in turn.
pub fn budget() {
    println!(
        "budget: short connections and requests of ab, sinks and sources, by what each host may take of the CPUs' time"
    );
    let folder = Folder::create();
    configure(&folder);
    let [nothing, beside] = [0; 2].map(|_| Case::new(With::Nothing, &folder));
    // A place takes a program once.
    let places = [Hook::TcxIngress, Hook::TcxIngress, Hook::TcxEgress].map(|it| (Noop::load(), it));
    let hosts = [(&beside.lab.a, "a0"), (&beside.lab.b, "b0")];
    let attached = hosts.map(|(host, dev)| {
        let attach = |(noop, place): &(Noop, Hook)| noop.attach(host, dev, *place);
        places.iter().map(attach).collect::<Vec<_>>()
    });
    for budget in BUDGETS {
        let case = Case::with_budget(With::Both, budget, &folder);
        for (what, requests, keep) in [("connections", 60_000, false), ("requests", 160_000, true)]
        {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(10) {
                case.http(requests, keep);
            }
            let cases = [&nothing, &beside, &case];
            let work = |of: usize| cases[of].http(requests, keep).in_a_second;
            let rounds = Rounds::repeat(5, cases.len(), work);
            let figures = case.lab.a.figures();
            let told = &figures["budget"];
            let (flows, ppm) = (&told["one_flow_in"], told["spent_ppm"].as_f64());
            let spent = ppm.unwrap_or_default() / 10_000.0;
            print_row(
                &format!("{what}, {budget}: one flow in {flows}, {spent:.2}% spent"),
                rounds.median(2),
                "/s",
                Some((rounds.ratio(2, 0), "nothing attached")),
            );
            print_row(
                "  programs that do nothing",
                rounds.median(1),
                "/s",
                Some((rounds.ratio(1, 0), "nothing attached")),
            );
        }
    }
    drop(attached);
    println!();
}
