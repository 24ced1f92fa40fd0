//! A real collector beside a server that speaks the API: its lines and its history name the pods of a cluster.

use std::fs;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::FlowKey;
use hostint_testing::harness::{Daemon, hostint, text};
use hostint_testing::http_server::HttpServer;
use hostint_testing::kmock::{Kmock, pod};
use hostint_testing::netns::await_that;
use hostint_testing::places;
use hostint_testing::scratch::Folder;
use hostint_testing::synthetic::Synthetic;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

const START: &str = "2026-01-02T03:04:05Z";

/// A collector of one run.
struct Run<'a> {
    daemon: Daemon,
    reports: String,
    folder: &'a Folder,
}

impl<'a> Run<'a> {
    fn start(server: &Kmock, folder: &'a Folder) -> Self {
        Self::start_with(server, folder, &[])
    }

    fn start_with(server: &Kmock, folder: &'a Folder, args: &[&str]) -> Self {
        let mut daemon = Daemon::start(
            Command::new(places::hostint())
                .args(["collect", "--listen", "127.0.0.1:0", "--json"])
                .args(args)
                .args(["--kubernetes", &server.url])
                .args(["--kubernetes-account", folder.path().to_str().unwrap()])
                .args([
                    "--output",
                    &folder.name("lines"),
                    "--store",
                    &folder.name("db"),
                ])
                .stdin(Stdio::null())
                .stdout(Stdio::null()),
        );
        let reports = daemon.wait_for("collecting on ");
        let reports = reports.trim().rsplit(' ').next().unwrap().to_owned();
        Self {
            daemon,
            reports,
            folder,
        }
    }

    /// Sends a report of the flow.
    fn report(&self, synthetic: &mut Synthetic) -> FlowKey {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let sample = synthetic.report(0, now.as_nanos() as u64);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&sample.datagram(), &self.reports).unwrap();
        sample.report.observation.flow().unwrap()
    }

    /// Its lines so far.
    fn lines(&self) -> Vec<Value> {
        let lines = fs::read_to_string(self.folder.file("lines")).unwrap_or_default();
        let whole = lines
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        whole
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn await_lines(&self, count: usize) -> Vec<Value> {
        await_that("the lines are written", || self.lines().len() >= count);
        self.lines()
    }

    fn end(self) {
        self.daemon.signal(Signal::SIGTERM);
        let (code, says) = self.daemon.end();
        assert_eq!(code, Some(0), "{says}");
    }
}

fn history(folder: &Folder, args: &[&str]) -> String {
    let store = folder.name("db");
    let args = [&["history"], args, &["--store", &store, "--since", "1h"]].concat();
    let output = hostint(&args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn names(line: &Value) -> Vec<(String, String)> {
    let pods = line["pods"].as_array().cloned().unwrap_or_default();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    pods.iter()
        .map(|one| (text(one, "address"), text(one, "pod")))
        .collect()
}

#[test]
fn lines_and_history_name_pods_for_as_long_as_they_had_their_addresses() {
    let (server, folder) = (Kmock::start(), Folder::create());
    let mut synthetic = Synthetic::new(1, 2, 1);
    let flow = synthetic.report(0, 1).report.observation.flow().unwrap();
    let (src, dst) = (flow.src.to_string(), flow.dst.to_string());
    server.put(pod("shop", "web-5d-x", &src, START));
    server.put(pod("shop", "db-7f-y", &dst, START));

    let mut run = Run::start(&server, &folder);
    run.daemon.wait_for("that have names: 2");
    assert_eq!(run.report(&mut synthetic), flow);
    let lines = run.await_lines(1);
    let both = [
        (src.clone(), "web-5d-x".to_owned()),
        (dst.clone(), "db-7f-y".to_owned()),
    ];
    assert_eq!(names(&lines[0]), both, "{}", lines[0]);
    assert_eq!(lines[0]["pods"][0]["workload"], "web");
    run.end();

    let flows: Value = serde_json::from_str(&history(&folder, &["flows", "--json"])).unwrap();
    let name = |pod: &str, workload: &str| json!({"namespace": "shop", "pod": pod, "workload": workload, "workload_kind": "Deployment"});
    let row = &flows["flows"][0];
    assert_eq!(row["src_pod"], name("web-5d-x", "web"), "{flows}");
    assert_eq!(row["dst_pod"], name("db-7f-y", "db"));
    for (sentence, args, part) in [
        ("text", &["flows"][..], "shop/web-5d-x -> shop/db-7f-y"),
        (
            "CSV",
            &["flows", "--csv"],
            ",shop,web-5d-x,web,shop,db-7f-y,db",
        ),
        (
            "a search by pod",
            &["flows", "--search", "shop/web-5d-x"],
            "shop/db-7f-y",
        ),
        (
            "a search by workload",
            &["flows", "--search", "shop/DB"],
            "shop/db-7f-y",
        ),
        (
            "classes by workload",
            &["classes", "--by", "workload"],
            "shop/web -> shop/db",
        ),
        (
            "classes by namespace",
            &["classes", "--by", "namespace"],
            "shop -> shop",
        ),
        (
            "classes by pod",
            &["classes", "--by", "pod", "--json"],
            "shop/web-5d-x -> shop/db-7f-y",
        ),
    ] {
        let says = history(&folder, args);
        assert!(says.contains(part), "{sentence}: {says}");
    }
    assert!(!history(&folder, &["flows", "--search", "cart"]).contains("web"));

    // While no collector runs one pod goes, and another one gets its address.
    server.delete("shop", "web-5d-x");
    let now = humantime::format_rfc3339_micros(SystemTime::now()).to_string();
    server.put(pod("shop", "cart-1c-z", &src, &now));
    let mut run = Run::start(&server, &folder);
    run.daemon.wait_for("that have names: 2");
    run.report(&mut synthetic);
    let lines = run.await_lines(2);
    let found = names(&lines[1]);
    assert!(found.contains(&both[1]), "{found:?}");
    assert!(!found.contains(&both[0]), "it is there no more: {found:?}");
    run.end();
    let says = history(&folder, &["flows"]);
    let is_of_neither = says.contains("-> shop/db-7f-y") && !says.contains("cart");
    assert!(
        is_of_neither,
        "the flow began before the second pod: {says}"
    );
}

#[test]
fn engines_get_the_names_of_pods() {
    let (server, folder) = (Kmock::start(), Folder::create());
    let receiver = HttpServer::taking(Vec::new());
    let mut synthetic = Synthetic::new(1, 2, 1);
    let flow = synthetic.report(0, 1).report.observation.flow().unwrap();
    server.put(pod("shop", "db-7f-y", &flow.dst.to_string(), START));
    let args = ["--otlp", &receiver.url, "--otlp-reports"];
    let mut run = Run::start_with(&server, &folder, &args);
    run.daemon.wait_for("that have names: 1");
    run.report(&mut synthetic);
    let has =
        |body: &[u8], text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
    await_that("the report is delivered", || {
        let requests = receiver.seen().into_iter();
        let mut logs = requests.filter(|request| request.target.ends_with("/v1/logs"));
        logs.any(|request| {
            let body = request.unpacked();
            ["hostint.pods.0.workload", "db-7f-y"]
                .iter()
                .all(|text| has(&body, text))
        })
    });
    run.end();
}

#[test]
fn a_server_that_cannot_be_asked_is_said_once_and_takes_nothing_away() {
    let (server, folder) = (Kmock::start(), Folder::create());
    server.expect_token("none has it");
    let mut run = Run::start(&server, &folder);
    let said = run.daemon.wait_for("cannot ask the API server for pods");
    assert!(said.contains("the token is not accepted"), "{said}");
    run.report(&mut Synthetic::new(1, 2, 1));
    let lines = run.await_lines(1);
    assert_eq!(lines[0].get("pods"), None);
    run.end();
}
