//! What is usual at an hour of the day comes from the history's own figures, and so does the past of a collector that starts.

use std::collections::BTreeMap;

use hostint::model::*;
use hostint::store::*;
use hostint::verdict::{HourUsual, PastQuestion, VerdictEngine};
use hostint_testing::report_samples;

use crate::disk::*;

const NODES: u32 = 5;
/// Node 1 takes the backup.
const BACKUP: u32 = 1;
const SLOT: u64 = 10 * SECOND;
/// A midnight.
const DAY_0: u64 = 20_000 * DAY;
const USUAL_NS: i64 = 1_000_000;
/// By how much the clock of sinks is ahead.
const AHEAD_NS: i64 = 70_000;

fn pairs() -> impl Iterator<Item = (u32, u32)> {
    let all = (1..=NODES).flat_map(|source| (1..=NODES).map(move |sink| (source, sink)));
    all.filter(|(source, sink)| source != sink)
}

/// Latencies around a mean, as they are stamped.
fn latency(mean_ns: i64, packets: i64) -> LatencyHistogram {
    let mut all = LatencyHistogram::default();
    for number in 0..packets {
        let apart = (number % 21 - 10) * mean_ns / 100;
        all.add(mean_ns + apart + AHEAD_NS);
    }
    all
}

fn measured(mean_ns: i64, packets: i64, lost: u64) -> Measured {
    let latency = latency(mean_ns, packets);
    Measured {
        summaries: 1,
        packets: packets as u64,
        lost,
        corrected: ClockSums {
            packets: packets as u64,
            latency_ns: latency.sum_ns() - AHEAD_NS * packets,
            error_ns: 1_000 * packets as u64,
            ..ClockSums::default()
        },
        latency,
        ..Measured::default()
    }
}

fn keep(keeper: &mut StoreKeeper, (source, sink): (u32, u32), time_ns: u64, measured: &Measured) {
    let body = Body::Summary(Box::new(Summary {
        time_s: (time_ns / SECOND) as u32,
        period_ns: SLOT,
        source_node: NodeId(source),
        sink_node: NodeId(sink),
        subject: SummarySubject::Group { class: None },
        totals: SubjectTotals::default(),
    }));
    let arrival = Arrival {
        exporter: "198.51.100.2:32766".parse().unwrap(),
        received_ns: time_ns,
    };
    let report = report_samples::of_body(body);
    keeper.keep(&report, 0, Some(arrival), None, Some(measured), b"{}");
}

/// The latency to a sink at an hour: at 02:00 there is a backup.
fn at_hour(hour: u64, sink: u32) -> i64 {
    match (hour, sink) {
        (2, BACKUP) => 3 * USUAL_NS,
        _ => USUAL_NS,
    }
}

/// A history of these days, and of a fourth day until an hour.
fn history(days: u64, until_hour: u64) -> Disk {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    for hour in 0..days * 24 + until_hour + 1 {
        for pair in pairs() {
            let one = measured(at_hour(hour % 24, pair.1), 2_100, 0);
            keep(&mut keeper, pair, DAY_0 + hour * HOUR + MINUTE, &one);
        }
    }
    drop((keeper, store));
    disk
}

/// Asks a history as a collector does.
fn ask(reader: &mut HistoryReader, question: PastQuestion) -> hostint::verdict::KnownPast {
    let degraded = reader.degraded(question.span()).unwrap();
    let mut question = question.without(degraded);
    let begins = question.begins();
    let take = &mut |hour: PairHour| question.take(&hour);
    reader.pair_hours(&begins, take).unwrap();
    question.answer()
}

fn slot(end_ns: u64, latency_ns: impl Fn(u32) -> i64) -> VerdictSlot {
    let cell = |(source, sink)| {
        let one = measured(latency_ns(sink), 210, 0);
        let id = CellId {
            source: NodeId(source),
            sink: NodeId(sink),
            class: None,
        };
        let growth = CellGrowth {
            counts: CellCounts { sent: 210, lost: 0 },
            clocks_ns: one.corrected.clocks_ns(&one.latency),
            latency: one.latency,
            flows: 5,
            ..CellGrowth::default()
        };
        (id, growth)
    };
    let host = HostInSlot {
        reports: true,
        ..HostInSlot::default()
    };
    VerdictSlot {
        end_ns,
        cells: pairs().map(cell).collect(),
        hosts: (1..=NODES)
            .map(|node| (NodeId(node), host.clone()))
            .collect::<BTreeMap<_, _>>(),
        ..VerdictSlot::default()
    }
}

/// What is said in the first minutes of slow packets to the backup's host at an hour of the fourth day, half an hour
/// of quiet before.
fn slow_at(hour: u64, disk: Option<&Disk>) -> Vec<VerdictState> {
    let mut engine = VerdictEngine::default();
    let begin_ns = DAY_0 + 3 * DAY + hour * HOUR;
    if let Some(disk) = disk {
        let mut reader = disk.reader();
        engine.know(ask(&mut reader, PastQuestion::same_hour(begin_ns)));
    }
    let quiet = 180;
    for number in 0..quiet {
        let end_ns = begin_ns - (quiet - number) * SLOT + SLOT;
        engine.slot(&slot(end_ns, |_| USUAL_NS));
    }
    let said = (1..=12).map(|number| {
        let verdict = engine.slot(&slot(begin_ns + (number + 1) * SLOT, |sink| {
            at_hour(2, sink)
        }));
        verdict.state
    });
    said.collect()
}

#[test]
fn a_backup_of_each_night_is_usual_at_night_alone() {
    let disk = history(3, 1);
    let cases = [
        ("the fourth night of a backup", 2, Some(&disk), false),
        ("the same in the afternoon", 14, Some(&disk), true),
        ("the same night without a history", 2, None, true),
        (
            "the same night after two others",
            2,
            Some(&history(2, 1)),
            true,
        ),
    ];
    for (sentence, hour, disk, is_degraded) in cases {
        let said = slow_at(hour, disk);
        let found = said.contains(&VerdictState::Degraded);
        assert_eq!(found, is_degraded, "{sentence}: {said:?}");
    }
}

#[test]
fn figures_of_an_hour_are_those_of_the_median_day() {
    let disk = history(4, 0);
    let mut reader = disk.reader();
    let known = ask(
        &mut reader,
        PastQuestion::same_hour(DAY_0 + 4 * DAY + 2 * HOUR + MINUTE),
    );
    let (hour_ns, pairs) = &known.hours[0];
    assert_eq!(*hour_ns, DAY_0 + 4 * DAY + 2 * HOUR);
    let of = |sink| -> HourUsual { pairs[&(NodeId(5), NodeId(sink))] };
    let (backup, other) = (of(BACKUP).figures, of(2).figures);
    assert_eq!((backup.of, backup.days), (UsualOrigin::SameHour, 4));
    assert_eq!(backup.packets, 4 * 2_100);
    let near = |ns: i64, expected: i64| (ns - expected).abs() < expected / 10;
    assert!(near(backup.p50_ns, 3 * USUAL_NS), "{backup:?}");
    assert!(near(other.p50_ns, USUAL_NS), "{other:?}");
    assert!(backup.is_corrected, "without the clocks' difference");
}

/// A night in which something was degraded does not count while three others are there.
#[test]
fn a_degraded_hour_is_left_out() {
    let disk = history(3, 0);
    let store = disk.open();
    let mut keeper = store.keeper();
    let bad_ns = DAY_0 + 3 * DAY + 2 * HOUR;
    for day in [3, 4] {
        for pair in pairs() {
            let one = measured(9 * USUAL_NS, 2_100, 300);
            keep(
                &mut keeper,
                pair,
                DAY_0 + day * DAY + 2 * HOUR + MINUTE,
                &one,
            );
        }
    }
    for number in 0..6 {
        for day in 0..2 {
            keeper.see_verdict(NetworkVerdict {
                as_of_ns: bad_ns + day * DAY + MINUTE + number * SLOT,
                state: VerdictState::Degraded,
                ..NetworkVerdict::default()
            });
        }
    }
    for pair in pairs() {
        let end_ns = DAY_0 + 5 * DAY + HOUR;
        keep(&mut keeper, pair, end_ns, &measured(USUAL_NS, 2_100, 0));
    }
    drop((keeper, store));
    let mut reader = disk.reader();
    let known = ask(
        &mut reader,
        PastQuestion::same_hour(DAY_0 + 5 * DAY + 2 * HOUR),
    );
    let usual = known.hours[0].1[&(NodeId(3), NodeId(2))].figures;
    assert_eq!(
        (usual.days, usual.loss),
        (3, 0.0),
        "three good days of five"
    );
}

#[test]
fn a_collector_that_starts_again_has_the_last_hours() {
    let disk = history(0, 7);
    let begin_ns = DAY_0 + 7 * HOUR + 30 * MINUTE;
    let run = |has_past: bool| {
        let mut engine = VerdictEngine::default();
        if has_past {
            let mut reader = disk.reader();
            engine.know(ask(&mut reader, PastQuestion::last_hours(begin_ns)));
        }
        let said = (0..30).map(|number| {
            let mut one = slot(begin_ns + number * SLOT, |sink| at_hour(2, sink));
            if number < 3 {
                // The clocks of the first slots are not known yet.
                one.cells
                    .values_mut()
                    .for_each(|cell| cell.clocks_ns = None);
            }
            engine.slot(&one)
        });
        said.collect::<Vec<_>>()
    };
    let with_past = run(true);
    assert!(
        with_past[0].judged.usual_ns >= HOUR,
        "{:?}",
        with_past[0].judged
    );
    assert_eq!(
        with_past[29].state,
        VerdictState::Degraded,
        "slow from the first slot on"
    );
    let without = run(false);
    assert_eq!(without[0].judged.usual_ns, 0, "nothing is known yet");
    assert_eq!(
        without[29].state,
        VerdictState::Healthy,
        "there is nothing to compare with"
    );
}

/// `cargo test --release --test store usual -- --nocapture` with `HOSTINT_LONG=1` prints what 20,000 pairs cost.
#[test]
fn twenty_thousand_pairs_are_read_in_bounded_time() {
    if std::env::var_os("HOSTINT_LONG").is_none() {
        return;
    }
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    let one = measured(USUAL_NS, 2_100, 1);
    for day in 0..8 {
        for pair in 0..20_000 {
            let nodes = (pair / 142, 1_000 + pair % 142);
            keep(&mut keeper, nodes, DAY_0 + day * DAY + MINUTE, &one);
        }
    }
    drop((keeper, store));
    let mut reader = disk.reader();
    let begun = std::time::Instant::now();
    let known = ask(&mut reader, PastQuestion::same_hour(DAY_0 + 7 * DAY));
    println!(
        "{} pairs of 7 days: {:?}",
        known.hours[0].1.len(),
        begun.elapsed()
    );
    assert_eq!(known.hours[0].1.len(), 20_000);
}
