//! The shipped logrotate recipe rotates a report log without losing a line.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use hostint_testing::netns::{Lab, await_that, await_that_or};
use hostint_testing::places;
use serde_json::Value;

use crate::stamped::Stamped;

const RECIPE: &str = include_str!("../../../packaging/logrotate/hostint");

/// What logrotate is to rotate.
struct Rotation {
    /// The file's name, and the folder that the recipe has for such files.
    file: &'static str,
    folder: &'static str,
    /// The daemon that writes it, `AT` for the test's folder, and what it says when it does.
    daemon: &'static str,
    ready: &'static str,
    /// Flags of a sink besides, outside.
    sink: Option<&'static str>,
}

#[test]
fn a_report_log_is_rotated_under_traffic() {
    rotate(&Rotation {
        file: "reports.log",
        folder: "/var/log/hostint/",
        daemon: "hostint sink --dev b0 --node-id 2 --allow 10.9.1.0/24 --report-period 10ms --log-format json \
                 --report-log AT/reports.log",
        ready: "sink attached",
        sink: None,
    });
}

#[test]
fn a_collectors_lines_are_rotated_under_traffic() {
    rotate(&Rotation {
        file: "reports.json",
        folder: "/var/lib/hostint/",
        daemon: "hostint collect --listen 127.0.0.1:7001 --json --output AT/reports.json",
        ready: "collecting on ",
        sink: Some("--dev b0 --node-id 2 --report-period 10ms --collector 127.0.0.1:7001"),
    });
}

fn rotate(what: &Rotation) {
    let lab = Lab::new();
    let folder = std::env::temp_dir().join(format!("{}-logs", lab.b.ns));
    fs::create_dir_all(&folder).unwrap();
    let at = folder.display();
    // logrotate trusts no folder that others may write to.
    lab.b.sh(&format!("chmod 755 {at}"));
    let recipe = RECIPE.replace(what.folder, &format!("{at}/"));
    assert_ne!(recipe, RECIPE);
    fs::write(folder.join("recipe"), recipe).unwrap();
    lab.b.sh(&format!("chmod 644 {at}/recipe"));
    // Among processes of its own, so that the recipe finds this daemon and no other. A line rotates once.
    let daemon = what.daemon.replace("AT", &at.to_string());
    let script = format!(
        "mkdir {at}/bpf; mount -t bpf bpf {at}/bpf; export HOSTINT_BPFFS={at}/bpf
         {daemon} 2>{at}/said &
         PATH=$PATH:/usr/sbin
         while read line; do
             logrotate --force --state {at}/state {at}/recipe 2>&1 && echo rotated
         done
         kill $!; wait"
    );
    let path = Path::new(places::hostint()).parent().unwrap().display();
    let path = format!("{path}:{}", std::env::var("PATH").unwrap());
    let mut script = lab
        .b
        .command(
            "unshare",
            &[
                "--pid",
                "--fork",
                "--mount-proc",
                "--kill-child",
                "sh",
                "-c",
                &script,
            ],
        )
        .env("PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ask = script.stdin.take().unwrap();
    let mut answers = BufReader::new(script.stdout.take().unwrap()).lines();
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    await_that_or(|| read("said").contains(what.ready), || read("said"));
    let _b = what.sink.map(|flags| lab.b.sink(flags));
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let traffic = Stamped::start(&lab, 6000);
    for rotation in 1..=2 {
        await_that("lines are written", || read(what.file).lines().count() > 20);
        ask.write_all(b"again\n").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), "rotated", "{rotation}");
    }
    await_that("lines are written to the newest file", || {
        read(what.file).lines().count() > 20
    });
    traffic.assert_untouched("rotation");
    drop(ask);
    assert!(script.wait().unwrap().success());
    let file = what.file;
    lab.b.sh(&format!("gunzip -f {at}/{file}.2.gz"));
    let all = [".2", ".1", ""]
        .map(|end| read(&format!("{file}{end}")))
        .concat();
    let numbers: Vec<u64> = all
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["report_seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "no line is lost, none is twice");
    fs::remove_dir_all(&folder).unwrap();
}
