//! Reported loss, reordering and duplication equal the true figures.

use hostint_testing::netns::{Lab, await_that};

use crate::exchange::{exchange_tcp, flow};

#[test]
fn reported_loss_is_the_true_loss() {
    struct Case {
        name: &'static str,
        encap: &'static str,
        rule: &'static str,
        packets: u32,
    }
    let cases = [
        Case {
            name: "1 % of UDP",
            encap: "over-tcp-udp",
            rule: "ip protocol udp numgen random mod 100 < 1",
            packets: 20_000,
        },
        Case {
            name: "10 % of UDP in extension-udp",
            encap: "extension-udp",
            rule: "ip protocol udp numgen random mod 100 < 10",
            packets: 20_000,
        },
        Case {
            name: "every second of UDP, random",
            encap: "over-tcp-udp",
            rule: "ip protocol udp numgen random mod 2 < 1",
            packets: 20_000,
        },
        Case {
            name: "bursts of 700 of every 1000",
            encap: "over-tcp-udp",
            rule: "ip protocol udp numgen inc mod 1000 < 700",
            packets: 20_000,
        },
    ];
    for case in cases {
        let lab = Lab::new();
        let _sinks = lab.tag(&format!("--encap {}", case.encap));
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let send = |n: u32| {
            for _ in 0..n {
                from.send_to(&[7; 64], "10.9.2.1:6000").unwrap();
            }
        };
        // The sink must have been there before the flow to know that a flow begins at 1.
        lab.drop_packets(case.rule);
        send(case.packets);
        await_that("what was sent has left the source", || {
            lab.a.count("source", "tagged") == u64::from(case.packets)
        });
        let dropped = lab.dropped();
        // A number is missed when a later one arrives.
        send(1);
        let name = case.name;
        await_that(
            &format!("{name}: {dropped} packets are reported lost"),
            || lab.b.count("sink", "lost") - lab.b.count("sink", "recovered") == dropped,
        );
        let status = lab.b.status();
        let flow = flow(&status, name, 6000);
        assert_eq!(flow["lost"], dropped, "{name}");
        assert_eq!(flow["missing"], 0, "{name}");
        assert_eq!(
            flow["packets"].as_u64().unwrap() + dropped,
            u64::from(case.packets) + 1,
            "{name}: arrived and lost make up what was sent"
        );
        drop(to);
    }
}

#[test]
fn lost_tcp_segments_are_counted_and_the_stream_survives() {
    let lab = Lab::new();
    lab.make_room();
    let _sinks = lab.tag("");
    lab.drop_packets("tcp dport 7001 tcp flags & (syn|fin) == 0 numgen random mod 100 < 10");
    exchange_tcp(&lab.a, &lab.b, 7001, 300_000);
    let dropped = lab.dropped();
    assert!(dropped > 5, "the rule dropped {dropped} segments");
    // The connection's last packets may be among the lost: one more makes their numbers miss.
    await_that(
        "the dropped segments are reported lost, but for a lost tail",
        || {
            let lost = lab.b.count("sink", "lost") - lab.b.count("sink", "recovered");
            let tagged = lab.a.count("source", "tagged");
            let arrived = lab.b.count("sink", "received");
            lost == dropped
                || (lost < dropped && tagged == arrived + dropped && lost + 3 >= dropped)
        },
    );
}

#[test]
fn loss_reordering_and_duplication_are_told_apart_exactly() {
    struct Case {
        name: &'static str,
        encap: &'static str,
        drop_every: u64,
        double_every: u64,
        hold_every: u64,
        /// How many packets overtake one that is held.
        overtaken_by: usize,
    }
    const PACKETS: u64 = 9_240; // a multiple of every period below
    let cases = [
        Case {
            name: "neighbours change places",
            encap: "over-tcp-udp",
            drop_every: 0,
            double_every: 0,
            hold_every: 4,
            overtaken_by: 1,
        },
        Case {
            name: "a packet comes 200 late",
            encap: "over-tcp-udp",
            drop_every: 0,
            double_every: 0,
            hold_every: 1155,
            overtaken_by: 200,
        },
        Case {
            name: "all at once",
            encap: "over-tcp-udp",
            drop_every: 7,
            double_every: 11,
            hold_every: 10,
            overtaken_by: 3,
        },
        Case {
            name: "all at once in extension-udp",
            encap: "extension-udp",
            drop_every: 5,
            double_every: 6,
            hold_every: 12,
            overtaken_by: 5,
        },
    ];
    for case in cases {
        let every = |period: u64, n: u64, phase: u64| period != 0 && n % period == phase;
        // 1, 2 and 3 are different packets for all periods above but where drop comes first.
        let dropped = (0..PACKETS)
            .filter(|n| every(case.drop_every, *n, 1))
            .count() as u64;
        let held_ones = (0..PACKETS)
            .filter(|n| !every(case.drop_every, *n, 1) && every(case.hold_every, *n, 2))
            .count() as u64;
        let doubled = (0..PACKETS)
            .filter(|n| !every(case.drop_every, *n, 1) && !every(case.hold_every, *n, 2))
            .filter(|n| every(case.double_every, *n, 3))
            .count() as u64;
        let lab = Lab::new();
        let _sinks = lab.tag(&format!("--encap {}", case.encap));
        let mut held: Vec<(usize, Vec<u8>)> = Vec::new();
        hostint_testing::line::install(&lab, move |n, packet| {
            if every(case.drop_every, n, 1) {
                return Vec::new();
            }
            if every(case.hold_every, n, 2) {
                held.push((case.overtaken_by, packet));
                return Vec::new();
            }
            let mut out = vec![packet.clone()];
            if every(case.double_every, n, 3) {
                out.push(packet);
            }
            for entry in &mut held {
                entry.0 = entry.0.saturating_sub(1);
            }
            out.extend(
                held.extract_if(.., |entry| entry.0 == 0)
                    .map(|entry| entry.1),
            );
            out
        });
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        // The last packets flush what is held; they pass themselves.
        let name = case.name;
        for n in 0..PACKETS {
            from.send_to(&n.to_be_bytes(), "10.9.2.1:6000").unwrap();
        }
        let state = || flow(&lab.b.status(), name, 6000);
        await_that(
            &format!("{name}: all packets but the lost ones are counted"),
            || {
                let flow = state();
                flow["packets"].as_u64() == Some(PACKETS - dropped + doubled)
                    && flow["lost"] == dropped
            },
        );
        let flow = state();
        assert_eq!(flow["reordered"], held_ones, "{name}: {flow}");
        assert_eq!(flow["duplicates"], doubled, "{name}: {flow}");
        assert_eq!(flow["missing"], 0, "{name}: {flow}");
        drop(to);
    }
}
