//! Hostile networks, and real applications in some of them, with hostint and without: `make test-networks`.
//!
//! A program of its own, not a part of `cargo test`. Each case goes into a file of JSON lines as it ends, and is not run
//! again while it is there. Words choose cases: `make test-networks CASES="NAT quic"`.

mod application;
mod matrix;
mod progress;
mod table;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use hostint_testing::netns::{Lab, await_that};
use hostint_testing::networks::{ALL, Network};
use hostint_testing::watched_pair;
use serde_json::{Value, json};

use application::{Application, Ends, Run};

/// Addresses of the hosts of a lab: family, client, server.
const FAMILIES: [(&str, &str, &str); 2] = [
    ("IPv4", "10.9.1.1", "10.9.2.1"),
    ("IPv6", "fd09:1::1", "fd09:2::1"),
];

fn results(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// One application over one IP version, not run yet.
struct Case<'a> {
    application: &'a Application,
    family: &'static str,
    ends: Ends<'a>,
}

fn missing<'a>(
    network: &Network,
    applications: &'a [Application],
    words: &[String],
    done: &[Value],
) -> Vec<Case<'a>> {
    let mut cases = Vec::new();
    for (family, client, server) in FAMILIES {
        for application in applications {
            let name = format!("{}/{}/{family}", network.name, application.name);
            let is_done = |row: &Value| row["case"] == name.as_str() && row["hostint"] == true;
            if words.iter().all(|word| name.contains(word)) && !done.iter().any(is_done) {
                cases.push(Case {
                    application,
                    family,
                    ends: Ends { client, server },
                });
            }
        }
    }
    cases
}

fn record(file: &mut File, network: &Network, case: &Case, hostint: bool, run: &Run, said: Value) {
    let name = format!("{}/{}/{}", network.name, case.application.name, case.family);
    let row = json!({
        "case": name,
        "network": network.name,
        "application": case.application.name,
        "family": case.family,
        "hostint": hostint,
        "whole": run.failure.is_none(),
        "failure": run.failure,
        "seconds": run.seconds,
        "longest_stall_ms": run.progress.longest_stall_ms,
        "timeouts": run.progress.timeouts,
        "tagged": said["tagged"],
        "peers": said["peers"],
    });
    println!("{}", table::line(&row));
    writeln!(file, "{row}").unwrap();
}

/// All cases of a network, first without hostint.
fn run_network(network: &Network, cases: &[Case], file: &mut File) {
    let lab = Lab::new();
    lab.add_ipv6();
    let _devices = network.build(&lab);
    let runs: Vec<Run> = cases
        .iter()
        .map(|case| case.application.run(&lab, &case.ends))
        .collect();
    let daemons = watched_pair::start(&lab);
    await_that("the pairs are settled", || {
        watched_pair::is_settled(&lab.a) && watched_pair::is_settled(&lab.b)
    });
    for (case, without) in cases.iter().zip(&runs) {
        let tagged = || lab.a.count("source", "tagged") + lab.b.count("source", "tagged");
        let before = tagged();
        // An application that does not run in this network anyway is not tried with hostint.
        let with = match &without.failure {
            None => case.application.run(&lab, &case.ends),
            Some(_) => without.clone(),
        };
        let peers = [&lab.a, &lab.b].map(watched_pair::peers);
        record(file, network, case, false, without, Value::Null);
        let said = json!({ "tagged": tagged() - before, "peers": peers });
        record(file, network, case, true, &with, said);
    }
    drop(daemons);
}

fn main() {
    let mut path = PathBuf::from("target/networks.jsonl");
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--results" => path = arguments.next().expect("--results FILE").into(),
            word => words.push(word.to_owned()),
        }
    }
    let applications = Application::all();
    for application in &applications {
        if let Some(program) = application.missing_program() {
            println!(
                "{} is left out: {program} is not installed",
                application.name
            );
        }
    }
    let (applications, _): (Vec<_>, Vec<_>) = applications
        .into_iter()
        .partition(|application| application.missing_program().is_none());
    let done = results(&path);
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap();
    matrix::run(&words, &done, &mut file);
    for network in &ALL {
        let cases = missing(network, &applications, &words, &done);
        if !cases.is_empty() {
            run_network(network, &cases, &mut file);
        }
    }
    let all = results(&path);
    println!("\n{}", table::of(&all));
    let (summary, mut is_harmed) = matrix::summary(&all);
    println!("{summary}");
    is_harmed.extend(table::harmed(&all));
    if !is_harmed.is_empty() {
        println!("harmed by hostint:\n{}", is_harmed.join("\n"));
        std::process::exit(1);
    }
}
