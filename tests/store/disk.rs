//! A store in a folder that goes with its guard.

use std::path::{Path, PathBuf};

use hostint::collector::decode;
use hostint::model::*;
use hostint::store::*;
use hostint_testing::scratch::Folder;
use hostint_testing::synthetic::Sample;

pub const SECOND: u64 = 1_000_000_000;
pub const MINUTE: u64 = 60 * SECOND;
pub const HOUR: u64 = 60 * MINUTE;
pub const DAY: u64 = 24 * HOUR;

pub const ALWAYS: Span = Span {
    since_ns: 0,
    until_ns: u64::MAX,
};

pub struct Disk(Folder);

impl Disk {
    pub fn new() -> Self {
        Self(Folder::create())
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn file(&self) -> PathBuf {
        self.0.file("history.db")
    }

    pub fn settings(&self) -> StoreSettings {
        settings(self.file())
    }

    pub fn open(&self) -> Store {
        start(self.settings())
    }

    pub fn reader(&self) -> HistoryReader {
        HistoryReader::open(&self.file(), decoder()).unwrap()
    }
}

pub fn settings(path: PathBuf) -> StoreSettings {
    StoreSettings {
        path,
        limits: StoreLimits {
            raw_ns: 50_000 * DAY,
            ten_seconds_ns: 50_000 * DAY,
            minutes_ns: 50_000 * DAY,
            hours_ns: 50_000 * DAY,
            bytes: 4 << 30,
        },
        queue_bytes: 64 << 20,
        most_flows: 200_000,
        from_file: true,
        clock: host_clock,
    }
}

pub fn start(settings: StoreSettings) -> Store {
    OpenedStore::open(settings)
        .unwrap()
        .start(Box::new(|trouble| panic!("{trouble}")))
        .unwrap()
}

/// As the commands read reports again.
pub fn decoder() -> Decode {
    Box::new(|evidence| {
        if evidence.bytes.first() == Some(&b'{') {
            return Record::read_line(evidence.bytes).ok();
        }
        let group = decode(evidence.bytes).ok()?;
        let record = Record::new(group.reports.get(evidence.part)?, evidence.arrival);
        Some(record.in_class(evidence.class))
    })
}

pub fn keep(keeper: &mut StoreKeeper, sample: &Sample) {
    let arrival = Some(sample.arrival);
    keeper.keep(
        &sample.report,
        0,
        arrival,
        sample.class,
        None,
        &sample.datagram(),
    );
}

/// What a client of SQLite says of a file that is damaged, or not.
pub fn integrity(path: &Path) -> String {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap()
}
