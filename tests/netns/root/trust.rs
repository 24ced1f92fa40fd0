//! The sink strips packets only of hosts that it trusts, and strangers cannot make it flood anyone.

use std::net::UdpSocket;
use std::time::Instant;

use hostint_testing::netns::{Host, Lab, await_that};

use crate::exchange::exchange_udp;

/// A source on a that tags whether it has a lease or not, without a daemon.
fn tag_anyway(lab: &Lab) {
    lab.a
        .hostint("source attach --dev a0 --encap over-tcp-udp --force --node-id 1");
    lab.a.hostint("source add-dest --static 10.9.2.1");
}

#[test]
fn only_hosts_with_a_lease_or_in_an_allowed_prefix_are_stripped() {
    struct Case {
        name: &'static str,
        flags: &'static str,
        stripped: bool,
        arrives: bool,
    }
    let cases = [
        Case {
            name: "nobody is allowed",
            flags: "",
            stripped: false,
            arrives: true,
        },
        Case {
            name: "others are allowed",
            flags: "--allow 10.9.3.0/24,fd09::/16",
            stripped: false,
            arrives: true,
        },
        Case {
            name: "its prefix is allowed",
            flags: "--allow 10.9.3.0/24,10.9.1.0/24",
            stripped: true,
            arrives: true,
        },
        Case {
            name: "its address is allowed",
            flags: "--allow 10.9.1.1/32 --strict",
            stripped: true,
            arrives: true,
        },
        Case {
            name: "strangers are dropped",
            flags: "--strict",
            stripped: false,
            arrives: false,
        },
    ];
    for case in cases {
        for hook in ["xdp", "tc"] {
            let name = format!("{}, {hook}", case.name);
            let lab = Lab::new();
            let _b = lab.b.leasing_sink(&format!(
                "--dev b0 --node-id 2 --hook {hook} --collector 10.9.2.1 --idle-flow-timeout 30s {}",
                case.flags
            ));
            tag_anyway(&lab);
            let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
            let count = |counter: &str| lab.b.count("sink", counter);
            for _ in 0..20 {
                from.send_to(&[7; 400], "10.9.2.1:6000").unwrap();
            }
            let mut buffer = [0; 2000];
            for _ in 0..if case.arrives { 20 } else { 0 } {
                let len = to.recv(&mut buffer).unwrap();
                assert_eq!(len == 400, case.stripped, "{name}: {len} bytes arrived");
            }
            let (stripped, strange) = if case.stripped { (20, 0) } else { (0, 20) };
            await_that(&format!("{name}: all are counted"), || {
                count("received") + count("not_allowed") == 20
            });
            assert_eq!(count("received"), stripped, "{name}");
            assert_eq!(count("not_allowed"), strange, "{name}");
            let flows = u64::from(case.stripped);
            assert_eq!(lab.b.figures()["sink"]["flows_total"], flows, "{name}");
            await_that(&format!("{name}: what is news is reported"), || {
                let passed = lab.b.daemon_count("sweeps") > 1;
                passed && (lab.b.daemon_count("reports_sent") > 0) == case.stripped
            });
            if !case.arrives {
                // What is not tagged is none of its business.
                lab.a.hostint("source detach");
                exchange_udp(&from, &to, 20, 400);
            }
        }
    }
}

/// Bytes, with IP headers, that m forwarded.
fn forwarded(lab: &Lab, counter: &str) -> u64 {
    let counter = format!("counter ip reports {counter}");
    lab.m.counted_by_nft(&counter).1
}

/// Many sockets to send from, many to receive at: each pair is a flow.
struct Flows {
    from: Vec<UdpSocket>,
    to: Vec<UdpSocket>,
}

impl Flows {
    fn new(lab: &Lab, from: u16, to: u16) -> Self {
        let sockets = |host: &Host, addr: &str, first: u16, count: u16| {
            (0..count)
                .map(|i| host.udp(&format!("{addr}:{}", first + i)))
                .collect()
        };
        Self {
            from: sockets(&lab.a, "10.9.1.1", 10_000, from),
            to: sockets(&lab.b, "10.9.2.1", 20_000, to),
        }
    }

    /// One tiny datagram in each flow of so many senders, each of which must arrive as it was sent.
    fn exchange(&self, senders: usize) {
        let mut buffer = [0; 200];
        for from in &self.from[..senders] {
            for to in &self.to {
                from.send_to(b"!", to.local_addr().unwrap()).unwrap();
            }
            for to in &self.to {
                let len = to.recv(&mut buffer).unwrap();
                assert_eq!(&buffer[..len], b"!");
            }
        }
    }
}

#[test]
fn reports_are_never_more_than_the_traffic_they_are_about() {
    for to_whom in ["--collector 10.9.1.1", "--report-to-sender"] {
        let lab = Lab::new();
        lab.m
            .sh("nft add table ip reports; nft add counter ip reports sent
             nft 'add chain ip reports count { type filter hook forward priority 0; }'
             nft 'add rule ip reports count udp dport 32766 counter name sent'");
        // Nothing but what flows pay for with their own bytes limits the reports. a tags what b's reports are
        // answered with, b tags what it sends to a: reports about reports there could be.
        let limits = "--max-new-flows 0 --max-reports 0 --report-period 10ms --bucket-hold 1ms \
                      --idle-flow-timeout 30s";
        let _a = lab
            .a
            .sink(&format!("--dev a0 --node-id 1 {limits} --report-to-sender"));
        let _b = lab
            .b
            .sink(&format!("--dev b0 --node-id 2 {limits} {to_whom}"));
        for (host, dev, dest) in [(&lab.a, "a0", "10.9.2.1"), (&lab.b, "b0", "10.9.1.1")] {
            host.hostint(&format!("source attach --dev {dev} --encap over-tcp-udp"));
            host.hostint(&format!("source add-dest --static {dest}"));
        }
        let reports = lab.a.udp("10.9.1.1:32766");
        let arrived = || {
            let status = lab.b.figures();
            let counters = status["sink"]["counters"].as_array().unwrap();
            let stripped = counters.iter().find(|one| one["name"] == "received");
            let stripped = stripped.unwrap();
            const ETHERNET: u64 = 14;
            let packets = stripped["packets"].as_u64().unwrap();
            stripped["bytes"].as_u64().unwrap() - ETHERNET * packets
        };
        let sent_and_forwarded = || {
            // Whatever is still to be reported is, once the daemon has gone over its tables again.
            let sweeps = lab.b.daemon_count("sweeps");
            await_that("the daemon has read all events", || {
                lab.b.daemon_count("sweeps") > sweeps + 1
                    && lab.b.daemon_count("events_read") == lab.b.count("sink", "event_sent")
            });
            (lab.b.daemon_count("reports_sent"), forwarded(&lab, "sent"))
        };
        let flows = Flows::new(&lab, 200, 100);
        flows.exchange(200);
        assert_eq!(lab.b.count("sink", "flow_new"), 20_000, "{to_whom}");
        assert_eq!(lab.b.figures()["sink"]["flows_total"], 20_000, "{to_whom}");
        let (_, bytes) = sent_and_forwarded();
        let traffic = arrived();
        assert!(
            bytes <= traffic,
            "{to_whom}: {bytes} bytes of reports about {traffic} bytes"
        );
        // More of some, so that they are worth reports.
        for _ in 0..20 {
            flows.exchange(10);
        }
        let (sent, bytes) = sent_and_forwarded();
        let traffic = arrived();
        assert!(sent >= 1_000, "{to_whom}: {sent} reports");
        assert!(
            bytes <= traffic,
            "{to_whom}: {bytes} bytes of reports about {traffic} bytes"
        );
        assert!(reports.recv(&mut [0; 2000]).unwrap() > 0, "{to_whom}");
        for (host, other) in [(&lab.a, "a"), (&lab.b, "b")] {
            let status = host.status();
            let about_reports = status["sink"]["flows"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|flow| flow["flow"]["dport"] == 32_766)
                .count();
            assert_eq!(
                about_reports, 0,
                "{to_whom}: reports are no flows of {other}"
            );
        }
        // Beside them, evidence about clocks and the host's identity, a few a second.
        let untagged = lab.b.count("source", "report");
        assert!(
            (sent..sent + 1_000).contains(&untagged),
            "{to_whom}: {untagged} reports of {sent} meet the source and go untagged"
        );
    }
}

#[test]
fn no_host_fills_the_flow_table_at_once() {
    for hook in ["xdp", "tc"] {
        let lab = Lab::new();
        let _b = lab.b.sink(&format!(
            "--dev b0 --node-id 2 --hook {hook} --max-new-flows 100"
        ));
        tag_anyway(&lab);
        let flows = Flows::new(&lab, 100, 50);
        let begun = Instant::now();
        flows.exchange(100);
        // A second's worth at once, and then so many a second.
        let most = 100 + 100 * (begun.elapsed().as_secs() + 1);
        let status = lab.b.figures();
        let tracked = status["sink"]["flows_total"].as_u64().unwrap();
        let limited = lab.b.count("sink", "new_flow_limited");
        assert!(
            (100..=most).contains(&tracked),
            "{hook}: {tracked} flows tracked, at most {most}"
        );
        assert!(limited > 0, "{hook}");
        assert_eq!(
            tracked + limited + lab.b.count("sink", "untracked"),
            5_000,
            "{hook}: each flow is tracked or counted"
        );
        assert_eq!(lab.b.count("sink", "received"), 5_000, "{hook}");
    }
}
