//! A collector's output file is rotated, by others or by itself, and meets a full disk without losing count.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
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
        Self::start_with(Command::new(places::hostint()), output, args)
    }

    /// By a command that only lacks arguments.
    fn start_with(mut command: Command, output: &Path, args: &[&str]) -> Self {
        let mut daemon = Daemon::start(
            command
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

/// Whether it is ready, and why not.
fn readiness(http: SocketAddr) -> (bool, String) {
    let mut client = TcpStream::connect(http).unwrap();
    let request = format!("GET /readyz HTTP/1.1\r\nHost: {http}\r\nConnection: close\r\n\r\n");
    client.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.starts_with("HTTP/1.1 200"), body.to_owned())
}

#[test]
fn a_full_disk_leaves_whole_lines_and_the_collector_is_not_ready_meanwhile() {
    // The file may not become larger, as if the disk were full: a write that goes beyond is cut.
    const FULL: u64 = 16 << 10;
    let scratch = Folder::create();
    let path = scratch.file("reports");
    let mut command = Command::new("sh");
    // The shell counts in units of 512 bytes.
    let script = format!(
        "trap '' XFSZ; ulimit -S -f {}; exec \"$0\" \"$@\"",
        FULL / 512
    );
    command.args(["-c", &script]).arg(places::hostint());
    let mut collector = Collector::start_with(command, &path, &["--http", "127.0.0.1:0"]);
    let line = collector.daemon.wait_for("serving http://");
    let http = line.trim().rsplit('/').next().unwrap().parse().unwrap();
    let is_ready = || readiness(http) == (true, "ok\n".to_owned());
    await_that("it is ready", is_ready);
    collector.send(1);
    await_that("a line", || numbers(&path).len() == 1);
    let length = fs::metadata(&path).unwrap().len();
    let reports = u32::try_from(FULL / length).unwrap() + 20;
    collector.send(reports - 1);
    collector
        .daemon
        .wait_for("lines are lost until that is over");
    let says = |lacking: &'static str| move || readiness(http).1.contains(lacking);
    let too_large = format!("cannot write to {}: File too large", path.display());
    await_that("it is not ready, and says why", || {
        readiness(http).1.contains(&too_large)
    });
    await_that(
        "it says how many",
        says(" lines were not written in the last "),
    );
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with('\n'), "no line is torn: {text}");
    let pid = collector.daemon.child.id().to_string();
    let lifted = Command::new("prlimit")
        .args(["--pid", &pid, "--fsize=unlimited"])
        .status();
    assert!(lifted.unwrap().success());
    collector.send(5);
    await_that("it is ready again", is_ready);
    let said = collector.end();
    let written = numbers(&path);
    let last = Vec::from_iter((reports + 1..=reports + 5).map(u64::from));
    assert!(written.ends_with(&last), "{written:?}");
    let lost = u64::from(reports) + 5 - written.len() as u64;
    assert!(
        said.contains(&format!(", {lost} lines not written")),
        "{said}"
    );
}

#[test]
fn a_part_of_a_line_that_a_dead_process_left_gets_an_end() {
    for (name, before, after) in [
        ("a part of a line", "whole\nhal", "whole\nhal\nnext\n"),
        ("whole lines", "whole\n", "whole\nnext\n"),
        ("nothing", "", "next\n"),
    ] {
        let scratch = Folder::create();
        let path = scratch.file("lines");
        fs::write(&path, before).unwrap();
        let mut file = LineFile::open(path.clone(), None).unwrap();
        file.append(b"next\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), after, "{name}");
    }
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

#[test]
fn with_a_history_lines_are_printed_only_where_they_were_asked_for() {
    let scratch = Folder::create();
    let file = scratch.file("asked").display().to_string();
    for (sentence, store, flags, printed, kept) in [
        ("nothing was asked for", "a.db", &[][..], 0, 0),
        ("JSON", "b.db", &["--json"], 5, 0),
        ("a file", "c.db", &["--output", &file], 0, 5),
        ("there is no history", "none", &[], 5, 0),
    ] {
        let store = match store {
            "none" => store.to_owned(),
            name => scratch.file(name).display().to_string(),
        };
        let out = scratch.file("out");
        let mut command = Command::new(places::hostint());
        command
            .args(["collect", "--listen", "127.0.0.1:0", "--store", &store])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(File::create(&out).unwrap());
        let mut daemon = Daemon::start(&mut command);
        if printed + kept == 0 {
            daemon.wait_for("reports go to the history alone");
        }
        let line = daemon.wait_for("collecting on ");
        let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut collector = Collector {
            daemon,
            address,
            socket,
            sent: 0,
        };
        collector.send(5);
        let said = collector.end();
        assert!(
            said.contains("5 datagrams, 5 reports"),
            "{sentence}: {said}"
        );
        let lines = |path: &Path| fs::read_to_string(path).unwrap_or_default().lines().count();
        assert_eq!(lines(&out), printed, "{sentence}: standard output");
        assert_eq!(lines(Path::new(&file)), kept, "{sentence}: the file");
        let _ = fs::remove_file(&file);
    }
}
