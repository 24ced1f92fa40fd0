//! Reports to collectors: flows as they are reported, and the sums of all drops.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::PostcardsDaemon;
use crate::config::{IdentitySettings, PostcardFormat};
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::model::drop_totals_report::{DropSubject, DropSum, DropTotalsReport};
use crate::model::{
    Body, DropCount, DropTotals, Flags, FlowPassage, FlowPassageReport, HostDrop, HostDropReport,
    KernelParts, NodeId, Observation, QueueEpisode, QueuePacket, QueueReport, Subsystem,
};
use crate::os::clock;
use crate::report::Emitter;
use crate::wire::report_postcards::{self, StandardReport};

const NS_PER_S: u64 = 1_000_000_000;

/// The time from one report of sums to the next.
const PERIOD: Duration = Duration::from_secs(10);

/// A sum that changed is reported this many times, in case that a datagram is lost.
const TIMES: u8 = 3;

/// Each of these periods all sums are reported, for collectors that began meanwhile.
const ALL_EVERY: u64 = 6;

impl PostcardsDaemon {
    /// Sends reports about the drops of these flows.
    pub fn report(&mut self, drops: &[HostDrop]) {
        let Some(node) = self.host.node() else {
            return;
        };
        let standard = self.plan.config.report_format.standard();
        let time_s = (clock::realtime_ns() / NS_PER_S) as u32;
        for drop in drops {
            let drop = drop.clone();
            let report = HostDropReport { time_s, node, drop };
            if let Some(version) = standard {
                self.send(report_postcards::drop(&report, version));
                continue;
            }
            self.emitter.emit(Observation {
                hw_id: Subsystem::Drops.into(),
                flags: Flags {
                    dropped: true,
                    tracked_flow: true,
                    ..Flags::default()
                },
                clock: None,
                body: Body::HostDrop(Box::new(report)),
            });
        }
    }

    /// Sends a standard report.
    fn send(&mut self, (hw_id, flags, report): StandardReport) {
        self.emitter.emit(Observation {
            hw_id,
            flags,
            clock: None,
            body: Body::Packet(Box::new(report)),
        });
    }

    /// Sends reports about the hops of these flows.
    pub fn report_hops(&mut self, hops: &[FlowPassage]) {
        let Some(node) = self.host.node() else {
            return;
        };
        let standard = self.plan.config.report_format.standard();
        let time_s = (clock::realtime_ns() / NS_PER_S) as u32;
        for hop in hops {
            let hop = hop.clone();
            let report = FlowPassageReport { time_s, node, hop };
            if let Some(version) = standard {
                self.send(report_postcards::hop(&report, version));
                continue;
            }
            self.emitter.emit(Observation {
                hw_id: Subsystem::Hops.into(),
                flags: Flags {
                    tracked_flow: true,
                    ..Flags::default()
                },
                clock: None,
                body: Body::FlowPassage(Box::new(report)),
            });
        }
    }

    /// Sends reports about these episodes of queues. Standard ones are about packets.
    pub fn report_queues(&mut self, episodes: &[QueueEpisode]) {
        let is_standard = self.sends_standard();
        let Some(node) = self.host.node().filter(|_| !is_standard) else {
            return;
        };
        let time_s = (clock::realtime_ns() / NS_PER_S) as u32;
        for episode in episodes {
            let episode = episode.clone();
            self.emitter.emit(Observation {
                hw_id: Subsystem::Queues.into(),
                flags: Flags {
                    congested_queue: true,
                    ..Flags::default()
                },
                clock: None,
                body: Body::Queue(Box::new(QueueReport {
                    time_s,
                    node,
                    episode,
                })),
            });
        }
    }

    /// Sends standard reports about these packets that were over the trigger of their queue.
    pub fn report_queue_packets(&mut self, packets: &[QueuePacket]) {
        let version = self.plan.config.report_format.standard();
        let (Some(node), Some(version)) = (self.host.node(), version) else {
            return;
        };
        for packet in packets {
            self.send(report_postcards::queue(node, packet, version));
        }
    }

    /// True if reports are standard ones. Those are about single packets, so that none is reported twice.
    pub fn sends_standard(&self) -> bool {
        self.plan.config.report_format.standard().is_some()
    }

    /// The sums of all drops, as collectors get them.
    fn sums(&self, totals: &DropTotals) -> Vec<DropSum> {
        let places = totals.places.iter().map(|one| DropSum {
            subject: DropSubject {
                ignored: one.ignored,
                reason: one.reason.clone(),
                place: one.place.clone(),
                interface: one.interface.clone(),
                netns: one.netns,
                position: self.host.position_of(one.tagged_by),
                tagged_by: one.tagged_by,
                without_packet: false,
            },
            count: one.count,
        });
        let without_packet = totals.without_packet.iter().map(|one| DropSum {
            subject: DropSubject {
                place: Some(one.counter.clone()),
                interface: one.interface.clone(),
                without_packet: true,
                ..DropSubject::default()
            },
            count: DropCount {
                packets: one.count,
                segments: one.count,
                bytes: 0,
            },
        });
        places
            .chain(without_packet)
            .chain(beyond_places(totals))
            .collect()
    }
}

/// What the table of places had no room for, by reason alone.
fn beyond_places(totals: &DropTotals) -> impl Iterator<Item = DropSum> {
    let rest = totals.reasons.iter().map(|all| {
        let same = totals.places.iter();
        let same = same.filter(|one| (&one.reason, one.ignored) == (&all.reason, all.ignored));
        let mut known = DropCount::default();
        same.for_each(|one| known.add(one.count));
        DropSum {
            subject: DropSubject {
                reason: all.reason.clone(),
                ignored: all.ignored,
                ..DropSubject::default()
            },
            count: all.count.since(known),
        }
    });
    rest.filter(|sum| !sum.count.is_zero())
}

impl ReportsToCollectors for PostcardsDaemon {
    fn emitter(&mut self) -> &mut Emitter {
        &mut self.emitter
    }

    fn node(&self) -> Result<NodeId> {
        self.host.node().context("this host has no node id")
    }

    /// Collectors that are to get standard v0.5 know none of hostint's own kinds of reports.
    fn sends_extended(&self) -> bool {
        let config = &self.plan.config;
        !config.collectors.is_empty() && config.report_format != PostcardFormat::Standard
    }

    /// The daemon of a sink or source tells it, if there is one.
    fn identity(&self) -> Option<&IdentitySettings> {
        let settings = self.plan.config.identity.as_ref()?;
        (self.sends_extended() && !self.host.is_served()).then_some(settings)
    }

    fn lacks(&self) -> Result<KernelParts> {
        Ok(self.refused)
    }
}

/// The duty to tell collectors the sums of all drops.
pub struct SendSums {
    epoch_ns: u64,
    turns: u64,
    last: HashMap<DropSubject, ReportedSum>,
}

/// A sum that was reported, and how many times since it changed.
#[derive(Default)]
struct ReportedSum {
    count: DropCount,
    times: u8,
}

impl SendSums {
    /// The program was attached at this time.
    pub fn since(epoch_ns: u64) -> Self {
        Self {
            epoch_ns,
            turns: 0,
            last: HashMap::new(),
        }
    }

    /// True if the sum is to be reported in this turn.
    fn is_due(&mut self, sum: &DropSum, all: bool) -> bool {
        let reported = self.last.entry(sum.subject.clone()).or_default();
        if reported.count != sum.count {
            *reported = ReportedSum {
                count: sum.count,
                times: 0,
            };
        }
        let is_due = all || reported.times < TIMES;
        reported.times = reported.times.saturating_add(1);
        is_due
    }
}

impl Duty<PostcardsDaemon> for SendSums {
    fn task(&self) -> &'static str {
        "report to collectors what this host dropped"
    }

    fn period(&self, _daemon: &PostcardsDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        if !daemon.sends_extended() {
            return Ok(());
        }
        let Some(totals) = daemon.totals()?.drops else {
            return Ok(());
        };
        let all = self.turns.is_multiple_of(ALL_EVERY);
        self.turns += 1;
        let mut sums = daemon.sums(&totals);
        sums.retain(|sum| self.is_due(sum, all));
        let report = DropTotalsReport {
            node: daemon.node()?,
            period_s: PERIOD.as_secs() as u16,
            epoch_ns: self.epoch_ns,
            sums,
        };
        let time_s = (clock::realtime_ns() / NS_PER_S) as u32;
        daemon.emitter.report_drops(&report, time_s);
        Ok(())
    }

    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        self.turn(daemon, Instant::now())
    }
}
