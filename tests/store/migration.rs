//! A history of hostint 0.1.0 becomes one of the present schema: nothing is lost, whenever the writer is killed.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hostint::model::*;
use hostint::store::*;
use hostint_testing::places;
use hostint_testing::synthetic::Synthetic;
use rusqlite::Connection;

use crate::disk::*;

const ADDED: [&str; 13] = [
    "measured",
    "measured_packets",
    "measured_bytes",
    "measured_lost",
    "measured_recovered",
    "measured_reordered",
    "measured_duplicates",
    "measured_latency",
    "corrected_packets",
    "corrected_latency",
    "corrected_error",
    "corrected_less",
    "corrected_more",
];

fn tables() -> impl Iterator<Item = String> {
    ["flow", "pair", "class"]
        .into_iter()
        .flat_map(|subject| ["10s", "1m", "1h"].map(|level| format!("{subject}_{level}")))
}

fn version(disk: &Disk) -> i64 {
    let conn = Connection::open(disk.file()).unwrap();
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap()
}

/// A history as 0.1.0 left it: the present schema has its tables, with columns behind theirs, and those of paths.
fn of_0_1_0() -> Disk {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    let mut network = Synthetic::new(3, 4, 60);
    for n in 0..4_000 {
        keep(
            &mut keeper,
            &network.report(n % 60, DAY + n as u64 * SECOND),
        );
    }
    drop((keeper, store));
    let conn = Connection::open(disk.file()).unwrap();
    for table in tables() {
        for column in ADDED {
            conn.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN {column}"))
                .unwrap();
        }
    }
    for table in ["segment", "flow_segment"] {
        for level in ["10s", "1m", "1h"] {
            conn.execute_batch(&format!("DROP TABLE {table}_{level}"))
                .unwrap();
        }
    }
    conn.execute_batch("DROP TABLE path; DROP TABLE path_unseen")
        .unwrap();
    conn.pragma_update(None, "user_version", 1).unwrap();
    disk
}

/// All that the history answers.
fn answers(reader: &mut HistoryReader) -> String {
    let flows = FlowQuery {
        limit: 100,
        ..FlowQuery::default()
    };
    let reports = ReportQuery {
        subject: Subject::All,
        limit: 50,
    };
    let extent = Extent {
        bytes: 0,
        ..reader.extent().unwrap()
    };
    format!(
        "{extent:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
        reader.pairs(ALWAYS).unwrap(),
        reader.classes(ALWAYS).unwrap(),
        reader.flows(&flows, ALWAYS).unwrap(),
        reader.series(&Subject::All, ALWAYS, 100).unwrap(),
        reader.reports(&reports, ALWAYS).unwrap(),
    )
}

/// A summary of a group, whose sink counted these packets.
fn keep_measured(disk: &Disk, packets: u64) {
    let store = disk.open();
    let sample = Synthetic::new(3, 4, 60).report(0, DAY + 5_000 * SECOND);
    let mut measured = Measured {
        summaries: 1,
        packets,
        ..Measured::default()
    };
    (0..packets).for_each(|_| measured.latency.add(7_000));
    // The clocks were known for all but one.
    measured.corrected = ClockSums {
        packets: packets - 1,
        latency_ns: (packets as i64 - 1) * 5_000,
        error_ns: (packets - 1) * 300,
        less_ns: (packets - 1) * 9_000,
        more_ns: (packets - 1) * 2_000,
    };
    let (arrival, evidence) = (Some(sample.arrival), sample.datagram());
    store
        .keeper()
        .keep(&sample.report, 0, arrival, None, Some(&measured), &evidence);
    drop(store);
}

#[test]
fn a_history_of_0_1_0_answers_as_before_and_learns_of_packets() {
    let disk = of_0_1_0();
    let mut before = disk.reader();
    let known = answers(&mut before);
    assert_eq!(version(&disk), 1, "a reader leaves the file as it is");
    assert!(known.contains("measured: None") && !known.contains("measured: Some"));
    let bytes = || std::fs::metadata(disk.file()).unwrap().len();
    let old_bytes = bytes();

    drop(disk.open());
    assert_eq!(version(&disk), SCHEMA_VERSION);
    assert_eq!(integrity(&disk.file()), "ok");
    assert_eq!(answers(&mut disk.reader()), known, "after the migration");
    assert_eq!(answers(&mut before), known, "to a reader that was open");
    assert!(
        bytes() <= old_bytes + (64 << 10),
        "{} after {old_bytes}",
        bytes()
    );

    keep_measured(&disk, 40);
    let query = FlowQuery {
        limit: 100,
        ..FlowQuery::default()
    };
    for (name, reader) in [("old", &mut before), ("new", &mut disk.reader())] {
        let flows = reader.flows(&query, ALWAYS).unwrap();
        let measured: Vec<_> = flows
            .iter()
            .filter_map(|flow| flow.figures.measured)
            .collect();
        assert_eq!(measured.len(), 1, "{name} reader");
        assert_eq!(measured[0].packets, 40, "{name} reader");
        assert_eq!(
            measured[0].latency.unwrap().p99_ns,
            Some(7_000),
            "{name} reader"
        );
    }
}

#[test]
fn a_new_file_and_a_migrated_one_have_the_same_columns() {
    let (new, old) = (Disk::new(), of_0_1_0());
    drop((new.open(), old.open()));
    let columns = |disk: &Disk| -> Vec<String> {
        let conn = Connection::open(disk.file()).unwrap();
        tables()
            .map(|table| {
                let sql = format!(
                    "SELECT group_concat(name || ' ' || type || ' ' || \"notnull\") FROM pragma_table_info('{table}')"
                );
                let columns: String = conn.query_row(&sql, [], |row| row.get(0)).unwrap();
                format!("{table}: {columns}")
            })
            .collect()
    };
    assert_eq!(columns(&new), columns(&old));
}

#[test]
fn a_migration_that_is_killed_again_and_again_loses_nothing() {
    let disk = of_0_1_0();
    let known = answers(&mut disk.reader());
    let wait = |what: &str, done: &mut dyn FnMut() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !done() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_micros(100));
        }
    };
    let mut kills = 0;
    for round in 0..40 {
        if version(&disk) == SCHEMA_VERSION {
            break;
        }
        // The collector waits for this lock with its migration, which begins when the lock is released.
        let held = Connection::open(disk.file()).unwrap();
        held.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut child = Command::new(places::hostint())
            .args(["collect", "--read", "-", "--store"])
            .arg(disk.file())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let opened = format!("/proc/{}/fd", child.id());
        wait("the collector opens the store", &mut || {
            let fds = std::fs::read_dir(&opened).unwrap().flatten();
            let mut files = fds.filter_map(|fd| std::fs::read_link(fd.path()).ok());
            files.any(|file| file == disk.file())
        });
        drop(held);
        // A little later in each round, so that some are killed before it, some in its midst, and one after it.
        std::thread::sleep(Duration::from_micros(250) * round);
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        assert_eq!(integrity(&disk.file()), "ok", "round {round}");
        assert_eq!(answers(&mut disk.reader()), known, "round {round}");
    }
    assert!(kills > 0);
    drop(disk.open());
    assert_eq!(version(&disk), SCHEMA_VERSION);
    assert_eq!(answers(&mut disk.reader()), known, "after {kills} kills");
}

/// `HOSTINT_TEST_STORE_MIB` makes the file larger; the time is printed.
#[test]
fn a_migration_takes_no_room_however_large_the_file() {
    let mib: i64 = std::env::var("HOSTINT_TEST_STORE_MIB").map_or(16, |mib| mib.parse().unwrap());
    let disk = of_0_1_0();
    let conn = Connection::open(disk.file()).unwrap();
    // Rows of 1000 bytes, in the ten seconds after those that are there.
    let last: i64 = conn
        .query_row("SELECT max(key) FROM flow_10s", [], |row| row.get(0))
        .unwrap();
    conn.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
         INSERT INTO flow_10s SELECT ?1 + i, 1, 1, 0, 0, 0, 0, 0, zeroblob(1000) FROM n",
        (last, mib << 10),
    )
    .unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    drop(conn);
    let bytes = || -> u64 {
        let files = std::fs::read_dir(disk.folder()).unwrap();
        files
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum()
    };
    let before = bytes();
    assert!(before >= (mib as u64) << 20);
    let begin = Instant::now();
    let opened = OpenedStore::open(disk.settings()).unwrap();
    let (took, most) = (begin.elapsed(), bytes());
    eprintln!(
        "{before} bytes are migrated in {took:?} and take {} more",
        most - before
    );
    assert!(most < before + (2 << 20), "{most} after {before}");
    drop(opened);
    assert_eq!(version(&disk), SCHEMA_VERSION);
}

#[test]
fn what_was_known_of_clocks_is_kept() {
    let disk = of_0_1_0();
    keep_measured(&disk, 11);
    let query = FlowQuery {
        limit: 100,
        ..FlowQuery::default()
    };
    let flows = disk.reader().flows(&query, ALWAYS).unwrap();
    let measured = flows.iter().filter_map(|flow| flow.figures.measured);
    let measured: Vec<_> = measured.collect();
    let [measured] = measured[..] else {
        panic!("one flow was measured: {measured:?}")
    };
    let expected = CorrectedMean {
        packets: 10,
        mean_ns: 5_000,
        error_ns: 300,
        // No packet takes a negative time.
        bound_ns: [0, 7_000],
    };
    assert_eq!(measured.corrected, Some(expected));
}
