//! A daemon's duties have their turns in time and in order, whatever fails.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use hostint::daemon::duty::{Duties, Duty, EACH_TURN, RETRY};
use hostint::os::tick;
use hostint::os::wait::{self, Wait};

/// The turns that duties had: the name, and the time since the beginning in ms.
#[derive(Default)]
struct Journal(Vec<(&'static str, u128)>);

/// A duty that writes down its turns.
struct Noted {
    name: &'static str,
    period: Duration,
    fails: bool,
    begin: Instant,
}

impl Duty<Journal> for Noted {
    fn task(&self) -> &'static str {
        self.name
    }

    fn period(&self, _daemon: &Journal) -> Duration {
        self.period
    }

    fn turn(&mut self, journal: &mut Journal, now: Instant) -> Result<()> {
        let ms = now.duration_since(self.begin).as_millis();
        journal.0.push((self.name, ms));
        if self.fails {
            bail!("it fails each time");
        }
        Ok(())
    }

    fn finish(&mut self, journal: &mut Journal) -> Result<()> {
        journal.0.push((self.name, 9999));
        if self.fails {
            bail!("it fails at the end, too");
        }
        Ok(())
    }
}

struct Case {
    name: &'static str,
    /// Name, period in ms, whether it fails.
    duties: &'static [(&'static str, u64, bool)],
    /// The times at which the loop turns, in ms after a tick.
    turns: &'static [u64],
    expected: &'static [(&'static str, u128)],
}

const CASES: [Case; 6] = [
    Case {
        name: "a duty without a period has a turn each time",
        duties: &[("a", 0, false)],
        turns: &[0, 1, 7],
        expected: &[("a", 0), ("a", 1), ("a", 7)],
    },
    Case {
        name: "a duty has its first turn at once, and the next after its period",
        duties: &[("a", 1000, false)],
        turns: &[0, 10, 999, 1000, 1999, 2000],
        expected: &[("a", 0), ("a", 1000), ("a", 2000)],
    },
    Case {
        name: "a late turn is not made up for",
        duties: &[("a", 1000, false)],
        turns: &[0, 3500, 4000, 4500],
        expected: &[("a", 0), ("a", 3500), ("a", 4500)],
    },
    Case {
        name: "long periods end at ticks, so that several duties share a turn of the loop",
        duties: &[("a", 1000, false), ("b", 400, false)],
        turns: &[50, 400, 450, 1000],
        expected: &[("a", 50), ("b", 50), ("b", 400), ("a", 1000), ("b", 1000)],
    },
    Case {
        name: "duties have their turns in the order in which they were added",
        duties: &[("c", 0, false), ("a", 5, false), ("b", 0, false)],
        turns: &[0, 1, 5],
        expected: &[
            ("c", 0),
            ("a", 0),
            ("b", 0),
            ("c", 1),
            ("b", 1),
            ("c", 5),
            ("a", 5),
            ("b", 5),
        ],
    },
    Case {
        name: "a duty that fails keeps no other from its turn, and has its own next one",
        duties: &[("a", 10, true), ("b", 0, false)],
        turns: &[0, 5, 10],
        expected: &[("a", 0), ("b", 0), ("b", 5), ("a", 10), ("b", 10)],
    },
];

#[test]
fn duties_have_their_turns() {
    for case in CASES {
        let begin = tick::before(Instant::now());
        let (mut journal, mut duties) = (Journal::default(), Duties::default());
        for (name, period, fails) in case.duties {
            duties = duties.with(Noted {
                name,
                period: Duration::from_millis(*period),
                fails: *fails,
                begin,
            });
        }
        for ms in case.turns {
            duties.turn(&mut journal, begin + Duration::from_millis(*ms));
        }
        assert_eq!(journal.0, case.expected, "{}", case.name);
        journal.0.clear();
        duties.finish(&mut journal);
        let names: Vec<&str> = journal.0.iter().map(|(name, _)| *name).collect();
        let added: Vec<&str> = case.duties.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, added, "{}: the last turns", case.name);
    }
    assert_eq!(EACH_TURN, Duration::ZERO);
}

/// A duty that waits for something to read, and for no time.
struct Reads {
    from: UnixStream,
    /// It fails, and reads nothing.
    fails: bool,
}

impl Duty<Journal> for Reads {
    fn task(&self) -> &'static str {
        "read"
    }

    fn wakes<'a>(&'a self, _journal: &'a Journal, wait: &mut Wait<'a>) {
        wait.on(&self.from);
    }

    fn turn(&mut self, journal: &mut Journal, _now: Instant) -> Result<()> {
        if self.fails {
            bail!("it cannot be read");
        }
        let mut byte = [0];
        if (&self.from).read(&mut byte).is_ok() {
            journal.0.push(("read", byte[0].into()));
        }
        Ok(())
    }
}

/// Each wait would hang without what ends it. All are in one test: a wake-up ends the wait of a whole process.
#[test]
fn a_daemon_waits_until_there_is_something_to_do() {
    what_fails_does_not_keep_it_awake();
    what_had_nothing_to_read_is_not_asked_again();
    let (mut writer, reader) = UnixStream::pair().unwrap();
    reader.set_nonblocking(true).unwrap();
    let (mut journal, mut duties) = (
        Journal::default(),
        Duties::default().with(Reads {
            from: reader,
            fails: false,
        }),
    );
    let turn = |duties: &mut Duties<Journal>, journal: &mut Journal| {
        duties.turn(journal, Instant::now());
        std::mem::take(&mut journal.0)
    };
    writer.write_all(&[7]).unwrap();
    duties.wait(&journal, Wait::default());
    assert_eq!(turn(&mut duties, &mut journal), [("read", 7)]);
    wait::prepare().unwrap();
    // A wake-up that comes before the wait ends it, too.
    wait::wake();
    duties.wait(&journal, Wait::default());
    let waker = thread::spawn(wait::wake);
    duties.wait(&journal, Wait::default());
    waker.join().unwrap();
    let begin = Instant::now();
    let mut duties = duties.with(Noted {
        name: "a",
        period: Duration::from_millis(20),
        fails: false,
        begin,
    });
    // The time of the first turn is the present one.
    assert_eq!(turn(&mut duties, &mut journal).len(), 1);
    duties.wait(&journal, Wait::default());
    assert_eq!(turn(&mut duties, &mut journal).len(), 1, "its time came");
}

fn what_had_nothing_to_read_is_not_asked_again() {
    let ((mut writer, full), (_writer, empty), (_other, not_waited_for)) = (
        UnixStream::pair().unwrap(),
        UnixStream::pair().unwrap(),
        UnixStream::pair().unwrap(),
    );
    writer.write_all(&[7]).unwrap();
    let mut wait = Wait::default();
    wait.on(&full);
    wait.on(&empty);
    wait.sleep();
    let quiet = [&full, &empty, &not_waited_for].map(wait::is_quiet);
    assert_eq!(
        quiet,
        [false, true, false],
        "the last one may have anything"
    );
    let mut wait = Wait::default();
    wait.on(&full);
    wait.sleep();
    assert!(!wait::is_quiet(&empty), "nor is known what it has now");
}

fn what_fails_does_not_keep_it_awake() {
    let (mut writer, from) = UnixStream::pair().unwrap();
    writer.write_all(&[7]).unwrap();
    let (mut journal, duties) = (Journal::default(), Duties::default());
    let mut duties = duties.with(Reads { from, fails: true });
    let begin = Instant::now();
    duties.turn(&mut journal, begin);
    duties.wait(&journal, Wait::default());
    assert!(begin.elapsed() >= RETRY, "what is there stays unread");
}
