//! `hostint collect --read` turns captures and lines into lines, and tells the user what it could not read.

use std::fs::File;
use std::process::{Command, Output, Stdio};

use hostint_testing::golden::frame;
use hostint_testing::harness::{check, hostint, text};
use hostint_testing::places;
use hostint_testing::scratch::TempFile;
use serde_json::Value;

/// A capture of golden frames, one a second from 22:13:20 on.
fn capture(frames: &[Vec<u8>]) -> Vec<u8> {
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<_>>()
    };
    let mut out = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1]);
    for (second, frame) in (1_700_000_000..).zip(frames) {
        let size = frame.len() as u32;
        out.extend(words(&[second, 123_456_789, size, size]));
        out.extend(frame);
    }
    out
}

fn reports() -> Vec<u8> {
    let names = [
        "hostint_report_l4_udp",
        "tr05_flow_int05",
        "tr10_drop",
        "tr20_coalesced",
        "int21_md_tcp_dscp",
        "tr20_inner_only_vxlan",
        "ihr_drop_proto17",
    ];
    capture(&names.map(frame))
}

fn lines(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_capture_becomes_lines_and_lines_become_themselves() {
    let file = TempFile::new("all.pcap", reports());
    let output = hostint(&["collect", "--read", file.path(), "--json"]);
    let made = lines(&output);
    let kinds: Vec<_> = made
        .iter()
        .map(|line| line["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "latency", "ethernet", "drop", "local", "drop", "packet", "drop"
        ]
    );
    for (line, second) in made.iter().zip([0, 1, 2, 3, 3, 5, 6]) {
        let ns = (1_700_000_000 + second) * 1_000_000_000 + 123_456_789_u64;
        assert_eq!(line["received_ns"], ns, "{line}");
        assert_eq!(line["exporter"], "203.0.113.3", "{line}");
    }
    assert_eq!(made[2]["drop_reason_name"], "traffic manager");
    let err = text(&output.stderr);
    for part in [
        "exporter 203.0.113.3 (node 103, hw 63): 2 reports, 0 lost, 0 duplicate",
        "7 packets, 6 datagrams, 1 other, 7 reports from",
        "0 undecodable",
    ] {
        assert!(err.contains(part), "{err}does not say: {part}");
    }

    let saved = TempFile::new("all.jsonl", &output.stdout);
    let again = hostint(&["collect", "--read", saved.path(), "--json"]);
    assert_eq!(text(&again.stdout), text(&output.stdout));
    let said = text(&again.stderr);
    assert!(
        said.contains("7 lines, 7 reports, 0 unreadable lines"),
        "{said}"
    );
    let exporters = |err: &str| -> Vec<String> {
        let lines = err.lines().filter(|line| line.contains("exporter 203"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(exporters(&said), exporters(&err), "the same counts");

    let shown = hostint(&["collect", "--read", saved.path()]);
    let direct = hostint(&["collect", "--read", file.path()]);
    assert_eq!(text(&shown.stdout), text(&direct.stdout));
    assert_eq!(
        shown.stdout.iter().filter(|byte| **byte == b'\n').count(),
        7
    );
}

#[test]
fn standard_input_is_a_file_too() {
    let file = TempFile::new("stdin.pcap", reports());
    let output = Command::new(places::hostint())
        .args(["collect", "--read", "-", "--json", "--count", "2"])
        .stdin(Stdio::from(File::open(file.path()).unwrap()))
        .output()
        .unwrap();
    assert_eq!(lines(&output).len(), 2);
    assert!(text(&output.stderr).contains("standard input: 2 packets, 2 datagrams"));
}

#[test]
fn the_port_is_chosen() {
    let mut report = frame("tr20_drop");
    report[36..38].copy_from_slice(&36166_u16.to_be_bytes());
    let file = TempFile::new("port.pcap", capture(&[report, frame("tr20_drop")]));
    for (args, count) in [
        (&[][..], 1),
        (&["--port", "36166"], 1),
        (&["--port", "36166", "--port", "32766"], 2),
        (&["--port", "9"], 0),
    ] {
        let output = hostint(&[&["collect", "--json", "--read", file.path()], args].concat());
        assert_eq!(lines(&output).len(), count, "{args:?}");
        let hint = "no packet goes to UDP port 9 (try --port)";
        assert_eq!(text(&output.stderr).contains(hint), count == 0, "{args:?}");
    }
}

#[test]
fn the_reports_of_a_switch_that_does_not_number_are_told_with_what_is_odd() {
    let reports: Vec<_> = (0..5)
        .map(|arrival_ns| {
            let mut frame = frame("switch_int_version_zero");
            frame[42 + 15] = arrival_ns;
            frame
        })
        .collect();
    let file = TempFile::new("switch.pcap", capture(&reports));
    let output = hostint(&["collect", "--json", "--read", file.path()]);
    let lines = lines(&output);
    assert_eq!(lines.len(), 5);
    for line in lines {
        let header = &line["int"][0];
        assert_eq!(header["quirk"], "int-version-zero");
        assert_eq!(header["hops"].as_array().map(Vec::len), Some(2));
    }
    let err = text(&output.stderr);
    for part in [
        "5 reports, 0 lost, 0 duplicate; it does not number (4 with the number of the one before), so its losses are unknown",
        "0 lost on the way, 0 duplicate, 0 undecodable",
    ] {
        assert!(err.contains(part), "{err}does not say: {part}");
    }
    let text = text(&hostint(&["collect", "--read", file.path()]).stdout);
    assert_eq!(text.matches("int-version-zero").count(), 5, "{text}");
}

#[test]
fn what_is_no_report_is_counted() {
    let mut changed = frame("tr10_drop");
    changed[42] = 0x15;
    let mut fragment = frame("tr20_drop");
    fragment[20] = 0x20;
    let mut wrong = frame("tr20_drop");
    wrong[40] ^= 1;
    let file = TempFile::new("bad.pcap", capture(&[changed, fragment, wrong]));
    let output = hostint(&["collect", "--json", "--read", file.path()]);
    assert_eq!(lines(&output).len(), 1);
    let err = text(&output.stderr);
    for part in [
        "exporter 203.0.113.3: 1 undecodable (field 1); the last: report header length in words, by its metadata bits, at offset 0 is 0x5, \
         expected 0x",
        "3 packets, 2 datagrams, 2 with a wrong checksum, 1 fragments of UDP, 1 reports from 1 exporter",
    ] {
        assert!(err.contains(part), "{err}does not say: {part}");
    }
}

#[test]
fn a_damaged_file_gives_what_it_has_and_is_1() {
    let whole = reports();
    let file = TempFile::new("cut.pcap", &whole[..whole.len() - 3]);
    let output = hostint(&["collect", "--json", "--read", file.path()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 6, "all but the last");
    let err = text(&output.stderr);
    let at = whole.len() - frame("ihr_drop_proto17").len() - 16;
    let part = format!("to its end: it ends in the middle of a block at byte {at}");
    assert!(
        err.contains(&part) && err.contains("6 packets, 5 datagrams"),
        "{err}"
    );

    for (sentence, content, says) in [
        (
            "text",
            &b"hello\n"[..],
            "it is neither pcap nor pcapng nor JSON lines",
        ),
        (
            "half a magic number",
            b"\xd4\xc3",
            "it is neither pcap nor pcapng nor JSON lines",
        ),
    ] {
        let file = TempFile::new("none", content);
        check(
            sentence,
            &hostint(&["collect", "--read", file.path()]),
            1,
            &[says],
        );
    }
    let output = hostint(&["collect", "--read", "/nowhere/x.pcap"]);
    check(
        "no file",
        &output,
        1,
        &["cannot open /nowhere/x.pcap: No such file"],
    );
    let empty = TempFile::new("empty", b"");
    let output = hostint(&["collect", "--read", empty.path()]);
    check(
        "an empty file",
        &output,
        0,
        &["0 packets, 0 datagrams, 0 reports"],
    );
}

#[test]
fn unreadable_lines_are_named_and_the_others_read() {
    let file = TempFile::new("some.pcap", reports());
    let good = text(&hostint(&["collect", "--json", "--read", file.path()]).stdout);
    let good: Vec<_> = good.lines().collect();
    let long = format!("{{\"schema\":\"{}\"", "x".repeat(3 << 20));
    let mixed = [
        good[0],
        "",
        "nonsense",
        &long,
        good[1],
        "{\"schema\":\"hostint.status/1\"}",
    ];
    let file = TempFile::new("mixed.jsonl", mixed.join("\n").as_bytes());
    let output = hostint(&["collect", "--json", "--read", file.path()]);
    assert_eq!(lines(&output).len(), 2);
    let err = text(&output.stderr);
    for part in [
        "line 3: not the JSON object of a report",
        "line 4: not the JSON object of a report: EOF while parsing a string",
        "line 6: not the JSON object of a report: missing field",
        "6 lines, 2 reports, 3 unreadable lines",
    ] {
        assert!(err.contains(part), "{err}does not say: {part}");
    }
    let many = [good[0], &"x\n".repeat(100)].join("\n");
    let file = TempFile::new("many.jsonl", many.as_bytes());
    let err = text(&hostint(&["collect", "--json", "--read", file.path()]).stderr);
    assert!(err.contains("100 unreadable lines"), "{err}");
    assert_eq!(err.matches("not the JSON object").count(), 5, "{err}");
}

#[test]
fn a_log_of_a_sink_is_read_although_nobody_received_it() {
    let file = TempFile::new("log.pcap", reports());
    let made = lines(&hostint(&["collect", "--json", "--read", file.path()]));
    let mut logged = made[0].clone();
    for key in ["exporter", "exporter_port", "received_ns"] {
        logged.as_object_mut().unwrap().remove(key);
    }
    let log = TempFile::new("log.jsonl", format!("{logged}\n").as_bytes());
    assert_eq!(
        lines(&hostint(&["collect", "--json", "--read", log.path()])),
        [logged]
    );
    let shown = hostint(&["collect", "--read", log.path()]);
    assert_eq!(
        text(&shown.stdout),
        "latency  udp 192.0.2.1:40000 > 198.51.100.2:5001  254.3 us  node 2 -> 3  seq 1  report 1\n"
    );
}

#[test]
fn drop_reasons_come_from_a_list() {
    let file = TempFile::new(
        "drops.pcap",
        capture(&[frame("tr10_drop"), frame("tr05_drop")]),
    );
    let own = TempFile::new(
        "own.toml",
        b"# ours\n71 = \"buffer full\"\n\"80\" = \"policy\"\n",
    );
    for (list, names) in [
        (&[][..], ["traffic manager", "acl deny"]),
        (
            &["--drop-reasons", "int-host-reporter"],
            ["traffic manager", "acl deny"],
        ),
        (&["--drop-reasons", own.path()], ["buffer full", "policy"]),
    ] {
        let output = hostint(&[&["collect", "--json", "--read", file.path()], list].concat());
        let found: Vec<_> = lines(&output)
            .iter()
            .map(|line| line["drop_reason_name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(found, names, "{list:?}");
    }
    let read = |file: &TempFile, more: &[&str]| {
        let output = hostint(&[&["collect", "--read", file.path()], more].concat());
        text(&output.stdout)
    };
    let named = read(&file, &["--json", "--drop-reasons", own.path()]);
    let saved = TempFile::new("named.jsonl", named.as_bytes());
    assert_eq!(read(&saved, &["--json"]), named, "lines keep their names");
    let shown = read(&saved, &[]);
    assert!(shown.contains("reason 71 (buffer full)"), "{shown}");
    let shown = read(&saved, &["--drop-reasons", "int-host-reporter"]);
    assert!(
        shown.contains("reason 71 (traffic manager)"),
        "unless asked: {shown}"
    );
    let two_lines = named.replace("buffer full", "a\\nb");
    let hostile = TempFile::new("hostile.jsonl", two_lines.as_bytes());
    assert_eq!(read(&hostile, &[]).lines().count(), 2);
    let other = [
        "collect",
        "--json",
        "--read",
        file.path(),
        "--drop-reasons",
        "p4lang-switch",
    ];
    for line in lines(&hostint(&other)) {
        assert_eq!(
            line.get("drop_reason_name"),
            None,
            "not in that list: {line}"
        );
    }
    for (content, says) in [
        (
            "71 = \"a\"\n256 = \"b\"\n",
            "line 2: \"256\" is not a drop reason code (0 to 255)",
        ),
        ("acl = \"a\"\n", "line 1: \"acl\" is not a drop reason code"),
        (
            "\n71 = 3\n",
            "line 2: the name of a drop reason is one line of text, in quotes",
        ),
        (
            "71 = \"a\\nb\"\n",
            "line 1: the name of a drop reason is one line",
        ),
        ("71 = \"a\"\n71 = \"b\"\n", "duplicate key"),
        ("71: a\n", "drop reasons in"),
    ] {
        let bad = TempFile::new("bad.toml", content.as_bytes());
        let output = hostint(&["collect", "--drop-reasons", bad.path()]);
        check(content, &output, 2, &[says, bad.path()]);
    }
    let output = hostint(&["collect", "--drop-reasons", "nobody"]);
    let says = [
        "cannot read drop reasons from nobody: No such file",
        "(try a file, or int-host-reporter or p4lang-switch or sd-fabric)",
    ];
    check("an unknown list", &output, 2, &says);
}

#[test]
fn flags_that_do_not_go_together_are_2() {
    for (args, says) in [
        (
            &["collect", "--read", "x", "--listen", "127.0.0.1"][..],
            "'--read <FILE>' cannot be used with '--listen",
        ),
        (&["collect", "--port", "9"], "--read <FILE>"),
    ] {
        check("flags", &hostint(args), 2, &[says]);
    }
}
