//! Drops of a host as text: a line for each flow, and tables of all counts.

use std::fmt;

use super::digits::{Grouped, Nanoseconds};
use super::table::TextTable;
use super::tunnel::TunnelText;
use crate::model::{DropPosition, DropTotals, HostDrop, KernelReason};

/// A reason by its name, or by its number if it has none.
pub struct ReasonText<'a>(pub &'a KernelReason);

impl fmt::Display for ReasonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.name, self.0.number) {
            (Some(name), _) => f.pad(name),
            (None, 0) => f.pad("no reason given"),
            (None, number) => f.pad(&format!("reason {number:#x}")),
        }
    }
}

/// Displays `12:03:04.123Z QDISC_DROP  udp 10.1.0.4:5353 > 10.9.0.1:9999  186 packets  at __dev_queue_xmit  on eth1`.
pub struct DropLine<'a>(pub &'a HostDrop);

impl fmt::Display for DropLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let drop = self.0;
        let ms = drop.last_ns / 1_000_000;
        let (s, ms) = (ms / 1000 % 86_400, ms % 1000);
        let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
        write!(f, "{h:02}:{m:02}:{s:02}.{ms:03}Z ")?;
        write!(f, "{:<18}  {}", ReasonText(&drop.reason), drop.flow)?;
        write!(f, "  {}", Amount(drop))?;
        Rest(drop).fmt(f)
    }
}

/// Displays the same for a line that names the flow already.
pub struct DropDetails<'a>(pub &'a HostDrop);

impl fmt::Display for DropDetails<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let drop = self.0;
        write!(f, "{}  {}", ReasonText(&drop.reason), Amount(drop))?;
        Rest(drop).fmt(f)
    }
}

/// The number of packets, segments and bytes.
struct Amount<'a>(&'a HostDrop);

impl fmt::Display for Amount<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.count;
        write!(f, "{}", counted(count.packets, "packet"))?;
        if count.segments != count.packets {
            write!(f, " ({})", counted(count.segments, "segment"))?;
        }
        write!(f, ", {} bytes", Grouped(count.bytes))
    }
}

/// Where the packets were dropped, and what is known of them besides.
struct Rest<'a>(&'a HostDrop);

impl fmt::Display for Rest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let drop = self.0;
        if let Some(place) = &drop.place {
            write!(f, "  at {place}")?;
        }
        for (word, dev, pod) in [
            ("from", &drop.in_interface, &drop.pods.in_pod),
            ("to", &drop.out_interface, &drop.pods.out_pod),
        ] {
            match (dev, pod) {
                (Some(dev), Some(pod)) => write!(f, "  {word} {dev} ({pod})")?,
                (Some(dev), None) => write!(f, "  {word} {dev}")?,
                _ => {}
            }
        }
        if let Some(pod) = &drop.pods.pod {
            write!(f, "  in {pod}")?;
        }
        if let Some(age_ns) = drop.age_ns {
            write!(f, "  after {} in this host", Nanoseconds(age_ns.into()))?;
        }
        if drop.queue_packets > 0 {
            write!(
                f,
                "  queue {}",
                counted(drop.queue_packets.into(), "packet")
            )?;
        }
        if let Some(tunnel) = &drop.tunnel {
            write!(f, "  tunnel {}", TunnelText(tunnel))?;
        }
        if let Some(before) = &drop.flow_before_nat {
            write!(f, "  before NAT {before}")?;
        }
        if let Some(position) = position_text(drop.position) {
            write!(f, "  {position}")?;
        }
        if let Some(int) = drop.int {
            write!(f, "  tagged by node {} seq {}", int.source, int.sequence)?;
        }
        Ok(())
    }
}

/// Where INT sees the drop, in words; `None` if it does not measure the flow there.
pub fn position_text(position: DropPosition) -> Option<&'static str> {
    match position {
        DropPosition::Apart => None,
        DropPosition::BeforeTag => Some("before the tag"),
        DropPosition::BehindTag => Some("behind the tag"),
        DropPosition::Between => Some("between source and sink"),
        DropPosition::BeforeStrip => Some("before the strip"),
        DropPosition::BehindStrip => Some("in this host, after hostint"),
    }
}

/// A number of things, with the plural's s.
pub fn counted(count: u64, what: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {what}{s}", Grouped(count))
}

/// All counts: by reason, by place, without a packet, and what was not reported.
pub struct TotalsText<'a>(pub &'a DropTotals);

impl fmt::Display for TotalsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.0;
        if totals.seen == 0 && totals.without_packet.is_empty() {
            return writeln!(f, "no packets were dropped");
        }
        write!(f, "{}", places(totals))?;
        for one in &totals.without_packet {
            let dev = one.interface.as_deref().unwrap_or("-");
            writeln!(
                f,
                "without a packet: {} {} on {dev}",
                Grouped(one.count),
                one.counter
            )?;
        }
        let notes = [
            (totals.ignored, "for reasons that are no loss: not reported"),
            (totals.no_flow, "not IP: not reported"),
            (
                totals.flow_limited,
                "of new flows beyond --max-new-flows: not reported by flow",
            ),
            (
                totals.places_full,
                "counted by reason alone: there are too many places",
            ),
            (
                totals.missed,
                "not seen, because the kernel was dropping another one on that CPU",
            ),
        ];
        for (count, what) in notes.into_iter().filter(|(count, _)| *count > 0) {
            writeln!(f, "{} {what}", counted(count, "packet"))?;
        }
        Ok(())
    }
}

fn places(totals: &DropTotals) -> TextTable {
    let mut table = TextTable::new(
        &["reason", "place", "interface"],
        &["packets", "segments", "bytes"],
    );
    for one in &totals.places {
        let note = if one.ignored { " (ignored)" } else { "" };
        table.row(
            [
                format!("{}{note}", ReasonText(&one.reason)),
                one.place.clone().unwrap_or_default(),
                one.interface.clone().unwrap_or_default(),
            ],
            [one.count.packets, one.count.segments, one.count.bytes]
                .map(|count| Grouped(count).to_string()),
        );
    }
    table
}
