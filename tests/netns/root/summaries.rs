//! A collector receives flow summaries with the figures that the sink shows.

use hostint::os::clock;
use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::exchange::flow;

/// What the collector wrote about all packets from node 1, oldest first.
fn groups(collect: &Daemon) -> Vec<Value> {
    collect.json_lines_of("group-summary")
}

/// What the collector wrote about flows to this port, oldest first.
fn summaries(collect: &Daemon, port: u16) -> Vec<Value> {
    let mut lines = collect.json_lines_of("flow-summary");
    lines.retain(|line| line["flow"]["dport"] == port);
    lines
}

/// The packets of a summary that were lost and have not come since.
fn missing(totals: &Value) -> u64 {
    totals["lost"].as_u64().unwrap() - totals["recovered"].as_u64().unwrap()
}

fn collector(host: &Host) -> Daemon {
    host.start("collect --json --listen 127.0.0.1", "collecting")
}

/// Of ten packets the second is lost, the third comes behind the fourth, the fifth comes twice.
fn disturb(lab: &Lab) {
    let mut held = None;
    hostint_testing::line::install(lab, move |n, packet| match n % 10 {
        1 => Vec::new(),
        2 => {
            held = Some(packet);
            Vec::new()
        }
        4 => vec![packet.clone(), packet],
        _ => [Some(packet), held.take()].into_iter().flatten().collect(),
    });
}

#[test]
fn a_summary_tells_what_status_tells() {
    const PACKETS: u64 = 9_240;
    for format in ["v0.5", "v1.0", "v2.0"] {
        let lab = Lab::new();
        let mut collect = collector(&lab.b);
        let mut b = lab.b.sink(&format!(
            "--dev b0 --node-id 2 --collector 127.0.0.1 --allow 10.9.1.0/24 --summary-period 1s \
             --report-format {format}"
        ));
        let _a = lab.a.sink("--dev a0 --node-id 1");
        lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
        lab.a.hostint("source add-dest --static 10.9.2.1");
        disturb(&lab);
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let small = lab.a.udp("10.9.1.1:5001");
        small.send_to(&[1], "10.9.2.1:6001").unwrap();
        for n in 0..PACKETS - 1 {
            from.send_to(&n.to_be_bytes(), "10.9.2.1:6000").unwrap();
        }
        let tenth = PACKETS / 10;
        await_that(&format!("{format}: a summary tells all packets"), || {
            let last = summaries(&collect, 6000).pop();
            last.is_some_and(|last| {
                let totals = &last["summary"];
                let come = totals["packets"].as_u64().unwrap() + missing(totals);
                come == PACKETS - 1 + totals["duplicates"].as_u64().unwrap()
            })
        });
        let all = summaries(&collect, 6000);
        let last = all.last().unwrap();
        let totals = &last["summary"];
        let status = lab.b.status();
        let flow = flow(&status, format, 6000);
        for key in [
            "last_ns",
            "packets",
            "bytes",
            "reordered",
            "duplicates",
            "late",
            "restarts",
        ] {
            assert_eq!(totals[key], flow[key], "{format}: {key}");
        }
        assert_eq!(totals["epoch_ns"], flow["first_ns"], "{format}");
        assert_eq!(missing(totals), flow["lost"], "{format}");
        let latency = &totals["latency"];
        assert_eq!(latency["min_ns"], flow["latency_min_ns"], "{format}");
        assert_eq!(latency["max_ns"], flow["latency_max_ns"], "{format}");
        let slots = serde_json::to_value(powers_of_two(latency)).unwrap();
        assert_eq!(slots, flow["histogram"], "{format}");
        assert_eq!(
            latency["sum_ns"].as_i64().unwrap() / totals["packets"].as_i64().unwrap(),
            flow["latency_mean_ns"],
            "{format}"
        );
        let told = |key: &str| match key {
            "lost" => missing(totals),
            _ => totals[key].as_u64().unwrap(),
        };
        for (key, wanted) in [("lost", tenth), ("reordered", tenth), ("duplicates", tenth)] {
            // The packet to the other port is one of those that the line counts.
            let told = told(key);
            assert!(told.abs_diff(wanted) <= 1, "{format}: {told} {key}");
        }
        assert_eq!(last["version"], "0.5", "{format}");
        assert_eq!(last["source"]["node"], 1, "{format}");
        assert_eq!(last["sink"]["node"], 2, "{format}");
        assert!(
            all.iter()
                .all(|one| one["summary"]["epoch_ns"] == totals["epoch_ns"])
        );
        assert_eq!(summaries(&collect, 6001), [] as [Value; 0], "{format}");

        assert_eq!(b.end(), Some(0));
        assert_eq!(collect.end(), Some(0));
        let said = collect.stderr();
        assert!(said.contains(" 0 lost on the way"), "{format}: {said}");
        drop(to);
    }
}

#[test]
fn a_flow_that_is_forgotten_is_summarised_a_last_time() {
    let lab = Lab::new();
    let collect = collector(&lab.b);
    let _b = lab.b.sink(
        "--dev b0 --node-id 2 --collector 127.0.0.1 --allow 10.9.1.0/24 --summary-period 1h \
         --idle-flow-timeout 1s",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    for _ in 0..100 {
        from.send_to(&[7; 64], "10.9.2.1:6000").unwrap();
    }
    await_that("the flow is summarised", || {
        !summaries(&collect, 6000).is_empty()
    });
    let all = summaries(&collect, 6000);
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["summary"]["packets"], 100);
    let status = lab.b.status();
    assert_eq!(status["sink"]["flows_total"], 0);
    drop(to);
}

#[test]
fn summaries_begin_and_end_with_the_file() {
    const SETTINGS: &str = "[sink]\ndev = \"b0\"\nnode-id = 2\ncollector = \"127.0.0.1\"\n\
                            allow = \"10.9.1.0/24\"\nidle-flow-timeout = \"30s\"\n";
    let lab = Lab::new();
    let collect = collector(&lab.b);
    let file = std::env::temp_dir().join(format!("{}.toml", lab.b.ns));
    std::fs::write(&file, SETTINGS).unwrap();
    let b = (lab.b).start(
        &format!("sink --config {}", file.display()),
        "sink attached",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let send = || {
        for _ in 0..100 {
            from.send_to(&[7; 64], "10.9.2.1:6000").unwrap();
        }
    };
    let apply = |more: &str| {
        let before = b.stderr().len();
        std::fs::write(&file, format!("{SETTINGS}{more}")).unwrap();
        b.signal(Signal::SIGHUP);
        await_that("the file is applied", || {
            b.stderr()[before..].contains(" applied: [sink] summary-period")
        });
    };
    send();
    apply("summary-period = \"1s\"\n");
    await_that("a flow is summarised", || {
        send();
        !summaries(&collect, 6000).is_empty()
    });
    apply("summary-period = \"0s\"\n");
    let applied_ns = clock::realtime_ns();
    let sweeps = || lab.b.daemon_count("sweeps");
    let before = sweeps();
    await_that("the table is passed over three times", || {
        send();
        sweeps() >= before + 3
    });
    // The collector hands on what it received before a little later.
    for summary in summaries(&collect, 6000) {
        assert!(
            summary["received_ns"].as_u64() < Some(applied_ns),
            "{summary}"
        );
    }
    std::fs::remove_file(&file).unwrap();
    drop(to);
}

/// The counts of slots by the power of two that they belong to, from a summary or from the status of flows.
fn powers_of_two(told: &Value) -> [u64; 32] {
    let mut slots = [0; 32];
    for slot in told["slots"].as_array().unwrap() {
        let bound_ns = slot[0].as_i64().unwrap();
        let power = u64::try_from(bound_ns).ok().and_then(u64::checked_ilog2);
        slots[power.map_or(0, |power| power as usize + 1)] += slot[1].as_u64().unwrap();
    }
    slots
}

#[test]
fn the_totals_of_classes_have_each_packet_of_their_flows_once() {
    const SETTINGS: &str = "[sink]\ndev = \"b0\"\nnode-id = 2\ncollector = \"127.0.0.1\"\n\
         allow = \"10.9.1.0/24\"\nsummary-period = \"1s\"\n\
         [[watch]]\nto = \"10.9.2.0/24\"\nto-port = 6001\nclass = \"odd\"\n\
         [[watch]]\nto = \"10.9.2.0/24\"\n";
    let lab = Lab::new();
    let mut collect = collector(&lab.b);
    let file = std::env::temp_dir().join(format!("{}.toml", lab.b.ns));
    std::fs::write(&file, SETTINGS).unwrap();
    let mut b = (lab.b).start(
        &format!("sink --config {}", file.display()),
        "sink attached",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    // The daemon does not know these flows when it starts, so all of their packets count.
    let to: Vec<_> = (6000..6003)
        .map(|port| lab.b.udp(&format!("10.9.2.1:{port}")))
        .collect();
    let from: Vec<_> = (5000..5009)
        .map(|port| lab.a.udp(&format!("10.9.1.1:{port}")))
        .collect();
    let send = |n: usize, round: u32| {
        let to = format!("10.9.2.1:{}", 6000 + n % 3);
        from[n].send_to(&round.to_be_bytes(), to).unwrap();
    };
    // A flow of a single packet is too small for a summary of its own. The packet must not be one that is lost.
    send(8, 0);
    await_that("it has come", || lab.b.count("sink", "received") == 1);
    disturb(&lab);
    for round in 0..300 {
        for n in 0..8 {
            send(n, round);
        }
    }
    let keys = [
        "packets",
        "bytes",
        "reordered",
        "duplicates",
        "late",
        "restarts",
    ];
    let of_status = |odd: bool| {
        let status = lab.b.status();
        let flows = status["sink"]["flows"].as_array().unwrap().clone();
        let own = flows
            .into_iter()
            .filter(move |flow| (flow["flow"]["dport"] == 6001) == odd);
        own.collect::<Vec<_>>()
    };
    let sum = |flows: &[Value], key: &str| -> u64 {
        flows.iter().map(|flow| flow[key].as_u64().unwrap()).sum()
    };
    let last = |class: Option<&str>| {
        groups(&collect)
            .into_iter()
            .rfind(|line| line["summary"]["class"].as_str() == class)
    };
    for (class, flows) in [(Some("odd"), 3), (None, 6)] {
        await_that(&format!("all packets of class {class:?} are told"), || {
            let status = of_status(class.is_some());
            status.len() == flows
                && last(class).is_some_and(|last| {
                    let told = |key: &str| last["summary"][key].as_u64().unwrap();
                    keys.iter().all(|key| told(key) == sum(&status, key))
                        && told("lost") - told("recovered") == sum(&status, "lost")
                })
        });
        let (told, status) = (last(class).unwrap(), of_status(class.is_some()));
        let latency = &told["summary"]["latency"];
        let mut slots = [0_u64; 32];
        for flow in &status {
            let histogram = flow["histogram"].as_array().unwrap();
            for (slot, count) in slots.iter_mut().zip(histogram) {
                *slot += count.as_u64().unwrap();
            }
        }
        assert_eq!(powers_of_two(latency), slots, "{class:?}");
        assert_eq!(latency["samples"], told["summary"]["packets"], "{class:?}");
        let least = status.iter().map(|flow| flow["latency_min_ns"].as_i64());
        assert_eq!(latency["min_ns"].as_i64(), least.min().unwrap());
        assert_eq!(
            (&told["source"]["node"], &told["sink"]["node"]),
            (&1.into(), &2.into())
        );
        assert_eq!(told["summary"]["period_ns"], 1_000_000_000);
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!(b.end(), Some(0));
    assert_eq!(collect.end(), Some(0));
    drop(to);
}

#[test]
fn the_budget_goes_to_groups_and_then_to_flows_with_losses() {
    const LOSSY: u16 = 6003;
    let lab = Lab::new();
    let collect = collector(&lab.b);
    // Two summaries in a period: one of the group, one of a flow.
    let _b = lab.b.sink(
        "--dev b0 --node-id 2 --collector 127.0.0.1 --allow 10.9.1.0/24 --summary-period 2s \
         --max-summaries 1",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    hostint_testing::line::install(&lab, |n, packet| {
        let dport = u16::from_be_bytes([packet[22], packet[23]]);
        match dport == LOSSY && n % 5 == 0 {
            true => Vec::new(),
            false => vec![packet],
        }
    });
    let from = lab.a.udp("10.9.1.1:5000");
    let to: Vec<_> = (6000..6006)
        .map(|port| lab.b.udp(&format!("10.9.2.1:{port}")))
        .collect();
    let told = || collect.json_lines_of("flow-summary");
    await_that("three flows are told", || {
        for port in 6000..6006 {
            // The others have more bytes.
            let size = if port == LOSSY { 64 } else { 1000 };
            for _ in 0..20 {
                from.send_to(&vec![7; size], format!("10.9.2.1:{port}"))
                    .unwrap();
            }
        }
        told().len() >= 3
    });
    let told = told();
    let lossy = told.iter().filter(|line| line["flow"]["dport"] == LOSSY);
    // The first period may end before the first loss is known.
    assert!(lossy.count() >= told.len() - 1, "{told:?}");
    assert!(lab.b.daemon_count("summaries_left_out") >= 5);
    let last = groups(&collect).pop().unwrap();
    let of_group = last["summary"]["packets"].as_u64().unwrap();
    let of_flow = told.last().unwrap()["summary"]["packets"].as_u64().unwrap();
    assert!(of_group > 5 * of_flow, "{of_group} packets of all flows");
    drop(to);
}

#[test]
fn more_classes_than_a_period_has_room_for_make_it_longer_and_say_so() {
    const CLASSES: std::ops::Range<u16> = 6000..6008;
    let lab = Lab::new();
    let folder = hostint_testing::scratch::Folder::create();
    let file = folder.file("hostint.toml");
    let rules: String = CLASSES
        .map(|port| {
            format!("[[watch]]\nclass = \"c{port}\"\nto = [\"10.9.2.1\"]\nto-port = {port}\n")
        })
        .collect();
    std::fs::write(&file, rules).unwrap();
    let collect = collector(&lab.b);
    // Two summaries in a period.
    let _b = lab.b.sink(&format!(
        "--dev b0 --node-id 2 --collector 127.0.0.1 --allow 10.9.1.0/24 --summary-period 2s \
         --max-summaries 1 --config {}",
        file.display()
    ));
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let from = lab.a.udp("10.9.1.1:5000");
    let to: Vec<_> = CLASSES
        .map(|port| lab.b.udp(&format!("10.9.2.1:{port}")))
        .collect();
    let mut sent = 0;
    await_that("a summary of a longer period comes", || {
        for port in CLASSES {
            from.send_to(&[7; 64], format!("10.9.2.1:{port}")).unwrap();
        }
        sent += 1;
        let told = groups(&collect);
        // Some classes may come in time before the others have packets.
        told.iter()
            .any(|line| line["summary"]["period_ns"].as_u64() >= Some(5_000_000_000))
    });
    await_that("no packet of any class is lost by it", || {
        CLASSES.into_iter().all(|port| {
            let told = groups(&collect);
            let class = format!("c{port}");
            let mut of_class = told
                .iter()
                .rev()
                .filter(|line| line["class"] == class.as_str());
            of_class
                .next()
                .is_some_and(|line| line["summary"]["packets"].as_u64() == Some(sent))
        })
    });
    drop(to);
}
