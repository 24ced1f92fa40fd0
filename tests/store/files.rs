//! The history's file has one writer and many readers; damage, other files and other schema versions are refused.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use hostint::model::*;
use hostint::store::*;
use hostint_testing::synthetic::Synthetic;

use crate::disk::*;

fn refusal(settings: StoreSettings) -> String {
    let opened = OpenedStore::open(settings);
    opened.expect_err("opened").to_string()
}

fn asked(disk: &Disk) -> Result<HistoryReader, StoreError> {
    HistoryReader::open(&disk.file(), decoder())
}

#[test]
fn one_process_writes_and_its_number_is_told() {
    let disk = Disk::new();
    let first = OpenedStore::open(disk.settings()).unwrap();
    let said = refusal(disk.settings());
    let pid = std::process::id();
    assert_eq!(
        said,
        format!(
            "cannot write to store {}: process {pid} writes to it (only one collector may; try another --store, or \
             --store none)",
            disk.file().display()
        )
    );
    drop(first);
    drop(OpenedStore::open(disk.settings()).unwrap());
}

#[test]
fn a_store_is_locked_against_other_programs_from_its_beginning() {
    use std::os::unix::fs::MetadataExt;
    let disk = Disk::new();
    for begin in ["a new one", "one that was there"] {
        let store = disk.open();
        let mut keeper = store.keeper();
        keep(&mut keeper, &Synthetic::new(1, 3, 5).report(0, DAY));
        drop(keeper);
        settle(&store, 1);
        let inode = std::fs::metadata(disk.file()).unwrap().ino();
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        assert!(
            locks
                .lines()
                .any(|line| line.contains(&format!(":{inode} "))),
            "{begin}: {locks}"
        );
        // So another program does not remove the log under it.
        integrity(&disk.file());
        for suffix in ["-wal", "-shm"] {
            let beside = disk.folder().join(format!("history.db{suffix}"));
            assert!(beside.exists(), "{begin}: {suffix}");
        }
        drop(store);
    }
}

/// Waits until the store has taken all reports that it was handed, by their count.
fn settle(store: &Store, reports: u64) {
    let counts = store.counts();
    let end = Instant::now() + Duration::from_secs(60);
    while counts.stored() + counts.drops() < reports {
        assert!(Instant::now() < end, "{counts:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_store_that_is_removed_is_made_anew() {
    struct Case {
        name: &'static str,
        remove: fn(&Disk),
        /// The reports that are left in the file that was moved away.
        moved: Option<u64>,
    }
    let cases = [
        Case {
            name: "the file is removed",
            remove: |disk| std::fs::remove_file(disk.file()).unwrap(),
            moved: None,
        },
        Case {
            name: "all files are removed, that of the lock too",
            remove: |disk| {
                for entry in std::fs::read_dir(disk.folder()).unwrap() {
                    std::fs::remove_file(entry.unwrap().path()).unwrap();
                }
            },
            moved: None,
        },
        Case {
            name: "the file is moved away",
            remove: |disk| std::fs::rename(disk.file(), disk.folder().join("old.db")).unwrap(),
            moved: Some(10),
        },
    ];
    for case in cases {
        let name = case.name;
        let disk = Disk::new();
        let (warn, warnings) = std::sync::mpsc::channel();
        let store = OpenedStore::open(disk.settings())
            .unwrap()
            .start(Box::new(move |trouble| {
                warn.send(trouble.to_owned()).unwrap();
            }))
            .unwrap();
        let mut reader = disk.reader();
        let mut network = Synthetic::new(1, 3, 5);
        let mut hand = |reports: u64| {
            let mut keeper = store.keeper();
            for n in 0..reports {
                keep(&mut keeper, &network.report(0, DAY + n * SECOND));
            }
        };
        hand(10);
        settle(&store, 10);
        assert_eq!(reports_in(&mut reader), 10, "{name}");
        (case.remove)(&disk);
        hand(7);
        settle(&store, 17);
        let said = warnings.recv().unwrap();
        let file = disk.file().display().to_string();
        assert_eq!(
            said,
            format!("store {file} was removed; a new one is written"),
            "{name}"
        );
        assert_eq!(store.counts().drops(), 0, "{name}");
        assert_eq!(
            reports_in(&mut reader),
            7,
            "{name}: as a reader sees it that was open"
        );
        assert!(
            refusal(disk.settings()).contains("only one collector may"),
            "{name}"
        );
        drop(store);
        assert_eq!(reports_in(&mut disk.reader()), 7, "{name}: afterwards");
        assert_eq!(integrity(&disk.file()), "ok", "{name}");
        if let Some(moved) = case.moved {
            let old = disk.folder().join("old.db");
            assert_eq!(integrity(&old), "ok", "{name}");
            let mut old = HistoryReader::open(&old, decoder()).unwrap();
            assert_eq!(reports_in(&mut old), moved, "{name}");
        }
    }
}

fn reports_in(reader: &mut HistoryReader) -> u64 {
    let pairs = reader.pairs(ALWAYS).unwrap();
    pairs.iter().map(|pair| pair.figures.reports).sum()
}

#[test]
fn a_file_that_takes_the_place_of_a_store_is_left_as_it_is() {
    let disk = Disk::new();
    let (warn, warnings) = std::sync::mpsc::channel();
    let store = OpenedStore::open(disk.settings())
        .unwrap()
        .start(Box::new(move |trouble| {
            warn.send(trouble.to_owned()).unwrap();
        }))
        .unwrap();
    std::fs::remove_file(disk.file()).unwrap();
    std::fs::write(disk.file(), "notes").unwrap();
    let sample = Synthetic::new(1, 3, 5).report(0, DAY);
    keep(&mut store.keeper(), &sample);
    settle(&store, 1);
    let said = warnings.recv().unwrap();
    assert!(said.contains("was replaced by another file"), "{said}");
    assert_eq!(store.counts().drops(), 1);
    assert!(store.counts().trouble().is_some());
    drop(store);
    assert_eq!(std::fs::read(disk.file()).unwrap(), b"notes");
}

#[test]
fn what_is_no_store_stays_as_it_is() {
    type Make = fn(&Disk);
    let cases: [(&str, Make, &str); 6] = [
        (
            "text",
            |disk| {
                std::fs::write(
                    disk.file(),
                    "my notes, which are long enough to be looked at ".repeat(20),
                )
                .unwrap()
            },
            "it is something else, and is left as it is",
        ),
        (
            "another program's database",
            |disk| {
                let conn = rusqlite::Connection::open(disk.file()).unwrap();
                conn.execute_batch("CREATE TABLE photo (id)").unwrap();
            },
            "it is something else, and is left as it is",
        ),
        (
            "a store of a newer version",
            |disk| {
                drop(OpenedStore::open(disk.settings()).unwrap());
                let conn = rusqlite::Connection::open(disk.file()).unwrap();
                conn.pragma_update(None, "user_version", SCHEMA_VERSION + 1)
                    .unwrap();
            },
            "a newer hostint wrote it (schema 6, this one knows 5 only; it is left as it is: use that version, move the file \
             away, or try another --store)",
        ),
        (
            "a store of a build before the first release",
            |disk| {
                drop(OpenedStore::open(disk.settings()).unwrap());
                let conn = rusqlite::Connection::open(disk.file()).unwrap();
                conn.pragma_update(None, "user_version", SCHEMA_VERSION - 1)
                    .unwrap();
            },
            "an older hostint wrote it (schema 4, this one knows 5 only; it is left as it is: use that version, move the file \
             away, or try another --store)",
        ),
        (
            "a store that is cut",
            |disk| {
                drop(OpenedStore::open(disk.settings()).unwrap());
                let bytes = std::fs::read(disk.file()).unwrap();
                // The first page says how many there are.
                std::fs::write(disk.file(), &bytes[..4096]).unwrap();
            },
            "it is left as it is; move it away, or try another --store",
        ),
        (
            "a store with a damaged list of tables",
            |disk| {
                drop(OpenedStore::open(disk.settings()).unwrap());
                let mut bytes = std::fs::read(disk.file()).unwrap();
                bytes[100..400].fill(0xa5);
                std::fs::write(disk.file(), &bytes).unwrap();
            },
            "it is left as it is; move it away, or try another --store",
        ),
    ];
    for (name, make, says) in cases {
        let disk = Disk::new();
        make(&disk);
        let before = std::fs::read(disk.file()).unwrap();
        let files = || -> Vec<_> {
            let entries = std::fs::read_dir(disk.folder()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        // Of another program there may be only this one.
        let _ = std::fs::remove_file(disk.folder().join("history.db.lock"));
        let files_before = files();
        let said = refusal(disk.settings());
        assert!(said.contains(says), "{name}: {said}");
        assert_eq!(files(), files_before, "{name}: nothing is put beside it");
        assert!(
            said.contains(disk.file().to_str().unwrap()),
            "{name}: {said}"
        );
        let said = asked(&disk).err().expect(name).to_string();
        assert!(said.contains(says), "{name}, asked: {said}");
        assert_eq!(
            files(),
            files_before,
            "{name}, asked: nothing is put beside it"
        );
        assert_eq!(std::fs::read(disk.file()).unwrap(), before, "{name}");
    }
    let disk = Disk::new();
    assert!(matches!(asked(&disk), Err(StoreError::Absent(_))));
    std::fs::write(disk.file(), "").unwrap();
    assert!(
        matches!(asked(&disk), Err(StoreError::Absent(_))),
        "an empty file"
    );
    let mut nowhere = disk.settings();
    nowhere.path = disk.folder().join("no/such/folder.db");
    assert!(refusal(nowhere).contains("No such file or directory"));
    let mut device = disk.settings();
    device.path = disk.folder().join("fifo");
    nix::unistd::mkfifo(&device.path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(refusal(device).contains("it is something else"));
}

#[test]
fn reports_are_not_for_all_eyes() {
    let disk = Disk::new();
    let _store = disk.open();
    for entry in std::fs::read_dir(disk.folder())
        .unwrap()
        .map(Result::unwrap)
    {
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o007, 0, "{:?}", entry.path());
    }
}

#[test]
fn who_may_not_read_a_store_learns_that() {
    let disk = Disk::new();
    drop(disk.open());
    let closed = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(disk.file(), closed).unwrap();
    match asked(&disk) {
        // Root may.
        Ok(_) => assert!(nix::unistd::geteuid().is_root()),
        Err(err) => assert!(err.to_string().contains("Permission denied"), "{err}"),
    }
}

#[test]
fn damage_in_the_middle_is_an_error_and_no_panic() {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    let mut network = Synthetic::new(1, 3, 20);
    for n in 0..3_000 {
        keep(
            &mut keeper,
            &network.report(n % 20, DAY + n as u64 * SECOND),
        );
    }
    drop((keeper, store));
    let whole = std::fs::read(disk.file()).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 20);
    let mut failed = 0;
    for page in 1..pages {
        let mut bytes = whole.clone();
        bytes[page * 4096..][..2048].fill(0x5a);
        std::fs::write(disk.file(), &bytes).unwrap();
        let Ok(mut reader) = asked(&disk) else {
            failed += 1;
            continue;
        };
        let query = ReportQuery {
            subject: Subject::All,
            limit: 10_000,
        };
        let answers = [
            reader.pairs(ALWAYS).map(drop),
            reader
                .flows(
                    &FlowQuery {
                        limit: 10,
                        ..FlowQuery::default()
                    },
                    ALWAYS,
                )
                .map(drop),
            reader.reports(&query, ALWAYS).map(drop),
            reader.extent().map(drop),
        ];
        for err in answers.into_iter().filter_map(Result::err) {
            failed += 1;
            assert!(err.to_string().starts_with("cannot read store "), "{err}");
        }
    }
    assert!(failed > pages / 2, "{failed} of {pages}");
}

#[test]
fn a_store_that_is_written_to_gives_whole_answers() {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    let counts = store.counts();
    let file = disk.file();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (stop, file) = (stop.clone(), file.clone());
            std::thread::spawn(move || {
                let mut reader = HistoryReader::open(&file, decoder()).unwrap();
                let (mut last, mut different) = (0, 0);
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let pairs = reader.pairs(ALWAYS).unwrap();
                    let sum: u64 = pairs.iter().map(|pair| pair.figures.reports).sum();
                    // Transactions are whole: what was there stays there.
                    assert!(sum >= last, "{sum} after {last}");
                    different += u32::from(sum > last);
                    last = sum;
                }
                different
            })
        })
        .collect();
    let mut network = Synthetic::new(1, 4, 50);
    let mut sent = 0;
    while counts.stored() < 3_000 {
        keep(
            &mut keeper,
            &network.report(sent as usize % 50, DAY + sent * SECOND / 10),
        );
        sent += 1;
        if sent % 500 == 0 {
            keeper.flush();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
    drop((keeper, store));
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for reader in readers {
        assert!(reader.join().unwrap() > 0, "saw it grow");
    }
    assert_eq!(counts.stored(), sent);
    let mut reader = disk.reader();
    let sum: u64 = reader
        .pairs(ALWAYS)
        .unwrap()
        .iter()
        .map(|pair| pair.figures.reports)
        .sum();
    assert_eq!(sum, sent);
}
