//! A history whose segments have rows of their own, as schema 2 has them, answers as one of the present schema, and grows on.

use hostint::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use hostint::model::*;
use hostint::store::*;
use hostint_testing::path_samples::two_hops;
use rusqlite::Connection;

use crate::disk::*;
use crate::paths::{Known, keep_way, sample_of};

/// What the code before schema 3 left when it had kept [`Part::First`], as the sqlite3 shell dumps it.
const DUMP: &str = include_str!("../golden/store_schema_2.sql");

/// What is kept before the writer changes, and after.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Part {
    First,
    /// It begins in the ten seconds in which the first one ends, and has late reports for minutes that were rolled up.
    Second,
}

/// Keeps reports of three flows over two ways, with what sinks and hops count of all packets.
fn fill(disk: &Disk, part: Part) {
    let store = disk.open();
    let mut keeper = store.keeper();
    let seconds = match part {
        Part::First => 0..48,
        Part::Second => 48..72,
    };
    for number in seconds {
        let late = part == Part::Second && number % 5 == 0;
        let second = u64::from(if late { number / 5 } else { number });
        let time_ns = DAY + second * 4 * SECOND + 1;
        let mut way = two_hops();
        way.hops[0].stay_ns += 100 * number;
        way.hops.truncate(1 + number as usize % 2);
        way.links_ns.truncate(way.hops.len() + 1);
        let sport = 1 + (number % 3) as u16;
        let known = [Known::All, Known::Ends, Known::Nothing][number as usize / 3 % 3];
        keep_way(&mut keeper, &way, (number, sport, time_ns), known);
        let sample = sample_of(&way, &way.report(number, sport, time_ns), known);
        let path = sample.path.path().clone();
        if number % 4 == 0 {
            keeper.grow_path(&growth(&path, number), time_ns);
        }
        if number % 6 == 0 {
            let (packets, lost) = (50, i64::from(number % 4) - 1);
            let counted = Crossed { packets, lost };
            let crossed = PathCrossed {
                path,
                places: vec![
                    (CrossedPlace::Segment(1), counted),
                    (CrossedPlace::Queue(0), counted),
                ],
                unseen: vec![(1, 3)],
            };
            keeper.cross_path(&crossed, time_ns);
        }
        keeper.flush();
    }
}

fn growth(path: &Path, number: u32) -> PathGrowth {
    let times = (0..=path.segment_count() as u8).map(|place| {
        let mut latency = LatencyHistogram::new();
        (0..5).for_each(|n| latency.add(i64::from(number * 10 + n * 1_000)));
        PlaceGrowth {
            place,
            latency,
            corrected: ClockSums::default(),
        }
    });
    PathGrowth {
        path: path.clone(),
        times: times.collect(),
    }
}

/// All that the history answers of paths, as of these times.
fn answers(disk: &Disk) -> Vec<String> {
    let mut reader = disk.reader();
    let pair = PathQuery::Pair {
        source: NodeId(1),
        sink: NodeId(2),
    };
    let flows = (1..=3).map(PathQuery::Flow);
    let queries: Vec<_> = std::iter::once(pair).chain(flows).collect();
    let part = Span {
        since_ns: DAY + 60 * SECOND,
        until_ns: DAY + 170 * SECOND,
    };
    let mut all = Vec::new();
    for span in [ALWAYS, part] {
        for query in &queries {
            all.push(format!("{:#?}", reader.paths(*query, span).unwrap()));
        }
        for order in [SegmentOrder::P99, SegmentOrder::Share, SegmentOrder::Lost] {
            let segments = reader.segments(order, span, 100).unwrap();
            all.push(format!("{segments:#?}"));
        }
    }
    all
}

/// A history of schema 2.
fn of_schema_2() -> Disk {
    let disk = Disk::new();
    let conn = Connection::open(disk.file()).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    conn.execute_batch(DUMP).unwrap();
    disk
}

fn version(disk: &Disk) -> i64 {
    let conn = Connection::open(disk.file()).unwrap();
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_history_of_schema_2_answers_as_one_of_the_present_schema() {
    let (old, new) = (of_schema_2(), Disk::new());
    fill(&new, Part::First);
    let expected = answers(&new);
    assert!(expected[0].contains("loss: Some") && expected[0].contains("samples"));
    assert_eq!(answers(&old), expected, "before a writer has opened it");
    assert_eq!(version(&old), 2, "a reader leaves the file as it is");
    drop(old.open());
    assert_eq!((version(&old), version(&new)), (SCHEMA_VERSION, 3));
    assert_eq!(integrity(&old.file()), "ok");
    assert_eq!(answers(&old), expected, "after the migration");
}

#[test]
fn what_comes_after_the_migration_is_added_to_what_was_there() {
    let (old, new) = (of_schema_2(), Disk::new());
    let mut open = old.reader();
    fill(&new, Part::First);
    fill(&old, Part::Second);
    fill(&new, Part::Second);
    assert_eq!(answers(&old), answers(&new));
    let pair = PathQuery::Pair {
        source: NodeId(1),
        sink: NodeId(2),
    };
    assert_eq!(
        open.paths(pair, ALWAYS).unwrap(),
        new.reader().paths(pair, ALWAYS).unwrap(),
        "to a reader that was open"
    );
}

#[test]
fn a_migrated_file_and_a_new_one_have_the_same_columns() {
    let (old, new) = (of_schema_2(), Disk::new());
    drop((old.open(), new.open()));
    let columns = |disk: &Disk| -> Vec<String> {
        let conn = Connection::open(disk.file()).unwrap();
        let mut all = conn
            .prepare(
                "SELECT tables.name || ' ' || columns.name || ' ' || columns.type || columns.\"notnull\"
                 FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
                 WHERE tables.type = 'table' ORDER BY tables.name, columns.cid",
            )
            .unwrap();
        let rows = all.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(columns(&old), columns(&new));
}
