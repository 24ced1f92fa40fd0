//! The formulas of hostint-sizing(7) agree with a simulated network.
//!
//! With HOSTINT_LONG the network has 10,000 hosts, as in `cargo bench --bench sizing`.

use hostint::engines::FedReport;
use hostint_testing::model::sequence;
use hostint_testing::random::Random;
use hostint_testing::report_rules::{Flow, Rules};
use hostint_testing::simulation::{PROFILES, simulate};
use hostint_testing::summary_simulation::{self, SummaryRules};
use hostint_testing::told_simulation::{COVERED, CROSSED, Told};

const MANUAL: &str = include_str!("../../man/hostint-sizing.7");

fn hosts() -> u64 {
    match std::env::var_os("HOSTINT_LONG") {
        Some(_) => 10_000,
        None => 40,
    }
}

#[test]
fn the_formulas_are_within_a_tenth_of_what_a_network_does() {
    for profile in PROFILES {
        for collectors in [1, 2] {
            let rules = Rules::new(collectors);
            let counted = simulate(&profile, &rules, hosts(), 20, 1);
            let (is, said) = (counted.reports(), profile.formula(&rules));
            let name = profile.name;
            for (what, is, said) in [
                ("latency", is.latency, said.latency),
                ("all", is.all(), said.all()),
            ] {
                let off = said / is - 1.0;
                assert!(off.abs() < 0.1, "{name}, {what}: {said} for {is}");
            }
            // So few losses are chance where few hosts have them.
            if counted.loss_reports > 500 {
                let off = said.losses / is.losses - 1.0;
                assert!(off.abs() < 0.1, "{name}: {said:?} for {is:?}");
            }
            assert!(counted.lost_reported <= counted.lost, "{name}: {counted:?}");
        }
    }
}

#[test]
fn the_formula_of_summaries_is_within_a_tenth_of_what_a_network_does() {
    let usual = SummaryRules::default();
    let few = SummaryRules { most: 4.0, ..usual };
    let often = SummaryRules {
        period_s: 2.0,
        ..usual
    };
    for profile in PROFILES {
        for (name, rules) in [("usual", usual), ("few", few), ("often", often)] {
            let is = summary_simulation::simulate(&profile, &rules, 5 * hosts(), 6, 1);
            let said = profile.summaries(&rules);
            let off = said.all() / is.all() - 1.0;
            let name = format!("{}, {name}", profile.name);
            assert!(off.abs() < 0.1, "{name}: {said:?} for {is:?}");
            assert_eq!(said.groups, is.groups, "{name}");
        }
    }
}

#[test]
fn the_formulas_of_coverage_and_of_packets_that_came_by_are_within_a_tenth() {
    let check = |name: &str, is: Told, said: Told| {
        for (what, is, said) in [
            ("datagrams", is.datagrams, said.datagrams),
            ("bytes", is.bytes, said.bytes),
        ] {
            let off = said / is - 1.0;
            assert!(off.abs() < 0.1, "{name}, {what}: {said} for {is}");
        }
        let line = format!("{name}@{:.1}@{:.1}", said.datagrams, said.bytes / 1e3);
        let shown = MANUAL.lines().any(|is| is == line);
        assert!(shown, "not in the manual:\n{line}");
    };
    for rules in COVERED {
        check(rules.name, rules.simulate(hosts(), 1), rules.formula());
    }
    for rules in CROSSED {
        check(rules.name, rules.simulate(4, 1), rules.formula());
    }
}

#[test]
fn the_formulas_follow_what_is_changed() {
    let hosts = hosts().min(100);
    let [long, rpc, storage] = PROFILES;
    let mut slower = Rules::new(1);
    slower.report_period_ns *= 5;
    let mut patient = Rules::new(1);
    patient.loss_timeout_ns *= 5;
    let mut restless = storage;
    restless.moves = 1.0;
    let mut lossy = storage;
    lossy.loss = 0.005;
    let mut seldom = storage;
    seldom.loss = 5e-4;
    let mut longer = rpc;
    (longer.new_flows, longer.duration) = (10.0, 3.0);
    for (name, profile, rules) in [
        ("a report period of 10 s", long, slower),
        ("a loss timeout of a second", seldom, patient),
        ("latency that moves each second", restless, Rules::new(1)),
        ("one packet in two hundred is lost", lossy, Rules::new(1)),
        ("flows as long as the period", longer, Rules::new(1)),
    ] {
        let is = simulate(&profile, &rules, hosts, 20, 2).reports();
        let said = profile.formula(&rules);
        let off = said.all() / is.all() - 1.0;
        assert!(off.abs() < 0.1, "{name}: {said:?} for {is:?}");
    }
}

#[test]
fn a_flow_pays_for_its_reports() {
    let mut random = Random::seeded(3);
    for _ in 0..1000 {
        let rules = Rules::new(1 + random.below(3) as u64);
        let (mut flow, mut now, mut bytes, mut reports) = (Flow::default(), 1 << 40, 0, 0);
        for _ in 0..random.below(100) {
            now += random.below(3_000_000_000) as u64;
            let size = 60 + random.below(300) as u64;
            bytes += size;
            let latency = random.below(200_000) as i64;
            let told = flow.packet(&rules, now, latency, size, random.below(3) as u64);
            reports += told.latency + told.losses;
            assert!(reports * rules.report_bytes <= bytes);
        }
    }
}

#[test]
fn losses_are_told_as_the_model_of_the_kernels_programs_finds_them() {
    let (mut random, seed) = Random::from_env();
    let rules = Rules::new(1);
    for round in 0..200 {
        let mut flow = Flow::default();
        let mut model = sequence::Flow::new(rules.loss_timeout_ns);
        let spacing = [100_000, 2_000_000, 50_000_000, 300_000_000][round % 4];
        let (mut now, mut number, mut told) = (1_u64 << 40, 1, 0);
        flow.packet(&rules, now, 1000, 1 << 30, 0);
        model.begin(number, number, now);
        for _ in 0..2000 {
            now += random.below(spacing) as u64;
            let missing = if random.one_in(50) {
                random.below(5) as u64
            } else {
                0
            };
            number += missing + 1;
            told += flow.packet(&rules, now, 1000, 1000, missing).lost;
            model.arrive(number, now);
            assert!(told <= model.lost, "seed {seed}, round {round}");
        }
        for _ in 0..2 {
            now += rules.loss_timeout_ns;
            told += flow.sweep(&rules, now).lost;
            model.look_at_clock(now);
        }
        assert_eq!(told, model.lost, "seed {seed}, round {round}");
        assert_eq!(told, model.true_loss(), "seed {seed}, round {round}");
    }
}

/// What hostint-sizing(7) reckons with.
const REPORT_BITS: f64 = 132.0 * 8.0;
const STORED_BYTES: f64 = 276.0;
const STORE_SIZE: f64 = 4.0 * 1024.0 * 1024.0 * 1024.0;
const WITH_HISTORY: f64 = 100_000.0;
const WITHOUT: f64 = 150_000.0;

fn lasting(seconds: f64) -> String {
    match seconds {
        short if short < 120.0 => format!("{short:.0} s"),
        minutes if minutes < 7200.0 => format!("{:.0} min", minutes / 60.0),
        hours => format!("{:.0} h", hours / 3600.0),
    }
}

#[test]
fn the_manuals_table_is_what_its_formulas_give() {
    let mut wrong = Vec::new();
    let mut check = |line: String| {
        if !MANUAL.lines().any(|is| is == line) {
            wrong.push(line);
        }
    };
    for profile in PROFILES {
        let reports = profile.formula(&Rules::new(1));
        let rate = reports.all();
        check(format!(
            "{}@{:.0}@{}@{:.0}@{}@{rate:.1}@{:.1}",
            profile.name,
            profile.new_flows * profile.duration,
            lasting(profile.duration).replace("0 s", "50 ms"),
            profile.new_flows * profile.duration * profile.packets,
            profile.moves,
            reports.losses,
        ));
        for hosts in [10.0, 1000.0, 100_000.0] {
            let rate = rate * hosts;
            check(format!(
                "{}@{hosts}@{rate:.0}@{:.1}@{}@{}@{:.1}@{}",
                profile.name,
                rate * REPORT_BITS / 1e6,
                (rate / WITH_HISTORY).ceil(),
                (rate / WITHOUT).ceil(),
                rate * 86_400.0 * STORED_BYTES / 1e9,
                lasting(STORE_SIZE * (rate / WITH_HISTORY).ceil() / STORED_BYTES / rate),
            ));
        }
    }
    assert!(wrong.is_empty(), "not in the manual:\n{}", wrong.join("\n"));
}

#[test]
fn a_report_that_waits_for_an_engine_takes_what_the_manual_says() {
    let said = format!("{} bytes besides its datagram", size_of::<FedReport>());
    assert!(MANUAL.contains(&said), "{said}");
}
