//! INT's loss is split into what the source host, the network and the sink host dropped.

use std::net::UdpSocket;

use hostint_testing::netns::{Daemon, Lab, await_that_or};
use hostint_testing::scratch::Folder;
use nix::sys::socket::{setsockopt, sockopt};
use serde_json::Value;

use crate::exchange::exchange_udp;

/// Datagrams of this length are dropped by the router.
const ROUTER_DROPS: usize = 700;

/// Packets of this priority, which names a class of the source host's queue, are dropped there.
const QUEUE_DROPS: i32 = 0x1_0002;

fn set_up(lab: &Lab) {
    lab.a.sh("tc qdisc add dev a0 root handle 1: htb
         tc class add dev a0 parent 1: classid 1:2 htb rate 1gbit
         tc qdisc add dev a0 parent 1:2 handle 2: pfifo limit 0");
    lab.m.sh(
        "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
         nft add rule ip lab f iifname m0 meta length 700-900 drop",
    );
}

fn send(from: &UdpSocket, to: &UdpSocket, count: usize, len: usize) {
    for _ in 0..count {
        let _ = from.send_to(&vec![7; len], to.local_addr().unwrap());
    }
}

/// Datagrams that can be read now.
fn readable(from: &UdpSocket) -> u64 {
    from.set_nonblocking(true).unwrap();
    let mut count = 0;
    while from.recv(&mut [0; 2000]).is_ok() {
        count += 1;
    }
    from.set_nonblocking(false).unwrap();
    count
}

fn postcards(lab: &Lab) -> [Daemon; 3] {
    [(&lab.a, ""), (&lab.m, "--node-id 9"), (&lab.b, "")].map(|(host, flags)| {
        host.start(
            &format!("postcards --drops --collector 10.9.2.1 {flags}"),
            "drops are reported",
        )
    })
}

/// Sends until packets of this flow have INT.
pub fn await_tagging(lab: &Lab, to: &UdpSocket) -> UdpSocket {
    let mut port = 5000;
    let mut tagged = None;
    await_that_or(
        || {
            port += 1;
            let from = lab.a.udp(&format!("10.9.1.1:{port}"));
            let before = lab.a.count("source", "tagged");
            exchange_udp(&from, to, 5, 100);
            if lab.a.count("source", "tagged") >= before + 5 {
                tagged = Some(from);
            }
            tagged.is_some()
        },
        || lab.a.hostint("status"),
    );
    tagged.unwrap()
}

#[test]
fn the_loss_of_a_pair_and_of_a_flow_is_split_by_the_hosts_that_dropped_it() {
    let lab = Lab::new();
    set_up(&lab);
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let _collect = lab.b.start(
        &format!("collect --json --listen 10.9.2.1 --store {store}"),
        "collecting",
    );
    let to_collector = "--collector 10.9.2.1 --summary-period 1s --loss-timeout 100ms";
    let _a = lab
        .a
        .leasing_sink(&format!("--dev a0 --node-id 1 {to_collector}"));
    let _b = lab
        .b
        .leasing_sink(&format!("--dev b0 --node-id 2 {to_collector}"));
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let mut postcards = postcards(&lab);
    let to = lab.b.udp("10.9.2.1:6000");
    let from = await_tagging(&lab, &to);

    setsockopt(&from, sockopt::Priority, &QUEUE_DROPS).unwrap();
    send(&from, &to, 100, 100);
    setsockopt(&from, sockopt::Priority, &0).unwrap();
    send(&from, &to, 50, ROUTER_DROPS);
    // The receiver reads nothing until its buffer is full.
    setsockopt(&to, sockopt::RcvBuf, &5000).unwrap();
    send(&from, &to, 40, 1000);
    let behind_strip = 40 - readable(&to);
    assert!(behind_strip > 0);
    // The packets behind the missing ones show that these are missing.
    exchange_udp(&from, &to, 10, 100);
    for daemon in &mut postcards {
        assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    }

    let ask = |what: &str| lab.b.hostint(&format!("history {what} --store {store}"));
    let json =
        |what: &str| -> Value { serde_json::from_str(&ask(&format!("{what} --json"))).unwrap() };
    let expected = serde_json::json!({
        "lost": 150,
        "source_host": 100,
        "sink_host": 0,
        "network": 50,
        "between": 50,
        "unsplit": 0,
        "behind_strip": behind_strip,
    });
    let pair = || {
        let all = json("pairs")["pairs"].clone();
        let all = all.as_array().unwrap().clone();
        let mut ours = all
            .into_iter()
            .filter(|one| one["source"] == 1 && one["sink"] == 2);
        ours.next().unwrap_or_default()
    };
    await_that_or(
        || pair()["loss_split"] == expected,
        || format!("{:#}\n{}", pair(), ask("drops --by flow")),
    );
    let flows = json("flows --source 1");
    let id = flows["flows"][0]["id"].as_i64().unwrap();
    let flow = json(&format!("flow {id}"));
    assert_eq!(flow["flow"]["loss_split"], expected, "{flow:#}");
    let text = ask("pairs");
    let said = "150 lost: 100 in the source host, 50 at hosts between";
    assert!(text.contains(said), "{text}");

    let by_flow = json("drops --by flow");
    let parts: Vec<(u64, String, u64)> = by_flow["drops"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["flow"]["dport"] == 6000)
        .map(|one| {
            (
                one["node"].as_u64().unwrap(),
                one["position"].as_str().unwrap().to_owned(),
                one["packets"].as_u64().unwrap(),
            )
        })
        .collect();
    for part in [
        (1, "behind-tag".to_owned(), 100),
        (9, "between".to_owned(), 50),
        (2, "behind-strip".to_owned(), behind_strip),
    ] {
        assert!(parts.contains(&part), "{part:?} of {by_flow:#}");
    }
    let mut by_host = expected;
    by_host["at"] = serde_json::json!([{"node": 9, "segments": 50}]);
    for what in [
        "path --from 1 --to 2".to_owned(),
        format!("path --flow {id}"),
    ] {
        assert_eq!(json(&what)["loss"], by_host, "{what}");
    }
}

#[test]
fn a_host_that_tells_no_drops_leaves_the_rest_unsplit() {
    let lab = Lab::new();
    set_up(&lab);
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let _collect = lab.b.start(
        &format!("collect --json --listen 10.9.2.1 --store {store}"),
        "collecting",
    );
    let to_collector = "--collector 10.9.2.1 --summary-period 1s --loss-timeout 100ms";
    let _a = lab
        .a
        .leasing_sink(&format!("--dev a0 --node-id 1 {to_collector}"));
    let _b = lab
        .b
        .leasing_sink(&format!("--dev b0 --node-id 2 {to_collector}"));
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let mut postcards = lab.a.start(
        "postcards --drops --collector 10.9.2.1",
        "drops are reported",
    );
    let to = lab.b.udp("10.9.2.1:6000");
    let from = await_tagging(&lab, &to);
    setsockopt(&from, sockopt::Priority, &QUEUE_DROPS).unwrap();
    send(&from, &to, 5, 100);
    setsockopt(&from, sockopt::Priority, &0).unwrap();
    send(&from, &to, 7, ROUTER_DROPS);
    exchange_udp(&from, &to, 10, 100);
    assert_eq!(postcards.end(), Some(0), "{}", postcards.stderr());
    let pairs = || lab.b.hostint(&format!("history pairs --store {store}"));
    let said = "12 lost: 5 in the source host, 7 elsewhere (the sink host reports no drops: ";
    await_that_or(|| pairs().contains(said), pairs);
}
