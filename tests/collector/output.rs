//! A collector's output file is rotated, by others or by itself, and meets a full disk without losing count.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hostint::os::line_file::LineFile;
use hostint_testing::harness::Daemon;
use hostint_testing::places;
use hostint_testing::scratch::Folder;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use serde_json::Value;

const LATE: Duration = Duration::from_secs(30);

/// A collector that writes to this file, and who sends it numbered reports.
struct Collector {
    daemon: Daemon,
    address: SocketAddr,
    socket: UdpSocket,
    sent: u32,
}

impl Collector {
    fn start(output: &Path, args: &[&str]) -> Self {
        let mut daemon = Daemon::start(
            Command::new(places::hostint())
                .args(["collect", "--listen", "127.0.0.1:0", "--json", "--output"])
                .arg(output)
                .args(args)
                .env("HOSTINT_STORE", "none")
                .stdin(Stdio::null())
                .stdout(Stdio::null()),
        );
        let line = daemon.wait_for("collecting on ");
        let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        Self {
            daemon,
            address,
            socket: UdpSocket::bind("127.0.0.1:0").unwrap(),
            sent: 0,
        }
    }

    fn send(&mut self, count: u32) {
        let mut report = hostint_testing::golden::udp_payload("hostint_report_l4_udp");
        for _ in 0..count {
            self.sent += 1;
            report[4..8].copy_from_slice(&self.sent.to_be_bytes());
            self.socket.send_to(&report, self.address).unwrap();
        }
    }

    /// What it says at its end.
    fn end(self) -> String {
        self.daemon.signal(Signal::SIGTERM);
        let (code, said) = self.daemon.end();
        assert_eq!(code, Some(0), "{said}");
        said
    }
}

fn await_that(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + LATE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The numbers of the reports in a file. The last line may be read while it is written: it counts once it is whole.
fn numbers(path: &Path) -> Vec<u64> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let (text, _) = text.rsplit_once('\n').unwrap_or_default();
    let number = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["report_seq"].as_u64().unwrap()
    };
    text.lines().map(number).collect()
}

#[test]
fn a_file_that_was_renamed_is_opened_anew() {
    for signal in [Signal::SIGHUP, Signal::SIGUSR1] {
        let scratch = Folder::create();
        let (path, old) = (scratch.file("reports"), scratch.file("reports.1"));
        let mut collector = Collector::start(&path, &[]);
        collector.send(10);
        await_that("ten lines", || numbers(&path).len() == 10);
        fs::rename(&path, &old).unwrap();
        collector.send(5);
        await_that("five more in the old file", || numbers(&old).len() == 15);
        collector.daemon.signal(signal);
        await_that("it is there again", || path.exists());
        collector.send(10);
        let said = collector.end();
        assert!(said.contains("25 datagrams, 25 reports"), "{said}");
        assert_eq!(numbers(&old), (1..=15).collect::<Vec<_>>(), "{signal}");
        assert_eq!(numbers(&path), (16..=25).collect::<Vec<_>>(), "{signal}");
    }
}

#[test]
fn a_file_is_rotated_by_its_size() {
    let scratch = Folder::create();
    let path = scratch.file("reports");
    let args = ["--output-size", "64k", "--output-keep", "3"];
    let mut collector = Collector::start(&path, &args);
    let written = |name: &str| fs::metadata(scratch.file(name)).map_or(0, |file| file.len());
    let send = |collector: &mut Collector| {
        collector.send(50);
        let sent = collector.sent.into();
        let last = || numbers(&path).last() == Some(&sent);
        await_that("the last one is written", last);
    };
    while written("reports.3") == 0 {
        send(&mut collector);
    }
    let sent = u64::from(collector.sent);
    collector.end();
    let names = ["reports.3", "reports.2", "reports.1", "reports"];
    let all: Vec<u64> = names
        .iter()
        .flat_map(|name| numbers(&scratch.file(name)))
        .collect();
    assert_eq!(
        all,
        (1..=sent).collect::<Vec<_>>(),
        "nothing is lost or twice"
    );
    assert!(names.iter().all(|name| written(name) <= 64 << 10));
    // Another one goes on where it ended, and keeps as many.
    let mut collector = Collector::start(&path, &args);
    let before = names.map(|name| numbers(&scratch.file(name)));
    while numbers(&scratch.file("reports.3")) == before[0] {
        send(&mut collector);
    }
    collector.end();
    assert_eq!(numbers(&scratch.file("reports.3")), before[1]);
    assert_eq!(numbers(&scratch.file("reports.2")), before[2]);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 4);
}

#[test]
fn a_full_disk_costs_lines_that_are_counted_until_it_is_over() {
    let scratch = Folder::create();
    let path = scratch.file("reports");
    symlink("/dev/full", &path).unwrap();
    let mut collector = Collector::start(&path, &[]);
    collector.send(20);
    let line = collector.daemon.wait_for("cannot write to ");
    assert!(line.contains("No space left on device"), "{line}");
    fs::remove_file(&path).unwrap();
    collector.daemon.signal(Signal::SIGHUP);
    await_that("it is a file now", || path.exists());
    collector.send(7);
    collector.daemon.wait_for("again; 20 were lost");
    let said = collector.end();
    assert!(said.contains("27 datagrams, 27 reports"), "{said}");
    assert!(said.contains(", 20 lines not written"), "{said}");
    assert_eq!(numbers(&path), (21..=27).collect::<Vec<_>>());
}

#[test]
fn a_reader_that_is_slow_costs_lines_and_holds_up_nobody() {
    let scratch = Folder::create();
    let path = scratch.file("reports");
    nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
    let reader: File = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(&path)
        .unwrap();
    let mut collector = Collector::start(&path, &[]);
    collector.send(2_000);
    collector.daemon.wait_for("cannot write to ");
    let mut lines = String::new();
    let mut reader = BufReader::new(reader);
    let end = Instant::now() + LATE;
    let old = collector.sent;
    let has_new = |lines: &str, sent: u32| {
        let mut new = old + 1..=sent;
        new.any(|one| lines.contains(&format!("\"report_seq\":{one},")))
    };
    while !has_new(&lines, collector.sent) {
        assert!(Instant::now() < end, "does not recover");
        collector.send(1);
        while reader.read_line(&mut lines).is_ok_and(|bytes| bytes > 0) {}
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = collector.sent;
    let said = collector.end();
    let _ = reader.read_to_string(&mut lines);
    let whole = lines.lines();
    let whole = whole.filter(|line| serde_json::from_str::<Value>(line).is_ok());
    let lost = sent as usize - whole.count();
    assert!(said.contains(&format!("{sent} reports")), "{said}");
    assert!(
        said.contains(&format!(", {lost} lines not written")),
        "{lost}: {said}"
    );
}

#[test]
fn a_line_that_lacks_only_its_end_is_not_lost() {
    // As much as a pipe of one page takes.
    const ROOM: usize = 4096;
    /// How many bytes find no room, and how many of two lines are lost by that.
    const CASES: [(&str, usize, u64); 4] = [
        ("the last line lacks its end", 1, 0),
        ("and a letter", 2, 1),
        ("the first line lacks its end", 2001, 1),
        ("and a letter", 2002, 2),
    ];
    let scratch = Folder::create();
    for (n, (name, behind, lost)) in CASES.into_iter().enumerate() {
        let path = scratch.file(&format!("fifo-{n}"));
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
        let mut reader = OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(&path)
            .unwrap();
        fcntl(&reader, FcntlArg::F_SETPIPE_SZ(ROOM as i32)).unwrap();
        let mut file = LineFile::open(path, None).unwrap();
        let first = format!("{}\n", "a".repeat(ROOM + behind - 2001));
        let last = format!("{}\n", "b".repeat(1999));
        let lines = format!("{first}{last}");
        assert_eq!(lines.len(), ROOM + behind);
        assert!(file.append(lines.as_bytes()).is_err(), "{name}");
        assert_eq!(
            (file.counts().lines, file.counts().lost),
            (2 - lost, lost),
            "{name}"
        );
        // The next line begins a line.
        let mut read = vec![0; ROOM];
        reader.read_exact(&mut read).unwrap();
        file.append(b"next\n").unwrap();
        let mut rest = [0; 6];
        reader.read_exact(&mut rest).unwrap();
        assert_eq!(&rest, b"\nnext\n", "{name}");
        assert!(lines.as_bytes().starts_with(&read), "{name}");
        assert_eq!(file.counts().lines, 3 - lost, "{name}");
    }
}

#[test]
fn a_capture_becomes_a_file_too() {
    let scratch = Folder::create();
    let (path, lines) = (scratch.file("reports"), scratch.file("lines"));
    let mut collector = Collector::start(&path, &[]);
    collector.send(3);
    await_that("three lines", || numbers(&path).len() == 3);
    collector.end();
    let output = Command::new(places::hostint())
        .args(["collect", "--json", "--read"])
        .arg(&path)
        .arg("--output")
        .arg(&lines)
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
    assert_eq!(fs::read(&path).unwrap(), fs::read(&lines).unwrap());
}
