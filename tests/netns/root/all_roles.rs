//! All roles of hosts tell one collector at once: it finds no report lost on the way, and none twice.

use std::collections::BTreeMap;

use hostint_testing::netns::{Lab, await_that_or};
use serde_json::Value;

use super::metrics::get;
use crate::exchange::{exchange_tcp, exchange_udp};

const HTTP: u16 = 13279;
/// The router's node id, and that of the host with the sink.
const ROUTER: u64 = 9;
const SINK: u64 = 2;

/// A sequence of reports: its node and subsystem, and what the collector counted of it.
type Sequences = BTreeMap<(u64, u64), Value>;

fn sequences(lab: &Lab) -> Sequences {
    let status: Value = serde_json::from_str(&get(&lab.b, HTTP, "/api/status").1).unwrap();
    let exporters = status["exporters"].as_array().cloned();
    let keyed = exporters.unwrap_or_default().into_iter().filter_map(|one| {
        let key = (one["node"].as_u64()?, one["hw_id"].as_u64()?);
        Some((key, one))
    });
    keyed.collect()
}

/// Packets that are dropped, timed, held in queues, tagged, and of connections.
fn make_traffic(lab: &Lab, round: u16) {
    let (from, to) = (lab.a.udp("10.9.1.1:0"), lab.b.udp("10.9.2.1:0"));
    exchange_udp(&from, &to, 20, 600);
    for port in [8000 + round, 9000 + round] {
        from.send_to(&[7; 100], ("10.9.2.1", port)).unwrap();
    }
    for _ in 0..30 {
        from.send_to(&[7; 1000], to.local_addr().unwrap()).unwrap();
    }
    for _ in 0..30 {
        to.recv_from(&mut [0; 2000]).unwrap();
    }
    exchange_tcp(&lab.a, &lab.b, 7000 + round, 20_000);
}

#[test]
fn no_report_is_taken_for_lost_or_for_a_repetition() {
    let lab = Lab::new();
    lab.m.sh(
        "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
         nft add rule ip lab f udp dport 9000-9999 drop
         tc qdisc add dev m1 root tbf rate 20mbit burst 2000 limit 100000",
    );
    lab.b
        .sh("tc qdisc add dev b0 root tbf rate 100mbit burst 5000 limit 1000000");
    let _collector = lab.b.start(
        &format!("collect --listen 10.9.2.1 --http 127.0.0.1:{HTTP}"),
        "serving http",
    );
    let told = "--collector 10.9.2.1 --report-period 1s";
    let _daemons = [
        lab.a.leasing_sink("--dev a0 --node-id 1 --int-dscp 0x17"),
        lab.b.leasing_sink(&format!(
            "--dev b0 --node-id {SINK} --int-dscp 0x17 --max-reports 10000 --summary-period 1s \
             --collector 10.9.2.1"
        )),
        lab.b.start(
            &format!("postcards --drops --hops --dev b0 --queue b0=trigger:1 {told}"),
            "drops, hops and queues are reported",
        ),
        lab.b
            .start(&format!("tcp {told}"), "connections are watched"),
        lab.m.start(
            &format!(
                "transit --dev m0,m1 --node-id {ROUTER} --carriers int-md --int-dscp 0x17 \
                 --collector 10.9.2.1"
            ),
            "transit hop attached to m1",
        ),
        lab.m.start(
            &format!(
                "postcards --drops --hops --dev m0,m1 --queue m1=trigger:1ms \
                 --node-id {ROUTER} {told}"
            ),
            "drops, hops and queues are reported",
        ),
    ];
    lab.a
        .hostint("source attach --dev a0 --encap int-md --int-dscp 0x17 --mode mx --mx-sample 1");
    lab.a.hostint("source add-dest 10.9.2.1");
    // INT, hops, drops, queues, packets in INT-MX, and connections.
    let wanted = [
        (SINK, 0),
        (SINK, 2),
        (SINK, 3),
        (SINK, 5),
        (ROUTER, 1),
        (ROUTER, 2),
        (ROUTER, 3),
        (ROUTER, 4),
    ];
    let mut round = 0;
    let have_all = || {
        round += 1;
        make_traffic(&lab, round);
        let found = sequences(&lab);
        wanted.iter().all(|key| {
            let reports = found.get(key).and_then(|one| one["reports"].as_u64());
            reports.is_some_and(|reports| reports >= 5)
        })
    };
    await_that_or(have_all, || format!("{:#?}", sequences(&lab)));
    for (key, one) in sequences(&lab) {
        for count in ["lost", "duplicates", "restarts"] {
            assert_eq!(one[count], 0, "{count} of {key:?}: {one:#}");
        }
    }
}
