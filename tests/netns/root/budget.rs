//! The budget: when the work on all flows takes more than it allows, a share of them is measured, exactly, and status and coverage
//! say so; when it is lifted, all are.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};

use hostint_testing::netns::{Lab, await_that_or};
use serde_json::Value;

use crate::config_file::Config;

const TO_B: &str = "10.9.2.1";
const FLOWS: u16 = 256;

struct Traffic {
    from: Vec<UdpSocket>,
    to: UdpSocket,
}

impl Traffic {
    fn open(lab: &Lab) -> Self {
        let bind = |port: u16| lab.a.enter(|| UdpSocket::bind(("10.9.1.1", port)).unwrap());
        Self {
            from: (0..FLOWS).map(|number| bind(20_000 + number)).collect(),
            to: lab.b.enter(|| UdpSocket::bind((TO_B, 7_401)).unwrap()),
        }
    }

    /// A datagram of each flow, and each arrives as it was sent.
    fn round(&self) {
        let mut got = [0; 64];
        for (number, socket) in self.from.iter().enumerate() {
            let sent = [number as u8; 32];
            socket.send_to(&sent, (TO_B, 7_401)).unwrap();
            let len = self.to.recv(&mut got).unwrap();
            assert_eq!(got[..len], sent, "datagram {number}");
        }
    }
}

fn budget(lab: &Lab) -> Value {
    lab.a.figures()["budget"].take()
}

#[test]
fn a_share_of_flows_is_measured_within_the_budget_and_all_without_one() {
    let lab = Lab::new();
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    let with =
        |budget: &str| format!("[source]\nbudget = \"{budget}\"\n[[watch]]\nto = \"{TO_B}\"\n");
    let file = Config::new(&lab.a, &with("0.0002%"));
    let line = format!(
        "source --dev a0 --node-id 1 --force --config {}",
        file.path()
    );
    let daemon = lab.a.start_with_budget(&line, "source attached to a0");
    let traffic = Traffic::open(&lab);
    await_that_or(
        || {
            traffic.round();
            budget(&lab)["one_flow_in"].as_u64() > Some(2)
        },
        || format!("{:#}", lab.a.figures()["source"]),
    );
    let said = daemon.stderr();
    assert!(said.contains("is measured from now on"), "{said}");
    let found = budget(&lab);
    assert_eq!(found["allowed_ppm"], 2, "{found}");
    assert!(found["spent_ppm"].as_u64() > Some(0), "{found}");
    assert!(found["step_ns"].as_u64() > Some(0), "{found}");
    let text = lab.a.hostint("status");
    assert!(
        text.contains("budget: ") && text.contains("one flow in "),
        "{text}"
    );
    // Whole flows are left out: the flows that are measured lose no number.
    let counts = || ["tagged", "budget"].map(|name| lab.a.count("source", name));
    let [tagged, left_out] = counts();
    for _ in 0..20 {
        traffic.round();
    }
    let [more_tagged, more_left_out] = counts();
    let all = more_tagged - tagged + more_left_out - left_out;
    assert!(
        more_left_out > left_out && all >= 20 * u64::from(FLOWS),
        "{all}"
    );
    assert_eq!(lab.b.count("sink", "lost"), 0);
    file.applies(&daemon, &with("off"));
    await_that_or(
        || {
            traffic.round();
            budget(&lab)["one_flow_in"] == 1
        },
        || format!("{:#}", budget(&lab)),
    );
    let [tagged, left_out] = counts();
    traffic.round();
    assert_eq!(
        counts(),
        [tagged + u64::from(FLOWS), left_out],
        "all are tagged"
    );
    assert_eq!(lab.b.count("sink", "lost"), 0, "none was lost");
}

#[test]
fn a_sink_above_its_budget_is_sent_a_share_of_the_flows() {
    let mut lab = Lab::new();
    lab.b.budget = "0.0002%";
    let sink = lab.b.leasing_sink("--dev b0 --node-id 2");
    let flags = "source --dev a0 --node-id 1 --force";
    let _a = lab.a.start(flags, "source attached to a0");
    lab.a.hostint(&format!("source add-dest {TO_B}"));
    let traffic = Traffic::open(&lab);
    let counts = || ["tagged", "budget"].map(|name| lab.a.count("source", name));
    let more_of_rounds = |rounds: u64| {
        let before = counts();
        (0..rounds).for_each(|_| traffic.round());
        let now = counts();
        [now[0] - before[0], now[1] - before[1]]
    };
    await_that_or(
        || {
            let [tagged, left_out] = more_of_rounds(1);
            left_out > tagged
        },
        || format!("{:#} {}", lab.a.figures()["source"], sink.stderr()),
    );
    assert!(
        sink.stderr().contains("other hosts are asked"),
        "{}",
        sink.stderr()
    );
    assert_eq!(budget(&lab)["one_flow_in"], 1, "its own budget has room");
    let text = lab.b.hostint("status");
    assert!(
        text.contains("others are asked to measure one flow in "),
        "{text}"
    );
    let [tagged, left_out] = more_of_rounds(20);
    let sent = 20 * u64::from(FLOWS);
    assert!(tagged < sent / 2, "{tagged} of {sent}");
    // The daemon's own messages to b are left out, too.
    let of_others = (tagged + left_out).checked_sub(sent);
    assert!(
        of_others.is_some_and(|others| others < sent / 20),
        "{tagged}, {left_out}"
    );
    assert_eq!(
        lab.b.count("sink", "lost"),
        0,
        "what is left out is not lost"
    );
}

/// Connections to b that stay open.
struct Connections(Vec<[TcpStream; 2]>);

impl Connections {
    fn open(lab: &Lab) -> Self {
        let to = (TO_B, 7_402);
        let listener = lab.b.enter(|| TcpListener::bind(to).unwrap());
        let one = |_| {
            let from = lab.a.enter(|| TcpStream::connect(to).unwrap());
            from.set_nodelay(true).unwrap();
            [from, listener.accept().unwrap().0]
        };
        Self((0..FLOWS).map(one).collect())
    }

    /// A byte in each, to b and back.
    fn round(&self) {
        for [one, other] in &self.0 {
            for (mut from, mut to) in [(one, other), (other, one)] {
                from.write_all(b"x").unwrap();
                let mut got = [0];
                to.read_exact(&mut got).unwrap();
                assert_eq!(got, *b"x");
            }
        }
    }
}

#[test]
fn connections_that_began_above_the_budget_are_measured_when_there_is_room() {
    let lab = Lab::new();
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    let with =
        |budget: &str| format!("[source]\nbudget = \"{budget}\"\n[[watch]]\nto = \"{TO_B}\"\n");
    let file = Config::new(&lab.a, &with("0.0002%"));
    let line = format!(
        "source --dev a0 --node-id 1 --force --config {}",
        file.path()
    );
    let daemon = lab.a.start_with_budget(&line, "source attached to a0");
    let traffic = Traffic::open(&lab);
    await_that_or(
        || {
            traffic.round();
            budget(&lab)["one_flow_in"].as_u64() > Some(16)
        },
        || format!("{:#}", lab.a.figures()["source"]),
    );
    let connections = Connections::open(&lab);
    let counts = || ["budget", "no_option"].map(|name| lab.a.count("source", name));
    let before = counts()[0];
    connections.round();
    assert!(
        counts()[0] - before > u64::from(FLOWS) / 2,
        "most are left out"
    );
    file.applies(&daemon, &with("off"));
    let mut last = counts();
    await_that_or(
        || {
            connections.round();
            let now = counts();
            std::mem::replace(&mut last, now) == now
        },
        || format!("{:#}", lab.a.figures()["source"]),
    );
    let tagged = lab.a.count("source", "tagged");
    connections.round();
    let more = lab.a.count("source", "tagged") - tagged;
    assert!(
        more >= u64::from(FLOWS),
        "{more} tagged of {FLOWS} connections"
    );
    assert_eq!(lab.b.count("sink", "lost"), 0, "none was lost");
}
