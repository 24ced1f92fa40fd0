//! Collectors that know no hostint get drops, hops and packets in queues as standard reports about packets, and nothing else.

use std::time::Duration;

use hostint_testing::netns::{Daemon, Lab, await_that_or};
use serde_json::Value;

/// The first report of a subsystem about a packet to this port.
fn about(collector: &Daemon, hw_id: u8, port: u16) -> Option<Value> {
    let mut all = collector.json_lines().into_iter();
    all.find(|line| line["hw_id"] == hw_id && line["flow"]["dport"] == port)
}

#[test]
fn drops_hops_and_packets_in_queues_are_told() {
    for (format, version) in [("v0.5-standard", "0.5"), ("v2.0", "2.0")] {
        let lab = Lab::new();
        lab.m.sh(
            "nft add table ip lab; nft 'add chain ip lab f { type filter hook forward priority 0; }'
             nft add rule ip lab f udp dport 7001 drop
             tc qdisc add dev m1 root tbf rate 8mbit burst 2000 limit 100000",
        );
        let collector = lab
            .b
            .start("collect --json --listen 10.9.2.1", "collecting");
        let mut postcards = lab.m.start(
            &format!(
                "postcards --drops --hops --dev m0,m1 --queue m1=trigger:1ms,quota:5 --collector 10.9.2.1 --node-id 7 \
                 --report-format {format}"
            ),
            "drops, hops and queues are reported",
        );
        let from = lab.a.udp("10.9.1.1:5000");
        let to = lab.b.udp("10.9.2.1:7002");
        to.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // 40 kB take 40 ms at this rate.
        for port in [7001, 7002] {
            for _ in 0..40 {
                from.send_to(&[7; 1000], ("10.9.2.1", port)).unwrap();
            }
        }
        for _ in 0..40 {
            to.recv(&mut [0; 2048]).unwrap();
        }
        let kinds = [(2, 7001), (1, 7002), (3, 7002)];
        await_that_or(
            || {
                kinds
                    .iter()
                    .all(|(hw_id, port)| about(&collector, *hw_id, *port).is_some())
            },
            || format!("{}\n{}", collector.stdout(), postcards.stderr()),
        );
        assert_eq!(postcards.end(), Some(0), "{}", postcards.stderr());
        let [drop, hop, queue] = kinds.map(|(hw_id, port)| about(&collector, hw_id, port).unwrap());
        for one in [&drop, &hop, &queue] {
            assert_eq!(one["version"], version, "{one:#}");
            assert_eq!(one["reporter_node"], 7, "{one:#}");
            assert_eq!(one["flow"]["src"], "10.9.1.1", "{one:#}");
        }
        assert_eq!(drop["kind"], "drop", "{drop:#}");
        assert_eq!(drop["dropped"], true, "{drop:#}");
        assert_eq!(drop["drop_reason"], 80, "{drop:#}");
        assert_eq!(hop["kind"], "local", "{hop:#}");
        assert_eq!(hop["tracked_flow"], true, "{hop:#}");
        assert_eq!(queue["kind"], "local", "{queue:#}");
        assert_eq!(queue["congested_queue"], true, "{queue:#}");
        let own = collector.json_lines();
        let own = own.iter().filter(|line| {
            line["kind"]
                .as_str()
                .is_some_and(|kind| kind.starts_with("host"))
        });
        assert_eq!(own.count(), 0, "no report of hostint's own");
        // The quota is of an episode.
        let told = collector.json_lines();
        let told = told.iter().filter(|line| line["hw_id"] == 3).count();
        assert!((1..=10).contains(&told), "{told} packets in queues");
    }
}
