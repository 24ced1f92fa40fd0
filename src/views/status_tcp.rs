//! The TCP connections of a host in `hostint status`.

use std::fmt;

use super::collectors_block::CollectorsBlock;
use super::digits::{Grouped, Nanoseconds};
use super::moment::moment;
use super::tcp::TcpTotalsText;
use crate::model::TcpStatus;

pub fn write(f: &mut fmt::Formatter<'_>, tcp: &TcpStatus) -> fmt::Result {
    writeln!(
        f,
        "tcp: daemon runs (pid {}), since {} UTC",
        tcp.daemon_pid,
        moment(tcp.since_ns)
    )?;
    let reported = CollectorsBlock {
        addresses: &tcp.collectors,
        node: tcp.node_id,
        sent: tcp.reports_sent,
        lost: tcp.reports_lost,
    };
    write!(f, "{reported}")?;
    let period = |ns: u64| Nanoseconds(ns.cast_signed());
    writeln!(
        f,
        "  sampled each {}, in {}; at most {} connections",
        period(tcp.sample_period_ns),
        period(tcp.totals.walk_ns),
        Grouped(tcp.connections_max.into())
    )?;
    for line in TcpTotalsText(&tcp.totals).to_string().lines() {
        writeln!(f, "  {line}")?;
    }
    Ok(())
}
