//! `hostint history --url`: a collector answers for clients elsewhere what its file would; and why, of a flow and at a time.

use std::process::Output;
use std::time::{Duration, SystemTime};

use hostint_testing::demo::RunningDemo;
use hostint_testing::harness::hostint;
use hostint_testing::places;
use hostint_testing::scratch::Folder;

/// A recorded collector: its history, and its page.
struct Recorded {
    _folder: Folder,
    demo: RunningDemo,
    store: String,
    page: String,
}

impl Recorded {
    fn start() -> Self {
        let folder = Folder::create();
        let mut command = std::process::Command::new(places::hostint());
        command.args(["demo", "--recorded", "--seconds", "600"]);
        let mut demo = RunningDemo::start(command, Some(folder.path()));
        let question = demo.await_line("history pairs --store ");
        let (_, store) = question.split_once("--store ").unwrap();
        Self {
            store: store.split_whitespace().next().unwrap().to_owned(),
            page: demo.page(),
            demo,
            _folder: folder,
        }
    }

    fn ask(&self, place: [&str; 2], words: &str) -> Answered {
        let words = words.split(' ');
        Answered::of(&hostint(&Vec::from_iter(
            ["history"].into_iter().chain(words).chain(place),
        )))
    }

    fn end(self) {
        self.demo.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(self.demo.end().0.code(), Some(0));
    }
}

#[derive(Debug, Eq, PartialEq)]
struct Answered {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Answered {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

/// Every question that has its own answer, and some of each form.
const QUESTIONS: [(&str, i32); 22] = [
    ("verdict", 0),
    ("why web1 db1", 0),
    ("why web1 nobody", 2),
    ("why --flow web2", 0),
    ("why --flow nonsense", 3),
    ("pairs", 0),
    ("pairs --json", 0),
    ("pairs --csv --source web1", 0),
    ("flows --limit 3 --search web2", 0),
    ("classes", 0),
    ("coverage --csv", 0),
    ("flow 1", 0),
    ("flow 4711", 3),
    ("series --source web1 --sink db1", 0),
    ("reports --limit 3", 0),
    ("path --from web1 --to db1", 0),
    ("segments", 0),
    ("drops --by node", 0),
    ("hops --log-level error", 0),
    ("queues", 0),
    ("tcp", 0),
    ("info", 0),
];

#[test]
fn a_collector_answers_as_its_file_would() {
    let recorded = Recorded::start();
    // The same time for both: within the 40 seconds of the recording, and so long ago that who reports now is not said.
    let until = SystemTime::now() - Duration::from_secs(25);
    let until = humantime::format_rfc3339_seconds(until);
    for (question, code) in QUESTIONS {
        let question = format!("{question} --since 2020-01-01T00:00:00Z --until {until}");
        let local = recorded.ask(["--store", &recorded.store], &question);
        assert_eq!(local.code, Some(code), "{question}: {local:?}");
        // The page has no port of its own: its address names it, with a scheme and without one.
        let remote = recorded.ask(["--url", &recorded.page], &question);
        assert_eq!(remote, local, "{question}");
        let url = format!("--url=http://{}/", recorded.page);
        let remote = recorded.ask([&url, "--verbose"], &question);
        assert_eq!(remote, local, "{question} {url}");
    }
    // From one host there are five pairs, and one to another one.
    for (ends, lines) in [("--source web1", 6), ("--source web1 --sink db1", 2)] {
        let pairs = recorded.ask(["--url", &recorded.page], &format!("pairs --csv {ends}"));
        assert_eq!(pairs.out.lines().count(), lines, "{ends}: {}", pairs.out);
    }
    let unknown = recorded.ask(["--url", &recorded.page], "verdict --check --at 1day");
    assert_eq!(
        unknown.code,
        Some(6),
        "the exit code comes along: {unknown:?}"
    );
    recorded.end();
}

#[test]
fn what_a_collector_does_not_answer_is_said_with_its_reason() {
    let recorded = Recorded::start();
    let page = recorded.page.clone();
    let metrics = format!("{page}/metrics");
    let cases = [
        (
            "too many rows",
            "flows --limit 2001",
            &*page,
            2,
            "at most 2000 rows",
        ),
        (
            "no URL",
            "verdict",
            "ftp://x",
            2,
            "not an http or https URL",
        ),
        (
            "a password",
            "verdict",
            "http://u:p@x",
            2,
            "would stand in logs",
        ),
        ("no host", "verdict", "", 2, "it has no host"),
        (
            "nobody there",
            "verdict",
            "127.0.0.1:1",
            1,
            "127.0.0.1:1: Connection refused",
        ),
        (
            "another place",
            "verdict",
            &*metrics,
            1,
            "it has no /api/history",
        ),
        (
            "two places",
            "verdict --store x",
            &*page,
            2,
            "--url asks a collector, and --store a file",
        ),
    ];
    for (sentence, question, url, code, words) in cases {
        let answered = recorded.ask(["--url", url], question);
        assert_eq!(answered.code, Some(code), "{sentence}: {answered:?}");
        assert!(answered.err.contains(words), "{sentence}: {answered:?}");
        assert_eq!(answered.out, "", "{sentence}");
    }
    recorded.end();
}

#[test]
fn why_is_asked_of_a_flow_and_at_a_time() {
    let recorded = Recorded::start();
    let now = SystemTime::now();
    let at =
        |ago_s| humantime::format_rfc3339_seconds(now - Duration::from_secs(ago_s)).to_string();
    let before = at(86_400);
    let text = before.replace('T', " ").replace('Z', " UTC");
    let (past, as_printed) = (format!("--at={before}"), format!("--at={text}"));
    let cases: [(&str, &[&str], i32, &[&str]); 6] = [
        (
            "a flow is named, with its pair and how many others have these words",
            &["--flow", "web1 db1"],
            0,
            &[
                "flow          ",
                "more flows have these words",
                "web1 (1) -> db1 (4)",
                "\nsent ",
            ],
        ),
        (
            "no flow has these words",
            &["--flow", "nonsense"],
            3,
            &["no such flow"],
        ),
        (
            "before there was anything, nothing was measured; the hour ends there",
            &["web1", "db1", &past],
            0,
            &["nothing measured", "none in this time"],
        ),
        (
            "a time is taken as texts print it",
            &["web1", "db1", &as_printed],
            0,
            &["nothing measured", text.strip_suffix(" UTC").unwrap()],
        ),
        (
            "an unknown host has similar names",
            &["web1", "db9"],
            2,
            &["no node db9", "nearest names are db"],
        ),
        ("one host is no pair", &["web1"], 2, &["<TO>"]),
    ];
    for (sentence, words, code, expected) in cases {
        let place = ["history", "why", "--store", &recorded.store];
        let words = Vec::from_iter(place.iter().chain(words).copied());
        let answered = Answered::of(&hostint(&words));
        assert_eq!(answered.code, Some(code), "{sentence}: {answered:?}");
        for words in expected {
            let said = format!("{}{}", answered.out, answered.err);
            assert!(said.contains(words), "{sentence}: {words}: {answered:?}");
        }
    }
    recorded.end();
}
