//! A received report as one line that is easy to read.

use std::fmt;

use crate::model::{Arrival, Body, Report};

/// Displays `12:03:04.123Z latency  udp 10.0.1.1:5001 > 10.0.2.2:9000  23.4 us  node 1 -> 2  ...`;
/// the time is UTC.
#[derive(Clone, Copy, Debug)]
pub struct TextLine<'a> {
    pub report: &'a Report,
    pub arrival: Arrival,
}

/// Displays 1234567 as `1,234,567`.
#[derive(Clone, Copy, Debug)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() * 4 / 3);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad_integral(true, "", &text)
    }
}

/// Displays signed nanoseconds in the unit that reads best.
#[derive(Clone, Copy, Debug)]
pub struct Nanoseconds(pub i64);

impl fmt::Display for Nanoseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, ns) = (if self.0 < 0 { "-" } else { "" }, self.0.unsigned_abs());
        let (unit, tenth) = match ns {
            0..=999 => return write!(f, "{sign}{ns} ns"),
            1_000..=999_949 => ("us", 100),
            999_950..=999_949_999 => ("ms", 100_000),
            _ => ("s", 100_000_000),
        };
        let tenths = (ns + tenth / 2) / tenth;
        write!(f, "{sign}{}.{} {unit}", tenths / 10, tenths % 10)
    }
}

impl fmt::Display for TextLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            sequence,
            observation,
        } = self.report;
        let ms = self.arrival.received_ns / 1_000_000;
        let (s, ms) = (ms / 1000 % 86_400, ms % 1000);
        let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
        let kind = match observation.body {
            Body::Latency(_) => "latency",
            Body::DropSummary(_) => "LOSS",
            Body::Drop(_) => "DROP",
            Body::Local(_) => "local",
            Body::Ethernet(_) => "packet",
        };
        write!(f, "{h:02}:{m:02}:{s:02}.{ms:03}Z {kind:<7}  ")?;
        match observation.flow() {
            Some(flow) => write!(f, "{flow}  ")?,
            None => f.write_str("unknown flow  ")?,
        }
        match &observation.body {
            Body::Latency(report) => {
                if let Some(latency) = report.hops.latency_ns() {
                    write!(f, "{}  ", Nanoseconds(latency))?;
                }
                write!(f, "node {}", report.hops.source().node)?;
                for hop in report.hops.transit().iter().rev() {
                    write!(f, " -> {}", hop.node)?;
                }
                write!(
                    f,
                    " -> {}  seq {}",
                    report.hops.sink().node,
                    report.sequence
                )?;
                if let Some(queue) = report.queue() {
                    write!(f, "  queue {} packets {} bytes", queue.packets, queue.bytes)?;
                }
            }
            Body::DropSummary(summary) => write!(
                f,
                "{} packet{} after seq {}  node {} -> {}",
                summary.count,
                if summary.count == 1 { "" } else { "s" },
                summary.before_seq,
                summary.source_node,
                summary.sink_node
            )?,
            Body::Drop(report) => write!(
                f,
                "reason {}  port {} -> {}  queue {}  node {}",
                report.reason,
                report.ingress_port,
                report.egress_port,
                report.queue_id,
                report.node
            )?,
            Body::Local(report) => write!(
                f,
                "port {} -> {}  queue {} occupancy {}  node {}",
                report.ingress_port,
                report.egress_port,
                report.queue_id,
                report.queue_occupancy.get(),
                report.node
            )?,
            Body::Ethernet(frame) => write!(f, "{} bytes", frame.0.len())?,
        }
        write!(f, "  report {sequence}")?;
        if observation.hw_id.get() != 0 {
            write!(f, " of subsystem {}", observation.hw_id.get())?;
        }
        write!(f, " from {}", self.arrival.exporter.ip())
    }
}
