//! What the hub hands on, and what takes it.

use std::io;

use crate::model::coverage::CoverageReport;
use crate::model::crossings::PathCrossed;
use crate::model::drop_totals_report::{DropSum, DropTotalsReport};
use crate::model::{
    Arrival, DropCount, DropReasons, LatencyClocks, Measured, PassedPath, PathGrowth, Report,
    TcpGrowth,
};

/// A report, and all that is known about it.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedReport<'a> {
    pub report: &'a Report,
    /// `None` for a report from a file that does not say when it arrived.
    pub arrival: Option<Arrival>,
    /// The class of its flow, or of its group.
    pub class: Option<&'a str>,
    /// The packets that a summary adds to those that earlier ones told of.
    pub measured: Option<&'a Measured>,
    /// The packets that a report about drops adds to those that earlier ones told of.
    pub dropped: Option<DropCount>,
    /// What a connection's report adds to earlier ones. `None`: it was reported before.
    pub grown: Option<TcpGrowth>,
    /// What is known of the clocks that stamped its latency.
    pub clocks: LatencyClocks,
    /// The packet's way over transit hops.
    pub path: Option<PassedPath<'a>>,
    /// The names of drop reasons that apply to it.
    pub reasons: &'a DropReasons,
    /// Its place, from 0, among the reports of its datagram.
    pub part: usize,
    /// The datagram, or the line of JSON, that it was read from.
    pub evidence: &'a [u8],
}

/// What the hub hands on.
#[derive(Clone, Copy, Debug)]
pub enum ReportNews<'a> {
    Report(&'a ReceivedReport<'a>),
    /// The packets that a source did not tag, or that a sink measured.
    Coverage(&'a CoverageReport, Arrival),
    /// The sums of what a host dropped, and what they add to earlier ones.
    Drops(&'a DropTotalsReport, &'a [DropSum], Arrival),
    /// The packets that a sink's totals of a path add to earlier ones.
    Path(&'a PathGrowth, Arrival),
    /// The packets of paths that came by the ends of segments, a while ago.
    Crossed(&'a [PathCrossed], Arrival),
}

/// Takes what the hub hands on, one after the other: lines, the history, engines.
pub trait ReportTaker {
    /// # Errors
    /// If it makes no sense to go on; reports that a taker loses on its own it counts itself.
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()>;

    /// Hands on what was taken so far: there may be no more reports for a while.
    fn flush(&mut self) -> io::Result<()>;
}
