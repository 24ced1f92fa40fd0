//! What packets wait inside the hosts at both ends: datagrams and segments until applications read them, and what
//! applications write until TCP sends it. It is compared with what the applications themselves see.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Lab, await_that, await_that_or};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use serde_json::Value;

/// The application does not read for this time.
const HELD: Duration = Duration::from_millis(30);

/// Longer waits do not count.
const LONGEST: Duration = Duration::from_secs(2);

/// a tags what it sends to b, both tell their waits, and b has a history.
struct Ends {
    lab: Lab,
    store: String,
    _folder: Folder,
    _daemons: Vec<Daemon>,
}

impl Ends {
    fn begin() -> Self {
        let lab = Lab::new();
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let mut daemons = vec![lab.b.start(
            &format!("collect --listen 10.9.2.1 --store {store}"),
            "collecting on",
        )];
        for (host, dev, node) in [(&lab.a, "a0", 1), (&lab.b, "b0", 2)] {
            let flags = format!("--dev {dev} --node-id {node} --collector 10.9.2.1 --host-times");
            daemons.push(host.start(&format!("sink {flags}"), "waits in this host are reported"));
        }
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        await_that("the source knows what passes", || is_settled(&lab.a));
        Self {
            lab,
            store,
            _folder: folder,
            _daemons: daemons,
        }
    }

    /// What is told of a part of a host; null if nothing is.
    fn told(&self, kind: &str, node: u64) -> Value {
        let question = format!("history segments --json --store {}", self.store);
        let answer = self.lab.b.try_hostint(&question).stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let rows = answer["segments"].as_array().cloned().unwrap_or_default();
        let mut rows = rows.into_iter();
        rows.find(|row| row["kind"] == kind && row["from"]["node"] == node)
            .unwrap_or_default()
    }
}

fn packets(row: &Value) -> u64 {
    row["packets"].as_u64().unwrap_or(0)
}

/// A time of these packets, such as the 99th percentile.
fn time(row: &Value, which: &str) -> Duration {
    Duration::from_nanos(row["latency"][which].as_u64().unwrap_or(0))
}

#[test]
fn datagrams_wait_until_the_application_reads_them() {
    let ends = Ends::begin();
    let lab = &ends.lab;
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let neighbour = lab.b.udp("10.9.2.1:5001");
    let stripped = || lab.b.count("sink", "received");
    let (before, mut sent) = (stripped(), 0);
    let mut waiting = VecDeque::new();
    let (mut least, mut most) = (Duration::ZERO, Duration::ZERO);
    let (mut read, mut too_long) = (0_u64, 0);
    for round in 1..=30 {
        for _ in 0..10 {
            waiting.push_back(Some(Instant::now()));
            from.send_to(&[7; 300], "10.9.2.1:6000").unwrap();
            sent += 1;
        }
        // Those of this host pass no sink, and stand between the others.
        for _ in 0..3 {
            waiting.push_back(None);
            neighbour.send_to(&[8; 300], "10.9.2.1:6000").unwrap();
        }
        await_that("the datagrams came", || stripped() - before >= sent);
        let arrived = Instant::now();
        thread::sleep(HELD);
        // Some stay for the next round.
        for _ in 0..waiting.len() - round % 3 {
            let mut buffer = [0; 500];
            // To look takes nothing out.
            to.peek_from(&mut buffer).unwrap();
            let begun = Instant::now();
            to.recv_from(&mut buffer).unwrap();
            let Some(sent) = waiting.pop_front().unwrap() else {
                assert_eq!(buffer[0], 8);
                continue;
            };
            assert_eq!(buffer[0], 7);
            read += 1;
            least += begun - arrived.max(sent);
            most += sent.elapsed();
            too_long += u64::from(sent.elapsed() >= LONGEST);
        }
    }
    // The kernel does not tell a datagram that is read before its socket is woken.
    await_that_or(
        || packets(&ends.told("read", 2)) * 100 >= (read - too_long) * 95,
        || format!("{read} are told: {:#}", ends.told("read", 2)),
    );
    let row = ends.told("read", 2);
    println!("{read} read, {least:?} to {most:?} in all: {row}");
    assert!(packets(&row) <= read, "{row:#}");
    if too_long > 0 {
        // On a machine that is busy for seconds the sums say nothing.
        return;
    }
    let mean = time(&row, "mean_ns").as_secs_f64();
    let [least, most] = [least, most].map(|all| all.as_secs_f64() / read as f64);
    assert!(
        0.95 * least <= mean && mean <= 1.05 * most,
        "{least} s to {most} s: {row:#}"
    );
}

#[test]
fn data_waits_in_the_send_buffer_until_tcp_sends_it() {
    let ends = Ends::begin();
    let lab = &ends.lab;
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7000")).unwrap();
    let mut stream = lab.a.enter(|| TcpStream::connect("10.9.2.1:7000")).unwrap();
    let (mut reader, _) = listener.accept().unwrap();
    let mut longest = Duration::ZERO;
    for _ in 0..50 {
        let mut buffer = [0; 200];
        let begun = Instant::now();
        stream.write_all(&[7; 200]).unwrap();
        reader.read_exact(&mut buffer).unwrap();
        longest = longest.max(begun.elapsed());
    }
    await_that_or(
        || packets(&ends.told("buffer", 1)) >= 40,
        || format!("requests are told: {:#}", ends.told("buffer", 1)),
    );
    let row = ends.told("buffer", 1);
    assert!(time(&row, "p99_ns") <= longest.mul_f64(1.1), "{row:#}");
    // More than the receiver takes while nobody reads.
    const LEN: usize = 3_000_000;
    let begun = Instant::now();
    let writer = thread::spawn(move || {
        stream.write_all(&vec![7; LEN]).unwrap();
        stream
    });
    thread::sleep(HELD);
    let mut all = vec![0; LEN];
    reader.read_exact(&mut all).unwrap();
    let longest = begun.elapsed();
    drop(writer.join().unwrap());
    let before = packets(&row);
    await_that_or(
        || packets(&ends.told("buffer", 1)) > before + 20,
        || format!("data is told: {:#}", ends.told("buffer", 1)),
    );
    let row = ends.told("buffer", 1);
    println!("held {HELD:?}, all within {longest:?}: {row}");
    let p99 = time(&row, "p99_ns");
    assert!(
        HELD.mul_f64(0.5) <= p99 && p99 <= longest.mul_f64(1.1),
        "{longest:?}: {row:#}"
    );
    let stack = ends.told("stack", 1);
    assert!(packets(&stack) >= packets(&row), "{stack:#} {row:#}");
}

#[test]
fn an_application_takes_its_time_to_answer() {
    let ends = Ends::begin();
    let lab = &ends.lab;
    lab.b.hostint("source attach --dev b0");
    lab.b.hostint("source add-dest 10.9.1.1");
    await_that("the answers' source knows what passes", || {
        is_settled(&lab.b)
    });
    let listener = lab.b.enter(|| TcpListener::bind("10.9.2.1:7000")).unwrap();
    let mut client = lab.a.enter(|| TcpStream::connect("10.9.2.1:7000")).unwrap();
    client.set_nodelay(true).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    const QUESTIONS: u64 = 30;
    let answering = thread::spawn(move || {
        let mut took = Duration::ZERO;
        for _ in 0..QUESTIONS {
            // A question in two parts counts from the last one.
            server.read_exact(&mut [0; 100]).unwrap();
            server.read_exact(&mut [0; 100]).unwrap();
            let begun = Instant::now();
            thread::sleep(HELD);
            server.write_all(&[8; 3_000]).unwrap();
            took += begun.elapsed();
        }
        took
    });
    let mut waited = Duration::ZERO;
    for _ in 0..QUESTIONS {
        client.write_all(&[7; 100]).unwrap();
        thread::sleep(HELD / 3);
        let begun = Instant::now();
        client.write_all(&[7; 100]).unwrap();
        client.read_exact(&mut [0; 3_000]).unwrap();
        waited += begun.elapsed();
        // What a client does before it asks again is no wait.
        thread::sleep(HELD / 3);
    }
    let took = answering.join().unwrap();
    await_that_or(
        || packets(&ends.told("answer", 2)) + 1 >= QUESTIONS,
        || format!("answers are reported: {:#}", ends.told("answer", 2)),
    );
    let row = ends.told("answer", 2);
    println!("{QUESTIONS} answers took {took:?}, their client waited {waited:?}: {row}");
    assert!(packets(&row) <= QUESTIONS, "{row:#}");
    let [took, waited] = [took, waited].map(|all| all.as_secs_f64() / QUESTIONS as f64);
    let mean = time(&row, "mean_ns").as_secs_f64();
    assert!(
        0.95 * took <= mean && mean <= 1.05 * waited,
        "{took} s to {waited} s: {row:#}"
    );
    assert_eq!(
        packets(&ends.told("answer", 1)),
        0,
        "a client answers nothing"
    );
}
