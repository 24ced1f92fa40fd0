//! A collector that is overloaded or lied to counts every report that it loses.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use hostint::collector::{Exporters, Reception, ReportListener, decode};
use hostint::os::clock;
use hostint_testing::harness::Daemon;
use hostint_testing::places;
use hostint_testing::random::Random;
use nix::sys::signal::Signal;

const LATE: Duration = Duration::from_secs(60);

/// A collector on loopback, and where.
fn collect(args: &[&str]) -> (Daemon, SocketAddr) {
    let mut daemon = Daemon::start(
        Command::new(places::hostint())
            .args(["collect", "--listen", "127.0.0.1:0"])
            .args(args)
            .env("HOSTINT_STORE", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::piped()),
    );
    let line = daemon.wait_for("collecting on ");
    let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    (daemon, address)
}

/// The number before each of these words in the last line.
fn numbers<const N: usize>(said: &str, words: [&str; N]) -> [u64; N] {
    let line = said.lines().last().unwrap();
    words.map(|word| {
        let at = line.find(word).unwrap_or_else(|| panic!("{word}: {line}"));
        let number = line[..at].trim_end().rsplit([' ', ',']).next().unwrap();
        number.parse().unwrap_or_else(|_| panic!("{word}: {line}"))
    })
}

/// The most memory that a process has had, in KiB.
fn peak_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A latency report with this number.
fn report(number: u32) -> Vec<u8> {
    static REPORT: OnceLock<Vec<u8>> = OnceLock::new();
    let report =
        REPORT.get_or_init(|| hostint_testing::golden::udp_payload("hostint_report_l4_udp"));
    let mut datagram = report.clone();
    datagram[4..8].copy_from_slice(&number.to_be_bytes());
    datagram
}

#[test]
fn sent_is_stored_and_every_counter_of_loss() {
    for receivers in ["1", "3"] {
        let args = ["--json", "--queue", "1M", "--receivers", receivers];
        let (mut daemon, address) = collect(&args);
        let sockets: Vec<_> = (1..=8)
            .map(|host| UdpSocket::bind(format!("127.0.0.{host}:0")).unwrap())
            .collect();
        let idle = peak_kib(daemon.child.id());
        // Nobody reads the lines: the pipe is full soon, and the queue soon after.
        let offered: u32 = 200_000;
        for number in 1..=offered {
            let mut datagram = report(number);
            if number % 10 == 0 {
                // Of another version, or cut.
                datagram[0] = 0x70;
            } else if number % 10 == 5 {
                datagram.truncate(50);
            }
            let socket = &sockets[number as usize % sockets.len()];
            socket.send_to(&datagram, address).unwrap();
        }
        let peak = peak_kib(daemon.child.id());
        assert!(peak < idle + 20_000, "{idle} KiB, then {peak} KiB");
        // Somebody reads again: what waited comes, and what is new.
        let out = BufReader::new(daemon.child.stdout.take().unwrap());
        let (seen, new) = channel();
        let reader = std::thread::spawn(move || {
            let is_new = |line: &String| line.contains("\"report_seq\":4294967295,");
            let lines = out.lines().map(|line| line.unwrap());
            let note = |line: &String| {
                if is_new(line) {
                    let _ = seen.send(());
                }
            };
            lines.inspect(note).count() as u64
        });
        let mut sent = u64::from(offered);
        let end = Instant::now() + LATE;
        loop {
            assert!(Instant::now() < end, "does not recover");
            sockets[0].send_to(&report(u32::MAX), address).unwrap();
            sent += 1;
            if new.recv_timeout(Duration::from_millis(20)).is_ok() {
                break;
            }
        }
        daemon.signal(Signal::SIGTERM);
        let written = reader.join().unwrap();
        assert!(written * 10 < sent, "{written} lines: no overload");
        let (code, said) = daemon.end();
        assert_eq!(code, Some(0), "{said}");
        let [datagrams, reports, undecodable, socket, queue] = numbers(
            &said,
            [
                " datagrams, ",
                " reports from",
                " undecodable",
                " dropped by the socket",
                " dropped at the queue",
            ],
        );
        assert_eq!(written, reports, "{said}");
        assert_eq!(datagrams, written + undecodable + queue, "{said}");
        assert_eq!(sent, datagrams + socket, "{said}");
        assert!(queue > 0 && undecodable > 0, "{said}");
    }
}

#[test]
fn what_was_sent_before_the_end_is_written() {
    let (mut daemon, address) = collect(&["--json", "--receivers", "2"]);
    let out = daemon.child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || BufReader::new(out).lines().count() as u64);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let sent = 5_000;
    for number in 1..=sent {
        socket.send_to(&report(number), address).unwrap();
    }
    daemon.signal(Signal::SIGTERM);
    let (code, said) = daemon.end();
    assert_eq!(code, Some(0), "{said}");
    let [datagrams, reports, socket, queue] = numbers(
        &said,
        [
            " datagrams, ",
            " reports from",
            " dropped by the socket",
            " dropped at the queue",
        ],
    );
    assert_eq!((datagrams + socket, queue), (sent.into(), 0), "{said}");
    assert_eq!(
        (reports, reader.join().unwrap()),
        (datagrams, datagrams),
        "{said}"
    );
}

/// A collector without lines.
struct Collector {
    reception: Reception,
    address: SocketAddr,
    exporters: Exporters,
    sent: u64,
}

impl Collector {
    fn new() -> Self {
        let listener = ReportListener::bind(&["127.0.0.1:0".parse().unwrap()], 2).unwrap();
        Self {
            address: listener.local_addresses()[0],
            reception: listener.start(16 << 20, clock::realtime_ns).unwrap(),
            exporters: Exporters::default(),
            sent: 0,
        }
    }

    fn send(&mut self, socket: &UdpSocket, datagram: &[u8]) {
        socket.send_to(datagram, self.address).unwrap();
        self.sent += 1;
    }

    /// Takes all that was sent.
    fn take(&mut self) {
        let end = Instant::now() + LATE;
        let taken = |exporters: &Exporters| {
            let counts = exporters.counts();
            counts.decoded + counts.not_decoded
        };
        while taken(&self.exporters) < self.sent {
            assert!(Instant::now() < end);
            let exporters = &mut self.exporters;
            self.reception
                .next(Duration::from_millis(20), |bytes, arrival| {
                    match decode(bytes) {
                        Ok(group) => drop(exporters.received(arrival, &group)),
                        Err(err) => exporters.undecodable(arrival, &err),
                    }
                    true
                });
        }
    }
}

/// Numbers of a good exporter's reports, one after another.
struct Good {
    socket: UdpSocket,
    number: u32,
}

impl Good {
    fn send(&mut self, collector: &mut Collector) {
        self.number += 1;
        collector.send(&self.socket, &report(self.number));
    }
}

/// What a hostile exporter sends.
type Attack = fn(&mut Random, &[Vec<u8>], u32) -> Vec<u8>;

#[test]
fn hostile_exporters_cost_others_nothing() {
    let random_bytes: Attack = |random, _, _| {
        let length = random.below(300);
        random.bytes(length)
    };
    let wrong_lengths: Attack = |random, known, _| {
        let mut datagram = known[random.below(known.len())].clone();
        let length = random.below(2 * datagram.len());
        datagram.resize(length, 0);
        datagram
    };
    let replay: Attack = |_, known, _| known[0].clone();
    let any_number: Attack = |random, _, _| report(random.u32());
    let backwards: Attack = |_, _, turn| report(u32::MAX - turn);
    let any_node: Attack = |random, known, _| {
        let mut group = known[1].clone();
        group[4..8].copy_from_slice(&random.u32().to_be_bytes());
        group
    };
    let attacks = [
        random_bytes,
        wrong_lengths,
        replay,
        any_number,
        backwards,
        any_node,
    ];
    let known = ["hostint_report_l4_udp", "tr20_coalesced"].map(str::to_owned);
    let known = known
        .into_iter()
        .chain(hostint_testing::golden::with_reports());
    let known: Vec<_> = known
        .map(|name| hostint_testing::golden::udp_payload(&name))
        .collect();
    let (mut random, _) = Random::from_env();
    let mut collector = Collector::new();
    let mut good = Good {
        socket: UdpSocket::bind("127.0.0.1:0").unwrap(),
        number: 0,
    };
    let forged = 10_000;
    for exporter in 0..forged {
        let address = format!("127.{}.{}.9:0", 1 + exporter / 250, exporter % 250);
        let socket = UdpSocket::bind(address).unwrap();
        collector.send(&socket, &report(7));
        let attack = attacks[exporter as usize % attacks.len()];
        collector.send(&socket, &attack(&mut random, &known, exporter));
        if exporter % 32 == 0 {
            good.send(&mut collector);
            collector.take();
        }
    }
    // One of them has all it wants.
    let loud = UdpSocket::bind("127.0.0.2:0").unwrap();
    for turn in 0..30_000 {
        let attack = attacks[turn as usize % attacks.len()];
        collector.send(&loud, &attack(&mut random, &known, turn));
        if turn % 64 == 0 {
            good.send(&mut collector);
            collector.take();
        }
    }
    collector.take();
    let counts = collector.reception.observer().get();
    assert_eq!((counts.datagrams, counts.queue_drops), (collector.sent, 0));
    assert_eq!((counts.socket_drops, counts.errors), (0, 0));
    let sums = collector.exporters.counts();
    assert_eq!(sums.decoded + sums.not_decoded, collector.sent);
    assert_eq!(sums.forgotten, 0);
    let mut of_address: HashMap<IpAddr, usize> = HashMap::new();
    for one in collector.exporters.each() {
        *of_address.entry(one.exporter).or_default() += 1;
    }
    assert_eq!(of_address.len() as u64, u64::from(forged) + 2);
    let loud: IpAddr = "127.0.0.2".parse().unwrap();
    assert_eq!(of_address[&loud], 1024, "its share, and no more");
    let each = collector.exporters.each();
    let own = each
        .iter()
        .find(|one| one.exporter == good.socket.local_addr().unwrap().ip());
    let own = own.unwrap();
    let expected = u64::from(good.number);
    assert_eq!((own.reports, own.numbers.received), (expected, expected));
    let trouble = (
        own.numbers.lost,
        own.numbers.duplicates,
        own.numbers.restarts,
    );
    assert_eq!(trouble, (0, 0, 0));
}
