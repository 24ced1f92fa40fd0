//! The state of TCP connections is that of the kernel, and the word for what limits each is right in made cases.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or, sh};
use hostint_testing::scratch::Folder;
use nix::sys::signal::Signal;
use nix::sys::socket::{setsockopt, sockopt};
use serde_json::Value;

/// A daemon that tells the connections of this host.
fn watch(host: &Host, flags: &str) -> Daemon {
    host.start(&format!("tcp --json {flags}"), "connections are watched")
}

/// The lines about connections from this port of the host.
fn told(daemon: &Daemon, port: u16) -> Vec<Value> {
    let mut all = daemon.json_lines();
    all.retain(|line| line["kind"] == "tcp-connection" && line["flow"]["sport"] == port);
    all
}

/// Ends the daemon, and returns all counts.
fn totals(mut daemon: Daemon) -> Value {
    daemon.totals("tcp-totals")
}

/// The two ends of a connection between hosts, and the client's port.
fn connect(from: &Host, to: &Host, addr: &str) -> (TcpStream, TcpStream, u16) {
    let listener = to.enter(|| TcpListener::bind(addr)).unwrap();
    let client = from.enter(|| TcpStream::connect(addr)).unwrap();
    let (server, _) = listener.accept().unwrap();
    let port = client.local_addr().unwrap().port();
    (client, server, port)
}

/// A thread that goes on until this is dropped.
struct Work {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Work {
    fn start(mut step: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                step();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// How an end of a connection is used.
#[derive(Clone, Copy)]
enum Pace {
    /// As fast as it goes.
    Fast,
    /// This many bytes, and then a pause of 20 ms.
    Slow(usize),
}

fn pause(pace: Pace) {
    if let Pace::Slow(_) = pace {
        thread::sleep(Duration::from_millis(20));
    }
}

fn len(pace: Pace) -> usize {
    match pace {
        Pace::Fast => 64 * 1024,
        Pace::Slow(bytes) => bytes,
    }
}

fn write(mut stream: TcpStream, pace: Pace) -> Work {
    let limit = Some(Duration::from_millis(200));
    stream.set_write_timeout(limit).unwrap();
    let bytes = vec![7; len(pace)];
    Work::start(move || {
        let _ = stream.write(&bytes);
        pause(pace);
    })
}

fn read(mut stream: TcpStream, pace: Pace) -> Work {
    let limit = Some(Duration::from_millis(200));
    stream.set_read_timeout(limit).unwrap();
    let mut bytes = vec![0; len(pace)];
    Work::start(move || {
        let _ = stream.read(&mut bytes);
        pause(pace);
    })
}

/// A made cause of a limit.
struct Case {
    sentence: &'static str,
    /// What is done to hosts before.
    setup: fn(&Lab),
    /// What is done to the sender's socket.
    tune: fn(&TcpStream),
    send: Pace,
    receive: Pace,
    limited: &'static str,
}

const PLAIN: Case = Case {
    sentence: "",
    setup: |_| {},
    tune: |_| {},
    send: Pace::Fast,
    receive: Pace::Fast,
    limited: "",
};

/// Acknowledgements take 26 ms each, so that a round trip is long, and data finds no queue.
fn delay(lab: &Lab) {
    lab.m
        .sh("tc qdisc add dev m0 root tbf rate 20kbit burst 200 limit 10000");
}

fn shape(host: &Host, dev: &str) {
    host.sh(&format!(
        "tc qdisc add dev {dev} root tbf rate 10mbit burst 5000 limit 200000"
    ));
}

const CASES: [Case; 8] = [
    Case {
        sentence: "the reader is slow",
        receive: Pace::Slow(4096),
        limited: "receiver",
        ..PLAIN
    },
    Case {
        sentence: "the send buffer is small",
        setup: delay,
        tune: |stream| setsockopt(stream, sockopt::SndBuf, &4096).unwrap(),
        limited: "send-buffer",
        ..PLAIN
    },
    Case {
        sentence: "the application is idle most of the time",
        send: Pace::Slow(100),
        limited: "application",
        ..PLAIN
    },
    Case {
        sentence: "a router's queue is the bottleneck",
        setup: |lab| shape(&lab.m, "m1"),
        limited: "path",
        ..PLAIN
    },
    Case {
        sentence: "the host's own queue is the bottleneck",
        setup: |lab| shape(&lab.a, "a0"),
        limited: "host-queue",
        ..PLAIN
    },
    Case {
        sentence: "one packet in a hundred is lost",
        setup: |lab| {
            lab.m.sh(
                "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
                 nft add rule ip lab f iifname m0 numgen random mod 100 == 0 drop",
            );
            lab.m
                .sh("tc qdisc add dev m1 root tbf rate 100mbit burst 20000 limit 2000000");
        },
        limited: "path",
        ..PLAIN
    },
    Case {
        sentence: "the window cannot grow, because window scaling is off",
        setup: |lab| {
            lab.b.sh("sysctl -qw net.ipv4.tcp_window_scaling=0");
            delay(lab);
        },
        limited: "receiver",
        ..PLAIN
    },
    Case {
        sentence: "all is well, and the application sends what it has",
        send: Pace::Slow(20_000),
        limited: "application",
        ..PLAIN
    },
];

/// Returns what is wrong: the word was not told in three samples one after the other.
fn check(case: &Case) -> Option<String> {
    let lab = Lab::new();
    (case.setup)(&lab);
    let daemon = watch(&lab.a, "--report sample --sample-period 300ms");
    let (client, server, port) = connect(&lab.a, &lab.b, "10.9.2.1:7001");
    // Others pace, and fill no window.
    setsockopt(&client, sockopt::TcpCongestion, &"reno".into()).unwrap();
    (case.tune)(&client);
    let _reader = read(server, case.receive);
    let _writer = write(client, case.send);
    let deadline = Instant::now() + Duration::from_secs(20);
    let limits = || -> Vec<String> {
        let told = told(&daemon, port).into_iter();
        told.map(|line| line["limited"].as_str().unwrap().to_owned())
            .collect()
    };
    let is_right = |limits: &[String]| {
        let mut threes = limits.windows(3);
        threes.any(|three| three.iter().all(|limit| limit == case.limited))
    };
    while !is_right(&limits()) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(50));
    }
    (!is_right(&limits())).then(|| {
        let last = told(&daemon, port).pop();
        format!(
            "{}: {} expected, told {:?}\n{last:?}",
            case.sentence,
            case.limited,
            limits()
        )
    })
}

#[test]
fn what_limits_a_connection_is_told_in_eight_made_cases() {
    let wrong: Vec<String> = CASES.iter().filter_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The value behind a name in the output of `ss -ti`, which separates them by a colon or a space.
fn value_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut words = text.split_whitespace();
    let has_name = |word: &&str| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(':'))
    };
    let word = words.find(has_name)?;
    word.split_once(':').map(|(_, value)| value)
}

#[test]
fn the_figures_are_those_that_ss_shows() {
    let lab = Lab::new();
    let (mut client, mut server, port) = connect(&lab.a, &lab.b, "10.9.2.1:7001");
    // Five bytes there are not read; a hundred thousand are.
    let sent = vec![7; 100_000];
    let reader = thread::spawn(move || {
        let mut bytes = vec![0; 100_000];
        server.read_exact(&mut bytes).unwrap();
        server.write_all(b"12345").unwrap();
        server
    });
    client.write_all(&sent).unwrap();
    let _server = reader.join().unwrap();
    let daemon = watch(&lab.a, "--report sample --sample-period 100ms");
    let count = || told(&daemon, port).len();
    await_that("the connection is told", || count() >= 2);
    let before = count();
    let shown = lab.a.sh(&format!("ss -tinH 'sport = :{port}'"));
    await_that("it is told again", || count() > before + 1);
    let line = told(&daemon, port).pop().unwrap();
    assert_eq!(line["begun_ns"], Value::Null, "it was open before: {line}");
    let tcp = &line["tcp"];
    let number = |name: &str| -> f64 {
        let text = value_of(&shown, name).unwrap_or("0");
        let text = text.split(['/', 'm']).next().unwrap();
        text.parse().unwrap_or_else(|_| panic!("{name} in {shown}"))
    };
    for (key, name, times) in [
        ("bytes_sent", "bytes_sent", 1.0),
        ("bytes_acked", "bytes_acked", 1.0),
        ("bytes_received", "bytes_received", 1.0),
        ("data_segments_out", "data_segs_out", 1.0),
        ("delivered", "delivered", 1.0),
        ("cwnd_segments", "cwnd", 1.0),
        ("mss_bytes", "mss", 1.0),
        ("srtt_us", "rtt", 1000.0),
        ("min_rtt_us", "minrtt", 1000.0),
        ("rto_us", "rto", 1000.0),
        ("busy_us", "busy", 1000.0),
        ("notsent_bytes", "notsent", 1.0),
        ("snd_wnd_bytes", "snd_wnd", 1.0),
    ] {
        let own = tcp[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key} in {tcp}"));
        assert!(
            (own - number(name) * times).abs() < 1.0,
            "{key}: {own} in {tcp}, but {name} in {shown}"
        );
    }
    // On a busy machine a segment may be sent twice.
    let (_, all_of_them) = value_of(&shown, "retrans")
        .and_then(|both| both.split_once('/'))
        .unwrap_or(("0", "0"));
    assert_eq!(tcp["total_retrans"].to_string(), all_of_them, "{shown}");
    assert_eq!(tcp["unread_bytes"], 5, "{tcp}");
    assert_eq!(tcp["state"], "established");
    let control = tcp["congestion_control"].as_str().unwrap();
    assert!(shown.contains(control), "{control} in {shown}");
    assert_eq!(tcp["window_scaled"], shown.contains("wscale"), "{shown}");
}

#[test]
fn connections_that_were_open_before_are_seen_within_a_period() {
    let lab = Lab::new();
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let mut open = Vec::new();
    for _ in 0..200 {
        let client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001"));
        open.push((client.unwrap(), listener.accept().unwrap()));
    }
    let daemon = watch(&lab.a, "--sample-period 1h");
    await_that("all are told by the first walk", || {
        let news = daemon.json_lines();
        news.iter().filter(|line| line["why"] == "open").count() == 200
    });
    let totals = totals(daemon);
    assert_eq!(totals["open"], 200, "{totals}");
    assert_eq!(totals["begun"], 0, "{totals}");
}

#[test]
fn a_connection_that_ended_is_kept_however_short_it_was() {
    let lab = Lab::new();
    let daemon = watch(&lab.a, "--sample-period 1h");
    // The first walk is over.
    await_that("the walk is over", || !daemon.stderr().is_empty());
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let mut ports = Vec::new();
    for i in 0..50_usize {
        let mut client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001")).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        ports.push(client.local_addr().unwrap().port());
        client.write_all(&vec![7; 100 + i]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut all = Vec::new();
        server.read_to_end(&mut all).unwrap();
        drop(server);
        client.read_to_end(&mut all).unwrap();
    }
    let ended = |port: u16| {
        told(&daemon, port)
            .into_iter()
            .find(|one| one["why"] == "end")
    };
    await_that("all are told", || {
        ports.iter().all(|port| ended(*port).is_some())
    });
    for (i, port) in ports.iter().enumerate() {
        let line = ended(*port).unwrap();
        assert_eq!(line["tcp"]["bytes_sent"], 100 + i, "{line}");
        // The number of the FIN counts as a byte, as in `ss -ti`.
        assert_eq!(line["tcp"]["bytes_acked"], 100 + i + 2, "{line}");
        assert!(
            line["begun_ns"].as_u64() < line["time_ns"].as_u64(),
            "{line}"
        );
    }
    let totals = totals(daemon);
    for (key, count) in [
        ("begun", 50),
        ("ended", 50),
        ("short", 50),
        ("open", 0),
        ("ends_lost", 0),
    ] {
        assert_eq!(totals[key], count, "{key} of {totals}");
    }
}

#[test]
fn endings_beyond_the_limit_are_counted() {
    let lab = Lab::new();
    let daemon = watch(&lab.a, "--sample-period 1h --max-endings 1");
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    for _ in 0..50 {
        let client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7001"));
        drop((client.unwrap(), listener.accept().unwrap()));
    }
    let count =
        |what: &dyn Fn(&Value) -> bool| daemon.json_lines().iter().filter(|one| what(one)).count();
    await_that("some are told", || count(&|one| one["why"] == "end") > 0);
    await_that("the kernel closed all of them", || {
        lab.a
            .sh("ss -tnH state connected exclude time-wait")
            .is_empty()
    });
    let told = count(&|one| one["why"] == "end") as u64;
    let totals = totals(daemon);
    assert_eq!(totals["ended"], 50, "{totals}");
    assert!(totals["ends_limited"].as_u64().unwrap() >= 40, "{totals}");
    assert!(told <= 10, "{told} of {totals}");
}

const RULES: &str = r#"
[[watch]]
class = "web"
to-port = ["443", "8000-8099"]
[[watch]]
class = "six"
to = ["fd09:2::/64"]
to-port = ["7003"]
[[watch]]
class = "mine"
from = ["10.9.1.0/24"]
to-port = ["7004"]
[[watch]]
action = "exclude"
priority = 200
to-port = ["8005"]
"#;

#[test]
fn rules_choose_connections_and_may_change() {
    let lab = Lab::new();
    lab.add_ipv6();
    let folder = Folder::create();
    let config = folder.name("rules.toml");
    std::fs::write(&config, RULES).unwrap();
    let daemon = watch(&lab.a, &format!("--config {config} --sample-period 200ms"));
    let mut open = Vec::new();
    for (addr, sentence, class) in [
        ("10.9.2.1:443", "a port of a list", Some("web")),
        ("10.9.2.1:8099", "the last port of a range", Some("web")),
        ("10.9.2.1:8100", "the port behind a range", None),
        ("10.9.2.1:8005", "a port that a rule excludes", None),
        ("10.9.2.1:7003", "a port for IPv6 alone", None),
        ("[fd09:2::1]:443", "a port of any address", Some("web")),
        ("[fd09:2::1]:7003", "an IPv6 prefix", Some("six")),
        ("10.9.2.1:7004", "an address of its own", Some("mine")),
        ("[fd09:2::1]:7004", "another address of its own", None),
    ] {
        let (client, server, port) = connect(&lab.a, &lab.b, addr);
        open.push((client, server, port, sentence, class));
    }
    // A socket for IPv6 that talks IPv4.
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:8001")).unwrap();
    let mapped = SocketAddr::from((Ipv4Addr::new(10, 9, 2, 1).to_ipv6_mapped(), 8001));
    let client = lab.a.enter(|| TcpStream::connect(mapped)).unwrap();
    let (server, _) = listener.accept().unwrap();
    let port = client.local_addr().unwrap().port();
    open.push((client, server, port, "a mapped address", Some("web")));
    let has_class = |port: u16, class: &str| {
        let told = told(&daemon, port);
        told.iter().any(|one| one["class"] == class)
    };
    for (.., port, sentence, class) in &open {
        let Some(class) = class else { continue };
        await_that_or(
            || has_class(*port, class),
            || format!("{sentence}: {}", daemon.stdout()),
        );
    }
    for (.., port, sentence, class) in &open {
        let is_told = !told(&daemon, *port).is_empty();
        assert_eq!(is_told, class.is_some(), "{sentence}: {}", daemon.stdout());
    }
    assert_eq!(told(&daemon, port)[0]["flow"]["dst"], "10.9.2.1");
    // Other rules hold for connections that are open, too.
    let other = "[[watch]]\nclass = \"other\"\nto-port = [\"8100\"]\n";
    std::fs::write(&config, other).unwrap();
    daemon.signal(Signal::SIGHUP);
    let (_, _, excluded_before, ..) = open[2];
    await_that_or(
        || has_class(excluded_before, "other"),
        || format!("{}\n{}", daemon.stdout(), daemon.stderr()),
    );
}

/// A view of the cgroup2 hierarchy, and a cgroup of the test's own in it.
struct Cgroup {
    mount: Folder,
    name: String,
}

impl Cgroup {
    fn create() -> Self {
        let mount = Folder::create();
        let name = format!("hi{}", std::process::id());
        let path = mount.path().display();
        sh(&format!(
            "mount -t cgroup2 none {path}; mkdir -p {path}/{name}/inner"
        ));
        Self { mount, name }
    }

    fn path(&self, below: &str) -> String {
        self.mount.name(&format!("{}{below}", self.name))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let (path, mount) = (self.path(""), self.mount.path().display());
        // A process that just ended may still be there.
        await_that("the cgroup is empty", || {
            sh(&format!("rmdir {path}/inner 2>/dev/null || true"));
            !std::path::Path::new(&format!("{path}/inner")).exists()
        });
        sh(&format!("rmdir {path}; umount {mount}"));
    }
}

#[test]
fn a_cgroup_chooses_sockets_of_it_and_below_it() {
    let lab = Lab::new();
    let cgroup = Cgroup::create();
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7001")).unwrap();
    let (_outside, _server, outside) = connect(&lab.a, &lab.b, "10.9.2.1:7002");
    let script = format!(
        "echo $$ > {}/cgroup.procs; exec python3 -c 'import socket
client = socket.create_connection((\"10.9.2.1\", 7001))
client.recv(1)'",
        cgroup.path("/inner")
    );
    let mut inside = lab.a.command("sh", &["-c", &script]).spawn().unwrap();
    let (server, peer) = listener.accept().unwrap();
    for below in ["", "/inner"] {
        let daemon = watch(&lab.a, &format!("--cgroup {}", cgroup.path(below)));
        await_that_or(
            || !told(&daemon, peer.port()).is_empty(),
            || format!("{below}: {}\n{}", daemon.stdout(), daemon.stderr()),
        );
        assert!(told(&daemon, outside).is_empty(), "{}", daemon.stdout());
    }
    drop(server);
    inside.wait().unwrap();
    let output = lab.a.try_hostint("tcp --once --cgroup /proc");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("no folder of a cgroup2 file system"),
        "{text}"
    );
}

/// The ids of the BPF programs that a process holds.
fn programs_of(pid: u64) -> Vec<u32> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap();
    let texts = files.filter_map(|file| std::fs::read_to_string(file.ok()?.path()).ok());
    let ids = texts.filter_map(|text| {
        let mut lines = text.lines();
        let id = lines.find_map(|line| line.strip_prefix("prog_id:"))?;
        id.trim().parse().ok()
    });
    ids.collect()
}

#[test]
fn nothing_stays_behind_in_the_kernel() {
    let lab = Lab::new();
    let (mut client, mut server, port) = connect(&lab.a, &lab.b, "10.9.2.1:7001");
    let daemon = watch(&lab.a, "--sample-period 100ms");
    await_that("the connection is told", || !told(&daemon, port).is_empty());
    let programs = programs_of(daemon.pid());
    assert!(!programs.is_empty(), "the daemon holds programs");
    totals(daemon);
    await_that("the programs are gone", || {
        let mut all = libbpf_rs::query::ProgInfoIter::default();
        !all.any(|info| programs.contains(&info.id))
    });
    client.write_all(b"still there").unwrap();
    let mut bytes = [0; 11];
    server.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"still there");
}

#[test]
fn metrics_sum_up_all_connections() {
    let lab = Lab::new();
    lab.a.sh("ip link set lo up");
    let daemon = watch(&lab.a, "--sample-period 200ms --http 127.0.0.1");
    let (mut client, mut server, _) = connect(&lab.a, &lab.b, "10.9.2.1:7001");
    client.write_all(&[7; 1000]).unwrap();
    server.read_exact(&mut [0; 1000]).unwrap();
    let page = || super::metrics::get(&lab.a, 13280, "/metrics").1;
    let value = |name: &str| -> u64 {
        let page = page();
        let mut lines = page.lines();
        let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        found.map_or(0, |value| value.parse().unwrap())
    };
    // The connections of the scrapes are watched, too.
    for (name, least) in [
        ("hostint_tcp_acked_bytes_total", 1001),
        (
            "hostint_tcp_connections{class=\"\",limited=\"application\"}",
            1,
        ),
        ("hostint_tcp_begun_total", 1),
        ("hostint_tcp_srtt_seconds_count", 1),
        ("hostint_tcp_walks_total", 1),
    ] {
        await_that_or(
            || value(name) >= least,
            || format!("{name}: {}\n{}", page(), daemon.stderr()),
        );
    }
    assert_eq!(value("hostint_tcp_retransmitted_segments_total"), 0);
}

#[test]
fn a_table_of_connections_is_printed_once() {
    let lab = Lab::new();
    let (_client, _server, port) = connect(&lab.a, &lab.b, "10.9.2.1:7001");
    let text = lab.a.hostint("tcp --once=300ms");
    assert!(text.contains("1 connection open"), "{text}");
    let row = format!(":{port} > 10.9.2.1:7001  application");
    assert!(text.contains(&row), "{text}");
}
