//! A clock that was wrong for a moment moves neither the marks of a store nor what is removed from it, and a store that one
//! damaged is repaired.

use std::sync::atomic::{AtomicU64, Ordering};

use hostint::model::*;
use hostint::store::*;
use hostint_testing::synthetic::Synthetic;

use crate::disk::*;

/// The host's clock, and the times of reports.
const NOW: u64 = 20_000 * DAY + 12 * HOUR;
const BEGIN: u64 = 20_000 * DAY;
const IN_2106: u64 = 0xffff_fff0 * SECOND;

fn at_noon() -> WallTime {
    WallTime {
        now_ns: NOW,
        is_settled: true,
        set_back: 0,
    }
}

/// Limits as a collector has them.
fn settings(disk: &Disk) -> StoreSettings {
    StoreSettings {
        limits: StoreLimits {
            raw_ns: DAY,
            ten_seconds_ns: DAY,
            minutes_ns: 7 * DAY,
            hours_ns: 365 * DAY,
            bytes: 1 << 30,
        },
        clock: at_noon,
        ..disk.settings()
    }
}

fn fact(disk: &Disk, name: &str) -> u64 {
    let conn = rusqlite::Connection::open(disk.file()).unwrap();
    let found: i64 = conn
        .query_row("SELECT value FROM fact WHERE name = ?", [name], |row| {
            row.get(0)
        })
        .unwrap();
    found as u64
}

fn set_fact(disk: &Disk, name: &str, value: u64) {
    let conn = rusqlite::Connection::open(disk.file()).unwrap();
    conn.execute(
        "INSERT OR REPLACE INTO fact VALUES (?, ?)",
        (name, value as i64),
    )
    .unwrap();
}

/// Stores a report at each of these times, in a session of its own.
fn store(settings: StoreSettings, times: &[u64]) {
    let store = start(settings);
    let mut keeper = store.keeper();
    let mut network = Synthetic::new(1, 2, 1);
    for time_ns in times {
        keep(&mut keeper, &network.report(0, *time_ns));
    }
}

fn minutes(count: u64) -> Vec<u64> {
    (0..count).map(|n| BEGIN + n * 5 * SECOND).collect()
}

/// The reports that answers about the whole time have: of all, by pair, and one by one.
fn counted(disk: &Disk) -> [u64; 3] {
    let mut reader = disk.reader();
    let series = reader.series(&Subject::All, ALWAYS, 1000).unwrap();
    let points = series.points.iter().map(|point| point.figures.reports);
    let pairs = reader.pairs(ALWAYS).unwrap();
    let query = ReportQuery {
        subject: Subject::All,
        limit: 10_000,
    };
    [
        points.sum(),
        pairs.iter().map(|pair| pair.figures.reports).sum(),
        reader.reports(&query, ALWAYS).unwrap().len() as u64,
    ]
}

#[test]
fn one_report_of_the_future_moves_no_mark_and_removes_nothing() {
    let disk = Disk::new();
    store(settings(&disk), &minutes(100));
    let mut times = minutes(100);
    times[50] = IN_2106;
    store(settings(&disk), &times);
    for mark in ["newest_ns", "rolled_ns"] {
        assert!(fact(&disk, mark) <= NOW + 2 * HOUR, "{mark}");
    }
    assert!(counted(&disk)[0] >= 199, "{:?}", counted(&disk));
    // A new store, whose first transaction has it.
    let disk = Disk::new();
    store(settings(&disk), &times);
    assert!(fact(&disk, "newest_ns") <= NOW + 2 * HOUR);
    assert!(counted(&disk)[0] >= 99, "{:?}", counted(&disk));
}

#[test]
fn a_store_whose_marks_are_ahead_is_repaired_when_it_is_opened() {
    struct Case {
        name: &'static str,
        ahead_ns: u64,
    }
    for case in [
        Case {
            name: "marks in 2106",
            ahead_ns: IN_2106,
        },
        Case {
            name: "marks three days ahead",
            ahead_ns: NOW + 3 * DAY,
        },
    ] {
        let name = case.name;
        let disk = Disk::new();
        // Without a clock to compare with, the report moves all marks, as in earlier versions.
        let mut times = minutes(100);
        times.insert(50, case.ahead_ns);
        let unaware = StoreSettings {
            clock: || WallTime {
                now_ns: u64::MAX / 2,
                is_settled: false,
                set_back: 0,
            },
            ..settings(&disk)
        };
        store(unaware, &times);
        for level in ["gone_10s_ns", "gone_1m_ns"] {
            set_fact(&disk, level, case.ahead_ns - HOUR);
        }
        assert!(fact(&disk, "rolled_ns") > NOW + DAY, "{name}");
        drop(OpenedStore::open(settings(&disk)).unwrap());
        let newest_ns = *minutes(100).last().unwrap();
        assert_eq!(
            fact(&disk, "newest_ns") / MINUTE,
            newest_ns / MINUTE,
            "{name}"
        );
        for mark in ["rolled_ns", "gone_10s_ns", "gone_1m_ns"] {
            assert!(fact(&disk, mark) <= NOW, "{name}: {mark}");
        }
        assert_eq!(
            counted(&disk),
            [101; 3],
            "{name}: nothing is lost or counted twice"
        );
        // What comes then counts once in each level.
        let more: Vec<u64> = (0..100).map(|n| BEGIN + HOUR + n * 60 * SECOND).collect();
        store(settings(&disk), &more);
        assert_eq!(counted(&disk), [201; 3], "{name}: later reports");
        let span = Span {
            since_ns: BEGIN,
            until_ns: BEGIN + 8 * MINUTE,
        };
        let series = disk.reader().series(&Subject::All, span, 100).unwrap();
        assert_eq!(
            series.period_ns,
            10 * SECOND,
            "{name}: and are shown as finely as ever"
        );
        assert_eq!(integrity(&disk.file()), "ok");
    }
}

#[test]
fn a_store_of_which_only_the_wrong_report_is_left_shows_what_comes_then() {
    let disk = Disk::new();
    let unaware = StoreSettings {
        clock: || WallTime {
            now_ns: IN_2106 + DAY,
            is_settled: true,
            set_back: 0,
        },
        ..settings(&disk)
    };
    let mut times = minutes(100);
    times.push(IN_2106);
    store(unaware, &times);
    for level in ["gone_10s_ns", "gone_1m_ns", "gone_1h_ns"] {
        set_fact(&disk, level, IN_2106 - HOUR);
    }
    let conn = rusqlite::Connection::open(disk.file()).unwrap();
    for (level, period_ns) in [("10s", 10 * SECOND), ("1m", MINUTE), ("1h", HOUR)] {
        for subject in ["class", "pair", "flow"] {
            let sql = format!("DELETE FROM {subject}_{level} WHERE key < ?");
            let before = ((IN_2106 / period_ns) as i64 - 10) << 33;
            conn.execute(&sql, [before]).unwrap();
        }
    }
    drop(conn);
    let live: Vec<u64> = (0..40).map(|n| NOW + n * 10 * SECOND).collect();
    store(settings(&disk), &live);
    let span = Span {
        since_ns: NOW - HOUR,
        until_ns: NOW + HOUR,
    };
    let series = disk.reader().series(&Subject::All, span, 1000).unwrap();
    let points = series.points.iter().map(|point| point.figures.reports);
    assert_eq!((series.period_ns, points.sum()), (10 * SECOND, 40_u64));
}

#[test]
fn a_store_is_left_as_it_is_by_a_clock_that_is_behind() {
    let disk = Disk::new();
    store(settings(&disk), &minutes(100));
    let before = counted(&disk);
    let in_1970 = StoreSettings {
        clock: || WallTime {
            now_ns: 1000 * SECOND,
            is_settled: true,
            set_back: 0,
        },
        ..settings(&disk)
    };
    drop(OpenedStore::open(in_1970.clone()).unwrap());
    assert_eq!(counted(&disk), before);
    assert_eq!(fact(&disk, "newest_ns") / MINUTE, minutes(100)[99] / MINUTE);
}

/// The clock of a live collector.
static LIVE_NOW: AtomicU64 = AtomicU64::new(0);
static LIVE_BACK: AtomicU64 = AtomicU64::new(0);

#[test]
fn a_live_store_is_repaired_when_its_clock_is_set_back() {
    let disk = Disk::new();
    let live = || StoreSettings {
        from_file: false,
        clock: || WallTime {
            now_ns: LIVE_NOW.load(Ordering::Relaxed),
            is_settled: false,
            set_back: LIVE_BACK.load(Ordering::Relaxed),
        },
        ..settings(&disk)
    };
    let session = |keep_times: &[u64]| {
        let store = start(live());
        let mut keeper = store.keeper();
        let mut network = Synthetic::new(1, 2, 1);
        for time_ns in keep_times {
            keep(&mut keeper, &network.report(0, *time_ns));
        }
        drop(keeper);
        store
    };
    LIVE_NOW.store(BEGIN + HOUR, Ordering::Relaxed);
    drop(session(&minutes(100)));
    // The clock is three days ahead while the process starts.
    LIVE_NOW.store(BEGIN + 3 * DAY, Ordering::Relaxed);
    let store = session(&[BEGIN + 3 * DAY, BEGIN + 3 * DAY + SECOND]);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while store.counts().stored() < 2 {
        assert!(std::time::Instant::now() < end);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(fact(&disk, "newest_ns") >= BEGIN + 3 * DAY);
    LIVE_NOW.store(BEGIN + HOUR + MINUTE, Ordering::Relaxed);
    LIVE_BACK.store(1, Ordering::Relaxed);
    let mut keeper = store.keeper();
    let mut network = Synthetic::new(2, 2, 1);
    keep(&mut keeper, &network.report(0, BEGIN + HOUR + MINUTE));
    drop((keeper, store));
    assert!(fact(&disk, "newest_ns") <= BEGIN + 2 * HOUR);
    assert!(fact(&disk, "rolled_ns") <= BEGIN + 2 * HOUR);
    assert_eq!(counted(&disk)[0], 103);
}
