//! `hostint off --fleet` reaches all hosts that leases connect, over others too; strangers, replays and old orders reach none.

use std::net::IpAddr;

use hostint::model::{FleetOrder, LeaseKey};
use hostint::os::clock;
use hostint::os::echo_requests;
use hostint::os::probe_sockets::{Envelope, ProbeSockets};
use hostint::wire::lease::order::{self, OrderMessage};
use hostint_testing::netns::{Daemon, Host, Lab, await_that, await_that_or};

use super::agent::ConfigFile;
use super::lease_refusals::{Folder, Third};

const KEY: u8 = 0x5a;

/// The file of a host that watches another one.
fn file(host: &Host, dev: &str, node: u32, key: &str, dest: &str) -> ConfigFile {
    let tables = format!(
        "[sink]\ndev = \"{dev}\"\nnode-id = {node}\nlease-key = \"{key}\"\n[source]\ndev = \"{dev}\"\n\
         [[watch]]\nto = \"{dest}\"\n"
    );
    ConfigFile::new(host, &tables)
}

fn start(host: &Host, file: &ConfigFile) -> Daemon {
    host.start(
        &format!("run --config {}", file.shown()),
        "source is attached",
    )
}

fn is_on(host: &Host) -> bool {
    let status = host.figures();
    status["sink"]["attachments"][0].is_object() && status["source"].is_object()
}

fn is_off(host: &Host) -> bool {
    let status = host.figures();
    status["off_since_ns"].is_number() && status["sink"].is_null() && status["source"].is_null()
}

/// Sends an order as a host with this key would.
fn send(host: &Host, to: &str, key: u8, order: FleetOrder) {
    let [from, to]: [IpAddr; 2] = ["10.9.1.1", to].map(|addr| addr.parse().unwrap());
    let message = OrderMessage {
        order,
        is_answer: false,
    };
    let payload = order::encode(&message, from, to, LeaseKey([key; 16]));
    let (protocol, bytes) = echo_requests::request(from, to, &payload);
    let envelope = Envelope {
        source: from,
        dest: to,
        tos: 0,
    };
    let sent = host.enter(|| ProbeSockets::open()?.send_ip(&envelope, protocol, &bytes));
    sent.unwrap();
}

#[test]
fn an_order_reaches_all_and_neither_replays_nor_strangers_do() {
    let lab = Lab::new();
    let Third(c) = &Third::new(&lab);
    let keys = Folder::new(&lab);
    let key = keys.key("fleet", &format!("{KEY:02x}").repeat(16), 0o600);
    let files = [
        file(&lab.a, "a0", 1, &key, "10.9.2.1"),
        file(&lab.b, "b0", 2, &key, "10.9.3.1"),
        file(c, "c0", 3, &key, "192.0.2.1"),
    ];
    let hosts = [&lab.a, &lab.b, c];
    let agents = [0, 1, 2].map(|n| start(hosts[n], &files[n]));
    let granted = |host: &Host| host.figures()["sink"]["grants"][0].is_object();
    await_that("a has a lease of b, and b one of c", || {
        granted(&lab.b) && granted(c)
    });

    let config = files[0].shown();
    let said = lab.a.try_hostint(&format!("off --fleet --config {config}"));
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("1 of 1 hosts obey"), "c is b's: {said}");
    for host in hosts {
        await_that_or(
            || is_off(host),
            || format!("{}: {}", host.ns, host.figures()),
        );
    }
    assert!(
        agents[2].stderr().contains("10.9.2.1 orders the fleet off"),
        "by b"
    );

    lab.a.hostint(&format!("on --fleet --config {config}"));
    for host in hosts {
        await_that_or(
            || is_on(host),
            || format!("{}: {}", host.ns, host.figures()),
        );
    }

    let now_ns = clock::realtime_ns();
    let off = |epoch, ordered_ns| FleetOrder {
        is_off: true,
        epoch,
        ordered_ns,
    };
    let refusals = || agents[1].stderr().matches("is refused: ").count();
    send(&lab.a, "10.9.2.1", KEY + 1, off(u64::MAX, now_ns));
    send(&lab.a, "10.9.2.1", KEY, off(1, now_ns));
    await_that("a replay is refused", || refusals() == 1);
    send(
        &lab.a,
        "10.9.2.1",
        KEY,
        off(u64::MAX, now_ns - 31_000_000_000),
    );
    await_that("so is an old order", || refusals() == 2);
    assert!(is_on(&lab.b), "{}", agents[1].stderr());
}

#[test]
fn without_a_key_there_are_no_orders() {
    let lab = Lab::new();
    let file = ConfigFile::new(&lab.a, "[sink]\ndev = \"a0\"\n");
    for command in ["off", "on"] {
        let refused = lab
            .a
            .try_hostint(&format!("{command} --fleet --config {}", file.shown()));
        assert_eq!(refused.status.code(), Some(2));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains("only hosts with a key take orders"), "{said}");
    }
    assert!(lab.a.figures()["off_since_ns"].is_null());
}
