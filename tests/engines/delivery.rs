//! Whatever an engine does, no report is lost without being counted, and nothing else waits for it.

use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostint::engines::*;
use hostint::model::*;
use hostint_testing::synthetic::Synthetic;

const LATE: Duration = Duration::from_secs(30);
const TIME_NS: u64 = 1_800_000_000_000_000_000;

type Answer = Result<Accepted, Trouble>;

/// What an engine was given: the parcel's number, and its reports.
type Given = (u64, Vec<(u64, Report)>);

/// An engine that does what it is told, once for each delivery; when nobody tells it any more, it takes all.
struct Told {
    answers: Receiver<Answer>,
    given: Sender<Given>,
    reports: usize,
}

impl Engine for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn destination(&self) -> String {
        "here".to_owned()
    }

    fn pace(&self) -> Pace {
        Pace {
            reports: self.reports,
            linger: Duration::from_millis(1),
        }
    }

    fn deliver(&mut self, parcel: &Parcel) -> Answer {
        let entries = parcel.entries();
        let reports = entries.map(|entry| (entry.number, entry.report.clone()));
        let given: Vec<_> = reports.collect();
        assert_eq!(given.len(), parcel.len());
        self.given.send((parcel.number, given)).unwrap();
        self.answers.recv().unwrap_or(Ok(Accepted::default()))
    }
}

/// An engine, what tells it, and what it was given.
fn told(reports: usize) -> (Box<Told>, Sender<Answer>, Receiver<Given>) {
    let ((answer, answers), (given, log)) = (channel(), channel());
    let engine = Told {
        answers,
        given,
        reports,
    };
    (Box::new(engine), answer, log)
}

fn engines(most_bytes: usize, patience: Patience) -> Engines {
    Engines::new(RunId(7), most_bytes, patience, |_| {})
}

fn reports(count: usize) -> Vec<Report> {
    let mut synthetic = Synthetic::new(1, 4, 10);
    let reports = (0..count).map(|n| synthetic.report(n % 10, TIME_NS).report);
    reports.collect()
}

fn take(feed: &mut Feed, report: &Report) {
    feed.take(&FeedReport {
        report,
        arrival: None,
        clocks: LatencyClocks::Unreported,
        drop_reason: None,
        class: None,
        added: None,
        dropped: None,
        bytes: 100,
    });
}

fn later() -> Answer {
    Err(Trouble::Later("it is down".to_owned()))
}

fn refused() -> Answer {
    Err(Trouble::Refused("it is wrong".to_owned()))
}

fn some_refused(refused: usize) -> Answer {
    Ok(Accepted {
        refused,
        why: Some("too long".to_owned()),
    })
}

#[test]
fn every_report_is_delivered_or_counted_for_what_became_of_it() {
    struct Case {
        name: &'static str,
        answers: Vec<Answer>,
        delivered: u64,
        refused: u64,
        retries: u64,
    }
    let good = || Ok(Accepted::default());
    let cases = [
        Case {
            name: "an engine that takes all",
            answers: vec![good(), good(), good()],
            delivered: 30,
            refused: 0,
            retries: 0,
        },
        Case {
            name: "one that was down for a while",
            answers: vec![good(), later(), later(), good(), later(), good()],
            delivered: 30,
            refused: 0,
            retries: 3,
        },
        Case {
            name: "a parcel that is refused does not come again",
            answers: vec![good(), refused(), good()],
            delivered: 20,
            refused: 10,
            retries: 0,
        },
        Case {
            name: "some of a parcel refused",
            answers: vec![good(), some_refused(3), some_refused(1)],
            delivered: 26,
            refused: 4,
            retries: 0,
        },
    ];
    for case in cases {
        let mut all = engines(1 << 20, Patience::Drop);
        let (engine, answer, log) = told(10);
        all.add(engine).unwrap();
        let mut feed = all.feed(None);
        for (n, report) in reports(30).iter().enumerate() {
            take(&mut feed, report);
            if n % 10 == 9 {
                feed.flush();
            }
        }
        let deliveries = case.answers.len();
        for one in case.answers {
            answer.send(one).unwrap();
        }
        drop(feed);
        let given: Vec<_> = (0..deliveries)
            .map(|_| log.recv_timeout(LATE).expect(case.name))
            .collect();
        let [status] = all.finish().try_into().unwrap();
        let counts = (status.delivered, status.refused, status.retries);
        let expected = (case.delivered, case.refused, case.retries);
        assert_eq!(counts, expected, "{}", case.name);
        assert_eq!(status.lost(), case.refused, "{}", case.name);
        assert_eq!((status.waiting, status.trouble), (0, None), "{}", case.name);
        let parcels: HashSet<_> = given.iter().map(|(parcel, _)| *parcel).collect();
        assert_eq!(parcels, HashSet::from([1, 2, 3]), "{}", case.name);
        for pair in given.windows(2) {
            let same = pair[0].0 == pair[1].0;
            let why = "a parcel that comes again is the same";
            assert_eq!(same, pair[0].1 == pair[1].1, "{}: {why}", case.name);
        }
    }
}

/// What the engine of one test said.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_reason_for_refusals_is_said_once() {
    let tell = |what: &str| SAID.lock().unwrap().push(what.to_owned());
    let mut all = Engines::new(RunId(7), 1 << 20, Patience::Wait, tell);
    let (engine, answer, log) = told(1);
    for _ in 0..5 {
        answer.send(some_refused(1)).unwrap();
    }
    all.add(engine).unwrap();
    let mut feed = all.feed(None);
    for report in &reports(5) {
        take(&mut feed, report);
        feed.flush();
        log.recv_timeout(LATE).unwrap();
    }
    drop(feed);
    let [status] = all.finish().try_into().unwrap();
    assert_eq!(status.refused, 5, "all are counted");
    let said = SAID.lock().unwrap();
    let [line] = &said[..] else {
        panic!("{said:?}");
    };
    assert!(
        line.ends_with("refused: too long (further ones are counted)"),
        "{line}"
    );
}

#[test]
fn an_engine_that_hangs_holds_up_neither_the_decoder_nor_another_engine() {
    let mut all = engines(1, Patience::Drop);
    let (hanging, release, hangs) = told(1);
    let (quick, answer, log) = told(1);
    drop(answer);
    all.add(hanging).unwrap();
    all.add(quick).unwrap();
    let mut feed = all.feed(None);
    for report in &reports(100) {
        take(&mut feed, report);
        feed.flush();
        // The quick one has it, and room for the next; the other one hangs in the first.
        let (_, given) = log.recv_timeout(LATE).unwrap();
        assert_eq!(given.len(), 1);
        let delivered = |all: &Engines| all.statuses().nth(1).unwrap().waiting == 0;
        let end = Instant::now() + LATE;
        while !delivered(&all) {
            assert!(Instant::now() < end, "the quick engine delivers");
            std::thread::yield_now();
        }
    }
    hangs.recv_timeout(LATE).unwrap();
    let statuses: Vec<_> = all.statuses().collect();
    let counts = |status: &EngineStatus| (status.delivered, status.queue_drops, status.waiting);
    assert_eq!(
        counts(&statuses[0]),
        (0, 99, 1),
        "one hangs, no room for more"
    );
    assert_eq!(counts(&statuses[1]), (100, 0, 0));
    drop((release, feed));
    let statuses = all.finish();
    assert_eq!(counts(&statuses[0]), (1, 99, 0));
}

#[test]
fn what_an_engine_does_not_take_by_the_end_is_counted() {
    let mut all = engines(1 << 20, Patience::Drop);
    let (engine, answer, log) = told(1);
    for _ in 0..1000 {
        answer.send(later()).unwrap();
    }
    all.add(engine).unwrap();
    let mut feed = all.feed(None);
    for report in &reports(5) {
        take(&mut feed, report);
        feed.flush();
    }
    log.recv_timeout(LATE).unwrap();
    // In trouble, and it says so.
    let end = Instant::now() + LATE;
    while all.statuses().next().unwrap().trouble.is_none() {
        assert!(Instant::now() < end, "it complains");
        std::thread::yield_now();
    }
    drop(feed);
    let [status] = all.finish().try_into().unwrap();
    assert_eq!((status.abandoned, status.waiting), (5, 0));
    assert_eq!(status.trouble.as_deref(), Some("it is down"));
}

#[test]
fn reports_of_a_file_wait_until_there_is_room() {
    let mut all = engines(1, Patience::Wait);
    let (engine, answer, log) = told(1);
    drop(answer);
    all.add(engine).unwrap();
    let mut feed = all.feed(None);
    let sent = reports(50);
    for report in &sent {
        take(&mut feed, report);
        feed.flush();
    }
    drop(feed);
    let [status] = all.finish().try_into().unwrap();
    assert_eq!((status.delivered, status.lost()), (50, 0));
    let came: Vec<_> = log.try_iter().flat_map(|(_, reports)| reports).collect();
    let numbered: Vec<_> = (1..).zip(sent).collect();
    assert_eq!(came, numbered, "in order, numbered from 1");
}

#[test]
fn an_engine_whose_thread_panics_loses_its_reports_by_number() {
    struct Panics(Arc<Mutex<()>>);
    impl Engine for Panics {
        fn name(&self) -> &'static str {
            "panics"
        }
        fn destination(&self) -> String {
            String::new()
        }
        fn pace(&self) -> Pace {
            Pace {
                reports: 1,
                linger: Duration::ZERO,
            }
        }
        fn deliver(&mut self, _: &Parcel) -> Answer {
            let _held = self.0.lock().unwrap();
            panic!("as a defect would");
        }
    }
    let lock = Arc::new(Mutex::new(()));
    let mut all = engines(1 << 20, Patience::Drop);
    all.add(Box::new(Panics(Arc::clone(&lock)))).unwrap();
    let mut feed = all.feed(None);
    for report in &reports(3) {
        take(&mut feed, report);
        feed.flush();
    }
    drop(feed);
    let [status] = all.finish().try_into().unwrap();
    assert_eq!((status.abandoned, status.waiting), (3, 0));
    assert!(lock.is_poisoned(), "it did panic");
}
