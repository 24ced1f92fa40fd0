//! Real hosts, a real router that loses packets to one of them: the verdict names that host, and ends when it is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hostint_testing::netns::{Host, Lab};
use hostint_testing::scratch::Folder;
use serde_json::Value;

use super::six_nodes::{NODES, Node, PORT, address, nodes};

/// The sockets of each host, each of which sends to all others.
const SOCKETS: u16 = 3;
/// The time between two packets of a flow.
const EVERY: Duration = Duration::from_millis(25);
/// The longest wait for a verdict. A timing is not what is tested: the machine may be slow.
const PATIENCE: Duration = Duration::from_secs(240);

/// Sends from each host to each other one until it is told to end.
fn send_until(nodes: &[Node], ends: &AtomicBool) {
    let mut sockets = Vec::new();
    for node in nodes {
        for flow in 0..SOCKETS {
            let from = format!("{}:{}", address(node.number), 5000 + flow);
            sockets.push((node.number, node.host.udp(&from)));
        }
    }
    while !ends.load(Ordering::Relaxed) {
        for (from, socket) in &sockets {
            for to in (1..=NODES).filter(|to| to != from) {
                // A host's firewall may refuse it.
                let _ = socket.send_to(&[7; 200], (address(to), PORT));
            }
        }
        std::thread::sleep(EVERY);
    }
}

fn verdict(host: &Host, store: &str) -> Value {
    let text = host.hostint(&format!("history verdict --json --store {store}"));
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["schema"], "hostint.verdict/1");
    answer["verdict"].clone()
}

/// Waits for a verdict.
fn await_verdict(host: &Host, store: &str, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let said = verdict(host, store);
        if is_it(&said) {
            println!("{what}: after {:?}: {}", begun.elapsed(), said["text"]);
            return said;
        }
        assert!(begun.elapsed() < PATIENCE, "{what}: {said:#}");
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn names(kind: &str, node: u64) -> impl Fn(&Value) -> bool {
    move |said| {
        let first = &said["causes"][0];
        first["kind"] == kind && first["subjects"][0]["node"] == node
    }
}

fn is_healthy(said: &Value) -> bool {
    said["state"] == "healthy" && said["judged"]["pairs"] == NODES * (NODES - 1)
}

#[test]
fn loss_in_front_of_a_host_is_named_and_is_over() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.name("history.db");
    let mut collect = lab.b.start(
        &format!("collect --listen 10.9.2.1 --output /dev/null --store {store}"),
        "collecting",
    );
    let nodes = nodes(&lab);
    let _to: Vec<_> = nodes
        .iter()
        .map(|node| node.host.udp(&format!("{}:{PORT}", address(node.number))))
        .collect();
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| send_until(&nodes, &ends));
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            await_verdict(&lab.b, &store, "all is well", is_healthy);

            lab.drop_packets(&format!(
                "ip daddr {} numgen random mod 100 < 5",
                address(3)
            ));
            let said = await_verdict(&lab.b, &store, "loss at the router", names("host-in", 3));
            assert_eq!(said["state"], "degraded");
            assert_eq!(said["causes"][0]["side"], "network");
            let checked = lab
                .b
                .try_hostint(&format!("history verdict --check --store {store}"));
            assert_eq!(checked.status.code(), Some(4));
            lab.dropped();
            await_verdict(&lab.b, &store, "the router drops none", is_healthy);
        }));
        ends.store(true, Ordering::Relaxed);
        if let Err(failure) = ended {
            std::panic::resume_unwind(failure);
        }
    });
    let said = collect.stderr();
    assert!(said.contains("degraded: packets to "), "{said}");
    collect.end();
}
