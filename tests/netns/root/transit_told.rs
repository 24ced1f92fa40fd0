//! What a transit hop tells collectors is in the history: its name, its clock, and the times in it and in its queues.

use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};
use hostint_testing::scratch::Folder;
use hostint_testing::watched_pair::is_settled;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::exchange::exchange_udp;

/// The node id of the router.
const HOP: u64 = 9;

/// A lab whose first host tags packets to the second one, where a collector keeps a history.
struct History {
    lab: Lab,
    store: String,
    _folder: Folder,
    _collect: Daemon,
    _sinks: [Daemon; 2],
}

impl History {
    fn begin(encapsulation: &str) -> Self {
        let lab = Lab::new();
        lab.add_ipv6();
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let collect = format!("collect --listen 10.9.2.1 --store {store}");
        let collect = lab.b.start(&collect, "collecting on");
        let sink = |host: &Host, dev: &str, node: u8| {
            host.leasing_sink(&format!(
                "--dev {dev} --node-id {node} --collector 10.9.2.1 --summary-period 1s"
            ))
        };
        let sinks = [sink(&lab.a, "a0", 1), sink(&lab.b, "b0", 2)];
        lab.a.hostint(&format!(
            "source attach --dev a0 --encap {encapsulation} --max-hops 1"
        ));
        lab.a.hostint("source add-dest 10.9.2.1 fd09:2::1");
        Self {
            lab,
            store,
            _folder: folder,
            _collect: collect,
            _sinks: sinks,
        }
    }

    fn ask(&self, form: &str) -> Vec<u8> {
        let store = &self.store;
        let question = format!("history path --from 1 --to 2 {form} --store {store}");
        self.lab.b.try_hostint(&question).stdout
    }

    fn text(&self) -> String {
        String::from_utf8(self.ask("")).unwrap()
    }

    /// The first path in the answer in JSON; null if there is none.
    fn path(&self) -> Value {
        let answer: Value = serde_json::from_slice(&self.ask("--json")).unwrap_or_default();
        answer["paths"][0].clone()
    }

    fn pushed(&self) -> u64 {
        self.lab.m.count("transit", "pushed")
    }
}

#[test]
fn a_hop_tells_its_name_and_its_clock() {
    let history = History::begin("over-tcp-udp");
    let lab = &history.lab;
    let line = format!(
        "transit --dev m0,m1 --node-id {HOP} --collector 10.9.2.1 --node-name leaf --label rack=r7"
    );
    let _hop = lab.m.start(&line, "transit hop attached to m1");
    await_that("the source knows what passes", || is_settled(&lab.a));
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    // Packets that come before the clock of the hop is known have links without times.
    await_that("times of links are known", || {
        exchange_udp(&from, &to, 10, 300);
        let segments = history.path()["segments"].as_array().cloned();
        let segments = segments.unwrap_or_default();
        let is_known = |segment: &&Value| segment["corrected"]["packets"].as_u64() > Some(100);
        segments.iter().filter(is_known).count() == 2
    });
    await_that("the hop and its ports have their names", || {
        history.text().contains(&format!("leaf ({HOP}) m0 -> m1"))
    });
}

#[test]
fn waits_in_a_slow_queue_are_told_apart_from_the_link() {
    for encapsulation in ["over-tcp-udp", "extension-udp", "vxlan-gpe"] {
        let history = History::begin(encapsulation);
        let lab = &history.lab;
        // With this many places, that two packets in the queue have the same one is as good as impossible.
        let line = format!(
            "transit --dev m0,m1 --node-id {HOP} --waits --max-arrivals 1048576 --collector 10.9.2.1"
        );
        let mut hop = lab.m.start(&line, "waits in queues are reported");
        let flows = [
            (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000")),
            (lab.a.udp("[fd09:1::1]:5000"), lab.b.udp("[fd09:2::1]:6000")),
        ];
        for (from, to) in &flows {
            let before = history.pushed();
            await_that("packets leave room for the hop", || {
                exchange_udp(from, to, 10, 300);
                history.pushed() > before
            });
        }
        let before = history.pushed();
        lab.m
            .sh("tc qdisc add dev m1 root tbf rate 20mbit burst 2kb limit 1mb");
        for (from, to) in &flows {
            let mut buffer = [0; 2000];
            for _ in 0..20 {
                for _ in 0..10 {
                    from.send_to(&[7; 1000], to.local_addr().unwrap()).unwrap();
                }
                for _ in 0..10 {
                    to.recv_from(&mut buffer).unwrap();
                }
            }
        }
        let pushed = history.pushed();
        assert!(pushed >= before + 400, "{encapsulation}: {pushed}");
        // It tells what is left when it ends.
        assert_eq!(hop.end(), Some(0));
        // Some waits are missed, as the manual says. On a busy machine 383 of 420 came, so most must.
        let is_whole = || {
            let path = history.path();
            let waited = path["queues"][0]["packets"].as_u64().unwrap_or(0);
            path["whole"]["packets"] == pushed && waited * 100 >= pushed * 75
        };
        await_that_or(is_whole, || {
            format!(
                "{encapsulation}: the history has the waits of most of {pushed} packets: {:#}",
                history.path()
            )
        });
        let path = history.path();
        let [queue] = &path["queues"].as_array().expect("a list")[..] else {
            panic!("{encapsulation}: one queue: {path}");
        };
        assert_eq!(queue["kind"], "queue");
        assert_eq!(queue["from"]["node"], HOP);
        let index = lab.m.sh("cat /sys/class/net/m1/ifindex");
        assert_eq!(queue["from"]["port"].to_string(), index.trim());
        // The last of ten datagrams waits for 3.6 ms; the hop itself takes no time to speak of.
        let ns = |segment: &Value, figure: &str| segment["latency"][figure].as_i64().unwrap();
        assert!(ns(queue, "max_ns") > 2_000_000, "{encapsulation}: {queue}");
        let inside = &path["segments"][1];
        assert_eq!(inside["kind"], "hop");
        assert!(
            ns(inside, "mean_ns") < ns(queue, "mean_ns") / 2,
            "{encapsulation}: {path}"
        );
    }
}

#[test]
fn waits_are_those_of_packets_with_the_marks_of_a_reload() {
    let history = History::begin("extension-udp");
    let lab = &history.lab;
    let config = std::env::temp_dir().join(format!("{}.toml", lab.m.ns));
    let table = format!(
        "[transit]\ndev = [\"m0\", \"m1\"]\nnode-id = {HOP}\nwaits = true\ncollector = \"10.9.2.1\"\n"
    );
    std::fs::write(&config, format!("{table}extension-port = 9\n")).unwrap();
    let line = format!("transit --config {}", config.display());
    let mut hop = lab.m.start(&line, "waits in queues are reported");
    await_that("the source knows what passes", || is_settled(&lab.a));
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 50, 300);
    assert_eq!(history.pushed(), 0, "packets have another port");
    std::fs::write(&config, &table).unwrap();
    hop.signal(Signal::SIGHUP);
    await_that("queues have packets", || {
        exchange_udp(&from, &to, 50, 300);
        history.path()["queues"][0]["packets"].as_u64() > Some(50)
    });
    assert_eq!(hop.end(), Some(0));
    std::fs::remove_file(&config).unwrap();
}

#[test]
fn a_history_tells_the_times_of_all_packets() {
    let history = History::begin("over-tcp-udp");
    let lab = &history.lab;
    lab.m
        .hostint(&format!("transit attach --dev m0,m1 --node-id {HOP}"));
    await_that("the source knows what passes", || is_settled(&lab.a));
    let before = history.pushed();
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 500, 300);
    let pushed = history.pushed();
    assert!(pushed >= before + 500, "{pushed} after {before}");
    await_that(
        "the history has each packet onto which the hop pushed",
        || history.path()["whole"]["packets"] == pushed,
    );
    let path = history.path();
    assert!(path["whole"]["reports"].as_u64() < Some(pushed), "{path}");
    for segment in path["segments"].as_array().expect("a list") {
        assert_eq!(segment["packets"], pushed, "{segment}");
    }
    let told = history.text();
    assert!(told.contains("all ") && !told.contains("favour"), "{told}");
}
