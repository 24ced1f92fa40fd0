//! All that take a collector's reports, as equals: the history, engines, lines.

use std::io;
use std::sync::Arc;

use super::output::Output;
use super::plan::CollectPlan;
use super::report_lines::ReportLines;
use crate::collector::{ReceivedReport, ReportHub, ReportTaker, SETTLED_NS};
use crate::engines::{Engines, Feed, FeedReport};
use crate::model::coverage::CoverageReport;
use crate::model::crossings::PathCrossed;
use crate::model::drop_totals_report::{DropSum, DropTotalsReport};
use crate::model::{
    Arrival, Body, DropCount, Flags, HostDropSum, HwId, LatencyClocks, Measured, NodeNames,
    Observation, PathGrowth, PathPart, Report,
};
use crate::os::clock;
use crate::store::{Store, StoreKeeper};

/// The hub of this collector.
pub type Hub = ReportHub<Takers>;

/// The takers of one collector.
pub struct Takers {
    pub history: Option<StoreKeeper>,
    pub engines: Option<Feed>,
    pub lines: ReportLines<Output>,
}

impl Takers {
    /// Calls nodes and interfaces by these names from now on.
    pub fn set_names(&mut self, names: NodeNames) {
        let names = Arc::new(names);
        if let Some(engines) = &mut self.engines {
            engines.set_names(&names);
        }
        self.lines.set_names(names);
    }
}

/// Makes the hub, with all that take reports.
pub fn hub(
    plan: &CollectPlan,
    output: Output,
    store: Option<&Store>,
    engines: &mut Engines,
) -> Hub {
    let takers = Takers {
        history: store.map(Store::keeper),
        engines: (!engines.is_empty()).then(|| engines.feed()),
        lines: ReportLines::new(output, plan.config.json),
    };
    let drop_reasons = plan.config.drop_reasons.clone();
    ReportHub::new(takers, drop_reasons, plan.classes.clone())
}

/// The same for reports that come in now.
pub fn live_hub(
    plan: &CollectPlan,
    output: Output,
    store: Option<&Store>,
    engines: &mut Engines,
) -> Hub {
    hub(plan, output, store, engines).with_clock(clock::monotonic_ns)
}

impl ReportTaker for Takers {
    fn accept(&mut self, received: &ReceivedReport<'_>) -> io::Result<()> {
        self.history.accept(received)?;
        self.engines.accept(received)?;
        self.lines.accept(received)
    }

    fn accept_coverage(&mut self, report: &CoverageReport, arrival: Arrival) -> io::Result<()> {
        self.lines.accept_coverage(report, arrival)
    }

    fn accept_drops(
        &mut self,
        report: &DropTotalsReport,
        added: &[DropSum],
        arrival: Arrival,
    ) -> io::Result<()> {
        self.history.accept_drops(report, added, arrival)?;
        self.engines.accept_drops(report, added, arrival)?;
        self.lines.accept_drops(report, added, arrival)
    }

    fn accept_path(&mut self, growth: &PathGrowth, arrival: Arrival) -> io::Result<()> {
        self.history.accept_path(growth, arrival)?;
        self.engines.accept_path(growth, arrival)
    }

    fn accept_crossed(&mut self, known: &[PathCrossed], arrival: Arrival) -> io::Result<()> {
        self.history.accept_crossed(known, arrival)?;
        self.engines.accept_crossed(known, arrival)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.history.flush()?;
        self.engines.flush()?;
        self.lines.flush()
    }
}

impl<T: ReportTaker> ReportTaker for Option<T> {
    fn accept(&mut self, received: &ReceivedReport<'_>) -> io::Result<()> {
        match self {
            Some(taker) => taker.accept(received),
            None => Ok(()),
        }
    }

    fn accept_drops(
        &mut self,
        report: &DropTotalsReport,
        added: &[DropSum],
        arrival: Arrival,
    ) -> io::Result<()> {
        match self {
            Some(taker) => taker.accept_drops(report, added, arrival),
            None => Ok(()),
        }
    }

    fn accept_path(&mut self, growth: &PathGrowth, arrival: Arrival) -> io::Result<()> {
        match self {
            Some(taker) => taker.accept_path(growth, arrival),
            None => Ok(()),
        }
    }

    fn accept_crossed(&mut self, known: &[PathCrossed], arrival: Arrival) -> io::Result<()> {
        match self {
            Some(taker) => taker.accept_crossed(known, arrival),
            None => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Some(taker) => taker.flush(),
            None => Ok(()),
        }
    }
}

impl ReportTaker for StoreKeeper {
    fn accept(&mut self, received: &ReceivedReport<'_>) -> io::Result<()> {
        let ReceivedReport {
            report,
            arrival,
            class,
            measured,
            path,
            dropped,
            grown,
            part,
            evidence,
            ..
        } = *received;
        if let (Body::HostDrop(told), Some(count), Some(arrival)) =
            (&report.observation.body, dropped, arrival)
        {
            self.drop_flow(told.node, &told.drop, count, arrival.received_ns);
        }
        if let (Body::HostHop(told), Some(arrival)) = (&report.observation.body, arrival) {
            self.see_hop(told.node, &told.hop, arrival.received_ns);
        }
        if let (Body::Queue(told), Some(arrival)) = (&report.observation.body, arrival) {
            self.see_episode(told.node, &told.episode, arrival.received_ns);
        }
        if let (Body::Connection(told), Some(grown), Some(arrival)) =
            (&report.observation.body, grown, arrival)
        {
            self.see_connection(told, &grown, arrival.received_ns);
        }
        self.keep(report, part, arrival, class, measured, evidence);
        if let Some(path) = path {
            self.add_path(path);
        }
        Ok(())
    }

    fn accept_drops(
        &mut self,
        report: &DropTotalsReport,
        added: &[DropSum],
        arrival: Arrival,
    ) -> io::Result<()> {
        self.drop_sums(report.node, added, arrival.received_ns);
        Ok(())
    }

    fn accept_path(&mut self, growth: &PathGrowth, arrival: Arrival) -> io::Result<()> {
        self.grow_path(growth, arrival.received_ns);
        Ok(())
    }

    fn accept_crossed(&mut self, known: &[PathCrossed], arrival: Arrival) -> io::Result<()> {
        let time_ns = arrival.received_ns.saturating_sub(SETTLED_NS);
        for path in known {
            self.cross_path(path, time_ns);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self);
        Ok(())
    }
}

impl ReportTaker for Feed {
    fn accept(&mut self, received: &ReceivedReport<'_>) -> io::Result<()> {
        let ReceivedReport {
            report,
            arrival,
            class,
            measured,
            dropped,
            clocks,
            evidence,
            ..
        } = *received;
        let drop_reason = report
            .observation
            .drop_reason()
            .and_then(|code| received.reasons.name(code));
        Self::take(
            self,
            &FeedReport {
                report,
                arrival,
                clocks,
                drop_reason,
                class,
                added: measured,
                dropped,
                bytes: evidence.len(),
            },
        );
        Ok(())
    }

    fn accept_drops(
        &mut self,
        report: &DropTotalsReport,
        added: &[DropSum],
        arrival: Arrival,
    ) -> io::Result<()> {
        let time_s = seconds(arrival.received_ns);
        for sum in added {
            let body = Body::HostDropSum(Box::new(HostDropSum {
                time_s,
                node: report.node,
                subject: sum.subject.clone(),
            }));
            let added = (None, Some(sum.count));
            feed_own(self, body, added, size_of::<HostDropSum>(), arrival);
        }
        Ok(())
    }

    fn accept_path(&mut self, growth: &PathGrowth, arrival: Arrival) -> io::Result<()> {
        let parts = PathPart::of_growth(growth, seconds(arrival.received_ns));
        feed_parts(self, parts, arrival);
        Ok(())
    }

    fn accept_crossed(&mut self, known: &[PathCrossed], arrival: Arrival) -> io::Result<()> {
        let time_s = seconds(arrival.received_ns.saturating_sub(SETTLED_NS));
        for path in known {
            feed_parts(self, PathPart::of_crossed(path, time_s), arrival);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self);
        Ok(())
    }
}

fn seconds(time_ns: u64) -> u32 {
    u32::try_from(time_ns / 1_000_000_000).unwrap_or(u32::MAX)
}

/// Gives engines what was added up of parts of paths, each as a report.
fn feed_parts(feed: &mut Feed, parts: Vec<(PathPart, Measured)>, arrival: Arrival) {
    for (part, added) in parts {
        let bytes = part.bytes();
        let body = Body::PathPart(Box::new(part));
        feed_own(feed, body, (Some(&added), None), bytes, arrival);
    }
}

/// Gives engines a report that the collector made itself of what came with `arrival`.
fn feed_own(
    feed: &mut Feed,
    body: Body,
    (added, dropped): (Option<&Measured>, Option<DropCount>),
    bytes: usize,
    arrival: Arrival,
) {
    let report = Report {
        sequence: 0,
        observation: Observation {
            hw_id: HwId::default(),
            flags: Flags::default(),
            clock: None,
            body,
        },
    };
    feed.take(&FeedReport {
        report: &report,
        arrival: Some(arrival),
        clocks: LatencyClocks::Untold,
        drop_reason: None,
        class: None,
        added,
        dropped,
        bytes,
    });
}
