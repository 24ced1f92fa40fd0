//! Command lines, right and wrong, are answered with the right words, exit code and stream.

use std::io::{Read, pipe};
use std::net::{SocketAddr, UdpSocket};
use std::process::{Command, Stdio};

use clap::CommandFactory;
use hostint::cli::Cli;
use hostint_testing::harness::{Daemon, check, check_all, hostint, text};
use hostint_testing::places;
use nix::sys::signal::Signal;
use serde_json::Value;

fn collect(args: &[&str], stdout: Stdio) -> (Daemon, SocketAddr) {
    let mut daemon = Daemon::start(
        Command::new(places::hostint())
            .args(["collect", "--listen", "127.0.0.1:0"])
            .env("HOSTINT_STORE", "none")
            .args(args)
            .stdin(Stdio::null())
            .stdout(stdout),
    );
    let line = daemon.wait_for("collecting on ");
    let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    (daemon, address)
}

/// Every command with the words that lead to it.
fn commands(
    command: &clap::Command,
    path: Vec<String>,
    found: &mut Vec<(Vec<String>, clap::Command)>,
) {
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        let mut path = path.clone();
        path.push(sub.get_name().to_owned());
        commands(sub, path, found);
    }
    found.push((path, command.clone()));
}

#[test]
fn help_names_and_explains_every_flag() {
    let mut root = Cli::command();
    root.build();
    let mut all = Vec::new();
    commands(&root, Vec::new(), &mut all);
    assert_eq!(all.len(), 43);
    for (path, command) in all {
        let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
        args.push("--help");
        let output = hostint(&args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(output.stderr.is_empty(), "{args:?}");
        let help = text(&output.stdout);
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let name = arg.get_long().map_or_else(
                || format!("[{}]", arg.get_value_names().unwrap()[0]),
                |long| format!("--{long}"),
            );
            let required = name.replace('[', "<").replace(']', ">");
            assert!(
                help.contains(&name) || help.contains(&required),
                "{args:?}: {name}"
            );
            let about = arg
                .get_help()
                .unwrap_or_else(|| panic!("{args:?}: {name}: no help"));
            let first = about.to_string();
            let first = first.split(' ').take(3).collect::<Vec<_>>().join(" ");
            assert!(help.contains(&first), "{args:?}: {name}: {first}");
        }
        for sub in command
            .get_subcommands()
            .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
        {
            assert!(
                help.contains(&format!("\n  {}", sub.get_name())),
                "{args:?}: {}",
                sub.get_name()
            );
        }
    }
}

#[test]
fn version_is_that_of_the_package() {
    for args in [["--version"], ["version"]] {
        let output = hostint(&args);
        assert_eq!(
            text(&output.stdout),
            concat!("hostint ", env!("CARGO_PKG_VERSION"), "\n"),
            "{args:?}"
        );
    }
}

#[test]
fn a_wrong_command_line_is_2_and_says_what_is_right() {
    check_all(2, include_str!("usage.txt"), hostint);
}

const NOT_THERE: &str = "
a sink's interface
$ sink --dev nosuch --node-id 1
cannot use interface nosuch
see ip link

one of several interfaces: none is touched
$ sink --dev lo --dev nosuch --node-id 1
cannot use interface nosuch

a source's interface
$ source attach --dev nosuch --force --node-id 1
cannot use interface nosuch
see ip link

a file of destinations
$ source add-dest --dest-file /nonexistent/dests
cannot read destinations from /nonexistent/dests
No such file

the folder of the report log
$ sink --dev lo --node-id 1 --report-log /nonexistent/log
cannot open report log /nonexistent/log
No such file

a collector's name
$ sink --dev lo --node-id 1 --collector nosuch.invalid
cannot find collector nosuch.invalid

the address that a collector listens on
$ collect --store none --listen 203.0.113.9
cannot bind UDP address 203.0.113.9:32766: Cannot assign requested address (no interface of this host has it: see ip address, or try 0.0.0.0 or [::] for all)

the folder of a collector's history
$ collect --listen 127.0.0.1:0 --store /nonexistent/history.db
cannot open store /nonexistent/history.db: No such file or directory
(there is no such folder: make it, or try another --store)
";

#[test]
fn what_is_not_there_is_1_and_is_named() {
    check_all(1, NOT_THERE, hostint);
}

#[test]
fn reports_go_to_stdout_and_the_rest_to_stderr() {
    let (mut daemon, address) = collect(&["--json", "--count", "3"], Stdio::piped());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let latency = hostint_testing::golden::udp_payload("hostint_report_l4_udp");
    let loss = hostint_testing::golden::udp_payload("hostint_drop_summary_udp");
    for datagram in [&latency[..], b"hostile", &loss] {
        socket.send_to(datagram, address).unwrap();
    }
    let mut out = String::new();
    daemon
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{out}");
    for (line, kind) in lines.iter().zip(["latency", "drop-summary"]) {
        assert_eq!(line["schema"], "hostint.report/1", "{line}");
        assert_eq!(line["kind"], kind, "{line}");
        assert_eq!(line["exporter"], "127.0.0.1", "{line}");
    }
    let (code, err) = daemon.end();
    assert_eq!(code, Some(0), "{err}");
    assert!(
        err.contains("3 datagrams, 2 reports from 1 exporter"),
        "{err}"
    );
    assert!(err.contains("1 undecodable"), "{err}");
}

#[test]
fn a_group_of_reports_is_one_datagram_and_several_lines() {
    let (mut daemon, address) = collect(&["--json", "--count", "2"], Stdio::piped());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut group = hostint_testing::golden::udp_payload("tr20_coalesced");
    socket.send_to(&group, address).unwrap();
    // The number wraps from 2^22 - 1, and one of the two reports is of an unknown type.
    group[1..4].copy_from_slice(&[0xc0, 0, 0]);
    group[8] = 0x94;
    socket.send_to(&group, address).unwrap();
    let mut out = String::new();
    let mut stdout = daemon.child.stdout.take().unwrap();
    stdout.read_to_string(&mut out).unwrap();
    let kinds: Vec<_> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].clone())
        .collect();
    assert_eq!(kinds, ["local", "drop", "drop"]);
    let (code, err) = daemon.end();
    assert_eq!(code, Some(0), "{err}");
    for part in [
        "(node 103, hw 63): 3 reports, 0 lost, 0 duplicate",
        "1 undecodable (kind 1)",
        "2 datagrams, 3 reports from 1 exporter, 0 lost on the way",
    ] {
        assert!(err.contains(part), "{err}does not say: {part}");
    }
}

#[test]
fn text_lines_are_for_people() {
    let (mut daemon, address) = collect(&["--count", "1"], Stdio::piped());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .send_to(
            &hostint_testing::golden::udp_payload("hostint_report_l4_udp"),
            address,
        )
        .unwrap();
    let mut out = String::new();
    daemon
        .child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    assert_eq!(out.lines().count(), 1, "{out}");
    assert!(out.contains(" latency "), "{out}");
    assert_eq!(daemon.end().0, Some(0));
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let (daemon, address) = collect(&[], writer.into());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .send_to(
            &hostint_testing::golden::udp_payload("hostint_report_l4_udp"),
            address,
        )
        .unwrap();
    let (code, err) = daemon.end();
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("1 datagrams"), "{err}");

    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let output = Command::new(places::hostint())
        .args(["sink", "--help"])
        .stdout(writer)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_used_address_is_1_and_is_named() {
    let (_daemon, address) = collect(&[], Stdio::null());
    let address = address.to_string();
    let output = hostint(&["collect", "--listen", &address]);
    check(
        "a second collector",
        &output,
        1,
        &[
            &address,
            ": Address already in use (another",
            "another program listens there: see ss -lunp, or try another port",
        ],
    );
}

#[test]
fn one_collector_listens_on_several_addresses() {
    let mut daemon = Daemon::start(
        Command::new(places::hostint())
            .args([
                "collect",
                "--listen",
                "127.0.0.1:0",
                "--listen",
                "127.0.0.2:0",
                "--count",
                "2",
            ])
            .env("HOSTINT_STORE", "none")
            .stdout(Stdio::null()),
    );
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    for ip in ["127.0.0.1", "127.0.0.2"] {
        let line = daemon.wait_for(ip);
        let address = line.trim().rsplit(' ').next().unwrap().to_owned();
        socket
            .send_to(
                &hostint_testing::golden::udp_payload("hostint_report_l4_udp"),
                address,
            )
            .unwrap();
    }
    let (code, err) = daemon.end();
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("2 datagrams, 2 reports"), "{err}");
}

#[test]
fn signals_ask_a_collector_for_counts_and_end_it() {
    for end in [Signal::SIGINT, Signal::SIGTERM] {
        let (mut daemon, _) = collect(&[], Stdio::null());
        daemon.signal(Signal::SIGUSR1);
        daemon.wait_for("0 datagrams, 0 reports");
        daemon.signal(end);
        let (code, err) = daemon.end();
        assert_eq!(code, Some(0), "{end}: {err}");
        assert!(err.contains("0 datagrams, 0 reports"), "{end}: {err}");
    }
}
