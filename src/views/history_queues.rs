//! The episodes of hosts' queues, as `hostint history` shows them.

use std::fmt::Write;

use super::digits::{Grouped, Nanoseconds};
use super::hosts::KnownHosts;
use super::moment::moment;
use super::passages::interface;
use super::queues::{Trigger, culprits};
use super::table::TextTable;
use crate::model::ReportedEpisode;

/// The columns of a CSV.
pub const CSV: &str = "node began_ns told_ns interface ifindex queue handle measure trigger reset quota episode begin_ns \
                       last_ns end_ns packets bytes told suppressed drops max_bytes max_packets max_time_ns";

pub fn write(episodes: &[ReportedEpisode], hosts: &KnownHosts, out: &mut String) {
    if episodes.is_empty() {
        out.push_str(
            "no host reported episodes of queues in this time (hostint postcards --queue --collector does)\n",
        );
        return;
    }
    let mut table = TextTable::new(
        &[
            "began (UTC)",
            "host",
            "queue of",
            "",
            "trigger",
            "flows with most bytes",
        ],
        &[
            "time over",
            "longest wait",
            "most bytes",
            "packets",
            "told",
            "not told",
            "dropped",
        ],
    );
    for told in episodes {
        let one = &told.episode;
        let length = Nanoseconds(one.length_ns().cast_signed());
        let wait = one.max_time_ns.map(|ns| Nanoseconds(ns.into()).to_string());
        let figure = |count: u64| match count {
            0 => String::new(),
            count => Grouped(count).to_string(),
        };
        table.row(
            [
                moment(told.began_ns),
                hosts.named(Some(told.node)),
                interface(one.interface.as_deref(), one.ifindex),
                one.queue.to_string(),
                Trigger(&one.limits).to_string(),
                culprits(one),
            ],
            [
                match one.end_ns {
                    Some(_) => length.to_string(),
                    None => format!("{length} and on"),
                },
                wait.unwrap_or_default(),
                figure(one.max_bytes.into()),
                Grouped(one.packets).to_string(),
                Grouped(one.told).to_string(),
                figure(one.suppressed),
                figure(one.drops),
            ],
        );
    }
    let _ = write!(out, "{table}");
}
