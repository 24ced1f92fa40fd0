//! librdkafka's mock cluster as a Kafka broker, and kcat as its consumer.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// Brokers on loopback; they end with it.
pub struct Cluster {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    pub brokers: String,
}

/// A message as a consumer has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Message {
    pub partition: usize,
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

/// Built once for all tests.
fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let name = format!("mock_cluster-{}", std::process::id());
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/engines/kafka/mock_cluster.c"
        );
        let built = Command::new("cc")
            .args(["-Wall", "-Wextra", "-Werror", source, "-o"])
            .arg(&program)
            .arg("-lrdkafka")
            .status();
        assert!(built.unwrap().success(), "needs librdkafka-dev");
        program
    })
}

impl Cluster {
    /// So many brokers, and topics as `name:partitions`.
    pub fn start(brokers: usize, topics: &[&str]) -> Self {
        let mut child = Command::new(program())
            .arg(brokers.to_string())
            .args(topics)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut cluster = Self {
            orders: child.stdin.take().unwrap(),
            answers: BufReader::new(child.stdout.take().unwrap()),
            child,
            brokers: String::new(),
        };
        cluster.brokers = cluster.answer();
        assert!(!cluster.brokers.is_empty(), "no mock cluster");
        cluster
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// `down BROKER`, `up BROKER`, `rtt BROKER MS`, `error CODE COUNT`, `leader TOPIC PARTITION BROKER`,
    /// `create TOPIC:PARTITIONS`.
    pub fn tell(&mut self, order: &str) {
        writeln!(self.orders, "{order}").unwrap();
        assert_eq!(self.answer(), "ok", "{order}");
    }

    /// All that these partitions of a topic have.
    pub fn consume_of(&self, topic: &str, partitions: &[usize]) -> Vec<Message> {
        let each = partitions.iter().flat_map(|partition| {
            let mut kcat = Command::new("kcat");
            kcat.args(["-p", &partition.to_string()]);
            consume(kcat, &self.brokers, topic)
        });
        each.collect()
    }

    /// All that a topic has.
    pub fn consume(&self, topic: &str) -> Vec<Message> {
        consume(Command::new("kcat"), &self.brokers, topic)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All that a topic has, by a kcat that lacks arguments only.
pub fn consume(mut kcat: Command, brokers: &str, topic: &str) -> Vec<Message> {
    let output = kcat
        .args(["-C", "-q", "-e", "-u", "-o", "beginning"])
        .args(["-b", brokers, "-t", topic, "-f", "%p %K %S\n%k%s"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "kcat: {complaint}");
    messages(&output.stdout)
}

/// Of what a consumer writes: `PARTITION KEY-LENGTH VALUE-LENGTH`, a line feed, key and value.
pub fn messages(mut rest: &[u8]) -> Vec<Message> {
    let mut messages = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = std::str::from_utf8(&rest[..end]).unwrap();
        let numbers: Vec<usize> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        let [partition, key, value] = numbers[..] else {
            panic!("{line}");
        };
        let (message, left) = rest[end + 1..].split_at(key + value);
        let (key, value) = message.split_at(key);
        messages.push(Message {
            partition,
            key: key.to_vec(),
            value: value.to_vec(),
        });
        rest = left;
    }
    messages
}
