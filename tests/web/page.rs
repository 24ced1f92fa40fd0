//! The collector's page and API: every path, every refusal, and the page in a real browser.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hostint::model::*;
use hostint::web::{EventEntry, HttpListener, HttpServer, PageSources, page};
use hostint_testing::collector::Collector;
use hostint_testing::history_samples::{Synthetic, now_ns};
use hostint_testing::scratch::Folder;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(30);

pub fn serve_page(
    at: SocketAddr,
    histories: Vec<Box<dyn History>>,
    status: Synthetic,
) -> HttpServer {
    let listener = HttpListener::bind(at).unwrap();
    let routes = page(PageSources {
        histories,
        status: Box::new(move || status.status()),
        now_ns,
        bound: listener.address().unwrap().unwrap(),
        collects_on: vec!["0.0.0.0:32766".parse().unwrap()],
        events: EventEntry {
            token: None,
            take: Box::new(|_| true),
        },
        answer_call: |_, _| HistoryReply::default(),
    });
    listener.serve(routes).unwrap()
}

fn serve_at(at: SocketAddr, history: &Synthetic) -> HttpServer {
    let histories = (0..2).map(|_| Box::new(history.clone()) as Box<dyn History>);
    serve_page(at, histories.collect(), history.clone())
}

pub fn anywhere() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

pub fn serve(history: &Synthetic) -> HttpServer {
    serve_at(anywhere(), history)
}

pub struct Answer {
    pub code: u16,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Sends a request as it is, and reads until the connection ends.
fn exchange(at: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").expect(request);
    let mut lines = head.lines();
    let code = lines.next().unwrap().split(' ').nth(1).unwrap();
    Answer {
        code: code.parse().unwrap(),
        headers: lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect(),
        body: body.to_owned(),
    }
}

pub fn ask_with(server: &HttpServer, method: &str, path: &str, headers: &str) -> Answer {
    let at = server.address().unwrap();
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n{headers}\r\n");
    exchange(at, &request)
}

pub fn ask(server: &HttpServer, path: &str) -> Answer {
    ask_with(server, "GET", path, "")
}

#[test]
fn each_path_answers_and_bad_parameters_are_refused_in_words() {
    let server = serve(&Synthetic::of(8));
    let long = format!("/api/flows?search={}", "a".repeat(201));
    let longest = format!("/api/flows?search={}", "a".repeat(5000));
    let cases = [
        ("/", 200, "<title>hostint</title>"),
        ("/app.js", 200, "import"),
        (
            "/api/status",
            200,
            "\"schema\":\"hostint.collect-status/1\"",
        ),
        ("/api/status", 200, "\"collects_on\":[\"0.0.0.0:32766\"]"),
        ("/api/extent", 200, "\"flows\":"),
        ("/api/pairs", 200, "\"total\":"),
        ("/api/pairs?source=3&sink=2", 200, "\"total\":1,"),
        ("/api/classes", 200, "\"class\":\"storage\""),
        ("/api/flows", 200, "\"name\":\"tcp 10."),
        (
            "/api/flows?order=jitter&limit=1&search=tcp",
            200,
            "\"flow\":{",
        ),
        ("/api/flows?flow=7", 200, "\"id\":7,"),
        ("/api/flows?flow=999999", 200, "\"flows\":[]"),
        ("/api/series?points=10", 200, "\"period_ns\":"),
        ("/api/series?source=3&sink=2", 200, "\"points\":[{"),
        ("/api/series?class=web", 200, "\"points\":[{"),
        ("/api/reports?flow=7&limit=2", 200, "hostint.report/1"),
        ("/api/paths?source=3&sink=2", 200, "\"paths\":[]"),
        ("/api/paths?flow=7", 200, "\"paths\":[]"),
        ("/api/path?flow=7&hash=9f1c", 200, "\"paths\":[]"),
        ("/api/segments?sort=share&limit=3", 200, "\"segments\":[]"),
        ("/api/hops", 200, "\"hops\":[{"),
        (
            "/api/hops",
            200,
            "\"passages\":[{\"node\":2,\"start\":\"sender\"",
        ),
        ("/api/hops?node=7", 200, "\"passages\":[]"),
        ("/api/hops?flow=7", 200, "\"passages\":[]"),
        ("/api/hops?order=max&limit=1", 200, "\"max_hop_ns\":1000000"),
        (
            "/api/hops?order=least",
            400,
            "expected mean, max, packets or newest",
        ),
        ("/api/queues", 200, "\"queues\":[{"),
        ("/api/queues?order=wait&limit=1", 200, "\"suppressed\":10"),
        (
            "/api/queues?order=least",
            400,
            "expected newest, length, wait, bytes or packets",
        ),
        ("/api/tcp", 200, "\"sums\":[{"),
        ("/api/tcp?by=pair", 200, "\"peer\":\"198.51.100.2\""),
        (
            "/api/tcp?limited=unknown&limit=1",
            200,
            "\"state\":\"open\"",
        ),
        ("/api/tcp?flow=7", 200, "\"states\":{"),
        (
            "/api/tcp?limited=luck",
            400,
            "expected one of application, receiver",
        ),
        (
            "/api/tcp?order=size",
            400,
            "expected retransmitted, bytes, rtt or newest",
        ),
        ("/api/tcp?by=node", 400, "expected limit, pair or host"),
        ("/api/paths", 400, "expected source and sink, or flow"),
        (
            "/api/paths?source=3&sink=2&flow=1",
            400,
            "expected source and sink, or flow",
        ),
        ("/api/path?flow=7", 400, "hash is missing"),
        (
            "/api/segments?sort=loss",
            400,
            "sort is \\\"loss\\\", expected p99, share or lost",
        ),
        ("/api/nothing", 404, "there is nothing at /api/nothing"),
        ("/index.html", 404, "there is nothing at /index.html"),
        ("/../Cargo.toml", 404, "there is nothing at"),
        (
            "/api/pairs?since=yesterday",
            400,
            "since is \\\"yesterday\\\", expected a time ago (1h), a time (2026-11-21T10:00:00Z), or ns since",
        ),
        ("/api/pairs?since=-1", 400, "or ns since the Unix epoch"),
        ("/api/pairs?since=1h", 200, "\"total\":"),
        ("/api/pairs?since=2days&until=now", 200, "\"total\":"),
        (
            "/api/pairs?since=2026-11-29T12:00:00Z&until=2026-11-29T12:00:01Z",
            200,
            "\"since_ns\":1795953600000000000,\"until_ns\":1795953601000000000",
        ),
        (
            "/api/pairs?since=1795953600000000000&until=1795953601000000000",
            200,
            "\"since_ns\":1795953600000000000,\"until_ns\":1795953601000000000",
        ),
        (
            "/api/pairs?since=20&until=10",
            400,
            "is empty or out of range",
        ),
        (
            "/api/pairs?since=10&until=10",
            400,
            "is empty or out of range",
        ),
        (
            "/api/pairs?until=18446744073709551615",
            400,
            "is empty or out of range",
        ),
        (
            "/api/pairs?sinec=1",
            400,
            "\\\"sinec\\\" is not a parameter of this path",
        ),
        ("/api/pairs?since=1&since=2", 400, "since is given twice"),
        ("/api/pairs?source=4294967296", 400, "expected a node ID"),
        (
            "/api/status?x=1",
            400,
            "\\\"x\\\" is not a parameter of this path",
        ),
        (
            "/api/flows?order=size",
            400,
            "expected loss, latency, jitter or packets",
        ),
        (
            "/api/flows?limit=0",
            400,
            "expected a whole number from 1 to 1000",
        ),
        (
            "/api/flows?limit=1001",
            400,
            "expected a whole number from 1 to 1000",
        ),
        ("/api/flows?flow=x", 400, "expected a flow's id"),
        (&long, 400, "search is longer than 200 characters"),
        (&longest, 414, "longer than 4096 bytes"),
        (
            "/api/series?points=100000",
            400,
            "expected a whole number from 1 to 2000",
        ),
        ("/api/series?source=3", 400, "source needs sink too"),
        ("/api/series?sink=3", 400, "sink needs source too"),
        (
            "/api/series?flow=1&class=web",
            400,
            "flow, class and source with sink exclude each other",
        ),
        ("/api/reports?limit=ten", 400, "limit is \\\"ten\\\""),
    ];
    for (path, code, part) in cases {
        let answer = ask(&server, path);
        assert_eq!(answer.code, code, "{path}: {}", answer.body);
        assert!(answer.body.contains(part), "{path}: {}", answer.body);
        if path.starts_with("/api/") && (code == 200 || code == 400) {
            let kind = &answer.headers["content-type"];
            assert_eq!(kind, "application/json", "{path}");
            assert_eq!(answer.json()["error"].is_string(), code == 400, "{path}");
        }
    }
}

#[test]
fn pairs_stand_beside_what_is_usual_now() {
    let server = serve(&Synthetic::of(8).ill());
    let usual = ask(&server, "/api/pairs?since=1h").json()["usual"].take();
    let pairs: Vec<_> = usual.as_object().unwrap().keys().collect();
    assert_eq!(pairs, ["3>2", "7>1"], "{usual}");
    let said = |pair: &str, what: &str| usual[pair][what].as_bool().unwrap();
    assert_eq!(
        (said("3>2", "more_lost"), said("3>2", "slower")),
        (true, false)
    );
    assert_eq!(
        (said("7>1", "more_lost"), said("7>1", "slower")),
        (false, true)
    );
    let before = ask(&server, "/api/pairs?since=4h&until=2h").json();
    assert_eq!(
        before["usual"],
        Value::Null,
        "it is that of the present hour"
    );
}

#[test]
fn whatever_is_answered_says_what_a_browser_may_do_with_it() {
    let server = serve(&Synthetic::of(2));
    for path in ["/", "/app.js", "/api/status", "/api/pairs?x=1", "/nothing"] {
        let headers = ask(&server, path).headers;
        let policy = &headers["content-security-policy"];
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "img-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.split("; ").any(|one| one == part), "{path}: {part}");
        }
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        let foreign = &headers["cross-origin-resource-policy"];
        assert_eq!(foreign, "same-origin", "{path}");
        let cached = if path == "/" || path == "/app.js" {
            "no-cache"
        } else {
            "no-store"
        };
        assert_eq!(headers["cache-control"], cached, "{path}");
    }
}

#[test]
fn only_reading_is_possible() {
    let server = serve(&Synthetic::of(2));
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        for path in ["/", "/api/status", "/api/live"] {
            let answer = ask_with(&server, method, path, "content-length: 0\r\n");
            assert_eq!(answer.code, 405, "{method} {path}");
            assert_eq!(answer.headers["allow"], "GET,HEAD", "{method} {path}");
        }
    }
    let head = ask_with(&server, "HEAD", "/", "");
    assert_eq!((head.code, head.body.as_str()), (200, ""));
}

#[test]
fn a_browser_that_has_a_file_does_not_get_it_again() {
    let server = serve(&Synthetic::of(2));
    let tag = ask(&server, "/style.css").headers["etag"].clone();
    let cases = [
        ("its tag is enough", tag.clone(), 304),
        ("so is one of several", format!("\"old\", W/{tag}"), 304),
        ("another tag is not", "\"old\"".to_owned(), 200),
    ];
    for (name, tags, code) in cases {
        let asked = format!("if-none-match: {tags}\r\n");
        let answer = ask_with(&server, "GET", "/style.css", &asked);
        assert_eq!(answer.code, code, "{name}");
        assert_eq!(answer.body.is_empty(), code == 304, "{name}");
        assert_eq!(answer.headers["etag"], tag, "{name}");
    }
}

#[test]
fn who_accepts_gzip_gets_gzip() {
    let server = serve(&Synthetic::of(8));
    let cases = [
        ("a file", "/app.js", "accept-encoding: gzip, br\r\n", true),
        (
            "a long answer",
            "/api/pairs",
            "accept-encoding: br;q=1, gzip;q=0.5\r\n",
            true,
        ),
        (
            "a short answer",
            "/api/extent",
            "accept-encoding: gzip\r\n",
            false,
        ),
        (
            "who refuses it",
            "/app.js",
            "accept-encoding: gzip;q=0\r\n",
            false,
        ),
        ("who does not say so", "/api/pairs", "", false),
    ];
    for (name, path, headers, packed) in cases {
        let plain = ask(&server, path);
        let answer = ask_with(&server, "GET", path, headers);
        let encoding = answer.headers.get("content-encoding").map(String::as_str);
        assert_eq!(encoding, packed.then_some("gzip"), "{name}");
        assert_eq!(answer.headers["vary"], "accept-encoding", "{name}");
        let length = |answer: &Answer| answer.headers["content-length"].parse::<usize>().unwrap();
        assert_eq!(2 * length(&answer) < length(&plain), packed, "{name}");
        assert_eq!(
            answer.headers["content-type"],
            plain.headers["content-type"]
        );
        let tag = |answer: &Answer| answer.headers.get("etag").cloned();
        let same_tag = tag(&answer) == tag(&plain);
        assert_eq!(same_tag, !packed || tag(&plain).is_none(), "{name}");
        if let Some(tag) = tag(&answer) {
            let again = format!("{headers}if-none-match: {tag}\r\n");
            assert_eq!(ask_with(&server, "GET", path, &again).code, 304, "{name}");
        }
    }
}

#[test]
fn names_that_strangers_can_give_this_host_are_refused() {
    let server = serve(&Synthetic::of(2));
    let at = server.address().unwrap();
    let port = at.port();
    let cases = [
        ("the address", at.to_string(), 200),
        (
            "the name of this host for itself",
            format!("localhost:{port}"),
            200,
        ),
        ("in any case, with any port", "LocalHost".to_owned(), 200),
        ("by IPv6, through a tunnel", format!("[::1]:{port}"), 200),
        (
            "a stranger's name for this host",
            format!("rebound.example:{port}"),
            403,
        ),
        (
            "a name that only begins like it",
            format!("localhost.example:{port}"),
            403,
        ),
        ("another address", format!("192.0.2.1:{port}"), 403),
        ("nothing", String::new(), 403),
    ];
    for (name, host, code) in cases {
        for path in ["/", "/api/status"] {
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
            assert_eq!(exchange(at, &request).code, code, "{name}: {host}");
        }
    }
    let none = exchange(at, "GET / HTTP/1.0\r\n\r\n");
    assert_eq!(none.code, 400, "{}", none.body);
    let whole =
        format!("GET http://rebound.example/ HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n");
    assert_eq!(
        exchange(at, &whole).code,
        403,
        "the address asked for counts"
    );
}

/// Reads events of /api/live.
struct Live(BufReader<TcpStream>);

impl Live {
    fn open(server: &HttpServer) -> Self {
        let at = server.address().unwrap();
        let mut stream = TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET /api/live HTTP/1.1\r\nhost: {at}\r\n\r\n").unwrap();
        Self(BufReader::new(stream))
    }

    fn until(&mut self, part: &str) -> String {
        let mut line = String::new();
        while !line.contains(part) {
            line.clear();
            assert!(
                self.0.read_line(&mut line).unwrap() > 0,
                "ended before {part}"
            );
        }
        line
    }
}

#[test]
fn pages_hear_when_there_is_news() {
    let server = serve(&Synthetic::of(2));
    let mut live = Live::open(&server);
    live.until("text/event-stream");
    live.until("event: news");
    let first = live.until("data: ");
    live.until("event: news");
    assert_ne!(live.until("data: "), first, "something has changed");
}

#[test]
fn only_so_many_pages_hear_news() {
    let server = serve(&Synthetic::of(0));
    let mut all: Vec<_> = (0..32).map(|_| Live::open(&server)).collect();
    for live in &mut all {
        live.until("event: news");
    }
    let refused = ask(&server, "/api/live");
    assert_eq!(refused.code, 503, "{}", refused.body);
    assert_eq!(
        ask(&server, "/api/status").code,
        200,
        "all else is answered"
    );
    all.pop();
    // The server hears of the end when it next writes.
    let mut freed = Live::open(&server);
    let mut line = String::new();
    while !line.starts_with("event: news") {
        line.clear();
        if freed.0.read_line(&mut line).unwrap() == 0 || line.contains(" 503 ") {
            freed = Live::open(&server);
        }
    }
}

/// A history whose every answer has to be waited for, or is an error.
struct Stuck {
    asked: Sender<()>,
    go_on: Receiver<()>,
}

impl History for Stuck {
    fn extent(&mut self) -> Result<Extent, HistoryError> {
        self.asked.send(()).unwrap();
        self.go_on.recv().unwrap();
        Ok(Extent::default())
    }

    fn pairs(&mut self, _: Span) -> Result<Vec<PairFigures>, HistoryError> {
        Err(HistoryError("the disk is gone".to_owned()))
    }

    fn pair(&mut self, _: NodeId, _: NodeId, _: Span) -> Result<Option<PairFigures>, HistoryError> {
        Ok(None)
    }

    fn flows(&mut self, _: &FlowQuery, _: Span) -> Result<Vec<FlowFigures>, HistoryError> {
        Ok(Vec::new())
    }

    fn flow(&mut self, _: i64, _: Span) -> Result<Option<FlowFigures>, HistoryError> {
        Ok(None)
    }

    fn classes(&mut self, _: Span) -> Result<Vec<ClassFigures>, HistoryError> {
        Ok(Vec::new())
    }

    fn series(&mut self, _: &Subject, _: Span, _: usize) -> Result<Series, HistoryError> {
        Err(HistoryError("the disk is gone".to_owned()))
    }

    fn reports(&mut self, _: &ReportQuery, _: Span) -> Result<Vec<Record>, HistoryError> {
        Ok(Vec::new())
    }
}

#[test]
fn a_question_that_takes_long_holds_up_nothing_but_the_next_question() {
    let (asked, was_asked) = channel();
    let (release, go_on) = channel();
    let stuck = Stuck { asked, go_on };
    let server = serve_page(anywhere(), vec![Box::new(stuck)], Synthetic::of(2));
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| ask(&server, "/api/extent"));
        was_asked.recv_timeout(PATIENCE).unwrap();
        assert_eq!(ask(&server, "/api/status").code, 200);
        Live::open(&server).until("event: news");
        let next = scope.spawn(|| ask(&server, "/api/flows"));
        release.send(()).unwrap();
        assert_eq!(slow.join().unwrap().code, 200);
        assert_eq!(
            next.join().unwrap().code,
            200,
            "then it is the next one's turn"
        );
    });
    let failed = ask(&server, "/api/pairs");
    assert_eq!(failed.code, 500);
    assert_eq!(
        failed.json()["error"],
        "cannot read the history: the disk is gone"
    );
}

#[test]
fn without_a_history_that_is_said() {
    let server = serve_page(anywhere(), Vec::new(), Synthetic::of(2));
    let answer = ask(&server, "/api/pairs");
    assert_eq!(answer.code, 404);
    assert_eq!(answer.json()["error"], "this collector keeps no history");
    let status = ask(&server, "/api/status").json();
    assert_eq!(status["keeps_history"], false);
}

#[test]
fn every_file_of_the_page_is_served_and_small() {
    let server = serve(&Synthetic::of(2));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/assets");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let served = if name == "index.html" {
            "/"
        } else {
            &format!("/{name}")
        };
        assert_eq!(ask(&server, served).body, text, "{name}");
        assert!(
            text.lines().count() <= 400,
            "{name} is longer than 400 lines"
        );
        assert!(
            !text.contains("://") || name.ends_with(".svg") || name == "dom.js",
            "{name} names another host"
        );
    }
}

#[test]
fn a_collector_serves_what_it_received() {
    let folder = Folder::create();
    let store = folder.name("history.db");
    let collector = Collector::start(&["--store", &store]);
    let (receives, at) = (collector.reports, collector.http);
    let get = |path: &str| {
        let head = format!("GET {path} HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n");
        let answer = exchange(at, &head);
        assert_eq!(answer.code, 200, "{path}: {}", answer.body);
        answer
    };
    assert!(get("/").body.contains("<title>hostint</title>"));
    let status = get("/api/status").json();
    assert_eq!(status["keeps_history"], true);
    assert_eq!(
        status["collects_on"],
        serde_json::json!([receives.to_string()])
    );
    assert_eq!(get("/api/pairs").json()["total"], 0);
    let datagram = hostint_testing::golden::udp_payload("hostint_report_l4_udp");
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let end = Instant::now() + PATIENCE;
    // What is sent before the collector is ready waits at its socket.
    sender.send_to(&datagram, receives).unwrap();
    while get("/api/pairs").json()["total"] == 0 {
        assert!(Instant::now() < end, "no pair is shown");
    }
    let report = &get("/api/reports").json()["reports"][0];
    assert_eq!(report["kind"], "latency");
    let pair = format!(
        "/api/reports?source={}&sink={}",
        report["source"]["node"], report["sink"]["node"]
    );
    assert_eq!(get(&pair).json()["reports"][0], *report);
    assert_eq!(get("/api/flows").json()["flows"][0]["flow"], report["flow"]);
    assert_eq!(get("/healthz").body, "ok\n");
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    /// Runs a script that draws without a browser. Each of its sentences holds.
    fn draw(script: &str, sentences: usize) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = Folder::create();
        for entry in std::fs::read_dir(root.join("src/web/assets")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            std::fs::copy(&path, folder.file(name)).unwrap();
        }
        // A browser is told by the page that its scripts are modules, node by this.
        std::fs::write(folder.file("package.json"), r#"{"type":"module"}"#).unwrap();
        let told = Command::new("node")
            .arg(root.join("tests/web").join(script))
            .arg(folder.path())
            .output()
            .expect("node (try: packaging/install-build-deps.sh --test)");
        let (out, err) = (
            String::from_utf8_lossy(&told.stdout),
            String::from_utf8_lossy(&told.stderr),
        );
        assert!(told.status.success(), "{out}{err}");
        assert_eq!(out.matches("ok ").count(), sentences, "{out}");
    }

    #[test]
    fn a_waterfall_is_drawn() {
        draw("waterfall.mjs", 17);
    }

    #[test]
    fn figures_are_folded_grouped_limited_and_marked() {
        draw("sums.mjs", 19);
    }

    #[test]
    fn the_time_through_hosts_is_drawn() {
        draw("hops.mjs", 6);
    }

    #[test]
    fn the_episodes_of_queues_are_drawn() {
        draw("queues.mjs", 5);
    }

    #[test]
    fn what_two_clocks_explain_is_no_negative_latency() {
        draw("below_zero.mjs", 17);
    }

    #[test]
    fn in_a_browser() {
        drive("page.mjs");
    }

    #[test]
    fn screenshots_are_taken() {
        drive("screenshots.mjs");
    }

    /// Runs a script that drives a browser over pages of several sizes; it may ask for a server to be stopped and begun.
    fn drive(script: &str) {
        // Two browsers at once are slower than one after the other.
        static BROWSER: Mutex<()> = Mutex::new(());
        let _turn = BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
        let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web");
        let histories = BTreeMap::from([
            ("empty", Synthetic::of(0)),
            ("pair", Synthetic::one_pair()),
            ("eight", Synthetic::of(8).in_racks_of(4)),
            ("ill", Synthetic::of(8).in_racks_of(4).ill()),
            ("stopped", Synthetic::of(8)),
            ("many", Synthetic::of(200).in_racks_of(4)),
            ("thousand", Synthetic::of_peers(1_000, 20).in_racks_of(20)),
            ("unlabelled", Synthetic::of_peers(1_000, 20)),
        ]);
        let serve = |at, name| match name {
            "unkept" => serve_page(at, Vec::new(), Synthetic::of(8)),
            _ => serve_at(at, &histories[name]),
        };
        let names = histories.keys().copied().chain(["unkept"]);
        let mut servers: BTreeMap<_, _> =
            names.map(|name| (name, serve(anywhere(), name))).collect();
        let addresses: BTreeMap<_, _> = servers
            .iter()
            .map(|(name, server)| (*name, server.address().unwrap()))
            .collect();
        let urls = addresses
            .iter()
            .map(|(name, at)| (*name, format!("http://{at}/")));
        let urls = serde_json::to_string(&urls.collect::<BTreeMap<_, _>>()).unwrap();
        let mut node = Command::new("node")
            .arg(script)
            .env("SCREENSHOTS", pictures)
            .current_dir(folder)
            .env("PAGES", urls)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node (try: packaging/install-build-deps.sh --test)");
        let mut told = node.stdin.take().unwrap();
        let mut failures = Vec::new();
        for line in BufReader::new(node.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            match line.split_once(' ') {
                Some(("stop", name)) => drop(servers.remove(name).unwrap()),
                Some(("start", name)) => {
                    let (name, at) = addresses.get_key_value(name).unwrap();
                    servers.insert(name, serve(*at, name));
                }
                Some(("FAILED", _)) => failures.push(line.clone()),
                _ => {}
            }
            println!("{line}");
            if line.starts_with("stop ") || line.starts_with("start ") {
                writeln!(told, "done").unwrap();
            }
        }
        let status = node.wait().unwrap();
        assert!(
            status.success() && failures.is_empty(),
            "{}",
            failures.join("\n")
        );
    }
}
