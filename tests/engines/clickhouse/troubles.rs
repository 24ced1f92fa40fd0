//! ClickHouse servers that misbehave: every report is counted by its fate, and a parcel that is sent again is the same.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use hostint::engines::clickhouse::{COLUMNS, ClickHouse, RowGroup, append_rows};
use hostint::engines::*;
use hostint_testing::collecting::Collecting;
use hostint_testing::fed_reports::numbered;
use hostint_testing::http_server::{HttpServer, Reply, Request};
use hostint_testing::synthetic::Synthetic;

const RUN: RunId = RunId(0xabc);
const TOKEN: &str = "insert_deduplication_token";

fn entries(first: u64, count: u64) -> Vec<FedReport> {
    let mut synthetic = Synthetic::new(1, 4, 10);
    let entries = (first..first + count).map(|number| {
        let sample = synthetic.report(number as usize % 10, 1_800_000_000_000_000_000);
        numbered(number, sample.report, Some(sample.arrival))
    });
    entries.collect()
}

fn parcel(number: u64, first: u64) -> Parcel {
    let entries = entries(first, 10);
    Parcel::of(
        number,
        FedBatch {
            run: RUN,
            entries,
            bytes: 0,
        },
    )
}

pub fn is_question(request: &Request) -> bool {
    String::from_utf8_lossy(&request.body).contains("system.columns")
}

/// The columns of the table, as ClickHouse lists them, and settings.
pub fn described(settings: &[&str]) -> String {
    let columns = COLUMNS.iter().map(|column| {
        let kind = column.value.types()[0];
        format!("column\t{}\t{kind}\n", column.name)
    });
    let settings = settings.iter().map(|name| format!("setting\t{name}\t\n"));
    columns.chain(settings).collect()
}

/// The token that a request has.
pub fn token(request: &Request) -> &str {
    let (_, behind) = request.target.split_once(&format!("{TOKEN}=")).unwrap();
    behind.split('&').next().unwrap()
}

/// The rows of reports that tell of no host.
fn rows(parcel: &Parcel) -> Vec<u8> {
    let columns = RowGroup::Measurements.columns();
    let mut rows = Vec::new();
    append_rows(parcel.run(), parcel.entries(), &columns, 0, &mut rows);
    rows
}

pub fn ok() -> Reply {
    Reply::status(200, "")
}

pub fn good(request: &Request) -> Reply {
    match is_question(request) {
        true => Reply::status(200, described(&[TOKEN])),
        false => ok(),
    }
}

pub fn exception(status: u16, code: u32, name: &str) -> Reply {
    let text = format!("Code: {code}. DB::Exception: It is so. ({name}) (version 26.9.2.1)\n");
    Reply::status(status, text)
}

fn old_exception(status: u16, code: u32) -> Reply {
    let text =
        format!("Code: {code}, e.displayText() = DB::Exception: So, e.what() = DB::Exception\n");
    Reply::status(status, text)
}

pub fn inserts(server: &HttpServer) -> Vec<Request> {
    let seen = server.seen().into_iter();
    seen.filter(|request| !is_question(request)).collect()
}

#[test]
fn what_a_server_says_is_told_apart_by_who_can_help() {
    struct Case {
        name: &'static str,
        /// Of the question, or of the insert.
        of_question: bool,
        reply: Reply,
        later: bool,
        says: &'static [&'static str],
    }
    let case = |name, of_question, reply, later, says| Case {
        name,
        of_question,
        reply,
        later,
        says,
    };
    let (question, insert, later, refused) = (true, false, true, false);
    let create: &[&str] = &["hostint.reports", "schema.sql", "schema-plain.sql"];
    let without = |name: &str| {
        let lines = described(&[]);
        let kept = lines
            .lines()
            .filter(|line| !line.contains(&format!("\t{name}\t")));
        kept.map(|line| format!("{line}\n")).collect::<String>()
    };
    let other =
        described(&[]).replace("latency_ns\tNullable(Int64)", "latency_ns\tNullable(Int32)");
    let cases = [
        case(
            "no table",
            question,
            Reply::status(200, "setting\tmax_threads\t\n"),
            later,
            create,
        ),
        case(
            "no table, told late",
            insert,
            exception(404, 60, "UNKNOWN_TABLE"),
            later,
            create,
        ),
        case(
            "no database, of an old server",
            insert,
            old_exception(404, 81),
            later,
            create,
        ),
        case(
            "a column is missing",
            question,
            Reply::status(200, without("latency_ns")),
            later,
            &[
                "column latency_ns is missing",
                "(try ALTER TABLE hostint.reports ADD COLUMN `latency_ns` Nullable(Int64);",
                "schema.sql",
            ],
        ),
        case(
            "a column of another width",
            question,
            Reply::status(200, other),
            later,
            &["column latency_ns is Nullable(Int32), expected Nullable(Int64)"],
        ),
        case(
            "a column went meanwhile",
            insert,
            exception(404, 16, "NO_SUCH_COLUMN_IN_TABLE"),
            later,
            create,
        ),
        case(
            "a web server",
            question,
            Reply::status(200, "<html>\n"),
            later,
            &["is no answer of ClickHouse"],
        ),
        case(
            "a web server, of inserts",
            insert,
            Reply::status(200, "<html>"),
            later,
            &["URL of a ClickHouse server"],
        ),
        case(
            "an exception under a good status",
            insert,
            exception(200, 241, "MEMORY_LIMIT_EXCEEDED"),
            later,
            &["Code: 241"],
        ),
        case(
            "an exception under a good status, of the question",
            question,
            exception(200, 159, "TIMEOUT"),
            later,
            &["Code: 159"],
        ),
        case(
            "wrong password",
            question,
            exception(403, 516, "AUTHENTICATION_FAILED"),
            later,
            &["--clickhouse-password-file"],
        ),
        case(
            "wrong password, of an old server",
            insert,
            old_exception(401, 193),
            later,
            &["--clickhouse-user"],
        ),
        case(
            "may not insert",
            insert,
            exception(403, 497, "ACCESS_DENIED"),
            later,
            &["GRANT"],
        ),
        case(
            "a proxy asks who is there",
            insert,
            Reply::status(401, ""),
            later,
            &["--clickhouse-user"],
        ),
        case(
            "too many requests",
            insert,
            Reply::status(429, "slowly"),
            later,
            &["429 slowly"],
        ),
        case(
            "too many parts",
            insert,
            exception(500, 252, "TOO_MANY_PARTS"),
            later,
            &["Code: 252"],
        ),
        case(
            "out of memory",
            insert,
            exception(500, 241, "MEMORY_LIMIT_EXCEEDED"),
            later,
            &["Code: 241"],
        ),
        case(
            "a setting that it does not know",
            insert,
            old_exception(404, 115),
            later,
            &["Code: 115"],
        ),
        case(
            "nothing but a status",
            insert,
            Reply::status(502, ""),
            later,
            &["502"],
        ),
        case(
            "closes",
            insert,
            Reply::Close,
            later,
            &["cannot deliver to http://127.0.0.1:"],
        ),
        case(
            "closes when asked",
            question,
            Reply::Close,
            later,
            &["cannot deliver to"],
        ),
        case(
            "half an answer",
            insert,
            Reply::Half,
            later,
            &["cannot deliver to"],
        ),
        case("hangs", insert, Reply::Hang, later, &["timeout"]),
        case(
            "data that it cannot read",
            insert,
            exception(400, 33, "CANNOT_READ_ALL_DATA"),
            refused,
            &["Code: 33"],
        ),
        case(
            "data that it cannot read, of an old server",
            insert,
            old_exception(400, 27),
            refused,
            &["Code: 27"],
        ),
        case(
            "a constraint",
            insert,
            exception(500, 469, "VIOLATED_CONSTRAINT"),
            refused,
            &["Code: 469"],
        ),
        case(
            "too large for a proxy",
            insert,
            Reply::status(413, "<html>"),
            refused,
            &["larger requests"],
        ),
    ];
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || {
                let of_question = case.of_question;
                let picks = move |request: &Request| is_question(request) == of_question;
                let server = HttpServer::scripted(vec![case.reply], picks, good);
                let mut engine = ClickHouse::new(&server.url, "hostint", "reports", None).unwrap();
                let why = match engine.deliver(&parcel(1, 1)) {
                    Err(Trouble::Later(why)) if case.later => why,
                    Err(Trouble::Refused(why)) if !case.later => why,
                    other => panic!("{}: {other:?}", case.name),
                };
                for part in case.says {
                    assert!(why.contains(part), "{}: {why:?} lacks {part:?}", case.name);
                }
                // What it was is over now: the next one is taken, after another look at the table.
                engine.deliver(&parcel(1, 1)).expect(case.name);
                let questions = server.seen().into_iter().filter(is_question).count();
                assert_eq!(questions, 2, "{}", case.name);
            });
        }
    });
}

#[test]
fn a_parcel_that_comes_again_is_the_same_and_the_next_is_not() {
    let script = vec![
        exception(500, 252, "TOO_MANY_PARTS"),
        Reply::Close,
        ok(),
        old_exception(500, 209),
    ];
    let server = HttpServer::scripted(script, |request| !is_question(request), good);
    let mut engine = ClickHouse::new(&server.url, "hostint", "reports", None).unwrap();
    let parcels = [parcel(1, 1), parcel(2, 11)];
    for parcel in &parcels {
        while engine.deliver(parcel).is_err() {}
    }
    let inserts = inserts(&server);
    assert_eq!(inserts.len(), 5, "three tries, then two");
    assert_eq!(inserts[0], inserts[1]);
    assert_eq!(inserts[0], inserts[2]);
    assert_eq!(inserts[0].header("content-encoding"), Some("gzip"));
    assert_eq!(token(&inserts[0]), "0000000000000abc-1");
    assert_eq!(inserts[3], inserts[4]);
    assert_eq!(token(&inserts[3]), "0000000000000abc-11");
    for (insert, parcel) in [(&inserts[0], &parcels[0]), (&inserts[3], &parcels[1])] {
        assert_eq!(insert.unpacked(), rows(parcel));
    }
}

#[test]
fn every_report_is_delivered_or_counted_for_what_became_of_it() {
    struct Case {
        name: &'static str,
        script: Vec<Reply>,
        /// Of 10.
        delivered: u64,
        refused: u64,
        retries: u64,
    }
    let cases = [
        Case {
            name: "all well",
            script: vec![],
            delivered: 10,
            refused: 0,
            retries: 0,
        },
        Case {
            name: "down, then full, then well",
            script: vec![Reply::Close, exception(500, 252, "TOO_MANY_PARTS")],
            delivered: 10,
            refused: 0,
            retries: 2,
        },
        Case {
            name: "it took them, but nobody heard of it",
            script: vec![Reply::Half],
            delivered: 10,
            refused: 0,
            retries: 1,
        },
        Case {
            name: "not readable",
            script: vec![exception(400, 117, "INCORRECT_DATA")],
            delivered: 0,
            refused: 10,
            retries: 0,
        },
        Case {
            name: "a proxy that limits rates, then sizes",
            script: vec![Reply::status(429, ""), Reply::status(413, "")],
            delivered: 0,
            refused: 10,
            retries: 1,
        },
    ];
    for case in cases {
        let server = HttpServer::scripted(case.script, |request| !is_question(request), good);
        let engine = ClickHouse::new(&server.url, "hostint", "reports", None).unwrap();
        let mut all = Engines::new(RUN, 1 << 20, Patience::Wait, |_| {});
        all.add(Box::new(engine)).unwrap();
        let mut feed = all.feed(None);
        for entry in entries(1, 10) {
            feed.take(&FeedReport {
                report: &entry.report,
                arrival: entry.arrival,
                clocks: entry.clocks,
                drop_reason: None,
                class: None,
                added: None,
                dropped: None,
                bytes: 100,
            });
        }
        drop(feed);
        let [status] = all.finish().try_into().unwrap();
        let counts = (status.delivered, status.refused, status.retries);
        assert_eq!(
            counts,
            (case.delivered, case.refused, case.retries),
            "{}",
            case.name
        );
        assert_eq!((status.waiting, status.abandoned), (0, 0), "{}", case.name);
    }
}

#[test]
fn a_server_gets_the_settings_that_it_knows() {
    struct Case {
        name: &'static str,
        known: &'static [&'static str],
        sent: &'static [&'static str],
    }
    let cases = [
        Case {
            name: "18.16",
            known: &["insert_distributed_sync"],
            sent: &["insert_distributed_sync=1"],
        },
        Case {
            name: "26",
            known: &[
                "async_insert",
                "insert_distributed_sync",
                TOKEN,
                "deduplicate_blocks_in_dependent_materialized_views",
            ],
            sent: &[
                "insert_deduplication_token=0000000000000abc-1",
                "deduplicate_blocks_in_dependent_materialized_views=1",
                "async_insert=0",
                "insert_distributed_sync=1",
            ],
        },
    ];
    for case in cases {
        let server = HttpServer::start(|request| match is_question(request) {
            true => Reply::status(200, described(case.known)),
            false => ok(),
        });
        // Settings of the user's own stay.
        let url = format!("{}?max_insert_threads=1", server.url);
        let mut engine = ClickHouse::new(&url, "hostint", "reports", None).unwrap();
        engine.deliver(&parcel(1, 1)).expect(case.name);
        let [insert] = inserts(&server).try_into().unwrap();
        let mut parts = insert.target.trim_start_matches("/?").split('&');
        assert_eq!(parts.next(), Some("max_insert_threads=1"), "{}", case.name);
        assert!(
            parts
                .next()
                .unwrap()
                .starts_with("query=INSERT%20INTO%20hostint.reports%20")
        );
        assert_eq!(parts.collect::<Vec<_>>(), case.sent, "{}", case.name);
    }
}

#[test]
fn a_password_is_sent_and_nowhere_said() {
    let secret = "correct-horse";
    let name = format!("clickhouse-{}-password", std::process::id());
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&file, format!("{secret}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let script = vec![
        exception(403, 516, "AUTHENTICATION_FAILED"),
        Reply::Close,
        exception(500, 252, "TOO_MANY_PARTS"),
    ];
    let server = HttpServer::scripted(script, |_| true, good);
    let mut collecting = Collecting::start(&[
        "--clickhouse",
        &server.url,
        "--clickhouse-user",
        "writer",
        "--clickhouse-password-file",
        file.to_str().unwrap(),
    ]);
    collecting.send(10);
    collecting.await_delivery("clickhouse");
    let status = collecting.status().to_string();
    let log = collecting.collector.end();
    fs::remove_file(&file).unwrap();
    assert!(
        log.contains("10 reports delivered: clickhouse http://"),
        "{log}"
    );
    assert!(log.contains("AUTHENTICATION_FAILED"), "{log}");
    for (what, text) in [("log", &log), ("status", &status)] {
        assert!(!text.contains(secret), "{what}: {text}");
    }
    for request in server.seen() {
        assert!(!request.target.contains(secret), "{request:?}");
        assert_eq!(request.header("x-clickhouse-user"), Some("writer"));
        assert_eq!(request.header("x-clickhouse-key"), Some("correct-horse"));
    }
}

#[test]
fn what_cannot_be_used_is_said_at_the_start() {
    let open = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("clickhouse-open-password");
    fs::write(&open, "x").unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let cases = format!(
        "a password that others may read
        $ collect --listen 127.0.0.1:0 --clickhouse http://localhost:8123/ --clickhouse-user me --clickhouse-password-file {}
        cannot use ClickHouse password
        try: chmod 600",
        open.display()
    );
    hostint_testing::harness::check_all(2, &cases, hostint_testing::harness::hostint);
}
