//! Queues of a host as text: a line for each episode, and a table of all queues.

use std::fmt;

use super::digits::{Grouped, Nanoseconds};
use super::drops::counted;
use super::passages::interface;
use super::table::TextTable;
use crate::model::{QueueEpisode, QueueFigures, QueueLimits, QueueMeasure, QueueTotals};

/// The flows of an episode that its line shows.
const SHOWN: usize = 3;

/// Displays `12:03:04.123Z eth1 queue 0  over 200 us for 16.1 ms, ended  1,702 packets  ...`.
pub struct QueueLine<'a>(pub &'a QueueEpisode);

impl fmt::Display for QueueLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0.begin_ns / 1_000_000;
        let (s, ms) = (ms / 1000 % 86_400, ms % 1000);
        let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
        write!(f, "{h:02}:{m:02}:{s:02}.{ms:03}Z {}", QueueDetails(self.0))
    }
}

/// Displays the same without the time.
pub struct QueueDetails<'a>(pub &'a QueueEpisode);

impl fmt::Display for QueueDetails<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = self.0;
        let dev = interface(one.interface.as_deref(), one.ifindex);
        let length = Nanoseconds(one.length_ns().cast_signed());
        write!(
            f,
            "{dev} queue {}  over {} for {length}, {}  {}, {} bytes",
            one.queue,
            Trigger(&one.limits),
            match one.end_ns {
                Some(_) => "ended",
                None => "goes on",
            },
            counted(one.packets, "packet"),
            Grouped(one.bytes)
        )?;
        if let Some(ns) = one.max_time_ns {
            write!(f, "  longest wait {}", Nanoseconds(ns.into()))?;
        }
        if one.max_bytes > 0 {
            let (packets, bytes) = (one.max_packets.into(), one.max_bytes.into());
            let packets = counted(packets, "packet");
            write!(f, "  at most {packets}, {} bytes", Grouped(bytes))?;
        }
        if one.drops > 0 {
            write!(f, "  {} dropped", Grouped(one.drops))?;
        }
        if one.suppressed > 0 {
            write!(f, "  {} not reported", Grouped(one.suppressed))?;
        }
        let flows = culprits(one);
        match flows.is_empty() {
            true => Ok(()),
            false => write!(f, "  of {flows}"),
        }
    }
}

/// The flows with most bytes, and their shares of the packets that were reported.
pub(super) fn culprits(one: &QueueEpisode) -> String {
    let shown = one.flows.iter().take(SHOWN);
    let shown = shown.map(|it| format!("{} {:.0} %", it.flow, one.share(it)));
    let shown: Vec<String> = shown.collect();
    shown.join(", ")
}

/// Displays `200 us`, or `204,800 bytes`.
pub(super) struct Trigger<'a>(pub &'a QueueLimits);

impl fmt::Display for Trigger<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QueueLimits {
            measure, trigger, ..
        } = *self.0;
        match measure {
            QueueMeasure::Time => Nanoseconds(trigger.cast_signed()).fmt(f),
            QueueMeasure::Bytes => write!(f, "{} bytes", Grouped(trigger)),
        }
    }
}

/// All queues, and what is not known of them.
pub struct QueueTotalsText<'a>(pub &'a QueueTotals);

impl fmt::Display for QueueTotalsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.0;
        if totals.queues.is_empty() {
            writeln!(f, "no packet left a queue that is watched")?;
        } else {
            queues(&totals.queues).fmt(f)?;
        }
        for (count, text) in not_judged(totals) {
            if count > 0 {
                writeln!(f, "{} {text}", counted(count, "packet"))?;
            }
        }
        Ok(())
    }
}

/// What was not judged, or not told, and why.
pub(super) fn not_judged(totals: &QueueTotals) -> [(u64, &'static str); 6] {
    [
        (
            totals.untimed,
            "that the queue cut out of superpackets: not timed (a trigger in bytes sees them)",
        ),
        (
            totals.no_backlog,
            "of queues that do not count their bytes (a trigger by time sees them)",
        ),
        (
            totals.beyond_bulk,
            "that left the queue with many others at once: not judged",
        ),
        (totals.no_room, "of more queues than there is room for"),
        (
            totals.events_lost,
            "counted and not reported by flow, because the ring was full",
        ),
        (
            totals.missed,
            "that the kernel hid, because another one went on on the CPU",
        ),
    ]
}

/// A table with a row for each queue.
pub fn queues(all: &[QueueFigures]) -> TextTable {
    let mut table = TextTable::new(
        &["queue of", "", "trigger", "now"],
        &[
            "packets",
            "episodes",
            "time over",
            "over",
            "told",
            "not told",
            "dropped",
            "longest wait",
            "most bytes",
        ],
    );
    for one in all {
        let known = |count: u32, text: String| if count == 0 { String::new() } else { text };
        table.row(
            [
                interface(one.interface.as_deref(), one.ifindex),
                one.queue.to_string(),
                Trigger(&one.limits).to_string(),
                match one.is_over {
                    true => "over".to_owned(),
                    false => String::new(),
                },
            ],
            [
                Grouped(one.packets).to_string(),
                Grouped(one.episodes).to_string(),
                Nanoseconds(one.over_ns.cast_signed()).to_string(),
                Grouped(one.packets_over).to_string(),
                Grouped(one.packets_told).to_string(),
                Grouped(one.packets_suppressed).to_string(),
                Grouped(one.drops).to_string(),
                known(
                    one.max_time_ns,
                    Nanoseconds(one.max_time_ns.into()).to_string(),
                ),
                known(one.max_bytes, Grouped(one.max_bytes.into()).to_string()),
            ],
        );
    }
    table
}
