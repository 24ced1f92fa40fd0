//! Events that are posted to a collector: who may, what is refused and counted, and that they outlive a restart.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use hostint_testing::collector::Collector;
use hostint_testing::exporting::loss_at;
use hostint_testing::netns::await_that;
use hostint_testing::places;
use hostint_testing::scratch::Folder;
use serde_json::{Value, json};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The status and the body of the answer.
fn post(collector: &Collector, token: Option<&str>, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(collector.http).unwrap();
    let login = token.map_or(String::new(), |token| {
        format!("Authorization: Bearer {token}\r\n")
    });
    let head = format!(
        "POST /api/events HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{login}Content-Length: {}\r\n\r\n",
        collector.http,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // A body that is refused is not read.
    let _ = stream.write_all(body.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let code = head.split(' ').nth(1).unwrap().parse().unwrap();
    (code, body.to_owned())
}

struct Files {
    folder: Folder,
}

impl Files {
    fn new() -> Self {
        let folder = Folder::create();
        let token = folder.file("token");
        fs::write(&token, format!("{TOKEN}\n")).unwrap();
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder
            .file(name)
            .into_os_string()
            .into_string()
            .unwrap()
    }

    fn collector(&self) -> Collector {
        let (store, token) = (self.path("history.db"), self.path("token"));
        Collector::start(&["--store", &store, "--events-token-file", &token])
    }
}

fn metric(collector: &Collector, line: &str) -> u64 {
    let text = collector.get("/metrics");
    let found = text.lines().find_map(|one| one.strip_prefix(line));
    found
        .unwrap_or_else(|| panic!("{line}: {text}"))
        .trim()
        .parse()
        .unwrap()
}

#[test]
fn without_a_token_file_no_event_is_taken() {
    let collector = Collector::start(&[]);
    let (code, body) = post(&collector, Some(TOKEN), "{}");
    assert_eq!(code, 403);
    assert!(body.contains("events-token-file names the token"), "{body}");
    let line = "hostint_events_refused_total{reason=\"no_token_file\"}";
    await_that("it is counted", || metric(&collector, line) == 1);
}

#[test]
fn each_refusal_has_its_status_and_its_count() {
    let files = Files::new();
    let collector = files.collector();
    let long = format!("{{\"text\": \"{}\"}}", "x".repeat(4096));
    let label = json!({"text": "t", "labels": {"app": "x".repeat(65)}}).to_string();
    let deploy = r#"{"kind": "deploy", "text": "web 1.2.3", "labels": {"app": "web"}}"#;
    let cases = [
        ("no token", None, deploy, 401, "wrong_token"),
        (
            "another token",
            Some("0123456789abcdef0123456789abcdeX"),
            deploy,
            403,
            "wrong_token",
        ),
        (
            "a part of the token",
            Some("0123456789abcdef"),
            deploy,
            403,
            "wrong_token",
        ),
        ("a long body", Some(TOKEN), &*long, 413, "too_long"),
        ("no JSON", Some(TOKEN), "text", 400, "malformed"),
        (
            "an unknown key",
            Some(TOKEN),
            r#"{"text": "t", "colour": 1}"#,
            400,
            "malformed",
        ),
        (
            "no text",
            Some(TOKEN),
            r#"{"kind": "deploy"}"#,
            400,
            "malformed",
        ),
        ("a long label", Some(TOKEN), &*label, 400, "malformed"),
        (
            "another century",
            Some(TOKEN),
            r#"{"text": "t", "time_ns": 1}"#,
            400,
            "malformed",
        ),
        (
            "a restart, which collectors see by themselves",
            Some(TOKEN),
            r#"{"kind": "restart", "text": "t"}"#,
            400,
            "malformed",
        ),
        (
            "a silence without an end",
            Some(TOKEN),
            r#"{"kind": "silence"}"#,
            400,
            "malformed",
        ),
    ];
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    for (sentence, token, body, expected, reason) in cases {
        let (mut code, mut answer) = (429, String::new());
        // The rate is another case: there is room again in the next second.
        await_that("a second is over", || {
            (code, answer) = post(&collector, token, body);
            code != 429
        });
        assert_eq!(code, expected, "{sentence}: {answer}");
        assert!(answer.contains("\"error\":"), "{sentence}: {answer}");
        *counts.entry(reason).or_default() += 1;
    }
    let many = (0..30).map(|_| post(&collector, Some(TOKEN), deploy).0);
    assert!(
        many.collect::<Vec<_>>().contains(&429),
        "more than ten in a second"
    );
    for (reason, count) in counts {
        let line = format!("hostint_events_refused_total{{reason=\"{reason}\"}}");
        await_that(reason, || metric(&collector, &line) == count);
    }
    await_that("those taken are counted", || {
        metric(&collector, "hostint_events_total") > 0
    });
}

#[test]
fn events_and_silences_outlive_a_restart() {
    let files = Files::new();
    let collector = files.collector();
    let deploy = r#"{"kind": "deploy", "text": "web 1.2.3", "host": "web-1"}"#;
    assert_eq!(post(&collector, Some(TOKEN), deploy).0, 201);
    let (config, store) = (files.path("hostint.toml"), files.path("history.db"));
    let token = files.path("token");
    let text = format!(
        "[collect]\nhttp = \"{}\"\nevents-token-file = \"{token}\"\n",
        collector.http
    );
    fs::write(&config, text).unwrap();
    let accept = |args: &[&str]| {
        let mut command = Command::new(places::hostint());
        let args = command
            .args(["history", "accept", "--config", &config, "--store", &store])
            .args(args);
        let out = args.output().unwrap();
        (
            out.status.code(),
            String::from_utf8_lossy(&out.stderr).into_owned(),
        )
    };
    let (code, said) = accept(&["rack=r1", "--for", "2h", "--text", "migration"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = accept(&["db-7"]);
    assert_eq!(code, Some(0), "{said}");
    let events = |collector: &Collector| -> Vec<Value> {
        let answer: Value = serde_json::from_str(&collector.get("/api/verdict?since=0")).unwrap();
        answer["events"].as_array().unwrap().clone()
    };
    await_that("the store has them", || events(&collector).len() == 3);
    collector.end();
    let collector = files.collector();
    let kept = events(&collector);
    let kinds: Vec<_> = kept
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["deploy", "silence", "accept"]);
    assert_eq!(kept[1]["labels"], json!({"rack": "r1"}));
    assert!(kept[1]["until_ns"].as_u64() > kept[1]["time_ns"].as_u64());
    // What a collector without the key says is passed on.
    let text = format!("[collect]\nhttp = \"{}\"\n", collector.http);
    fs::write(&config, text).unwrap();
    let (code, said) = accept(&["db-7"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no events-token-file"), "{said}");
}

#[test]
fn that_hostint_began_again_at_a_host_is_an_event_that_is_kept() {
    let files = Files::new();
    let collector = files.collector();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    // The numbers of its reports begin anew.
    for number in (1000..1003).chain(1..5) {
        sender
            .send_to(&loss_at(7, number), collector.reports)
            .unwrap();
    }
    await_that("all reports are there", || {
        collector.status()["reports"] == 7
    });
    collector.end();
    let collector = files.collector();
    let answer = collector.get("/api/verdict?since=0");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let seen = answer["events"].as_array().unwrap();
    assert_eq!(seen.len(), 1, "{answer}");
    assert_eq!(
        (&seen[0]["kind"], &seen[0]["host"]),
        (&json!("restart"), &json!("7"))
    );
}
