//! Real servers that accept remote write, in a network namespace at the other end of a cable.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use hostint_testing::pushing::await_that;
use nix::sched::{CloneFlags, unshare};
use serde_json::Value;

pub const ADDRESS: &str = "10.9.3.2";

/// The caller's thread is at one end of it, in a namespace of its own.
pub struct Cable {
    far: String,
}

fn sh(line: &str) {
    let status = Command::new("sh").args(["-ec", line]).status().unwrap();
    assert!(status.success(), "{line}");
}

impl Cable {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let far = format!("hostint-rw-{}-{n}", std::process::id());
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        sh(&format!(
            "ip link set lo up; ip netns add {far}; ip -n {far} link set lo up; \
             ip link add near type veth peer name far netns {far}; \
             ip addr add 10.9.3.1/24 dev near; ip link set near up; \
             ip -n {far} addr add {ADDRESS}/24 dev far; ip -n {far} link set far up"
        ));
        Self { far }
    }

    /// Packets find no other end any more, or do so again.
    pub fn set(&self, state: &str) {
        sh(&format!("ip -n {} link set far {state}", self.far));
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        sh(&format!("ip netns del {}", self.far));
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Prometheus,
    VictoriaMetrics,
}

/// A server at the other end; its data stays when it is killed, and goes with this.
pub struct Server {
    kind: Kind,
    far: String,
    folder: PathBuf,
    child: Option<Child>,
}

impl Server {
    pub fn start(kind: Kind, cable: &Cable) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(&cable.far);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("prometheus.yml"), "global: {}\n").unwrap();
        let mut server = Self {
            kind,
            far: cable.far.clone(),
            folder,
            child: None,
        };
        server.begin();
        server
    }

    pub fn begin(&mut self) {
        let at = |name: &str| self.folder.join(name).display().to_string();
        let (program, args) = match self.kind {
            Kind::Prometheus => (
                "prometheus",
                vec![
                    format!("--config.file={}", at("prometheus.yml")),
                    format!("--storage.tsdb.path={}", at("data")),
                    "--web.listen-address=0.0.0.0:9000".to_owned(),
                    "--web.enable-remote-write-receiver".to_owned(),
                ],
            ),
            Kind::VictoriaMetrics => (
                "victoria-metrics",
                vec![
                    format!("-storageDataPath={}", at("data")),
                    "-httpListenAddr=:9000".to_owned(),
                    "-search.latencyOffset=0s".to_owned(),
                    "-search.disableCache".to_owned(),
                ],
            ),
        };
        let child = Command::new("ip")
            .args(["netns", "exec", &self.far, program])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(self.folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        self.child = Some(child);
        await_that("the server is ready", || self.get("/-/ready").is_some());
    }

    pub fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        // It is not asked.
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Where samples go.
    pub fn url(&self) -> String {
        format!("http://{ADDRESS}:9000/api/v1/write")
    }

    /// The body of a good answer.
    fn get(&self, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect((ADDRESS, 9000)).ok()?;
        let head = format!("GET {path} HTTP/1.0\r\nHost: {ADDRESS}\r\n\r\n");
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let good = head.split(' ').nth(1) == Some("200");
        good.then(|| body.to_owned())
    }

    /// What it finds for a query, if it can be reached.
    pub fn query(&self, query: &str) -> Option<Vec<Value>> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let answer = self.get(&format!("/api/v1/query?query={query}"))?;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["status"], "success", "{answer}");
        answer["data"]["result"].as_array().cloned()
    }

    /// The value of the only series that a query finds.
    pub fn value(&self, query: &str) -> Option<f64> {
        let found = self.query(query)?;
        assert!(found.len() < 2, "{found:?}");
        found.first()?["value"][1].as_str()?.parse().ok()
    }

    /// Times, in seconds, and values of all samples of a series in the last hour.
    pub fn samples(&self, series: &str) -> Vec<(f64, f64)> {
        let found = self.query(&format!("{series}[1h]")).unwrap();
        let [series] = &found[..] else {
            panic!("{found:?}");
        };
        let values = series["values"].as_array().unwrap().iter();
        let sample = |one: &Value| {
            let value = one[1].as_str().unwrap().parse().unwrap();
            (one[0].as_f64().unwrap(), value)
        };
        values.map(sample).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
