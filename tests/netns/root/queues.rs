//! Episodes of queues are told: as many as there were, with exact counts, and with the flows whose packets were in them.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hostint_testing::netns::{Daemon, Host, Lab, await_that_or};
use hostint_testing::random::env_number;
use hostint_testing::scratch::{Folder, TempFile};
use nix::sys::signal::Signal;
use serde_json::Value;

use super::metrics::get;
use crate::exchange::exchange_tcp;

/// The bytes of a datagram in a queue, with its headers.
const BYTES: u64 = 1000 + 8 + 20 + 14;

fn postcards(host: &Host, flags: &str) -> Daemon {
    host.start(&format!("postcards --json {flags}"), "queues are reported")
}

/// The last line of each episode, oldest first.
fn episodes(daemon: &Daemon) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for line in daemon.json_lines() {
        if line["kind"] != "queue" {
            continue;
        }
        let same = |one: &&mut Value| one["episode"] == line["episode"];
        match found.iter_mut().find(same) {
            Some(known) => *known = line,
            None => found.push(line),
        }
    }
    found
}

fn await_ended(daemon: &Daemon, count: usize) -> Vec<Value> {
    let ended = || {
        let all = episodes(daemon);
        all.len() == count && all.iter().all(|one| one["end_ns"].is_u64())
    };
    await_that_or(ended, || {
        format!("{:#?} {}", episodes(daemon), daemon.stderr())
    });
    episodes(daemon)
}

/// Ends the daemon, and returns all counts.
fn totals(daemon: &mut Daemon) -> Value {
    daemon.totals("queue-totals")
}

fn number(of: &Value, key: &str) -> u64 {
    let found = of[key].as_u64();
    found.unwrap_or_else(|| panic!("no {key}: {of:#}"))
}

/// A kernel may run no tracing program while some process is interrupted: seen for the supervisor of a virtual machine. And
/// the host may send a packet of its own.
fn is_nearly(found: u64, all: u64) -> bool {
    found <= all + 2 && found * 100 >= all * 90
}

/// A queue on the router's interface to b that holds packets as long as it is told to.
struct HeldQueue<'a> {
    lab: &'a Lab,
    from: [UdpSocket; 2],
    to: UdpSocket,
}

impl<'a> HeldQueue<'a> {
    fn new(lab: &'a Lab) -> Self {
        let to = lab.b.udp("10.9.2.1:7001");
        to.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let queue = Self {
            lab,
            from: ["10.9.1.1:5000", "10.9.1.1:5001"].map(|address| lab.a.udp(address)),
            to,
        };
        queue.rate("add", "1gbit");
        // The addresses of all neighbours are known from here on.
        queue.send(0);
        queue.receive(1);
        queue
    }

    /// Two datagrams pass at once; at the slow rate, the third takes eight seconds.
    fn rate(&self, verb: &str, rate: &str) {
        self.lab.m.sh(&format!(
            "tc qdisc {verb} dev m1 root handle 10: tbf rate {rate} burst 3000 limit 200000"
        ));
    }

    fn send(&self, from: usize) {
        let sent = self.from[from].send_to(&[7; 1000], "10.9.2.1:7001");
        assert_eq!(sent.unwrap(), 1000);
    }

    fn receive(&self, count: usize) {
        let mut got = [0; 2048];
        for _ in 0..count {
            self.to.recv(&mut got).unwrap();
        }
    }

    fn queued(&self) -> u64 {
        let queue = self.lab.m.sh("tc -s qdisc show dev m1");
        let words = queue.split_whitespace();
        let backlog = words.filter_map(|word| word.strip_suffix('p')?.parse::<u64>().ok());
        backlog.max().unwrap()
    }

    /// Holds datagrams, every fifth of the second sender, and lets them go at once. Returns how many were in the queue when
    /// they went, and a time for which each was there at least.
    fn burst(&self, packets: u64) -> (u64, Duration) {
        self.rate("change", "1kbit");
        for one in 0..packets {
            self.send(usize::from(one % 5 == 4));
        }
        await_that_or(
            || self.queued() + 8 >= packets,
            || format!("{} are in the queue", self.queued()),
        );
        let all_are_there = Instant::now();
        let queued = self.queued();
        let held = all_are_there.elapsed();
        self.rate("change", "1gbit");
        // The queue looks at its new rate when the next packet comes.
        self.send(0);
        self.receive(packets as usize + 1);
        (queued + 1, held)
    }
}

/// `HOSTINT_LONG=100` is the long run.
#[test]
fn each_burst_is_an_episode_by_time() {
    const QUOTA: u64 = 20;
    let bursts = env_number("HOSTINT_LONG", 3) as usize;
    let lab = Lab::new();
    let queue = HeldQueue::new(&lab);
    let mut daemon = postcards(
        &lab.m,
        &format!("--queue m1=trigger:1ms,reset:500us,quota:{QUOTA}"),
    );
    let mut held = Vec::new();
    for burst in 1..=bursts {
        // The one that lets them go does not wait.
        let (packets, least) = queue.burst(50);
        held.push((packets - 1, least));
        await_ended(&daemon, burst);
    }
    for (one, (held, least)) in await_ended(&daemon, bursts).iter().zip(held) {
        let packets = number(one, "packets");
        assert!(is_nearly(packets, held), "{held}: {one:#}");
        assert_eq!(number(one, "told"), QUOTA, "{one:#}");
        assert_eq!(number(one, "suppressed"), packets - QUOTA, "{one:#}");
        assert!(
            number(one, "max_time_ns") >= least.as_nanos() as u64,
            "{least:?}: {one:#}"
        );
        assert_eq!(one["interface"], "m1");
        assert_eq!(one["handle"], 0x10_0000);
        let flows = one["flows"].as_array().unwrap();
        let told: u64 = flows.iter().map(|flow| number(flow, "packets")).sum();
        assert!((QUOTA - 2..=QUOTA).contains(&told), "{one:#}");
        assert_eq!(flows[0]["flow"]["sport"], 5000, "{one:#}");
        assert_eq!(flows[1]["flow"]["sport"], 5001, "{one:#}");
    }
    let all = totals(&mut daemon);
    let m1 = &all["queues"][0];
    assert_eq!(number(m1, "episodes"), bursts as u64, "{all:#}");
    let told = bursts as u64 * QUOTA;
    assert_eq!(number(m1, "packets_told"), told, "{all:#}");
    let suppressed = number(m1, "packets_suppressed");
    assert_eq!(number(m1, "packets_over"), told + suppressed, "{all:#}");
    eprintln!("{bursts} bursts: {bursts} episodes, {told} packets told, {suppressed} suppressed");
    assert_eq!(m1["is_over"], false, "{all:#}");
    assert_eq!(all["events_lost"], 0, "{all:#}");
}

#[test]
fn by_bytes_nothing_is_told_between_reset_and_trigger() {
    const TRIGGER: u64 = 30;
    let lab = Lab::new();
    let queue = HeldQueue::new(&lab);
    let (trigger, reset) = (TRIGGER * BYTES, 10 * BYTES);
    let mut daemon = postcards(
        &lab.m,
        &format!("--queue m1=trigger:{trigger},reset:{reset}"),
    );
    let (queued, _) = queue.burst(60);
    let one = await_ended(&daemon, 1).remove(0);
    // Those that leave while 30 or more are there, themselves among them.
    assert!(
        is_nearly(number(&one, "packets"), queued - TRIGGER + 1),
        "{queued}: {one:#}"
    );
    assert_eq!(number(&one, "told"), number(&one, "packets"), "{one:#}");
    assert_eq!(number(&one, "suppressed"), 0, "{one:#}");
    let bytes = number(&one, "max_bytes");
    assert!(
        bytes >= trigger && bytes <= (queued + 2) * BYTES,
        "{queued}: {one:#}"
    );
    assert!(one.get("max_time_ns").is_none(), "{one:#}");
    queue.burst(10);
    let all = totals(&mut daemon);
    assert_eq!(
        number(&all["queues"][0], "episodes"),
        1,
        "a burst that does not reach the trigger: {all:#}"
    );
}

#[test]
fn superpackets_that_a_queue_cuts_are_counted_as_untimed_and_judged_by_bytes() {
    for (trigger, is_timed) in [("1ms", true), ("1", false)] {
        let lab = Lab::new();
        // A superpacket is longer than the bucket, so the queue makes packets of it.
        lab.m
            .sh("tc qdisc add dev m1 root tbf rate 200mbit burst 5000 limit 1000000");
        let mut daemon = postcards(&lab.m, &format!("--queue m1=trigger:{trigger}"));
        exchange_tcp(&lab.a, &lab.b, 7003, 200_000);
        let all = totals(&mut daemon);
        assert_eq!(number(&all, "untimed") > 0, is_timed, "{all:#}");
        let m1 = &all["queues"][0];
        assert!(number(m1, "packets") > 100, "{all:#}");
        if !is_timed {
            assert_eq!(number(m1, "packets_over"), number(m1, "packets"), "{all:#}");
        }
    }
}

/// What the queue has no room for is dropped before the first packet is over the trigger, and of the episode all the same.
#[test]
fn drops_of_a_full_queue_are_those_of_the_kernel() {
    for trigger in [format!("{}", 2 * BYTES), "20ms".to_owned()] {
        let lab = Lab::new();
        let queue = HeldQueue::new(&lab);
        let mut daemon = postcards(&lab.m, &format!("--queue m1=trigger:{trigger}"));
        let dropped = || {
            let text = lab.m.sh("tc -s qdisc show dev m1");
            let (_, behind) = text.split_once("(dropped ").unwrap();
            let (count, _) = behind.split_once(',').unwrap();
            count.parse::<u64>().unwrap()
        };
        for burst in 1..=2 {
            let before = dropped();
            queue.rate("change", "1kbit");
            // The queue has room for 200,000 bytes.
            for _ in 0..250 {
                queue.send(0);
            }
            // Two datagrams pass at once at the slow rate. The others wait for longer than the trigger, on a fast machine too.
            let sent = Instant::now();
            let is_settled = || {
                let dropped = dropped() - before;
                let has_waited = sent.elapsed() > Duration::from_millis(50);
                has_waited && dropped > 0 && queue.queued() + dropped + 3 >= 250
            };
            await_that_or(is_settled, || {
                format!("{} queued, {} dropped", queue.queued(), dropped())
            });
            queue.rate("change", "1gbit");
            // There may be no room for it, either.
            queue.send(0);
            let one = await_ended(&daemon, burst).pop().unwrap();
            let (found, all) = (number(&one, "drops"), dropped() - before);
            assert!(all > 20, "{trigger}: {all}");
            assert_eq!(found, all, "{trigger}, burst {burst}: {one:#}");
        }
        let all = totals(&mut daemon);
        let m1 = &all["queues"][0];
        assert_eq!(number(m1, "drops"), dropped(), "{trigger}: {all:#}");
    }
}

#[test]
fn a_sighup_changes_the_trigger() {
    let lab = Lab::new();
    let queue = HeldQueue::new(&lab);
    let file =
        |trigger: u64| format!("[[queue]]\ndev = [\"m0\", \"m1\"]\ntrigger = \"{trigger}\"\n");
    let config = TempFile::new("queues.toml", file(1000 * BYTES));
    let mut daemon = lab.m.start(
        &format!("postcards --json --config {}", config.path()),
        "queues are reported",
    );
    queue.burst(20);
    std::fs::write(config.path(), file(10 * BYTES)).unwrap();
    daemon.signal(Signal::SIGHUP);
    await_that_or(
        || daemon.stderr().contains(" applied: [[queue]] 2 queues"),
        || daemon.stderr(),
    );
    queue.burst(20);
    let one = await_ended(&daemon, 1).remove(0);
    assert_eq!(number(&one, "trigger"), 10 * BYTES);
    // A daemon that is busy may answer too late.
    let status = || {
        let output = lab.m.try_hostint("status --json --flows 0");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let is_shown = || {
        let queues = &status()["postcards"]["queues"];
        let first = &queues["queues"][0];
        queues["devs"][1] == "m1" && first["interface"] == "m1" && first["episodes"] == 1
    };
    await_that_or(is_shown, || format!("{:#}", status()));
    let text = || String::from_utf8(lab.m.try_hostint("status").stdout).unwrap();
    await_that_or(|| text().contains("queues of m0, m1: 1 episode"), text);
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
}

#[test]
fn collectors_are_told_each_episode() {
    let lab = Lab::new();
    let queue = HeldQueue::new(&lab);
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let mut collector = lab.b.start(
        &format!("collect --json --listen 10.9.2.1 --store {store} --http 127.0.0.1:13279"),
        "collecting",
    );
    let mut daemon = postcards(
        &lab.m,
        &format!(
            "--queue m1=trigger:{} --collector 10.9.2.1 --node-id 7",
            10 * BYTES
        ),
    );
    queue.burst(40);
    await_ended(&daemon, 1);
    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    // The line without the schema and the kind is what the collector was told.
    let told = episodes(&daemon).remove(0);
    let received = || {
        let mut all = collector.json_lines();
        all.retain(|line| line["kind"] == "queue");
        all
    };
    let ended = |one: &Value| one["queue_episode"]["end_ns"].is_u64();
    await_that_or(
        || received().last().is_some_and(ended),
        || format!("{:#?}", received()),
    );
    let last = received().pop().unwrap();
    assert_eq!(last["reporter_node"], 7, "{last:#}");
    assert_eq!(last["hw_id"], 3, "{last:#}");
    assert_eq!(last["congested_queue"], true, "{last:#}");
    for key in [
        "begin_ns",
        "end_ns",
        "packets",
        "told",
        "max_bytes",
        "flows",
    ] {
        assert_eq!(last["queue_episode"][key], told[key], "{key}: {last:#}");
    }
    let metrics = || get(&lab.b, 13279, "/metrics").1;
    for (figure, key) in [
        ("packets_over", "packets"),
        ("packets_told", "told"),
        ("packets_suppressed", "suppressed"),
        ("drops", "drops"),
    ] {
        let labels = "{node=\"7\",dev=\"m1\",queue=\"0\"}";
        let line = format!("hostint_host_queue_{figure}_total{labels} {}\n", told[key]);
        await_that_or(|| metrics().contains(&line), || line.clone() + &metrics());
    }
    assert_eq!(collector.end(), Some(0), "{}", collector.stderr());
    let history = lab
        .b
        .hostint(&format!("history queues --json --store {store}"));
    let history: Value = serde_json::from_str(&history).unwrap();
    let found = history["queues"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{history:#}");
    assert_eq!(found[0]["node"], 7, "{history:#}");
    assert_eq!(found[0]["packets"], told["packets"], "{history:#}");
    let text = lab.b.hostint(&format!("history queues --store {store}"));
    assert!(text.contains("udp 10.9.1.1:5000 > 10.9.2.1:7001"), "{text}");
}
