//! Passages through a host as text: a line for each flow, and a table of all packets.

use std::fmt;

use super::digits::{Grouped, Nanoseconds};
use super::drops::counted;
use super::table::TextTable;
use super::tunnel::TunnelText;
use crate::model::{FlowPassage, InterfacePassage, LatencyFigures, PassageStart, PassageTotals};

/// Stands for all interfaces that are gone.
pub const GONE: &str = "gone";

/// Displays `12:03:04.123Z udp 10.1.0.4:5353 > 10.9.0.1:9999  m0 > m1  12.1 us  mean 9.0 us ...`.
pub struct PassageLine<'a>(pub &'a FlowPassage);

impl fmt::Display for PassageLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hop = self.0;
        let ms = hop.last_ns / 1_000_000;
        let (s, ms) = (ms / 1000 % 86_400, ms % 1000);
        let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
        write!(f, "{h:02}:{m:02}:{s:02}.{ms:03}Z ")?;
        write!(f, "{}  {}", hop.flow, PassageDetails(hop))
    }
}

/// Displays the same for a line that names the flow already.
pub struct PassageDetails<'a>(pub &'a FlowPassage);

impl fmt::Display for PassageDetails<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hop = self.0;
        let (from, to) = ends(hop);
        write!(f, "{from} > {to}")?;
        write!(
            f,
            "  {}  mean {}  max {}",
            Nanoseconds(hop.hop_ns.into()),
            Nanoseconds(hop.mean_hop_ns.into()),
            Nanoseconds(hop.max_hop_ns.into())
        )?;
        if hop.start == PassageStart::Sender {
            write!(f, " since the sender")?;
        }
        write!(
            f,
            "  {}, {} bytes",
            counted(hop.packets, "packet"),
            Grouped(hop.bytes)
        )?;
        let reasons: Vec<&str> = hop.reasons.iter().map(|reason| reason.name()).collect();
        write!(f, "  {}", reasons.join(", "))?;
        if let Some(tunnel) = &hop.tunnel {
            write!(f, "  tunnel {}", TunnelText(tunnel))?;
        }
        if let Some(before) = &hop.flow_before_nat {
            write!(f, "  before NAT {before}")?;
        }
        Ok(())
    }
}

/// An interface with what is behind it: `veth1 (pod/3f1c...)`.
pub(super) fn end(name: &Option<String>, ifindex: u32, pod: &Option<String>) -> String {
    let name = interface(name.as_deref(), ifindex);
    match pod {
        Some(pod) => format!("{name} ({pod})"),
        None => name,
    }
}

/// Both interfaces of a flow, with what is behind them.
pub(super) fn ends(hop: &FlowPassage) -> (String, String) {
    (
        end(&hop.in_interface, hop.in_ifindex, &hop.pods.in_pod),
        end(&hop.out_interface, hop.out_ifindex, &hop.pods.out_pod),
    )
}

/// The name of an interface, or its index if it is gone or of another network namespace. The sum of those that are gone
/// has index 0.
pub(super) fn interface(name: Option<&str>, ifindex: u32) -> String {
    match (name, ifindex) {
        (Some(name), _) => name.to_owned(),
        (None, 0) => GONE.to_owned(),
        (None, _) => format!("interface {ifindex}"),
    }
}

/// All packets: by interfaces, and what was not timed.
pub struct PassageTotalsText<'a>(pub &'a PassageTotals);

impl fmt::Display for PassageTotalsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.0;
        if totals.passages.is_empty() {
            writeln!(f, "no forwarded packets were timed")?;
        } else {
            passages(&totals.passages).fmt(f)?;
        }
        for (count, what) in not_timed(totals)
            .into_iter()
            .filter(|(count, _)| *count > 0)
        {
            writeln!(f, "{} {what}", counted(count, "packet"))?;
        }
        Ok(())
    }
}

/// What was not timed, or not by flow, and why.
pub fn not_timed(totals: &PassageTotals) -> [(u64, &'static str); 10] {
    [
        (
            totals.not_forwarded,
            "for this host, for a group or without a route: not timed",
        ),
        (
            totals.local,
            "for this host or without a route: timed if a socket took them",
        ),
        (totals.unwatched, "that no rule watches: not timed"),
        (totals.clock, "of NTP or PTP: not timed"),
        (totals.unread, "not IP, or fragments: not timed"),
        (
            totals.other_clock,
            "with a time of departure of another clock: not timed",
        ),
        (
            totals.refused,
            "that the kernel let carry no stamp: not timed",
        ),
        (
            totals.flow_limited,
            "of new flows beyond --max-new-flows: not reported by flow",
        ),
        (
            totals.times_full,
            "not timed: there are too many pairs of interfaces",
        ),
        (
            totals.missed,
            "not seen, because the kernel was sending another one on that CPU",
        ),
    ]
}

/// A table with a row for each pair of interfaces.
pub fn passages(all: &[InterfacePassage]) -> TextTable {
    let mut table = TextTable::new(
        &["from", "to", "start"],
        &[
            "packets",
            "p50",
            "p99",
            "max",
            "to queue p50",
            "to queue p99",
            "mean in queue",
        ],
    );
    for one in all {
        let (sent, queued) = one.figures();
        let time = |figures: Option<LatencyFigures>, of: fn(LatencyFigures) -> Option<i64>| {
            let ns = figures.and_then(of);
            ns.map_or_else(String::new, |ns| Nanoseconds(ns).to_string())
        };
        table.row(
            [
                interface(one.in_interface.as_deref(), one.in_ifindex),
                interface(one.out_interface.as_deref(), one.out_ifindex),
                match one.start {
                    PassageStart::Interface => String::new(),
                    PassageStart::Sender => "at the sender".to_owned(),
                },
            ],
            [
                Grouped(one.sent.0.samples()).to_string(),
                time(sent, |it| it.p50_ns),
                time(sent, |it| it.p99_ns),
                time(sent, |it| Some(it.max_ns)),
                time(queued, |it| it.p50_ns),
                time(queued, |it| it.p99_ns),
                one.mean_queue_ns()
                    .map_or_else(String::new, |ns| Nanoseconds(ns).to_string()),
            ],
        );
    }
    table
}
