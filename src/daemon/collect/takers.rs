//! All that take a collector's reports, as equals: the history, engines, lines.

use std::io;
use std::sync::Arc;

use super::output::Output;
use super::plan::CollectPlan;
use super::report_lines::ReportLines;
use crate::collector::{ReceivedReport, ReportHub, ReportNews, ReportTaker, SETTLED_NS};
use crate::engines::{Engines, Feed, FeedReport};
use crate::model::{
    Arrival, Body, DropCount, Flags, HostDropSum, HwId, LatencyClocks, Measured, NodeNames,
    Observation, PathPart, Report,
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
    lines: ReportLines<Output>,
    store: Option<&Store>,
    engines: &mut Engines,
) -> Hub {
    let takers = Takers {
        history: store.map(Store::keeper),
        engines: (!engines.is_empty()).then(|| engines.feed(lines.pods().cloned())),
        lines,
    };
    let drop_reasons = plan.config.drop_reasons.clone();
    ReportHub::new(takers, drop_reasons, plan.classes.clone())
}

/// The same for reports that come in now.
pub fn live_hub(
    plan: &CollectPlan,
    lines: ReportLines<Output>,
    store: Option<&Store>,
    engines: &mut Engines,
) -> Hub {
    hub(plan, lines, store, engines).with_clock(clock::monotonic_ns)
}

impl ReportTaker for Takers {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        self.history.accept(news)?;
        self.engines.accept(news)?;
        self.lines.accept(news)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.history.flush()?;
        self.engines.flush()?;
        self.lines.flush()
    }
}

impl<T: ReportTaker> ReportTaker for Option<T> {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), |taker| taker.accept(news))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.as_mut().map_or(Ok(()), ReportTaker::flush)
    }
}

impl ReportTaker for StoreKeeper {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        match news {
            ReportNews::Report(received) => keep_report(self, received),
            ReportNews::Coverage(..) => {}
            ReportNews::Drops(report, added, arrival) => {
                self.drop_sums(report.node, added, arrival.received_ns);
            }
            ReportNews::Path(growth, arrival) => self.grow_path(growth, arrival.received_ns),
            ReportNews::Crossed(known, arrival) => {
                let time_ns = arrival.received_ns.saturating_sub(SETTLED_NS);
                known.iter().for_each(|path| self.cross_path(path, time_ns));
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self);
        Ok(())
    }
}

fn keep_report(history: &mut StoreKeeper, received: &ReceivedReport<'_>) {
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
    if let Some(Arrival { received_ns, .. }) = arrival {
        match (&report.observation.body, dropped, grown) {
            (Body::HostDrop(of), Some(count), _) => {
                history.drop_flow(of.node, &of.drop, count, received_ns);
            }
            (Body::FlowPassage(of), ..) => history.see_hop(of.node, &of.hop, received_ns),
            (Body::Queue(of), ..) => history.see_episode(of.node, &of.episode, received_ns),
            (Body::Connection(of), _, Some(grown)) => {
                history.see_connection(of, &grown, received_ns);
            }
            _ => {}
        }
    }
    history.keep(report, part, arrival, class, measured, evidence);
    if let Some(path) = path {
        history.add_path(path);
    }
}

impl ReportTaker for Feed {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        match news {
            ReportNews::Report(received) => feed_report(self, received),
            ReportNews::Coverage(..) => {}
            ReportNews::Drops(report, added, arrival) => {
                for sum in added {
                    let body = Body::HostDropSum(Box::new(HostDropSum {
                        time_s: seconds(arrival.received_ns),
                        node: report.node,
                        subject: sum.subject.clone(),
                    }));
                    let added = (None, Some(sum.count));
                    feed_own(self, body, added, size_of::<HostDropSum>(), arrival);
                }
            }
            ReportNews::Path(growth, arrival) => {
                let parts = PathPart::of_growth(growth, seconds(arrival.received_ns));
                feed_parts(self, parts, arrival);
            }
            ReportNews::Crossed(known, arrival) => {
                let time_s = seconds(arrival.received_ns.saturating_sub(SETTLED_NS));
                for path in known {
                    feed_parts(self, PathPart::of_crossed(path, time_s), arrival);
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self);
        Ok(())
    }
}

fn feed_report(engines: &mut Feed, received: &ReceivedReport<'_>) {
    let reason = received.report.observation.drop_reason();
    engines.take(&FeedReport {
        report: received.report,
        arrival: received.arrival,
        clocks: received.clocks,
        drop_reason: reason.and_then(|code| received.reasons.name(code)),
        class: received.class,
        added: received.measured,
        dropped: received.dropped,
        bytes: received.evidence.len(),
    });
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
        clocks: LatencyClocks::Unreported,
        drop_reason: None,
        class: None,
        added,
        dropped,
        bytes,
    });
}
