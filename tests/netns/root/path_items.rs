//! The user chooses what transit hops push: real traffic over two of them stays whole, and Wireshark and the collector read
//! just the items that are there.

use hostint_testing::netns::{Lab, await_that_or};
use serde_json::json;

use super::transit::{Path, carry, hops_of, with_second_router};
use super::transit_int_md::{Capture, marks};
use crate::exchange::exchange_udp;

const CARRIERS: &str = "--carriers host-int,vxlan-gpe,int-md --int-dscp 0x17";

/// What Wireshark reads in a datagram: its nodes, and how many latencies, queues and times of arrival they tell.
type Read = (String, [usize; 3]);

fn read(capture: &Capture) -> Vec<Read> {
    let names = [
        "int.node_id",
        "int.hop_latency",
        "int.queue_occupancy",
        "int.ingress_ts",
    ];
    let values = |field: &str| field.split(',').filter(|value| !value.is_empty()).count();
    let lines = capture.fields(&names, &marks()).into_iter();
    lines
        .map(|line| {
            let fields = Vec::from_iter(line.split('\t'));
            let counts = [1, 2, 3].map(|at| values(fields[at]));
            (fields[0].to_owned(), counts)
        })
        .collect()
}

#[test]
fn hops_push_what_the_user_chose_and_nothing_else_is_told() {
    for (encapsulation, items, queues) in [
        ("vxlan-gpe", "latency", 0),
        ("vxlan-gpe", "latency,queue", 3),
        ("int-md --int-dscp 0x17", "latency", 0),
        ("int-md --int-dscp 0x17", "latency,queue", 3),
    ] {
        let sentence = format!("{encapsulation}, {items}");
        let lab = Lab::new();
        lab.add_ipv6();
        let r = with_second_router(&lab);
        lab.m.hostint(&format!(
            "transit attach --dev m0,m1 --node-id 9 {CARRIERS}"
        ));
        r.hostint(&format!(
            "transit attach --dev r0,r1 --node-id 10 {CARRIERS}"
        ));
        let path = Path::on(lab, &format!("{encapsulation} --path-items {items}"), 2);
        let lab = &path.lab;
        let told = &lab.a.status()["source"]["attachments"][0]["path_items"];
        let words: Vec<_> = items.split(',').collect();
        assert_eq!(told, &json!(words), "{sentence}");

        let capture = Capture::start(&lab.b, "b0");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 20, 1_200);
        // Routers push in front of the source's entry.
        let whole = ("10,9,1".to_owned(), [3, queues, 3]);
        let tagged = |capture: &Capture| -> Vec<Read> {
            let all = read(capture).into_iter();
            all.filter(|(nodes, _)| !nodes.is_empty()).collect()
        };
        await_that_or(
            || tagged(&capture).len() >= 10,
            || format!("{sentence}: {:?}", read(&capture)),
        );
        for one in tagged(&capture) {
            assert_eq!(one, whole, "{sentence}");
        }
        drop(capture);

        carry(lab, &sentence, || r.count("transit", "pushed") > 1_000);
        let reports = path.latencies();
        let told: Vec<_> = reports
            .iter()
            .filter(|report| report["source"]["node"] == 1)
            .collect();
        assert!(!told.is_empty(), "{sentence}");
        for report in told {
            let [(10, last), (9, first)] = hops_of(report)[..] else {
                panic!("{sentence}: {report}");
            };
            let end_to_end = report["latency_ns"].as_i64().unwrap();
            assert!(first >= 0 && last >= 0, "{sentence}: {report}");
            assert!(first + last <= end_to_end, "{sentence}: {report}");
            for hop in report["transit"].as_array().unwrap() {
                let has_queue = hop.as_object().unwrap().contains_key("queue_occupancy");
                assert_eq!(has_queue, queues > 0, "{sentence}: {report}");
            }
        }
        r.hostint("transit detach");
        lab.m.hostint("transit detach");
    }
}
