//! What a report takes of each part of a collector: the socket, decoding, the hub, and the history.

use std::fs;
use std::hint::black_box;
use std::io;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use hostint::collector::{ReportHub, ReportListener, ReportNews, ReportTaker, decode};
use hostint::model::{Arrival, Classes};
use hostint::os::clock;
use hostint::store::{OpenedStore, StoreLimits, StoreSettings, host_clock};
use hostint_testing::collector::cpu_by_thread;
use hostint_testing::netns::await_that;
use hostint_testing::synthetic::Synthetic;

use super::{folder, send};

/// Nothing takes the reports.
struct NoTaker;

impl ReportTaker for NoTaker {
    fn accept(&mut self, _: ReportNews<'_>) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// CPU time of the threads whose names begin so.
fn cpu_of(name: &str) -> Duration {
    let by_thread = cpu_by_thread(std::process::id()).into_iter();
    let threads = by_thread.filter(|(of, _)| of.starts_with(name));
    threads.map(|(_, spent)| spent).sum()
}

/// What each of these datagrams takes of this thread's CPU time, in ns. They come as from eight hosts, from this time on.
fn ns_each(datagrams: &[Vec<u8>], begin_ns: u64, mut take: impl FnMut(&[u8], Arrival)) -> f64 {
    let begin = clock::thread_cpu_ns();
    for (number, datagram) in (0..).zip(datagrams) {
        let host = [127, 0, 0, 1 + (number / 32 % 8) as u8];
        let arrival = Arrival {
            exporter: SocketAddr::from((host, 5000)),
            received_ns: begin_ns + number * 2_000,
        };
        take(datagram, arrival);
    }
    (clock::thread_cpu_ns() - begin) as f64 / datagrams.len() as f64
}

/// A hub of reports that come in now.
fn hub<T: ReportTaker>(taker: T) -> ReportHub<T> {
    ReportHub::new(taker, None, Classes::default()).with_clock(clock::monotonic_ns)
}

/// Prints what a report over so many transit hops takes of each part of a collector, in ns of CPU time.
fn shares_of(hops: u32) {
    const FLOWS: usize = 10_000;
    let mut network = Synthetic::new(1, 30, FLOWS);
    let datagrams: Vec<_> = (0..50 * FLOWS)
        .map(|n| {
            let report = network.report(n % FLOWS, n as u64 * 1000);
            report.over_hops(hops).datagram()
        })
        .collect();
    let begin_ns = clock::realtime_ns() - 60_000_000_000;
    let socket = socket_ns(&datagrams);
    let decoded = ns_each(&datagrams, begin_ns, |bytes, _| {
        drop(black_box(decode(bytes)));
    });
    let mut alone = hub(NoTaker);
    let handed_on = ns_each(&datagrams, begin_ns, |bytes, arrival| {
        alone.datagram(bytes, arrival).unwrap();
    });
    let folder = folder("shares");
    let store = OpenedStore::open(StoreSettings {
        path: folder.join("history.db"),
        limits: StoreLimits {
            raw_ns: u64::MAX,
            ten_seconds_ns: u64::MAX,
            minutes_ns: u64::MAX,
            hours_ns: u64::MAX,
            bytes: 4 << 30,
        },
        queue_bytes: 64 << 20,
        most_flows: 200_000,
        // Then each report waits until it can be written.
        from_file: true,
        clock: host_clock,
    });
    let store = store
        .unwrap()
        .start(Box::new(|trouble| panic!("{trouble}")));
    let store = store.unwrap();
    let (mut kept, counts) = (hub(store.keeper()), store.counts());
    let before = cpu_of("store");
    let with_history = ns_each(&datagrams, begin_ns, |bytes, arrival| {
        kept.datagram(bytes, arrival).unwrap();
    });
    kept.finish().unwrap();
    await_that("all are written", || {
        counts.stored() == datagrams.len() as u64
    });
    let written = (cpu_of("store") - before).as_nanos() as f64 / datagrams.len() as f64;
    drop((kept, store));
    fs::remove_dir_all(&folder).unwrap();
    let parts = [
        socket,
        decoded,
        handed_on - decoded,
        with_history - handed_on,
        written,
    ];
    let all: f64 = parts.iter().sum();
    let cells = parts.map(|ns| format!("{ns:.0} ({:.0} %)", 100.0 * ns / all));
    println!("| {hops} | {} | {all:.0} |", cells.join(" | "));
}

/// CPU time of the receiving thread for each of these datagrams, in ns.
fn socket_ns(datagrams: &[Vec<u8>]) -> f64 {
    let listener = ReportListener::bind(&["127.0.0.1:0".parse().unwrap()], 1).unwrap();
    let SocketAddr::V4(address) = listener.local_addresses()[0] else {
        return f64::NAN;
    };
    let reception = listener.start(64 << 20, clock::realtime_ns).unwrap();
    thread::scope(|scope| {
        let time = Duration::from_secs(4);
        let sender = scope.spawn(move || send(address, 200_000, time, datagrams));
        let mut taken = 0_u64;
        while !sender.is_finished() {
            reception.next(Duration::from_millis(20), |_, _| {
                taken += 1;
                true
            });
        }
        cpu_of("receive").as_nanos() as f64 / taken as f64
    })
}

pub fn shares() {
    println!(
        "\nshares: ns of CPU time that a report takes of each part of a collector with a history\n"
    );
    println!("| hops | socket | decoding | hub | adding up | writing | all |");
    println!("|---|---|---|---|---|---|---|");
    for _ in 0..2 {
        shares_of(0);
        shares_of(4);
    }
}
