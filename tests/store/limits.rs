//! The store deletes the oldest reports, gives disk space back, and counts reports that its queue cannot hold.

use hostint::model::*;
use hostint::store::*;
use hostint_testing::report_samples::host_drops;
use hostint_testing::synthetic::Synthetic;

use crate::disk::*;

/// Some time long ago, as of the beginning of a day.
const DAWN: u64 = 20_000 * DAY;

/// Stores a report of each of `flows` flows every ten seconds.
fn fill(settings: StoreSettings, flows: usize, from_ns: u64, rounds: u64) -> u64 {
    let store = start(settings);
    let mut keeper = store.keeper();
    let mut network = Synthetic::new(1, 5, flows);
    for round in 0..rounds {
        for flow in 0..flows {
            let time_ns = from_ns + round * 10 * SECOND + flow as u64;
            keep(&mut keeper, &network.report(flow, time_ns));
        }
    }
    let counts = store.counts();
    drop((keeper, store));
    assert_eq!(counts.drops(), 0);
    counts.stored()
}

fn rows(disk: &Disk, table: &str) -> u64 {
    let conn = rusqlite::Connection::open(disk.file()).unwrap();
    let sql = format!("SELECT count(*) FROM {table}");
    conn.query_row(&sql, [], |row| row.get::<_, i64>(0))
        .unwrap() as u64
}

#[test]
fn what_is_older_than_its_limit_goes() {
    let disk = Disk::new();
    let settings = StoreSettings {
        limits: StoreLimits {
            raw_ns: 10 * MINUTE,
            ten_seconds_ns: 20 * MINUTE,
            minutes_ns: HOUR,
            hours_ns: 10 * HOUR,
            bytes: 1 << 30,
        },
        ..disk.settings()
    };
    // Two hours, in sessions: each transaction takes a part away.
    for session in 0..12 {
        let from_ns = DAWN + session * 10 * MINUTE;
        fill(settings.clone(), 10, from_ns, 60);
    }
    let end = DAWN + 2 * HOUR;
    let span = |ago| Span {
        since_ns: end - ago,
        until_ns: end,
    };
    let mut reader = disk.reader();
    let points = |reader: &mut HistoryReader, ago, points| {
        let series = reader.series(&Subject::All, span(ago), points).unwrap();
        let reports: u64 = series
            .points
            .iter()
            .map(|point| point.figures.reports)
            .sum();
        (series.period_ns / SECOND, reports)
    };
    // Each is as fine as what is kept, and nothing is missing but what is older than all.
    assert_eq!(
        points(&mut reader, 20 * MINUTE - 10 * SECOND, 1000),
        (10, 10 * 119)
    );
    assert_eq!(points(&mut reader, HOUR - MINUTE, 1000), (60, 10 * 59 * 6));
    assert_eq!(points(&mut reader, 2 * HOUR, 1000), (3600, 10 * 120 * 6));
    let all: u64 = reader
        .pairs(span(2 * HOUR))
        .unwrap()
        .iter()
        .map(|pair| pair.figures.reports)
        .sum();
    assert_eq!(all, 10 * 120 * 6, "hours have what minutes have no longer");
    let query = ReportQuery {
        subject: Subject::All,
        limit: 1_000_000,
    };
    let raw = reader.reports(&query, ALWAYS).unwrap().len();
    assert!((600..=620).contains(&raw), "{raw}");
    assert_eq!(rows(&disk, "flow"), 10);

    // Much later all that was is gone, the flows' names too.
    fill(settings.clone(), 1, DAWN + DAY, 10);
    fill(settings, 1, DAWN + DAY + 100 * SECOND, 10);
    assert_eq!((rows(&disk, "report"), rows(&disk, "flow")), (20, 1));
    assert_eq!(rows(&disk, "class_1h"), 1);
    assert_eq!(integrity(&disk.file()), "ok");
}

#[test]
fn a_store_stays_within_its_size_and_gives_back_what_it_does_not_need() {
    let disk = Disk::new();
    let sized = |bytes| StoreSettings {
        limits: StoreLimits {
            bytes,
            ..disk.settings().limits
        },
        ..disk.settings()
    };
    let size = || std::fs::metadata(disk.file()).unwrap().len();
    let stored = fill(sized(16 << 20), 200, DAWN, 700);
    assert!(size() <= 16 << 20, "{} bytes", size());
    let raw = rows(&disk, "report");
    assert!(raw > 10_000 && raw < stored, "{raw} of {stored}");
    let figures: u64 = disk
        .reader()
        .pairs(ALWAYS)
        .unwrap()
        .iter()
        .map(|pair| pair.figures.reports)
        .sum();
    assert_eq!(figures, stored, "single reports go first");

    for session in 1..20 {
        fill(sized(4 << 20), 1, DAWN + session * HOUR + 2 * HOUR, 3);
    }
    assert!(size() <= 4 << 20, "{} bytes", size());
    let figures: u64 = disk
        .reader()
        .pairs(ALWAYS)
        .unwrap()
        .iter()
        .map(|pair| pair.figures.reports)
        .sum();
    assert_eq!(figures, stored + 19 * 3, "then the finest figures");
    assert_eq!(integrity(&disk.file()), "ok");
}

/// Drops of many flows at a host in each minute of an hour.
fn fill_drops(settings: StoreSettings, from_ns: u64) {
    const FLOWS: u16 = 400;
    let told = host_drops()
        .into_iter()
        .map(|report| report.observation.body);
    let mut drops = told.filter_map(|body| match body {
        Body::HostDrop(report) => Some(report.drop),
        _ => None,
    });
    let outside_tunnels = drops.find(|drop| drop.tunnel.is_none());
    let mut dropped = outside_tunnels.expect("the samples have drops");
    let store = start(settings);
    let keeper = store.keeper();
    for minute in 0..60 {
        for flow in 0..FLOWS {
            dropped.flow.sport = flow;
            keeper.drop_flow(
                NodeId(1),
                &dropped,
                dropped.count,
                from_ns + minute * MINUTE,
            );
        }
    }
    drop((keeper, store));
}

#[test]
fn drops_make_room_as_figures_of_ten_seconds_do() {
    let disk = Disk::new();
    let sized = |bytes| StoreSettings {
        limits: StoreLimits {
            bytes,
            ..disk.settings().limits
        },
        ..disk.settings()
    };
    let size = || std::fs::metadata(disk.file()).unwrap().len();
    let oldest_hour = || {
        let conn = rusqlite::Connection::open(disk.file()).unwrap();
        let sql = "SELECT min(begin_ns) FROM drop_flow";
        let ns: i64 = conn.query_row(sql, [], |row| row.get(0)).unwrap();
        (ns as u64 - DAWN) / HOUR
    };
    for hour in 0..6 {
        fill_drops(sized(1 << 30), DAWN + hour * HOUR);
        fill(sized(1 << 30), 1, DAWN + hour * HOUR, 10);
    }
    let (before, all) = (size(), rows(&disk, "drop_flow"));
    assert_eq!((oldest_hour(), all), (0, 6 * 60 * 400));
    let most = before / 2;
    // Each transaction gives something back.
    for _ in 0..20 {
        fill(sized(most), 1, DAWN + 6 * HOUR, 1);
    }
    assert!(size() <= most, "{} of {before} bytes", size());
    assert_eq!(integrity(&disk.file()), "ok");
    let (left, oldest) = (rows(&disk, "drop_flow"), oldest_hour());
    assert!(left > all / 5 && left < all / 2, "{left} of {all}");
    assert!((3..=4).contains(&oldest), "the newest stay: {oldest}");
    let reports: u64 = disk
        .reader()
        .pairs(ALWAYS)
        .unwrap()
        .iter()
        .map(|pair| pair.figures.reports)
        .sum();
    assert_eq!(reports, 6 * 10 + 20, "minutes and hours stay");
}

#[test]
fn more_flows_than_are_followed_count_for_their_nodes() {
    let disk = Disk::new();
    let store = start(StoreSettings {
        most_flows: 10,
        ..disk.settings()
    });
    let mut keeper = store.keeper();
    let mut network = Synthetic::new(1, 2, 30);
    for n in 0..300 {
        keep(&mut keeper, &network.report(n % 30, DAWN + n as u64));
    }
    let counts = store.counts();
    drop((keeper, store));
    assert_eq!((counts.stored(), counts.beyond_flows()), (300, 200));
    let mut reader = disk.reader();
    let sum: u64 = reader
        .pairs(ALWAYS)
        .unwrap()
        .iter()
        .map(|pair| pair.figures.reports)
        .sum();
    assert_eq!(sum, 300);
    let query = FlowQuery {
        limit: 99,
        ..FlowQuery::default()
    };
    assert_eq!(reader.flows(&query, ALWAYS).unwrap().len(), 10);
    assert_eq!(reader.extent().unwrap().reports, 300);

    // Those that are quiet make room.
    let store = start(StoreSettings {
        most_flows: 10,
        ..disk.settings()
    });
    let mut keeper = store.keeper();
    for n in 0..20 {
        keep(&mut keeper, &network.report(n, DAWN + n as u64 * HOUR));
    }
    let counts = store.counts();
    drop((keeper, store));
    assert_eq!((counts.stored(), counts.beyond_flows()), (20, 0));
}

#[test]
fn what_finds_the_queue_full_is_counted() {
    let disk = Disk::new();
    let store = start(StoreSettings {
        queue_bytes: 400_000,
        from_file: false,
        ..disk.settings()
    });
    let mut keepers: Vec<StoreKeeper> = (0..3).map(|_| store.keeper()).collect();
    let mut network = Synthetic::new(1, 5, 100);
    let samples: Vec<_> = (0..20_000)
        .map(|n| network.report(n % 100, DAWN + n as u64))
        .collect();
    for (n, sample) in samples.iter().enumerate() {
        keep(&mut keepers[n % 3], sample);
    }
    let counts = store.counts();
    drop(keepers);
    drop(store);
    assert!(
        counts.rolled_up_only() > 0,
        "half a queue of 400 kB holds not all of 20,000 reports"
    );
    assert_eq!(
        counts.stored() + counts.rolled_up_only() + counts.drops(),
        20_000
    );
    assert_eq!(rows(&disk, "report"), counts.stored());
}
