//! Everything that can happen to hostint, in each network, under all kinds of traffic at once.

mod hosts;
mod verdict;

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Duration;

use hostint_testing::mixed::{Kind, Traffic};
use hostint_testing::netns::Lab;
use hostint_testing::networks::{HOSTILE, Network};
use serde_json::{Value, json};

use hosts::{Hosts, Sources};
use verdict::{Span, judge};

/// Networks that run side by side: most of what they do is waiting.
const AT_ONCE: usize = 8;
/// What follows from an event shows in this time.
const AFTERWARDS: Duration = Duration::from_millis(2000);

const FORM: &str = "matrix";

/// What happened in a network, and when.
struct Cell {
    sources: Sources,
    event: &'static str,
    span: Span,
    /// The network had changed by then.
    is_changed: bool,
}

/// The time of an event and of what follows from it. Connections wake soon after it, and at the end.
fn during(traffic: &mut Traffic, event: impl FnOnce()) -> Span {
    let from = traffic.now();
    event();
    traffic.wake();
    std::thread::sleep(AFTERWARDS);
    traffic.wake();
    std::thread::sleep(Duration::from_millis(300));
    (from, traffic.now())
}

/// Everything that can happen, with sources on these hosts.
fn run_events(
    lab: &Lab,
    network: &Network,
    sources: Sources,
    traffic: &mut Traffic,
    cells: &mut Vec<Cell>,
) -> Value {
    let mut hosts = Hosts::new(lab, network, sources);
    let mut is_changed = false;
    let mut measured = Value::Null;
    for event in hosts::EVENTS {
        // Where the network changes, it does so while everything is measured.
        if event == "kill -9"
            && let Some([begin, _]) = network.midway
        {
            let span = during(traffic, || begin(lab));
            is_changed = true;
            cells.push(Cell {
                sources,
                event: "network changes",
                span,
                is_changed,
            });
        }
        let span = during(traffic, || hosts.happen(event));
        cells.push(Cell {
            sources,
            event,
            span,
            is_changed,
        });
        if event == "add-dest" {
            measured = hosts.measured();
        }
    }
    hosts.end();
    if let Some([_, end]) = network.midway {
        end(lab);
    }
    measured
}

/// The rows of a network, one for each event.
fn run_network(network: &Network) -> Vec<Value> {
    let lab = Lab::new();
    lab.add_ipv6();
    let devices = network.build(&lab);
    let mut traffic = Traffic::start(&lab, network.server);
    std::thread::sleep(Duration::from_millis(500));
    let plain = during(&mut traffic, || std::thread::sleep(AFTERWARDS));
    let changed = network.midway.map(|[begin, end]| {
        let span = during(&mut traffic, || begin(&lab));
        let after = during(&mut traffic, || ());
        end(&lab);
        (span, after)
    });
    let mut cells = Vec::new();
    let mut measured = Vec::new();
    for sources in Sources::ALL {
        measured.push(run_events(&lab, network, sources, &mut traffic, &mut cells));
    }
    let log = traffic.end();
    drop(devices);
    let rows = cells.iter().map(|cell| {
        let is_change = cell.event == "network changes";
        let without = match changed {
            Some((at, after)) if is_change => (at.0, after.1),
            Some((_, after)) if cell.is_changed => after,
            _ => plain,
        };
        let failures: Vec<String> = Kind::ALL
            .into_iter()
            .filter_map(|kind| {
                let found = judge(&log, kind, (without, cell.span), is_change, network.loses)?;
                Some(format!("{}: {found}", kind.name()))
            })
            .collect();
        let place = Sources::ALL.iter().position(|one| *one == cell.sources);
        let span = cell.span.1 - cell.span.0;
        json!({
            "case": format!("{FORM}/{}/{}/{}", network.name, cell.sources.name(), cell.event),
            "network": network.name,
            "sources": cell.sources.name(),
            "event": cell.event,
            "cells": Kind::ALL.len(),
            "failures": failures,
            "seconds": span.as_secs_f64(),
            "lag_ms": log.longest_lag(cell.span.0, cell.span.1).as_millis() as u64,
            "measured": place.map_or(&Value::Null, |place| &measured[place]),
        })
    });
    rows.collect()
}

/// Runs all networks whose rows are not there yet, and that all words are part of.
pub fn run(words: &[String], done: &[Value], file: &mut File) {
    let is_done = |name: &str| {
        done.iter()
            .any(|row| row["network"] == name && row["event"].is_string())
    };
    let is_wanted = |network: &&Network| {
        let name = format!("{FORM}/{}", network.name);
        words.iter().all(|word| name.contains(word)) && !is_done(network.name)
    };
    let queue: VecDeque<&Network> = HOSTILE.iter().filter(is_wanted).collect();
    if queue.is_empty() {
        return;
    }
    let (queue, file) = (Mutex::new(queue), Mutex::new(file));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().pop_front();
                    let Some(network) = next else {
                        return;
                    };
                    let rows = catch_unwind(AssertUnwindSafe(|| run_network(network)));
                    let rows = rows.unwrap_or_else(|why| vec![broken(network, &*why)]);
                    let mut file = file.lock().unwrap();
                    for row in rows {
                        for failure in row["failures"].as_array().into_iter().flatten() {
                            println!("{}: {}", row["case"], failure);
                        }
                        writeln!(file, "{row}").unwrap();
                    }
                    println!("{} has run", network.name);
                }
            });
        }
    });
}

/// A network in which something failed that is no traffic.
fn broken(network: &Network, why: &(dyn std::any::Any + Send)) -> Value {
    let text = why
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    json!({
        "case": format!("{FORM}/{}", network.name),
        "network": network.name,
        "event": "run",
        "cells": 1,
        "failures": [text.unwrap_or_default()],
    })
}

/// A line for each network, and how many cells there are, and pass.
pub fn summary(rows: &[Value]) -> (String, Vec<String>) {
    let rows: Vec<&Value> = rows.iter().filter(|row| row["event"].is_string()).collect();
    let mut out = String::new();
    let (mut all, mut failed, mut bad) = (0, 0, Vec::new());
    for network in &HOSTILE {
        let of_network = || rows.iter().filter(|row| row["network"] == network.name);
        if of_network().count() == 0 {
            continue;
        }
        let cells: u64 = of_network().filter_map(|row| row["cells"].as_u64()).sum();
        let failures: Vec<String> = of_network()
            .flat_map(|row| {
                let failures = row["failures"].as_array().unwrap().iter();
                failures.map(move |failure| format!("{}: {failure}", row["case"]))
            })
            .collect();
        let measured = of_network().find(|row| row["sources"] == "both");
        let measured = measured.map_or(&Value::Null, |row| &row["measured"]);
        out += &format!(
            "| {} | {cells} | {} | {} |\n",
            network.name,
            failures.len(),
            measured
        );
        all += cells;
        failed += failures.len() as u64;
        bad.extend(failures);
    }
    out += &format!("{all} cells, {} pass\n", all.saturating_sub(failed));
    (out, bad)
}
