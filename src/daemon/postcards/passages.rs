//! Tells collectors the times of all packets between interfaces, once in each period.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::model::{
    InterfacePassage, LatencyHistogram, LatencyResolution, NodeId, PassageId, PathTotals,
    PathTotalsReport, PlaceTotals, QUEUED_PLACE, ReportedTotals, SENT_PLACE,
};
use crate::os::clock;

const PERIOD: Duration = Duration::from_secs(10);

/// The most pairs of interfaces that are reported in a period, those with most packets.
const MOST: usize = 256;

/// Times to the driver, and to the queue.
type Times = [LatencyHistogram; 2];

/// The duty to do so.
pub struct SendPassages {
    reported: ReportedTotals<PassageId>,
    /// When each began to be counted, and the packets that it had last.
    known: BTreeMap<PassageId, (u64, u64)>,
    /// The last turn: what was not known then began later.
    turned_ns: u64,
}

impl SendPassages {
    /// The programs were attached at this time.
    pub fn since(attached_ns: u64) -> Self {
        Self {
            reported: ReportedTotals::default(),
            known: BTreeMap::new(),
            turned_ns: attached_ns,
        }
    }

    /// Returns the totals that are news.
    pub fn news(
        &mut self,
        node: NodeId,
        passages: &[InterfacePassage],
        now_ns: u64,
    ) -> Vec<PathTotals> {
        let all = by_id(node, passages);
        self.known.retain(|id, _| all.contains_key(id));
        let known = &self.known;
        self.reported.keep(|id| known.contains_key(id));
        let mut news = Vec::new();
        for (id, times) in all {
            let packets: u64 = times.iter().map(LatencyHistogram::samples).sum();
            let begun = (self.turned_ns, packets);
            let known = self.known.entry(id).or_insert(begun);
            // An index that another interface got counts anew.
            *known = match packets < known.1 {
                true => begun,
                false => (known.0, packets),
            };
            if self.reported.take(id, packets) {
                news.push(totals(id, times, (known.0, now_ns)));
            }
        }
        self.turned_ns = now_ns;
        let packets = |one: &PathTotals| one.times.iter().map(|time| time.latency.samples()).max();
        news.sort_by_key(|one| std::cmp::Reverse(packets(one)));
        news.truncate(MOST);
        news
    }
}

/// The times by interfaces that are there. The sum of those that are gone has packets that were reported.
fn by_id(node: NodeId, passages: &[InterfacePassage]) -> BTreeMap<PassageId, Times> {
    let mut all: BTreeMap<PassageId, Times> = BTreeMap::new();
    for one in passages {
        let id = PassageId {
            node,
            in_port: one.in_ifindex as u16,
            out_port: one.out_ifindex as u16,
            start: one.start,
        };
        if id.in_port == 0 || id.out_port == 0 {
            continue;
        }
        let [sent, queued] = all.entry(id).or_default();
        sent.merge(&one.sent.0);
        queued.merge(&one.queued.0);
    }
    all
}

fn totals(id: PassageId, times: Times, (epoch_ns, last_ns): (u64, u64)) -> PathTotals {
    let places = [SENT_PLACE, QUEUED_PLACE].into_iter().zip(times);
    let known = places.filter(|(_, latency)| !latency.is_empty());
    PathTotals {
        path: id.path(),
        times: known
            .map(|(place, latency)| PlaceTotals {
                place,
                epoch_ns,
                last_ns,
                latency: latency.coarsened(LatencyResolution::Middle),
            })
            .collect(),
    }
}

impl Duty<PostcardsDaemon> for SendPassages {
    fn task(&self) -> &'static str {
        "report to collectors how long packets take between interfaces"
    }

    fn period(&self, _daemon: &PostcardsDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        let Some(node) = daemon.host.node().filter(|_| daemon.sends_extended()) else {
            return Ok(());
        };
        let Some(hops) = daemon.totals()?.hops else {
            return Ok(());
        };
        let now_ns = clock::realtime_ns();
        for totals in self.news(node, &hops.passages, now_ns) {
            daemon.emitter().send_path(&PathTotalsReport {
                time_s: (now_ns / 1_000_000_000) as u32,
                period_ns: PERIOD.as_nanos() as u64,
                totals,
            });
        }
        Ok(())
    }

    /// Tells what happened since the last period too.
    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        self.turn(daemon, Instant::now())
    }
}
