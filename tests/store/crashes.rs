//! After a kill or on a full disk the history's file is whole and holds what was written.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hostint::model::*;
use hostint::store::*;
use hostint_testing::places;
use hostint_testing::synthetic::Synthetic;

use crate::disk::*;

/// A collector that is fed lines without end, and killed.
struct Fed {
    child: std::process::Child,
    feeder: Option<std::thread::JoinHandle<()>>,
}

impl Fed {
    fn start(disk: &Disk, round: u64) -> Self {
        let mut child = Command::new(places::hostint())
            .args(["collect", "--read", "-", "--store"])
            .arg(disk.file())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let feeder = std::thread::spawn(move || {
            let mut network = Synthetic::new(round, 5, 200);
            let mut n = 0;
            // Ends with its reader.
            loop {
                let time_ns = 20_000 * DAY + round * HOUR + n * SECOND / 100;
                let mut line = network.report(n as usize % 200, time_ns).line();
                line.push(b'\n');
                if std::io::Write::write_all(&mut stdin, &line).is_err() {
                    return;
                }
                n += 1;
            }
        });
        Self {
            child,
            feeder: Some(feeder),
        }
    }
}

impl Drop for Fed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(feeder) = self.feeder.take() {
            let _ = feeder.join();
        }
    }
}

fn reports(path: &Path) -> u64 {
    let reader = HistoryReader::open(path, decoder());
    reader.map_or(0, |mut reader| reader.extent().unwrap().reports)
}

/// What roll-ups of each kind add up to.
fn sums(path: &Path) -> Vec<u64> {
    let conn = rusqlite::Connection::open(path).unwrap();
    [
        "SELECT sum(reports) FROM flow_10s",
        "SELECT sum(reports) FROM pair_10s",
        "SELECT count(*) FROM report",
    ]
    .map(|sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() as u64)
    .into()
}

#[test]
fn a_killed_writer_leaves_a_whole_file_with_all_that_was_written() {
    let disk = Disk::new();
    let mut before = 0;
    for round in 0..5 {
        let fed = Fed::start(&disk, round);
        let deadline = Instant::now() + Duration::from_secs(60);
        // In the middle of writing: after the first transactions, at no moment in particular.
        while reports(&disk.file()) <= before {
            assert!(Instant::now() < deadline, "nothing is written");
            std::thread::sleep(Duration::from_millis(10 + 7 * round));
        }
        let seen = reports(&disk.file());
        drop(fed);
        let kept = reports(&disk.file());
        assert!(kept >= seen, "round {round}: {kept} after {seen} were seen");
        assert_eq!(integrity(&disk.file()), "ok", "round {round}");
        let sums = sums(&disk.file());
        assert!(
            sums.iter().all(|sum| *sum == kept),
            "round {round}: {sums:?}"
        );
        before = kept;
    }
    let mut reader = disk.reader();
    let sum: u64 = reader
        .pairs(ALWAYS)
        .unwrap()
        .iter()
        .map(|pair| pair.figures.reports)
        .sum();
    assert_eq!(sum, before);
}

/// A file system in memory that goes with its guard, and is as small as a disk that is full soon.
struct Small(Disk);

impl Small {
    fn new() -> Self {
        let disk = Disk::new();
        nix::mount::mount(
            Some("none"),
            disk.folder(),
            Some("tmpfs"),
            nix::mount::MsFlags::empty(),
            Some("size=6m"),
        )
        .expect("needs to mount a tmpfs (run as root)");
        Self(disk)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // A thread of the store may still close its file.
        let detach = nix::mount::MntFlags::MNT_DETACH;
        nix::mount::umount2(self.0.folder(), detach).expect("it is mounted");
    }
}

mod root {
    use super::*;

    #[test]
    fn on_a_full_disk_reports_are_counted_and_it_goes_on_when_there_is_room() {
        let small = Small::new();
        let disk = &small.0;
        let ballast = disk.folder().join("ballast");
        let (warn, warned) = mpsc::channel();
        let settings = StoreSettings {
            from_file: false,
            ..disk.settings()
        };
        let opened = OpenedStore::open(settings).unwrap();
        let store = opened
            .start(Box::new(move |trouble| drop(warn.send(trouble.to_owned()))))
            .unwrap();
        let mut keeper = store.keeper();
        let counts = store.counts();
        let mut network = Synthetic::new(1, 5, 50);
        let mut sent = 0;
        let mut send = |count: u64| {
            for _ in 0..count {
                keep(
                    &mut keeper,
                    &network.report(sent as usize % 50, 20_000 * DAY + sent * SECOND),
                );
                sent += 1;
            }
            keeper.flush();
            sent
        };
        let until = |what: &str, done: &dyn Fn() -> bool, send: &mut dyn FnMut(u64) -> u64| {
            let deadline = Instant::now() + Duration::from_secs(60);
            while !done() {
                assert!(Instant::now() < deadline, "{what}");
                send(50);
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        until("it is written", &|| counts.stored() > 0, &mut send);
        // All the room there is.
        let written = std::fs::write(&ballast, vec![1; 8 << 20]);
        assert!(written.is_err(), "the disk is small");
        until("the disk is full", &|| counts.drops() > 0, &mut send);
        let said = warned.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(said.starts_with("cannot write to store "), "{said}");
        assert!(said.contains("database or disk is full"), "{said}");
        let stored = counts.stored();
        std::fs::remove_file(&ballast).unwrap();
        until(
            "there is room again",
            &|| counts.stored() > stored,
            &mut send,
        );
        let said = warned.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(said.starts_with("reports are written to store "), "{said}");
        let sent = send(0);
        drop((keeper, store));
        assert_eq!(counts.stored() + counts.drops(), sent);
        assert_eq!(integrity(&disk.file()), "ok");
        assert_eq!(reports(&disk.file()), counts.stored());
        assert!(sums(&disk.file()).iter().all(|sum| *sum == counts.stored()));
    }
}
