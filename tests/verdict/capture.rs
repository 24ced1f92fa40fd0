//! An incident as the reports that its hosts send: a collector that reads them has the same counts as its slots.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use hostint::collector::capture::Capture;
use hostint::collector::{ReportHub, ReportNews, ReportTaker, datagram};
use hostint::model::*;
use hostint::os::clock::realtime_ns;
use hostint_testing::invented::{ClockReports, InventedReports, InventedWorld, capture, flow};

use super::figures::{Line, table};
use super::incident::{BEGIN, Incident};
use super::incidents::chosen;
use super::referee::Slot;

/// What each cell, each part of it and each host counted.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    cells: BTreeMap<CellId, (CellCounts, u64)>,
    flows: BTreeMap<FlowKey, CellCounts>,
    dropped: BTreeMap<NodeId, [u64; 2]>,
}

/// What a collector takes from the reports.
#[derive(Default)]
struct Taken {
    sums: Sums,
    /// The latencies of packets of which it knows the clocks.
    corrected: ClockSums,
}

/// The slots of an incident, of this day, from shortly before it on.
fn slots(line: &Line, seed: u64, midnight_ns: Option<u64>) -> Vec<Slot> {
    let (network, incident) = Incident::new(line.clone(), seed);
    let mut world = InventedWorld::new(network, seed + 77, 10);
    if let Some(midnight_ns) = midnight_ns {
        world = world.on_day(midnight_ns);
    }
    let slots = (0..incident.end + 5).map(|number| {
        let harm = incident.harm(&world.network, number);
        let slot = world.slot(&harm);
        (slot, world.clocks(&harm))
    });
    slots.skip(BEGIN as usize - 10).collect()
}

/// The reports of an incident, as a capture of what its collector receives.
fn capture_of(slots: &[Slot]) -> Vec<u8> {
    let (mut reports, mut clocks) = (InventedReports::default(), ClockReports::default());
    let mut datagrams = Vec::new();
    for (slot, known) in slots {
        datagrams.extend(reports.slot(slot));
        datagrams.extend(clocks.slot(slot, known.clone()));
    }
    datagrams.sort_by_key(|one| one.arrival.received_ns);
    capture(&datagrams)
}

fn add(to: &mut CellCounts, sent: u64, lost: u64) {
    to.sent += sent;
    to.lost += lost;
}

impl Sums {
    fn of<'a>(slots: impl Iterator<Item = &'a VerdictSlot>) -> Self {
        let mut sums = Self::default();
        for slot in slots {
            for (id, growth) in &slot.cells {
                let (counts, samples) = sums.cells.entry(id.clone()).or_default();
                add(counts, growth.counts.sent, growth.counts.lost);
                *samples += growth.latency.samples();
                for (part, counts) in growth.parts.iter().enumerate() {
                    if counts.sent > 0 {
                        let sum = sums.flows.entry(flow(id, part)).or_default();
                        add(sum, counts.sent, counts.lost);
                    }
                }
            }
            for (node, host) in &slot.hosts {
                for (side, count) in host.dropped.into_iter().flatten().enumerate() {
                    if count > 0 {
                        sums.dropped.entry(*node).or_default()[side] += count;
                    }
                }
            }
        }
        sums
    }

    fn add_summary(&mut self, summary: &Summary, measured: &Measured, class: Option<&str>) {
        let sent = measured.packets + measured.lost - measured.recovered;
        match &summary.subject {
            SummarySubject::Group { .. } => {
                let id = CellId {
                    source: summary.source_node,
                    sink: summary.sink_node,
                    class: class.map(Box::from),
                };
                let (counts, samples) = self.cells.entry(id).or_default();
                add(counts, sent, measured.lost);
                *samples += measured.latency.samples();
            }
            SummarySubject::Flow { flow, .. } => {
                add(self.flows.entry(*flow).or_default(), sent, measured.lost);
            }
        }
    }
}

impl ReportTaker for Taken {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        match news {
            ReportNews::Report(one) => {
                if let (Body::Summary(summary), Some(measured)) =
                    (&one.report.observation.body, one.measured)
                {
                    self.sums.add_summary(summary, measured, one.class);
                    if one.report.observation.flow().is_none() {
                        self.corrected.merge(&measured.corrected);
                    }
                }
            }
            ReportNews::Drops(report, added, _) => {
                for sum in added {
                    let side = usize::from(sum.subject.position == DropPosition::BeforeStrip);
                    self.sums.dropped.entry(report.node).or_default()[side] += sum.count.packets;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a collector counts that reads this capture, and its hosts' labels.
fn read(file: &[u8]) -> ReportHub<Taken> {
    let mut hub = ReportHub::new(Taken::default(), None, Classes::default());
    let mut file = Capture::new(file);
    while let Some(captured) = file.next_packet().unwrap() {
        let found = datagram::find(&captured, &[REPORT_PORT]).unwrap();
        let arrival = Arrival {
            exporter: found.from,
            received_ns: captured.time_ns,
        };
        hub.datagram(found.payload, arrival).unwrap();
    }
    hub.finish().unwrap();
    hub
}

/// The packets between hosts whose clocks are known, and their true mean latency.
fn true_latency(slots: &[Slot]) -> (u64, i64) {
    let (mut packets, mut sum) = (0, 0);
    for (id, growth, clocks) in slots.iter().flat_map(|(slot, clocks)| {
        slot.cells
            .iter()
            .map(move |(id, growth)| (id, growth, clocks))
    }) {
        let [source, sink] = [id.source, id.sink].map(|node| clocks[&node]);
        if source.is_known && sink.is_known {
            let samples = growth.latency.samples();
            packets += samples;
            let ahead_ns = i128::from(sink.ahead_ns - source.ahead_ns);
            sum += growth.latency.whole_sum_ns() - ahead_ns * i128::from(samples);
        }
    }
    (packets, (sum / i128::from(packets)) as i64)
}

/// The slots that the test looks at, ten of which are before the incident.
const SLOTS: usize = 30;

#[test]
fn a_collector_that_reads_the_reports_has_the_same_counts() {
    let table = table();
    for (kind, hosts, racks) in [
        ("host-in", 6, 2),
        ("drops-in", 8, 2),
        ("collector", 6, 2),
        ("restart", 6, 2),
    ] {
        let mut line = table.iter().find(|line| line.kind == kind).unwrap().clone();
        (line.hosts, line.racks) = (hosts, racks);
        let mut slots = slots(&line, 31, None);
        slots.truncate(SLOTS);
        let file = capture_of(&slots);
        let hub = read(&file);
        let counts = hub.ledgers.exporters.counts();
        assert_eq!(counts.not_decoded, 0, "{kind}");
        assert_eq!(
            hub.taker.sums,
            Sums::of(slots.iter().map(|one| &one.0)),
            "{}",
            line.sentence
        );
        let (packets, mean_ns) = true_latency(&slots);
        let known = hub.taker.corrected.mean().unwrap();
        let off_ns = (known.mean_ns - mean_ns).abs();
        assert!(off_ns < 3_000, "{kind}: {known:?}, {mean_ns}");
        // Of the first slots, and of those whose reports were lost, less is known.
        assert!(
            kind != "host-in" || known.packets * 2 > packets,
            "{known:?}"
        );
        let last = &slots.last().unwrap().0;
        // Reports about connections have numbers of their own, and so are an exporter apart.
        let health = hub.ledgers.exporters.health(100, last.end_ns);
        let nodes: BTreeSet<_> = health.iter().filter_map(|host| host.node).collect();
        assert_eq!(nodes.len(), hosts);
        for host in health.into_iter().filter(|host| !host.labels.is_empty()) {
            assert_eq!(host.labels, last.hosts[&host.node.unwrap()].labels);
        }
    }
}

/// `HOSTINT_CAPTURES=folder` has a capture written of each incident that `HOSTINT_CASES` chooses, for
/// `hostint collect --read`.
#[test]
fn captures_are_written_to_a_folder_that_is_named() {
    let Ok(folder) = std::env::var("HOSTINT_CAPTURES") else {
        return;
    };
    // A history forgets what is older than some days.
    const DAY_NS: u64 = 86_400_000_000_000;
    let yesterday_ns = (realtime_ns() / DAY_NS - 1) * DAY_NS;
    for (number, line) in chosen().iter().enumerate() {
        let path = format!("{folder}/{number}-{}.pcap", line.kind);
        let slots = slots(line, 100, Some(yesterday_ns));
        std::fs::write(&path, capture_of(&slots)).unwrap();
        println!("{path}: {}", line.sentence);
    }
}
