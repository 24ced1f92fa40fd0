//! Tagging begins and ends by itself with the sink at the destination, within a second.

use std::time::{Duration, Instant};

use hostint::os::clock::realtime_ns;
use hostint_testing::before_others::before_others;
use hostint_testing::load::Load;
use hostint_testing::netns::{Daemon, Host, Lab, await_that};
use serde_json::Value;

use crate::exchange::{exchange_tcp, exchange_udp, flow};
use crate::foreign::take_off;
use crate::stamped::{Form, Stamped};

/// What is promised of the beginning and the end of tagging.
const SECOND: Duration = Duration::from_secs(1);
/// So many datagrams take longer than that.
const MORE_THAN_A_SECOND: u64 = 700;
/// So many take three seconds.
const THREE_SECONDS: u64 = 1_500;

/// A source on a, and its daemon, which keeps leases.
fn watch(lab: &Lab) -> Daemon {
    watch_with(lab, "")
}

fn watch_with(lab: &Lab, flags: &str) -> Daemon {
    let daemon = lab.a.leasing_sink("--dev a0 --node-id 1");
    lab.a.hostint(&format!("source attach --dev a0 {flags}"));
    lab.a.hostint("source add-dest 10.9.2.1");
    daemon
}

fn await_proved(lab: &Lab) {
    await_that("the path is proved", || {
        let ways = peer(&lab.a, "10.9.2.1")["ways"].clone();
        ways.to_string().contains("udp")
    });
}

fn tagged(lab: &Lab) -> u64 {
    lab.a.count("source", "tagged")
}

fn no_lease(lab: &Lab) -> u64 {
    lab.a.count("source", "no_lease")
}

fn await_tagged(lab: &Lab, more: u64) {
    let before = tagged(lab);
    await_that(&format!("{more} more packets are tagged"), || {
        tagged(lab) >= before + more
    });
}

fn await_untagged(lab: &Lab, more: u64) {
    let before = no_lease(lab);
    await_that(&format!("{more} more packets stay untagged"), || {
        no_lease(lab) >= before + more
    });
}

fn peer(host: &Host, dest: &str) -> Value {
    let status = host.status();
    let peers = status["source"]["peers"].as_array().unwrap();
    peers
        .iter()
        .find(|peer| peer["dest"] == dest)
        .unwrap_or_else(|| panic!("no peer {dest}: {status}"))
        .clone()
}

#[test]
fn tagging_begins_within_a_second_of_the_sinks_coming() {
    before_others(|| {
        for hook in ["xdp", "tc"] {
            let lab = Lab::new();
            let _a = watch(&lab);
            let traffic = Stamped::start(&lab, 6000);
            await_untagged(&lab, 100);
            assert_eq!(tagged(&lab), 0, "{hook}: nothing is tagged before");
            let _b = lab
                .b
                .leasing_sink(&format!("--dev b0 --node-id 2 --hook {hook}"));
            let came_ns = realtime_ns();
            await_tagged(&lab, 100);
            let first_ns = flow(&lab.b.status(), hook, 6000)["first_ns"].as_u64();
            let waited_ns = first_ns.unwrap().saturating_sub(came_ns);
            assert!(
                waited_ns < SECOND.as_nanos() as u64,
                "{hook}: tagged after {waited_ns} ns"
            );
            traffic.assert_untouched(hook);
        }
    });
}

#[test]
fn nothing_is_tagged_a_second_after_the_sinks_program_went() {
    before_others(|| {
        for (hook, role) in [("xdp", "sink"), ("tc", "sink-tc")] {
            let lab = Lab::new();
            let _a = watch_with(&lab, "--encap tunnel");
            let mut b = lab
                .b
                .leasing_sink(&format!("--dev b0 --node-id 2 --hook {hook}"));
            await_proved(&lab);
            let traffic = Stamped::start(&lab, 6000);
            await_tagged(&lab, MORE_THAN_A_SECOND);
            let before = Instant::now();
            b.kill();
            take_off(&lab.b, role, "b0");
            let gone = Instant::now();
            await_untagged(&lab, MORE_THAN_A_SECOND);
            let mut unstripped = 0;
            for datagram in traffic.end() {
                assert_ne!(datagram.arrived, Some(Form::Changed), "{hook}");
                if datagram.arrived.is_none() {
                    unstripped += 1;
                    assert!(datagram.sent >= before, "{hook}: the sink was there still");
                    let late = datagram.sent.saturating_duration_since(gone);
                    assert!(late <= SECOND, "{hook}: tagged after {late:?}");
                }
            }
            assert!(unstripped > 0, "{hook}: the program went under traffic");
        }
    });
}

#[test]
fn a_sink_that_is_detached_costs_nothing() {
    for hook in ["xdp --xdp-mode generic", "xdp", "tc"] {
        let lab = Lab::new();
        let _a = watch(&lab);
        let mut b = lab
            .b
            .leasing_sink(&format!("--dev b0 --node-id 2 --hook {hook}"));
        await_proved(&lab);
        let load = Load::start(&lab.a, &lab.b, "10.9.1.1", "10.9.2.1");
        await_tagged(&lab, 1_000);
        lab.b.hostint("sink detach");
        assert_eq!(b.wait(), Some(0), "{hook}");
        let sent = load.sent();
        await_that("traffic goes on", || load.sent() > sent + 1_500);
        let end = tagged(&lab);
        await_untagged(&lab, 100);
        assert_eq!(tagged(&lab), end, "{hook}: nothing is tagged any more");
        load.end().assert_untouched(hook);
        assert_eq!(lab.b.checksum_errors(), 0, "{hook}");
    }
}

#[test]
fn a_sink_that_is_detached_at_once_says_what_sources_do_meanwhile() {
    let lab = Lab::new();
    for (sentence, leased) in [("nobody has a lease", false), ("a host has one", true)] {
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        let _a = leased.then(|| watch(&lab));
        if leased {
            await_proved(&lab);
        }
        let said = lab.b.try_hostint("sink detach --now").stderr;
        let said = String::from_utf8_lossy(&said);
        let warned = said.contains("sources go on tagging for up to a second");
        assert_eq!(warned, leased, "{sentence}: {said}");
    }
}

#[test]
fn leases_outlive_the_sinks_daemon() {
    before_others(|| {
        let lab = Lab::new();
        let _a = watch(&lab);
        let mut b = lab.b.leasing_sink("--dev b0 --node-id 2");
        await_proved(&lab);
        let traffic = Stamped::start(&lab, 6000);
        await_tagged(&lab, 100);
        let without = no_lease(&lab);
        b.kill();
        await_tagged(&lab, THREE_SECONDS);
        assert_eq!(
            no_lease(&lab),
            without,
            "the program answers without a daemon"
        );
        traffic.assert_untouched("without the sink's daemon");
        assert_eq!(lab.b.count("sink", "received"), tagged(&lab));
        assert_eq!(lab.b.count("sink", "not_allowed"), 0);
    });
}

#[test]
fn leases_end_with_the_sources_own_daemon_and_come_back_with_a_new_one() {
    before_others(|| {
        let lab = Lab::new();
        let mut a = watch(&lab);
        let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
        await_proved(&lab);
        let traffic = Stamped::start(&lab, 6000);
        await_tagged(&lab, 100);
        a.kill();
        let killed_ns = realtime_ns();
        await_untagged(&lab, MORE_THAN_A_SECOND);
        let last_ns = flow(&lab.b.status(), "killed", 6000)["last_ns"].as_u64();
        let late_ns = last_ns.unwrap().saturating_sub(killed_ns);
        assert!(
            late_ns < SECOND.as_nanos() as u64,
            "tagged {late_ns} ns after the daemon's end"
        );
        assert_eq!(
            peer(&lab.a, "10.9.2.1")["state"],
            "silent",
            "nobody keeps the lease"
        );
        let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
        await_tagged(&lab, 100);
        traffic.assert_untouched("without the source's daemon, and with a new one");
    });
}

#[test]
fn the_first_packet_to_a_prefix_asks_for_a_lease() {
    let lab = Lab::new();
    let _a = lab.a.leasing_sink("--dev a0 --node-id 1");
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.0/24");
    assert_eq!(lab.a.status()["source"]["peers_total"], 0, "nobody asks");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 1, 100);
    assert_eq!((no_lease(&lab), tagged(&lab)), (1, 0), "the first packet");
    await_proved(&lab);
    exchange_udp(&from, &to, 100, 1000);
    exchange_tcp(&lab.a, &lab.b, 7000, 100_000);
    assert_eq!(no_lease(&lab), 1, "and only the first");
    assert!(tagged(&lab) > 100);
    assert_eq!(lab.b.count("sink", "received"), tagged(&lab));
}

#[test]
fn a_lease_outlives_losses_on_the_way() {
    before_others(|| {
        for (name, rule) in [
            (
                "half of what is sent",
                "ip daddr 10.9.2.1 numgen random mod 2 == 0",
            ),
            (
                "half of what comes back",
                "ip daddr 10.9.1.1 numgen random mod 2 == 0",
            ),
            ("a third both ways", "numgen random mod 3 == 0"),
        ] {
            let lab = Lab::new();
            let _a = watch(&lab);
            let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
            lab.drop_packets(rule);
            await_proved(&lab);
            let traffic = Stamped::start(&lab, 6000);
            await_that("the lease is granted", || tagged(&lab) > 0);
            let without = no_lease(&lab);
            await_tagged(&lab, THREE_SECONDS);
            await_tagged(&lab, THREE_SECONDS);
            assert_eq!(no_lease(&lab), without, "{name} is lost");
            assert!(lab.dropped() > 0, "{name}");
            let datagrams = traffic.end();
            let changed = |one: &&_| matches!(one, Some(Form::Changed));
            let arrived: Vec<_> = datagrams.iter().map(|one| one.arrived).collect();
            assert_eq!(arrived.iter().filter(changed).count(), 0, "{name}");
        }
    });
}

#[test]
fn status_shows_each_peer_with_an_honest_clock_offset() {
    let lab = Lab::new();
    lab.add_ipv6();
    let _a = watch(&lab);
    let _b = lab.b.leasing_sink("--dev b0 --node-id 2");
    lab.a.hostint("source add-dest fd09:2::1");
    let answered = || lab.a.daemon_count("leases_answered");
    let before = answered();
    await_that("the clock was compared often", || {
        for dest in ["10.9.2.1", "fd09:2::1"] {
            let peer = peer(&lab.a, dest);
            let Some(offset_ns) = peer["clock_offset_ns"].as_i64() else {
                continue;
            };
            let error_ns = peer["clock_error_ns"].as_u64().unwrap();
            assert!(
                offset_ns.unsigned_abs() <= error_ns,
                "the same clock, and yet {dest} is off by {offset_ns} ± {error_ns} ns"
            );
            let [low, high] = [0, 1].map(|end| peer["clock_bound_ns"][end].as_i64().unwrap());
            assert!(low <= 0 && high >= 0, "the same clock, and yet: {peer}");
            assert_eq!(peer["clock_from"], "lease answers", "{peer}");
        }
        answered() > before + 20
    });
    for dest in ["10.9.2.1", "fd09:2::1"] {
        let peer = peer(&lab.a, dest);
        assert_eq!(peer["state"], "granted", "{peer}");
        assert_eq!(peer["node"], 2, "{peer}");
        assert_eq!(peer["mtu"], 1500, "{peer}");
        let left_ns = peer["lease_left_ns"].as_u64().unwrap();
        assert!(left_ns > 0 && left_ns < 1_000_000_000, "{peer}");
        let rtt_ns = peer["rtt_ns"].as_u64().unwrap();
        assert!(rtt_ns > 0 && rtt_ns < 1_000_000_000, "{peer}");
    }
    let text = lab.a.hostint("status");
    assert!(text.contains("peers: 2 of 2 ready\n"), "{text}");
    for dest in ["10.9.2.1", "fd09:2::1"] {
        let line = text
            .lines()
            .find(|line| line.contains(dest) && (line.contains("node 2") || line.contains("(2)")))
            .unwrap_or_else(|| panic!("no line about {dest}: {text}"));
        for part in [" rtt ", " clock ", " ± "] {
            assert!(line.contains(part), "{line}");
        }
    }
    let sink = &lab.b.status()["sink"];
    assert_eq!(sink["leases_granted"], 2);
    for grant in sink["grants"].as_array().unwrap() {
        assert_eq!(grant["node"], 1, "{grant}");
        let proved = grant["proved"].as_array().unwrap();
        assert!(proved.contains(&"options".into()), "{grant}");
        assert_eq!(grant["probes"][0]["arrived"], 72, "{grant}");
    }
    let text = lab.b.hostint("status");
    assert!(text.contains("ready (options)"), "{text}");
    // The evidence ages, and the interval grows with it: by 200 ppm at least, for both ends.
    lab.b.hostint("sink detach");
    let mut first = None;
    await_that("the last answer is two seconds old", || {
        let peer = peer(&lab.a, "10.9.2.1");
        let Some(age_ns) = peer["clock_age_ns"].as_i64() else {
            return false;
        };
        let [low, high] = [0, 1].map(|end| peer["clock_bound_ns"][end].as_i64().unwrap());
        assert!(low <= 0 && high >= 0, "the same clock, and yet: {peer}");
        let (first_ns, width) = *first.get_or_insert((age_ns, high - low));
        if age_ns < first_ns {
            first = None;
            return false;
        }
        let grown = (age_ns - first_ns) * 2 * 200 / 1_000_000;
        // Each reading of this host's clocks is uncertain by some microseconds.
        assert!(high - low + 50_000 >= width + grown, "{peer}");
        age_ns > 2_000_000_000
    });
}
