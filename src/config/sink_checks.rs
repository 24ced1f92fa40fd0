//! Checks of single options of the sink.

use std::time::Duration;

use super::choice::{Compat, HookChoice};
use super::duration::TimeSpan;
use super::mistake::{Fault, fault, item_fault};
use super::sink_options::{ReportFormat, XdpMode};
use crate::model::{Encapsulation, Prefix, UnknownEncapsulation};

/// The number of prefixes that the kernel half has room for.
const MAX_ALLOWED: usize = 4096;

/// The period at which flow tables are walked; summaries cannot come more often.
const SHORTEST_SUMMARY_PERIOD: Duration = Duration::from_secs(1);

/// The network card's time can only be read where the driver itself runs the program.
pub(super) fn check_nic(
    nic: bool,
    hook: Option<HookChoice>,
    mode: Option<XdpMode>,
    faults: &mut Vec<Fault>,
) {
    if nic && hook == Some(HookChoice::Tc) {
        faults.push(fault(
            &["nic-timestamps", "hook"],
            "hook tc cannot read the network card's timestamps, XDP can (leave hook tc out)",
        ));
    } else if nic && mode == Some(XdpMode::Generic) {
        faults.push(fault(
            &["nic-timestamps", "xdp-mode"],
            "generic XDP cannot read the network card's timestamps (leave xdp-mode out)",
        ));
    }
}

pub(super) fn check_host_times(
    asked: bool,
    collectors: &[String],
    compat: Option<Compat>,
    faults: &mut Vec<Fault>,
) {
    if asked && compat.is_some() {
        faults.push(fault(
            &["host-times", "compat"],
            "collectors of Host-INT do not understand how long packets wait in hosts (leave host-times out)",
        ));
    } else if asked && collectors.is_empty() {
        faults.push(fault(
            &["host-times"],
            "how long packets wait in this host is reported to collectors, and there is none (try --collector 192.0.2.9)",
        ));
    }
}

pub(super) fn check_timeouts(loss: TimeSpan, idle: TimeSpan, faults: &mut Vec<Fault>) {
    if loss.as_ns() == 0 {
        faults.push(fault(
            &["loss-timeout"],
            "a loss timeout of 0 would count every reordered packet as lost",
        ));
    }
    let shortest = TimeSpan(loss.0.saturating_mul(2));
    if idle.0 < shortest.0 {
        faults.push(fault(
            &["idle-flow-timeout", "loss-timeout"],
            format!(
                "idle flows can be forgotten after {shortest} at the earliest, twice the loss timeout: \
                 {idle} is too short"
            ),
        ));
    }
}

pub(super) fn check_format(
    format: Option<ReportFormat>,
    compat: Option<Compat>,
    faults: &mut Vec<Fault>,
) {
    let standard = format.filter(|format| *format != ReportFormat::V05);
    if let (Some(_), Some(Compat::HostInt)) = (standard, compat) {
        faults.push(fault(
            &["report-format", "compat"],
            "collectors of Host-INT read v0.5 only (leave report-format or compat out)",
        ));
    }
}

pub(super) fn check_summaries(
    period: TimeSpan,
    most_per_s: Option<u32>,
    compat: Option<Compat>,
    faults: &mut Vec<Fault>,
) {
    if period.0.is_zero() {
        return;
    }
    if most_per_s == Some(0) {
        faults.push(fault(
            &["max-summaries"],
            "at least 1 summary a second is needed (to send none, try summary-period 0s)",
        ));
    }
    if period.0 < SHORTEST_SUMMARY_PERIOD {
        faults.push(fault(
            &["summary-period"],
            format!(
                "a summary period of {period} is shorter than a pass over the flow table (try 1s or more; 0s: never)"
            ),
        ));
    }
    if compat == Some(Compat::HostInt) {
        faults.push(fault(
            &["summary-period", "compat"],
            "collectors of Host-INT do not know summaries (leave summary-period or compat out)",
        ));
    }
}

pub(super) fn check_headers(
    left_out: Option<bool>,
    compat: Option<Compat>,
    faults: &mut Vec<Fault>,
) {
    if left_out == Some(true) && compat == Some(Compat::HostInt) {
        faults.push(fault(
            &["no-packet-headers", "compat"],
            "collectors of Host-INT read reports with headers only (leave no-packet-headers or compat out)",
        ));
    }
}

pub(super) fn check_prefixes(texts: &[String], faults: &mut Vec<Fault>) -> Vec<Prefix> {
    let mut found = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        match text.parse() {
            Ok(prefix) => found.push(prefix),
            Err(err) => faults.push(item_fault(
                "allow",
                i,
                format!("cannot allow {text}: {err} (try 10.0.0.0/24 or 2001:db8::/64)"),
            )),
        }
    }
    if found.len() > MAX_ALLOWED {
        faults.push(fault(
            &["allow"],
            format!("{} prefixes: {MAX_ALLOWED} are possible", found.len()),
        ));
    }
    found
}

pub(super) fn check_encapsulations(
    names: &[String],
    has_int_dscp: bool,
    faults: &mut Vec<Fault>,
) -> Vec<Encapsulation> {
    if names.is_empty() {
        let all = Encapsulation::ALL.into_iter();
        let known = all.filter(|one| has_int_dscp || *one != Encapsulation::IntMd);
        return known.collect();
    }
    let mut found = Vec::new();
    for (i, name) in names.iter().enumerate() {
        match name.parse() {
            Ok(encapsulation) => found.push(encapsulation),
            Err(_) => faults.push(item_fault(
                "encap",
                i,
                UnknownEncapsulation(name.clone()).to_string(),
            )),
        }
    }
    match (found.contains(&Encapsulation::IntMd), has_int_dscp) {
        (true, false) => faults.push(fault(
            &["encap"],
            "nothing says how int-md packets are marked (try --int-dscp 0x17, as their source has it)",
        )),
        (false, true) => faults.push(fault(
            &["int-dscp"],
            "it marks int-md packets, which this sink does not recognise (leave encap out, or add int-md to it)",
        )),
        _ => {}
    }
    found
}

pub(super) fn check_buckets(edges: &[TimeSpan], faults: &mut Vec<Fault>) -> Vec<i32> {
    if edges.is_empty() {
        return [5, 10, 20, 40, 60, 120].map(|us| us * 1000).to_vec();
    }
    if edges.len() > 16 {
        faults.push(fault(
            &["latency-buckets"],
            format!(
                "{} latency bucket edges given: 16 are possible",
                edges.len()
            ),
        ));
    }
    let mut found = Vec::new();
    for (i, edge) in edges.iter().enumerate() {
        // The wire's 32-bit timestamps can express latencies up to 2.1 s; thresholds lie an eighth beyond the edges.
        match i32::try_from(edge.as_ns()) {
            Ok(ns) if (1..=1_900_000_000).contains(&ns) => found.push(ns),
            _ => faults.push(item_fault(
                "latency-buckets",
                i,
                format!("latency bucket edge {edge}: from 1ns to 1.9s is possible"),
            )),
        }
    }
    for (i, pair) in edges.windows(2).enumerate() {
        if pair[0] >= pair[1] {
            faults.push(item_fault(
                "latency-buckets",
                i + 1,
                format!(
                    "latency bucket edges must ascend, but {} comes after {}",
                    pair[1], pair[0]
                ),
            ));
        }
    }
    found
}
