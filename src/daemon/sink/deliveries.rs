//! Says when reports cannot leave, and when they leave again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;
use crate::os::log::{self, Event, Level};
use crate::report::{EmitterCounts, LostCounts};

/// The duty to do so: for each destination, the counts as they were seen last.
#[derive(Default)]
pub struct WatchDeliveries(BTreeMap<String, Delivery>);

#[derive(Clone, Copy, Default)]
struct Delivery {
    sent: u64,
    lost: u64,
    losing: bool,
}

impl Duty<SinkDaemon> for WatchDeliveries {
    fn task(&self) -> &'static str {
        "watch deliveries"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        self.note(&daemon.reports.emitter.counts());
        Ok(())
    }
}

impl WatchDeliveries {
    fn note(&mut self, counts: &EmitterCounts) {
        for collector in &counts.collectors {
            let name = format!("collector {}", collector.destination);
            let why = reason(&collector.lost_by_cause);
            self.look(name, collector.sent, collector.lost, why);
        }
        if let Some(senders) = &counts.packet_senders {
            let why = reason(&senders.lost_by_cause);
            self.look("packet senders".to_owned(), senders.sent, senders.lost, why);
        }
        if let Some(log) = &counts.log {
            let why = "cannot be written (disk full?)";
            self.look("report log".to_owned(), log.lines, log.lost, why);
        }
    }

    fn look(&mut self, destination: String, sent: u64, lost: u64, why: &str) {
        let seen = self.0.entry(destination.clone()).or_default();
        let more = lost - seen.lost;
        if more > 0 && !seen.losing {
            log::event(
                Level::Warning,
                Event::ReportsLost,
                &[
                    ("DESTINATION", &destination),
                    ("LOST", &more),
                    ("REASON", &why),
                ],
                format_args!("reports to {destination} are lost, {more} in the last second: {why}"),
            );
            seen.losing = true;
        } else if more == 0 && seen.losing && sent > seen.sent {
            log::event(
                Level::Info,
                Event::ReportsSentAgain,
                &[("DESTINATION", &destination), ("LOST", &lost)],
                format_args!("reports to {destination} leave again; {lost} were lost in all"),
            );
            seen.losing = false;
        }
        (seen.sent, seen.lost) = (sent, lost);
    }
}

/// The cause of most losses.
fn reason(lost: &LostCounts) -> &'static str {
    let causes = [
        (lost.unreachable, "no way there (see ip route)"),
        (
            lost.buffer_full,
            "the send buffer or the interface's queue is full",
        ),
        (lost.denied, "a firewall rule or missing permission"),
        (lost.too_big, "larger than the path allows"),
        (lost.table_full, "too many packet senders"),
        (lost.not_unicast, "no unicast address"),
        (lost.other, "refused by the kernel"),
    ];
    let worst = causes.into_iter().max_by_key(|(count, _)| *count);
    worst.map_or("", |(_, text)| text)
}
