//! TCP connections as text: a line for each, a table of some, and all counts.

use std::fmt;

use super::digits::{Grouped, Nanoseconds};
use super::drops::counted;
use super::table::TextTable;
use crate::model::{
    Limit, OptionFigures, OptionOff, TcpNews, TcpReport, TcpTotals, WorstHop, WorstSample,
};

/// Displays `12:03:04.123Z receiver     tcp 10.1.0.4:5353 > 10.9.0.1:9999  srtt 12.3 ms  ...`.
pub struct TcpLine<'a>(pub &'a TcpReport);

fn us(time_us: u32) -> Nanoseconds {
    Nanoseconds(i64::from(time_us) * 1000)
}

impl fmt::Display for TcpLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        let ms = report.sample.time_ns / 1_000_000;
        let (s, ms) = (ms / 1000 % 86_400, ms % 1000);
        let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
        write!(f, "{h:02}:{m:02}:{s:02}.{ms:03}Z ")?;
        write!(f, "{:<11}  {}", report.limited, report.sample.flow)?;
        if let Some(class) = &report.class {
            write!(f, "  class {class}")?;
        }
        figures(report, f)
    }
}

/// Displays `limited by receiver  rtt 12.3 ms  ...`: a connection's state behind its flow.
pub struct TcpDetails<'a>(pub &'a TcpReport);

impl fmt::Display for TcpDetails<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.limited {
            Limit::Unknown => f.write_str("limit unknown")?,
            limit => write!(f, "limited by {limit}")?,
        }
        figures(self.0, f)
    }
}

fn figures(report: &TcpReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let tcp = &report.sample.tcp;
    if let Some(srtt_us) = tcp.srtt_us {
        write!(f, "  rtt {}", us(srtt_us))?;
    }
    if let Some(min_us) = tcp.min_rtt_us {
        write!(f, " (least {})", us(min_us))?;
    }
    write!(f, "  sent {}", counted(tcp.bytes_sent, "byte"))?;
    write!(f, ", received {}", Grouped(tcp.bytes_received))?;
    if tcp.total_retrans > 0 {
        write!(
            f,
            "  {} of {} retransmitted",
            Grouped(tcp.total_retrans.into()),
            counted(tcp.data_segments_out.into(), "segment")
        )?;
    }
    if let Some(dups @ 1..) = tcp.dsack_dups {
        write!(f, ", {} for nothing", Grouped(dups.into()))?;
    }
    for (bytes, what) in [
        (tcp.notsent_bytes, "not sent"),
        (tcp.host_queue_bytes, "in this host's queues"),
        (tcp.unread_bytes, "not read"),
    ] {
        if bytes > 0 {
            write!(f, "  {} {what}", counted(bytes.into(), "byte"))?;
        }
    }
    if let Some(option) = &report.sample.option {
        option_figures(option, f)?;
    }
    match report.why {
        TcpNews::Open => write!(f, "  {}", tcp.state),
        TcpNews::Change | TcpNews::Sample => Ok(()),
        TcpNews::Gone => f.write_str("  gone"),
        TcpNews::End => match report.sample.begun_ns {
            Some(begun_ns) => {
                let lived_ns = report.sample.time_ns.saturating_sub(begun_ns);
                let lived_ns = i64::try_from(lived_ns).unwrap_or(i64::MAX);
                write!(f, "  ended after {}", Nanoseconds(lived_ns))
            }
            None => f.write_str("  ended"),
        },
    }
}

/// Displays `queue of 40,960 bytes` or `9 Gbit/s free`.
pub(super) struct HopState<'a>(pub &'a WorstHop);

impl fmt::Display for HopState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.queue_bytes, self.0.free_gbit_s) {
            (Some(bytes), _) => write!(f, "queue of {}", counted(bytes.into(), "byte")),
            (None, Some(free)) => write!(f, "{free} Gbit/s free"),
            (None, None) => Ok(()),
        }
    }
}

/// Displays `  worst hop 1: queue of 40,960 bytes, 12.3 ms in all hops, 0.2 s ago`.
fn option_figures(option: &OptionFigures, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(WorstSample { sample, age_ns, .. }) = &option.worst {
        write!(f, "  worst hop {}: {}", sample.hop, HopState(sample))?;
        let ns = |ns: u64| Nanoseconds(ns.cast_signed());
        let (hops, age) = (ns(sample.latency_ns), ns(*age_ns));
        write!(f, ", {hops} in all hops, {age} ago")?;
    }
    match option.off {
        Some(OptionOff::Timeout) => f.write_str("  option 114 off after a timeout"),
        None => Ok(()),
    }
}

/// A table of connections.
pub struct TcpTable<'a>(pub &'a [TcpReport]);

impl fmt::Display for TcpTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = TextTable::new(
            &["connection", "limited by", "class"],
            &[
                "rtt",
                "least",
                "rate kB/s",
                "retrans",
                "spurious",
                "segments",
                "not sent",
                "not read",
            ],
        );
        for report in self.0 {
            let tcp = &report.sample.tcp;
            let time =
                |time_us: Option<u32>| time_us.map_or_else(String::new, |t| us(t).to_string());
            let number = |number: u64| Grouped(number).to_string();
            table.row(
                [
                    report.sample.flow.to_string(),
                    report.limited.to_string(),
                    report.class.clone().unwrap_or_default(),
                ],
                [
                    time(tcp.srtt_us),
                    time(tcp.min_rtt_us),
                    tcp.delivery_rate_bytes_s
                        .map_or_else(String::new, |rate| number(rate / 1000)),
                    number(tcp.total_retrans.into()),
                    tcp.dsack_dups
                        .map_or_else(String::new, |dups| number(dups.into())),
                    number(tcp.data_segments_out.into()),
                    number(tcp.notsent_bytes.into()),
                    number(tcp.unread_bytes.into()),
                ],
            );
        }
        write!(f, "{table}")
    }
}

/// All counts.
pub struct TcpTotalsText<'a>(pub &'a TcpTotals);

impl fmt::Display for TcpTotalsText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.0;
        write!(f, "{} open", counted(totals.open, "connection"))?;
        let mut by_limit: Vec<(String, u64)> = Vec::new();
        for one in &totals.limited {
            let name = one.limited.to_string();
            match by_limit.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += one.connections,
                None => by_limit.push((name, one.connections)),
            }
        }
        for (i, (name, count)) in by_limit.iter().enumerate() {
            let before = if i == 0 { ", limited by: " } else { ", " };
            write!(f, "{before}{name} {}", Grouped(*count))?;
        }
        writeln!(f)?;
        writeln!(
            f,
            "since the start: {} begun, {} ended, {} segments retransmitted ({} for nothing), {}",
            Grouped(totals.begun),
            Grouped(totals.ended),
            Grouped(totals.retransmitted_segments),
            Grouped(totals.spurious_segments),
            counted(totals.timeouts, "timeout")
        )?;
        for (count, what) in [
            (totals.short, "ended before a sample"),
            (totals.failed, "never established"),
            (
                totals.ends_limited,
                "ended unreported: beyond --max-endings",
            ),
            (totals.ends_lost, "ended unreported: the ring was full"),
            (
                totals.ends_unreported,
                "ended unreported to collectors: beyond --max-reports",
            ),
            (totals.gone, "gone, without an end that was seen"),
        ] {
            if count > 0 {
                writeln!(f, "{} {what}", counted(count, "connection"))?;
            }
        }
        if let Some(option) = &totals.option {
            writeln!(
                f,
                "option 114: {}, {} answered, {} echoes sent; no room in {}; off after a timeout for {}",
                counted(option.requests, "request"),
                Grouped(option.samples),
                Grouped(option.echoes),
                counted(option.no_room, "segment"),
                counted(option.off, "connection")
            )?;
        }
        if totals.beyond > 0 {
            let samples = counted(totals.beyond, "sample");
            writeln!(f, "{samples} of connections beyond --max-connections")?;
        }
        Ok(())
    }
}
