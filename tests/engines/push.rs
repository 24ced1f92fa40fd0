//! The push of metrics: what waits for a receiver is bounded and comes in order, and each point is delivered or counted.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostint::engines::push::*;
use hostint::engines::{Accepted, Trouble};
use hostint::model::EngineUnit;
use hostint::model::metrics::Snapshot;
use hostint_testing::pushing::{LIMITS, await_that, tell};

/// A receiver that is away until it is told otherwise; what it has then taken.
#[derive(Default)]
struct Away {
    back: AtomicBool,
    taken: Mutex<Vec<u64>>,
}

impl Push for Away {
    fn name(&self) -> &'static str {
        "away"
    }

    fn destination(&self) -> String {
        "there".to_owned()
    }

    fn unit(&self) -> EngineUnit {
        EngineUnit::Points
    }

    fn encode(&self, snapshot: &Snapshot) -> Result<Encoded, String> {
        Ok(Encoded {
            body: snapshot.time_ns.to_ne_bytes().into(),
            units: 10,
        })
    }

    fn deliver(&self, body: &[u8]) -> Result<Accepted, Trouble> {
        if !self.back.load(Ordering::Relaxed) {
            return Err(Trouble::Later("it is away".to_owned()));
        }
        let time_ns = u64::from_ne_bytes(body.try_into().unwrap());
        self.taken.lock().unwrap().push(time_ns);
        Ok(Accepted::default())
    }

    fn rest(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
fn what_waits_is_bounded_and_comes_in_order_and_the_oldest_goes() {
    for (name, limits) in [
        (
            "by number",
            PushLimits {
                snapshots: 5,
                ..LIMITS
            },
        ),
        (
            "by memory",
            PushLimits {
                bytes: 5 * 8,
                ..LIMITS
            },
        ),
    ] {
        let away = Arc::new(Away::default());
        let mut pushers = Pushers::new(limits, || Ok(()), tell);
        pushers.add(Arc::clone(&away) as Arc<dyn Push>).unwrap();
        let counts = pushers.counts();
        let times = PushTimes {
            interval: Duration::from_millis(2),
            since_ns: 0,
        };
        let read = Arc::new(AtomicU64::new(0));
        let reads = Arc::clone(&read);
        let count = move || {
            reads.fetch_add(1, Ordering::Relaxed);
            Ok(Vec::new())
        };
        pushers.start(times, count).unwrap();
        await_that("more comes than there is room for", || {
            counts.statuses()[0].queue_drops >= 100
        });
        let status = &counts.statuses()[0];
        assert!((50..=60).contains(&status.waiting), "{name}: {status:?}");
        assert_eq!(status.trouble.as_deref(), Some("it is away"), "{name}");
        away.back.store(true, Ordering::Relaxed);
        await_that("it is taken", || counts.statuses()[0].delivered >= 60);
        let [status] = pushers.finish(Duration::from_secs(60)).try_into().unwrap();
        let taken = away.taken.lock().unwrap().clone();
        let all = read.load(Ordering::Relaxed);
        assert_eq!(status.delivered, 10 * taken.len() as u64, "{name}");
        assert_eq!(status.delivered + status.queue_drops, 10 * all, "{name}");
        assert_eq!((status.waiting, status.abandoned), (0, 0), "{name}");
        assert!(
            taken.is_sorted_by(|one, next| one < next),
            "{name}: {taken:?}"
        );
    }
}

#[test]
fn what_a_receiver_does_not_take_by_the_end_is_counted() {
    let away = Arc::new(Away::default());
    let mut pushers = Pushers::new(LIMITS, || Ok(()), tell);
    pushers.add(away).unwrap();
    let counts = pushers.counts();
    let times = PushTimes {
        interval: Duration::from_secs(3600),
        since_ns: 0,
    };
    pushers.start(times, || Ok(Vec::new())).unwrap();
    await_that("it is in trouble", || {
        counts.statuses()[0].trouble.is_some()
    });
    // What is then is pushed at the end, too.
    let [status] = pushers.finish(Duration::ZERO).try_into().unwrap();
    assert_eq!((status.abandoned, status.waiting), (20, 0));
    assert_eq!(status.lost(), 20);
}

#[test]
fn a_thread_that_cannot_give_up_privileges_delivers_nothing() {
    let mut pushers = Pushers::new(LIMITS, || Err("no privilege goes".to_owned()), tell);
    let refused = pushers.add(Arc::new(Away::default())).unwrap_err();
    assert_eq!(refused.to_string(), "no privilege goes");
    assert!(pushers.is_empty());
}
