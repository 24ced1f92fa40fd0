//! Of flows, half are measured, and the history tells what all of them lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hostint_testing::line;
use hostint_testing::netns::{Lab, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::Value;

const FLOWS: u16 = 400;
const ROUNDS: u64 = 20;
/// The line loses one packet in this many, of whichever flow, and none of the last round: what is lost behind a flow's last
/// packet is not missed.
const ONE_LOST_IN: u64 = 47;
const LOSING: u64 = (ROUNDS - 1) * FLOWS as u64;

const RULES: &str = r#"
[source]
dev = ["a0"]

[[watch]]
class = "half"
to = ["10.9.2.1"]
one-flow-in = 2
"#;

/// Only UDP datagrams count: nothing else crosses the line but questions of the hosts.
fn is_of_flows(packet: &[u8]) -> bool {
    packet[9] == 17 && packet[20..22] >= 20_000_u16.to_be_bytes()[..]
}

#[test]
fn the_loss_of_all_flows_lies_in_the_interval_of_those_that_are_measured() {
    let lab = Lab::new();
    let folder = Folder::create();
    let (rules, store) = (folder.file("hostint.toml"), folder.file("history.db"));
    std::fs::write(&rules, RULES).unwrap();
    let (rules, store) = (rules.display(), store.display());
    let collect = format!("collect --listen 10.9.2.1 --store {store} --output /dev/null");
    let _collect = lab.b.start(&collect, "collecting on 10.9.2.1");
    let told = format!("--collector 10.9.2.1 --summary-period 1s --config {rules}");
    let _sinks = [
        lab.a.leasing_sink(&format!("--dev a0 --node-id 1 {told}")),
        lab.b.leasing_sink(&format!("--dev b0 --node-id 2 {told}")),
    ];
    lab.a.hostint(&format!("source attach --config {rules}"));
    let _to = lab.b.udp("10.9.2.1:6000");
    let from: Vec<_> = (20_000..20_000 + FLOWS)
        .map(|port| lab.a.udp(&format!("10.9.1.1:{port}")))
        .collect();
    let send_round = || {
        for from in &from {
            from.send_to(&[0; 100], "10.9.2.1:6000").unwrap();
        }
    };
    await_that_or(
        || {
            send_round();
            lab.a.count("source", "tagged") > 0
        },
        || format!("nothing is tagged: {}", lab.a.figures()["source"]),
    );
    let lost = Arc::new(AtomicU64::new(0));
    let (lost_there, mut number) = (lost.clone(), 0_u64);
    line::install(&lab, move |_, packet| {
        let is_lost = is_of_flows(&packet) && {
            number += 1;
            number.is_multiple_of(ONE_LOST_IN) && number <= LOSING
        };
        lost_there.fetch_add(u64::from(is_lost), Ordering::Relaxed);
        if is_lost { Vec::new() } else { vec![packet] }
    });
    (0..ROUNDS).for_each(|_| send_round());
    let ask = || -> Value {
        let ask = format!("history pairs --since 1h --json --store {store}");
        let answer: Value = serde_json::from_str(&lab.b.hostint(&ask)).unwrap();
        let pairs = answer["pairs"].as_array().unwrap();
        let pair = pairs.iter().find(|pair| pair["source"] == 1);
        pair.cloned().unwrap_or_default()
    };
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    await_that_or(
        || {
            let pair = ask();
            let measured = &pair["measured"];
            let share = number(&pair["loss_of_all"]["measured_ppm"]);
            number(&measured["packets"]) + number(&measured["lost"])
                == lab.a.count("source", "tagged")
                && (400_000..600_000).contains(&share)
        },
        || format!("{:#}\n{}", ask(), lab.b.figures()["sink"]),
    );
    let pair = ask();
    let of_all = &pair["loss_of_all"];
    let sent = ROUNDS * u64::from(FLOWS);
    let truth = 1_000_000_000 * lost.load(Ordering::Relaxed) / sent;
    let (least, most) = (number(&of_all["least_ppb"]), number(&of_all["most_ppb"]));
    assert!(
        0 < least && least < truth && truth < most,
        "{truth}: {pair:#}"
    );
    assert!(
        most < 2 * least,
        "with a hundred losses it is not wide: {pair:#}"
    );
    let text = lab
        .b
        .hostint(&format!("history pairs --since 1h --store {store}"));
    assert!(
        text.contains("of the packets were measured, by a budget or a sample; with a probability of 95 %, all flows"),
        "{text}"
    );
}
