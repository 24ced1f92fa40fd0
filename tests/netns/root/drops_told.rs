//! Collectors learn what hosts drop: each flow, exact sums, and which host it is.

use std::net::UdpSocket;
use std::process::Command;

use hostint_testing::collector::Collector;
use hostint_testing::netns::{Daemon, Host, Lab, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::Value;

/// The last report about a flow to this port.
fn flow(daemon: &Daemon, port: u16) -> Option<Value> {
    let mut all = daemon.json_lines().into_iter();
    all.rfind(|line| line["kind"] == "host-drop" && line["flow"]["dport"] == port)
}

/// The last sum of a reason.
fn sum(daemon: &Daemon, reason: &str) -> Option<Value> {
    let all = daemon.json_lines().into_iter();
    let told = all.filter(|line| line["schema"] == "hostint.drops/1");
    let sums = told.flat_map(|line| line["sums"].as_array().unwrap().clone());
    let sums: Vec<Value> = sums.collect();
    sums.into_iter()
        .rfind(|sum| sum["kernel_reason_name"] == reason)
}

fn drop_on_a(lab: &Lab, port: u16, count: usize) {
    let from: UdpSocket = lab.a.udp("10.9.1.1:5000");
    for _ in 0..count {
        // The firewall tells the sender, too.
        let _ = from.send_to(&[7; 100], ("10.9.2.1", port));
    }
}

fn refuse_on_a(lab: &Lab) {
    lab.a.sh(
        "nft add table ip lab; nft 'add chain ip lab f { type filter hook output priority 0; }'
         nft add rule ip lab f udp dport 7000-7999 drop",
    );
}

#[test]
fn a_collector_gets_each_flow_and_the_sums_of_all_drops() {
    let lab = Lab::new();
    refuse_on_a(&lab);
    let collect = lab
        .b
        .start("collect --json --listen 10.9.2.1", "collecting");
    let mut postcards = lab.a.start(
        "postcards --drops --collector 10.9.2.1 --node-id 7",
        "drops are reported",
    );
    drop_on_a(&lab, 7001, 300);
    let is_told =
        || flow(&collect, 7001).is_some_and(|one| one["host_drop"]["drop"]["packets"] == 300);
    await_that_or(is_told, || collect.stdout());
    // The last sums come at the end.
    assert_eq!(postcards.end(), Some(0), "{}", postcards.stderr());
    let is_summed = || sum(&collect, "NETFILTER_DROP").is_some_and(|one| one["packets"] == 300);
    await_that_or(is_summed, || collect.stdout());
    let one = flow(&collect, 7001).unwrap();
    assert_eq!(one["reporter_node"], 7);
    assert_eq!(one["hw_id"], 2);
    assert_eq!(one["host_drop"]["kernel_reason_name"], "NETFILTER_DROP");
    assert_eq!(one["host_drop"]["position"], "apart");
    assert_eq!(one["host_drop"]["drop"]["bytes"], 300 * 128);
}

/// Names of each exporter that the collector shows, with its node.
fn known(host: &Host, collector: &Collector) -> Vec<(u64, String)> {
    let status = host.enter(|| collector.status());
    let all = status["exporters"].as_array().unwrap().iter();
    let known = all.map(|one| {
        let name = one["name"].as_str().unwrap_or_default();
        (one["node"].as_u64().unwrap(), name.to_owned())
    });
    known.collect()
}

#[test]
fn a_host_with_postcards_alone_tells_who_it_is_and_one_with_a_source_once() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let args = ["--listen", "10.9.2.1:32766", "--store", &store];
    let collector = lab
        .b
        .enter(|| Collector::start_with(Command::new(&lab.b.binary), &args));
    let to = "--collector 10.9.2.1";
    let line = format!("postcards --drops --node-id 9 --node-name router {to}");
    let _router = lab.m.start(&line, "drops are reported");
    // It has no name of its own, so it leaves that to the other one.
    let line = format!("tcp --node-id 9 {to}");
    let _beside = lab.m.start(&line, "connections are watched");
    let line = format!("source --dev a0 --node-id 1 --force --node-name web-1 {to}");
    let _source = lab.a.start(&line, "source attached");
    // Its node is the source's, and so is its name.
    let line = format!("postcards --drops --node-name other {to}");
    let _postcards = lab.a.start(&line, "drops are reported");
    let expected = [(1, "web-1".to_owned()), (9, "router".to_owned())];
    let holds = || {
        let mut found = known(&lab.b, &collector);
        found.sort();
        found == expected
    };
    await_that_or(holds, || format!("{:?}", known(&lab.b, &collector)));
    refuse_on_a(&lab);
    drop_on_a(&lab, 7001, 10);
    let history = || {
        lab.b
            .hostint(&format!("history drops --by flow --store {store}"))
    };
    let is_told = || {
        let text = history();
        text.contains("NETFILTER_DROP")
            && text.contains("> 10.9.2.1:7001")
            && text.contains("web-1 (1)")
    };
    await_that_or(is_told, history);
    let metrics = || lab.b.enter(|| collector.get("/metrics"));
    let line = "hostint_host_drops_total{node=\"1\",reason=\"NETFILTER_DROP\",position=\"apart\",ignored=\"0\"} 10\n";
    await_that_or(|| metrics().contains(line), metrics);
    assert!(holds(), "{:?}", known(&lab.b, &collector));
    let refused = lab
        .a
        .try_hostint(&format!("postcards --drops --node-id 2 {to}"));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("is node 1, not 2"), "{said}");
}
