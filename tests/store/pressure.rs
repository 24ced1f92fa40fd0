//! When more reports come than can be written, roll-ups still count all of them, and unstored reports are counted.

use std::collections::HashSet;

use hostint::model::*;
use hostint::store::*;
use hostint_testing::random::Random;
use hostint_testing::synthetic::{Sample, Synthetic};

use crate::disk::*;
use crate::rollups::{check_figures, ends, samples_over};

const QUEUE: usize = 2 << 20;

fn open(disk: &Disk) -> OpenedStore {
    open_with(disk, QUEUE)
}

fn open_with(disk: &Disk, queue_bytes: usize) -> OpenedStore {
    OpenedStore::open(StoreSettings {
        queue_bytes,
        from_file: false,
        ..disk.settings()
    })
    .unwrap()
}

fn begin(opened: OpenedStore) -> Store {
    let warn = Box::new(|trouble: &str| panic!("{trouble}"));
    opened.start(warn).unwrap()
}

/// Times of the single reports that are in the store: each of the samples has its own.
fn singles(disk: &Disk) -> HashSet<u64> {
    let conn = rusqlite::Connection::open(disk.file()).unwrap();
    let mut times = conn.prepare("SELECT time_ns FROM report").unwrap();
    let times = times.query_map([], |row| Ok(row.get::<_, i64>(0)? as u64));
    times.unwrap().map(Result::unwrap).collect()
}

/// Whether a subject's single reports are these, newest first.
fn check_singles(reader: &mut HistoryReader, subject: Subject, expected: &[&Sample], what: &str) {
    let query = ReportQuery {
        subject,
        limit: 1_000_000,
    };
    let found = reader.reports(&query, ALWAYS).unwrap();
    let expected: Vec<Record> = expected
        .iter()
        .rev()
        .map(|one| Record::new(&one.report, Some(one.arrival)).in_class(one.class))
        .collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    assert!(found == expected, "{what}");
}

#[test]
fn figures_have_all_reports_although_not_all_are_stored_by_themselves() {
    for seed in 1..=3 {
        let disk = Disk::new();
        let samples = samples_over(10 * MINUTE, seed, 30_000);
        let (mut stored, mut only) = (0, 0);
        let mut random = Random::seeded(seed);
        let mut rest = &samples[..];
        while !rest.is_empty() {
            // Before the writer begins: a few, or more than half of the queue has room for.
            let flood = random.one_in(2);
            let most = if flood { 12_000 } else { 500 };
            let (part, behind) = rest.split_at(most.min(rest.len()));
            rest = behind;
            let opened = open(&disk);
            let mut keeper = opened.keeper();
            part.iter().for_each(|sample| keep(&mut keeper, sample));
            drop(keeper);
            let store = begin(opened);
            let counts = store.counts();
            drop(store);
            assert_eq!(counts.drops(), 0);
            assert_eq!(
                counts.stored() + counts.rolled_up_only(),
                part.len() as u64,
                "none twice, none missing"
            );
            assert_eq!(counts.rolled_up_only() > 0, part.len() > 500, "{seed}");
            stored += counts.stored();
            only += counts.rolled_up_only();
        }
        assert!(stored > 0 && only > 0, "{stored} stored, {only} not");
        let mut reader = disk.reader();
        check_figures(&mut reader, &samples, ALWAYS, &format!("seed {seed}"));
        let extent = reader.extent().unwrap();
        assert_eq!((extent.reports, extent.rolled_up_only), (stored, only));
        let here = singles(&disk);
        let left_out = samples
            .iter()
            .rfind(|sample| !here.contains(&sample.arrival.received_ns));
        let last_ns = left_out.unwrap().arrival.received_ns;
        assert!(extent.rolled_up_only_ns >= last_ns, "{extent:?}");

        let kept = samples
            .iter()
            .filter(|sample| here.contains(&sample.arrival.received_ns));
        let kept: Vec<&Sample> = kept.collect();
        assert_eq!(kept.len() as u64, stored);
        check_singles(&mut reader, Subject::All, &kept, "all");
        let query = FlowQuery {
            limit: 1000,
            ..FlowQuery::default()
        };
        for flow in reader.flows(&query, ALWAYS).unwrap() {
            let own = kept.iter().copied();
            let own: Vec<&Sample> = own
                .filter(|one| one.report.observation.flow() == Some(flow.flow))
                .collect();
            let what = format!("{} with those before each", flow.flow);
            check_singles(&mut reader, Subject::Flow(flow.id), &own, &what);
        }
        let pair = ends(kept[0]);
        let own: Vec<&Sample> = kept
            .iter()
            .copied()
            .filter(|one| ends(one) == pair)
            .collect();
        let (source, sink) = pair;
        check_singles(
            &mut reader,
            Subject::Pair { source, sink },
            &own,
            "of a pair",
        );
        assert_eq!(integrity(&disk.file()), "ok");
    }
}

#[test]
fn while_it_is_written_all_are_counted_exactly() {
    let disk = Disk::new();
    let samples = samples_over(10 * MINUTE, 7, 20_000);
    // The sums of two transactions have room, however late the writer runs: none is dropped.
    let store = begin(open_with(&disk, 8 * QUEUE));
    std::thread::scope(|scope| {
        for part in samples.chunks(samples.len() / 3 + 1) {
            let mut keeper = store.keeper();
            scope.spawn(move || part.iter().for_each(|sample| keep(&mut keeper, sample)));
        }
    });
    let counts = store.counts();
    drop(store);
    assert_eq!(counts.drops(), 0);
    assert_eq!(counts.stored() + counts.rolled_up_only(), 20_000);
    assert_eq!(singles(&disk).len() as u64, counts.stored());
    check_figures(&mut disk.reader(), &samples, ALWAYS, "three threads");
}

#[test]
fn when_even_the_figures_find_no_room_reports_are_dropped_and_counted() {
    let disk = Disk::new();
    let opened = open(&disk);
    let mut keeper = opened.keeper();
    let mut network = Synthetic::new(1, 5, 20_000);
    for flow in 0..20_000 {
        keep(
            &mut keeper,
            &network.report(flow, 20_000 * DAY + flow as u64),
        );
    }
    drop(keeper);
    let store = begin(opened);
    let counts = store.counts();
    drop(store);
    assert!(counts.drops() > 0, "a row for each of 20,000 flows is more");
    let kept = counts.stored() + counts.rolled_up_only();
    assert_eq!(kept + counts.drops(), 20_000);
    assert_eq!(
        counts.stored(),
        0,
        "the figures took the room of the others"
    );
    let mut reader = disk.reader();
    let pairs = reader.pairs(ALWAYS).unwrap();
    let reports: u64 = pairs.iter().map(|pair| pair.figures.reports).sum();
    assert_eq!(reports, kept);
    let query = FlowQuery {
        limit: 20_000,
        ..FlowQuery::default()
    };
    assert_eq!(reader.flows(&query, ALWAYS).unwrap().len() as u64, kept);
}
