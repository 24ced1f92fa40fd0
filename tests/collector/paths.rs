//! The times of all packets of a path are added up without counting a packet twice, and without the difference of clocks.

use std::collections::BTreeMap;
use std::io;

use hostint::collector::{Increments, ReportHub, ReportNews, ReportTaker};
use hostint::model::*;
use hostint::wire::report_path;
use hostint_testing::path_samples::{path_totals, two_hops};
use hostint_testing::random::Random;

const SECOND: u64 = 1_000_000_000;
const STARTED: u64 = 1_700_000_000 * SECOND;
const PERIOD: u64 = 10 * SECOND;

fn arrival(after_s: u64) -> Arrival {
    Arrival {
        exporter: "192.0.2.1:4000".parse().unwrap(),
        received_ns: STARTED + after_s * SECOND,
    }
}

/// The totals of a path over one hop, with this many packets in each segment; counting began this long after the
/// collector started.
fn told(begin_s: i64, packets: u64) -> PathTotalsReport {
    let times = |place: u8| (0..packets).map(move |n| i64::from(place) * 1_000 + n as i64);
    let mut totals = path_totals(1, |place| times(place).collect());
    for time in &mut totals.times {
        time.epoch_ns = STARTED.wrapping_add_signed(begin_s * SECOND as i64);
    }
    PathTotalsReport {
        time_s: 1_700_000_020,
        period_ns: PERIOD,
        totals,
    }
}

/// A sentence; when counting began and what is told, report by report; and the packets that each adds.
type Growing = (&'static str, &'static [(i64, u64)], &'static [u64]);

#[test]
fn a_path_adds_what_it_did_not_tell_before() {
    let cases: [Growing; 6] = [
        ("counts that grow", &[(1, 1), (1, 5), (1, 9)], &[1, 4, 4]),
        ("one that is repeated", &[(1, 5), (1, 5)], &[5, 0]),
        ("one that is late", &[(1, 5), (1, 3), (1, 6)], &[5, 0, 1]),
        ("a sink that counts anew", &[(1, 5), (9, 2)], &[5, 2]),
        ("a late one from before", &[(9, 2), (1, 5)], &[2, 0]),
        (
            "counts from before the collector, which may be in the store",
            &[(-600, 5), (-600, 7)],
            &[0, 2],
        ),
    ];
    for (sentence, reports, expected) in cases {
        let mut increments = Increments::default();
        increments.start_at(STARTED);
        for ((begin_s, packets), expected) in reports.iter().zip(expected) {
            let added = increments.of_path(&told(*begin_s, *packets), arrival(5));
            let packets: Vec<_> = added.iter().map(|(_, more)| more.packets).collect();
            match expected {
                0 => assert_eq!(packets, [0; 0], "{sentence}: it adds nothing"),
                _ => assert_eq!(packets, [*expected; 4], "{sentence}"),
            }
            for (_, more) in &added {
                assert_eq!(more.latency.samples(), more.packets, "{sentence}");
            }
        }
    }
}

#[test]
fn the_next_run_goes_on_where_this_one_ended() {
    let mut first = Increments::default();
    first.start_at(STARTED);
    first.of_path(&told(1, 5), arrival(20));
    let kept = first.bases(100, STARTED + 21 * SECOND);
    assert_eq!(kept.bases.len(), 4, "one for each place");
    let mut next = Increments::default();
    next.start_at(STARTED + 30 * SECOND);
    next.resume(kept);
    let added = next.of_path(&told(1, 7), arrival(40));
    let packets: Vec<_> = added.iter().map(|(_, more)| more.packets).collect();
    assert_eq!(packets, [2; 4]);
}

/// Keeps what it takes.
#[derive(Default)]
struct Growths(Vec<PathGrowth>);

impl ReportTaker for Growths {
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        if let ReportNews::Path(growth, _) = news {
            self.0.push(growth.clone());
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn segments_are_of_all_packets_once_a_sink_tells_of_them() {
    let mut hub = ReportHub::new(Growths::default(), None, Classes::default());
    hub.ledgers.start_at(STARTED);
    let report = |hub: &mut ReportHub<Growths>, n: u32| {
        let time_ns = STARTED + SECOND;
        let datagram = two_hops().sample(n, 5000, time_ns).datagram();
        hub.datagram(&datagram, arrival(1)).unwrap();
    };
    let tally = |hub: &mut ReportHub<Growths>| {
        let rows = hub.ledgers.segments.rows(100);
        let hop = rows.into_iter().find(|row| {
            row.segment.kind == SegmentKind::Hop && row.segment.from.node == NodeId(28_673)
        });
        hop.map(|hop| (hop.of_packets, hop.latency.samples()))
    };
    assert_eq!(tally(&mut hub), None);
    report(&mut hub, 1);
    report(&mut hub, 2);
    assert_eq!(tally(&mut hub), Some((false, 2)));
    for datagram in report_path::emit(&told(0, 50)) {
        hub.datagram(&datagram, arrival(5)).unwrap();
    }
    assert_eq!(tally(&mut hub), Some((true, 50)));
    report(&mut hub, 3);
    assert_eq!(
        tally(&mut hub),
        Some((true, 50)),
        "they have the packet already"
    );
    let places: Vec<_> = hub
        .taker
        .0
        .iter()
        .flat_map(|growth| &growth.times)
        .collect();
    assert_eq!(places.len(), 4);
    for (at, growth) in (0..).zip(places) {
        assert_eq!((growth.place, growth.latency.samples()), (at, 50));
        assert_eq!(
            growth.corrected,
            ClockSums::default(),
            "no node tells clocks"
        );
    }
}

/// What segments of reports and of all packets are, counted one by one.
#[derive(Default)]
struct Plain {
    times: BTreeMap<Segment, (bool, LatencyHistogram)>,
}

impl Plain {
    fn report(&mut self, sample: &PathSample) {
        for (segment, time) in sample.path.segments().into_iter().zip(&sample.segments) {
            let (of_packets, latency) = self.times.entry(segment).or_default();
            if let Some(corrected) = time.and_then(|time| time.corrected)
                && !*of_packets
            {
                latency.add(corrected.latency_ns);
            }
        }
    }

    fn all(&mut self, growth: &PathGrowth) {
        for time in &growth.times {
            let at = usize::from(time.place).checked_sub(1);
            let Some(segment) = at.and_then(|at| growth.path.segments().get(at).copied()) else {
                continue;
            };
            // No clock is known.
            if !segment.kind.has_one_clock() {
                continue;
            }
            let (of_packets, latency) = self.times.entry(segment).or_default();
            if !*of_packets {
                (*of_packets, *latency) = (true, LatencyHistogram::default());
            }
            latency.merge(&time.latency);
        }
    }
}

#[test]
fn reported_times_that_waited_are_counted_as_if_each_were_at_once() {
    let (mut random, seed) = Random::from_env();
    let mut hub = ReportHub::new(Growths::default(), None, Classes::default());
    hub.ledgers.start_at(STARTED);
    let mut plain = Plain::default();
    let mut told = 0;
    // More than wait at a time.
    for number in 0..40_000 {
        let mut way = two_hops();
        way.source += random.below(3) as u32;
        way.hops.truncate(1 + random.below(2));
        way.links_ns.truncate(way.hops.len() + 1);
        for hop in &mut way.hops {
            hop.stay_ns = random.below(1_000) as u32 * random.pick(&[1, 1_000]);
        }
        let datagram = way.sample(number, 5000, STARTED + SECOND).datagram();
        hub.datagram(&datagram, arrival(1)).unwrap();
        let report = way.report(number, 5000, STARTED + SECOND);
        plain.report(&PathSample::of(&report, None, |_, _, _| None).unwrap());
        if random.one_in(10_000) {
            told += 10;
            for datagram in report_path::emit(&self::told(0, told)) {
                hub.datagram(&datagram, arrival(5)).unwrap();
            }
            for growth in std::mem::take(&mut hub.taker.0) {
                plain.all(&growth);
            }
        }
        if random.one_in(2_000) || number == 39_999 {
            let rows: BTreeMap<_, _> = (hub.ledgers.segments.rows(1_000).into_iter())
                .map(|row| (row.segment, (row.of_packets, row.latency)))
                .collect();
            assert_eq!(rows, plain.times, "seed {seed}, report {number}");
        }
    }
}
