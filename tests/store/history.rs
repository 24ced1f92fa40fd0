//! `hostint history` prints tables, a matrix, JSON and CSV, with the right exit codes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use hostint::model::*;
use hostint_testing::harness::{Daemon, text};
use hostint_testing::places;
use hostint_testing::scratch::Folder;
use hostint_testing::synthetic::Synthetic;
use nix::sys::signal::Signal;
use serde_json::Value;

/// 2026-11-21 10:00 UTC.
const TEN: u64 = 1_795_255_200_000_000_000;
const SECOND: u64 = 1_000_000_000;

fn hostint(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(places::hostint())
        .args(args)
        .env_remove("HOSTINT_STORE")
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // Who does not read, as after a mistake, is no failure.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// What `hostint history` prints about a store.
fn history(file: &str, args: &str) -> String {
    let args: Vec<&str> = args.split_whitespace().collect();
    let output = hostint(&[&["history"], &args[..], &["--store", file]].concat(), b"");
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    text(&output.stdout)
}

/// Ten minutes of reports from ten o'clock on, as JSON lines.
fn lines(nodes: u32, flows: usize, reports: usize) -> Vec<u8> {
    let mut network = Synthetic::new(1, nodes, flows);
    let mut lines = Vec::new();
    for n in 0..reports {
        let time_ns = TEN + n as u64 * 600 * SECOND / reports as u64;
        lines.extend(network.report(n % flows, time_ns).line());
        lines.push(b'\n');
    }
    lines
}

fn read_in(file: &str, lines: &[u8]) -> Output {
    let output = hostint(
        &["collect", "--read", "-", "--store", file, "--json"],
        lines,
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

const SPAN: &str = "--since 2026-11-21T10:00:00Z --until 2026-11-21T10:10:00Z";

#[test]
fn what_was_read_in_can_be_asked() {
    let folder = Folder::create();
    let file = folder.name("history.db");
    let lines = lines(4, 24, 1_200);
    let output = read_in(&file, &lines);
    assert_eq!(output.stdout, lines, "and is printed as ever");
    let said = text(&output.stderr);
    assert!(said.contains("1200 reports stored: "), "{said}");

    let info = history(&file, "info");
    assert!(
        info.starts_with("1,200 single reports, 24 flows, "),
        "{info}"
    );
    assert!(
        info.ends_with("from 2026-11-21 10:00:00 to 2026-11-21 10:09:59 UTC\n"),
        "{info}"
    );

    let flows = history(&file, &format!("flows --sort packets --limit 3 {SPAN}"));
    let shown: Vec<&str> = flows.lines().collect();
    assert_eq!(
        shown[0],
        "3 flows from 2026-11-21 10:00:00 to 2026-11-21 10:10:00 UTC"
    );
    let names: Vec<&str> = shown[1].split_whitespace().collect();
    assert_eq!(
        names,
        [
            "id", "flow", "nodes", "class", "packets", "lost", "loss", "mean", "p50", "p99", "max",
            "from"
        ]
    );
    assert!(shown[2].ends_with(" 50 reports"), "{flows}");
    assert!(shown[5].starts_with("from reports: "), "{flows}");
    assert!(shown[6].starts_with("?: "), "no clock is known: {flows}");
    assert_eq!(shown.len(), 7);

    let json: Value = serde_json::from_str(&history(
        &file,
        &format!("flows --json --limit 99 --source 3 --class web {SPAN}"),
    ))
    .unwrap();
    assert_eq!(json["schema"], "hostint.history/1");
    assert_eq!(json["span"]["since_ns"], TEN);
    let flows = json["flows"].as_array().unwrap();
    assert!(!flows.is_empty());
    for flow in flows {
        assert_eq!(
            (&flow["source"], &flow["class"]),
            (&3.into(), &"web".into())
        );
        assert_eq!(flow["reports"], 50);
    }

    let id = flows[0]["id"].to_string();
    let one = history(&file, &format!("flow {id} {SPAN}"));
    assert!(one.starts_with(&format!("flow {id} from ")), "{one}");
    assert!(one.contains("\nevery 30s from (UTC)\n"), "{one}");
    let csv = history(&file, &format!("flow {id} --points 60 --csv {SPAN}"));
    let rows: Vec<&str> = csv.lines().collect();
    assert!(
        rows[0].starts_with("begin_ns,reports,packets,lost,"),
        "{csv}"
    );
    assert!(rows[1].starts_with(&format!("{TEN},")), "{csv}");
    let reports: u64 = rows[1..]
        .iter()
        .map(|row| row.split(',').nth(1).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(reports, 50);

    let single = history(&file, &format!("reports --flow {id} --limit 2 {SPAN}"));
    assert_eq!(single.lines().count(), 2);
    assert!(single.contains("node 3 -> "), "{single}");
    let json: Value = serde_json::from_str(&history(
        &file,
        &format!("reports --source 1 --sink 2 --limit 5 --json {SPAN}"),
    ))
    .unwrap();
    let reports = json["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 5);
    for report in reports {
        let line = report.to_string();
        let record = Record::read_line(line.as_bytes()).unwrap();
        assert!(text(&lines).contains(&format!(
            "\"report_seq\":{}",
            record.report().unwrap().sequence
        )));
        assert_eq!(
            (&report["source"]["node"], &report["sink"]["node"]),
            (&1.into(), &2.into())
        );
    }
    let csv = history(&file, &format!("reports --class storage --csv {SPAN}"));
    assert!(csv.starts_with("received_ns,exporter,kind,"), "{csv}");
    let clocks =
        "latency_corrected_ns,latency_error_ns,latency_bound_ns_0,latency_bound_ns_1,clock\n";
    assert!(csv.contains(clocks), "{csv}");
    assert_eq!(csv.lines().count(), 21);

    let classes = history(&file, &format!("classes {SPAN}"));
    for class in ["backup", "storage", "web"] {
        assert!(classes.contains(&format!("\n{class} ")), "{classes}");
    }
    let nothing = history(
        &file,
        "flows --until 2020-01-01T00:00:00Z --since 2019-01-01T00:00:00Z",
    );
    assert_eq!(
        nothing,
        "0 flows from 2019-01-01 00:00:00 to 2020-01-01 00:00:00 UTC\n"
    );
}

#[test]
fn a_matrix_can_be_read_with_2_and_with_30_nodes() {
    let folder = Folder::create();
    let file = folder.name("history.db");
    read_in(&file, &lines(2, 2, 100));
    let text = history(&file, &format!("pairs {SPAN}"));
    let shown: Vec<&str> = text.lines().collect();
    assert_eq!(
        shown[0],
        "2 pairs from 2026-11-21 10:00:00 to 2026-11-21 10:10:00 UTC"
    );
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(shown[2]), ["from", "\\", "to", "1", "2"]);
    let row = words(shown[3]);
    assert_eq!((&*row[0], &*row[1]), ("1", "."), "{text}");
    assert!(row[2].trim_end_matches('!').ends_with(['u', 'm']), "{text}");
    assert_eq!(words(shown[4])[2], ".", "{text}");
    assert!(words(shown[6]).starts_with(&["nodes".to_owned()]), "{text}");

    let folder = Folder::create();
    let file = folder.name("history.db");
    // Pairs need 20 reports for quantiles.
    read_in(&file, &lines(30, 870, 17_400));
    for show in ["p50", "p99", "jitter", "loss"] {
        let text = history(&file, &format!("pairs --show {show} --limit 0 {SPAN}"));
        let matrix: Vec<&str> = text
            .lines()
            .skip(2)
            .take_while(|line| !line.starts_with("nodes"))
            .collect();
        assert!(
            matrix.iter().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        let heads: Vec<String> = matrix
            .iter()
            .filter_map(|line| line.strip_prefix("from \\ to"))
            .flat_map(words)
            .collect();
        let nodes: Vec<String> = (1..=30).map(|node: u32| node.to_string()).collect();
        assert_eq!(heads, nodes, "{text}");
        assert_eq!(
            matrix.iter().filter(|line| line.starts_with("17 ")).count(),
            2,
            "{text}"
        );
    }
    let csv = history(&file, &format!("pairs --csv {SPAN}"));
    assert_eq!(csv.lines().count(), 871);
}

#[test]
fn what_is_not_there_is_3_and_what_is_wrong_is_2() {
    let folder = Folder::create();
    let file = folder.name("history.db");
    read_in(&file, &lines(2, 2, 10));
    let absent = format!("{file}.absent");
    let cases: [(&str, &[&str], i32, &str); 6] = [
        ("no store", &["info", "--store", &absent], 3, "no store at "),
        (
            "no such flow",
            &["flow", "99", "--store", &file],
            3,
            "no such flow in ",
        ),
        (
            "a time that is none",
            &["flows", "--store", &file, "--since", "tomorrow"],
            2,
            "write for instance 1h, 2days, now",
        ),
        (
            "a span that ends before it begins",
            &["flows", "--store", &file, "--since", "1h", "--until", "2h"],
            2,
            "--since is not before --until",
        ),
        (
            "a source without a sink",
            &["reports", "--store", &file, "--source", "1"],
            2,
            "--sink <NODE>",
        ),
        (
            "a folder",
            &["info", "--store", "/"],
            1,
            "cannot open store /",
        ),
    ];
    for (name, args, code, says) in cases {
        let output = hostint(&[&["history"], args].concat(), b"");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
        assert!(output.stdout.is_empty(), "{name}");
    }
}

#[test]
fn a_live_collector_is_asked_while_it_collects() {
    let folder = Folder::create();
    let file = folder.name("history.db");
    let start = || {
        Daemon::start(
            Command::new(places::hostint())
                .args(["collect", "--listen", "127.0.0.1:0", "--store", &file])
                .stdout(Stdio::null()),
        )
    };
    let mut daemon = start();
    let line = daemon.wait_for("collecting on ");
    let address = line.trim().rsplit(' ').next().unwrap().to_owned();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = now.unwrap().as_nanos() as u64;
    let mut network = Synthetic::new(1, 2, 2);
    for n in 0..100 {
        let sample = network.report(n % 2, now + n as u64);
        socket.send_to(&sample.datagram(), &address).unwrap();
    }
    // Within a second or two they are there.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !history(&file, "info").contains("100 single reports, 2 flows") {
        assert!(
            std::time::Instant::now() < deadline,
            "{}",
            history(&file, "info")
        );
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(history(&file, "reports --limit 1000").lines().count(), 100);
    assert!(history(&file, "pairs").contains("2 pairs "));

    let (code, said) = start().end();
    assert_eq!(code, Some(1), "{said}");
    let pid = format!("process {} writes to it", daemon.child.id());
    assert!(said.contains(&pid), "{said}");

    daemon.signal(Signal::SIGTERM);
    let (code, said) = daemon.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("100 reports stored: "), "{said}");
    assert!(history(&file, "info").contains("100 single reports, 2 flows"));
}

#[test]
fn a_default_that_cannot_be_written_to_is_no_reason_not_to_collect_and_one_in_use_is() {
    let folder = Folder::create();
    let run = |state: &str| {
        Daemon::start(
            Command::new(places::hostint())
                .args(["collect", "--listen", "127.0.0.1:0"])
                .env("STATE_DIRECTORY", state)
                .env_remove("HOSTINT_STORE")
                .stdout(Stdio::null()),
        )
    };
    let state = folder.path().to_str().unwrap();
    let mut first = run(state);
    first.wait_for("collecting on ");
    assert!(Path::new(&folder.name("history.db")).exists());
    let (code, said) = run(state).end();
    assert_eq!(code, Some(1), "{said}");
    let pid = format!("process {} writes to it", first.child.id());
    assert!(said.contains(&pid), "{said}");
    assert!(said.contains("--store none"), "{said}");
    std::fs::write(folder.file("file"), "").unwrap();
    let mut third = run(&format!("{state}/file/below"));
    third.wait_for("no history is kept: ");
    third.wait_for("collecting on ");
}
