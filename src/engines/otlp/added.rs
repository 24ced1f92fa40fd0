//! The packets that a summary, or a report about drops, adds to those that earlier ones told of, as attributes.

use super::messages::{Any, Attribute};
use crate::model::{DropCount, Measured};

/// Adds `hostint.added.packets` and others. Latencies that are not known are left out, and corrected ones if the clocks were
/// not known.
pub(super) fn attributes(added: &Measured, attributes: &mut Vec<Attribute>) {
    for (name, count) in [
        ("packets", added.packets),
        ("bytes", added.bytes),
        ("lost", added.lost),
        ("recovered", added.recovered),
        ("reordered", added.reordered),
        ("duplicates", added.duplicates),
    ] {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        attributes.push(attribute(name, count));
    }
    latencies(added, attributes);
    if let Some(corrected) = added.corrected.mean() {
        let packets = i64::try_from(corrected.packets).unwrap_or(i64::MAX);
        let error_ns = i64::try_from(corrected.error_ns).unwrap_or(i64::MAX);
        for (name, value) in [
            ("corrected.packets", packets),
            ("corrected.mean_ns", corrected.mean_ns),
            ("corrected.error_ns", error_ns),
            ("corrected.low_ns", corrected.bound_ns[0]),
            ("corrected.high_ns", corrected.bound_ns[1]),
        ] {
            attributes.push(attribute(name, value));
        }
    }
}

/// Adds `hostint.added_drops.packets` and others.
pub(super) fn drops(dropped: DropCount, attributes: &mut Vec<Attribute>) {
    for (name, count) in [
        ("packets", dropped.packets),
        ("segments", dropped.segments),
        ("bytes", dropped.bytes),
    ] {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let name = format!("hostint.added_drops.{name}");
        attributes.push(Attribute::new(name, Any::Int(count)));
    }
}

fn latencies(added: &Measured, attributes: &mut Vec<Attribute>) {
    let Some(figures) = added.latency.figures() else {
        return;
    };
    for (name, ns) in [
        ("latency.min_ns", Some(figures.min_ns)),
        ("latency.mean_ns", Some(figures.mean_ns)),
        ("latency.p50_ns", figures.p50_ns),
        ("latency.p90_ns", figures.p90_ns),
        ("latency.p99_ns", figures.p99_ns),
        ("latency.max_ns", Some(figures.max_ns)),
        ("latency.sum_ns", Some(added.latency.sum_ns())),
        (
            "latency.steps",
            Some(added.latency.resolution().steps().into()),
        ),
    ] {
        attributes.extend(ns.map(|ns| attribute(name, ns)));
    }
}

fn attribute(name: &str, value: i64) -> Attribute {
    Attribute::new(format!("hostint.added.{name}"), Any::Int(value))
}
