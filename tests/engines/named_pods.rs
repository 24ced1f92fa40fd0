//! Engines get the names that pods had when their reports came.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostint::engines::*;
use hostint::model::*;
use hostint_testing::fed_reports::record_pods;
use hostint_testing::synthetic::Synthetic;

const TIME_NS: u64 = 1_800_000_000_000_000_000;

/// Tells which pods its reports have.
struct Naming(Sender<Vec<RecordPod>>);

impl Engine for Naming {
    fn name(&self) -> &'static str {
        "naming"
    }

    fn destination(&self) -> String {
        "here".to_owned()
    }

    fn pace(&self) -> Pace {
        Pace {
            reports: 1,
            linger: Duration::ZERO,
        }
    }

    fn deliver(&mut self, parcel: &Parcel) -> Result<Accepted, Trouble> {
        for entry in parcel.entries() {
            self.0.send(entry.pods.clone()).unwrap();
        }
        Ok(Accepted::default())
    }
}

/// The names of a report's pods, from an engine that has this book.
fn named(report: &Report, arrival: Option<Arrival>, book: PodBook) -> Vec<RecordPod> {
    let mut all = Engines::new(RunId(7), 1 << 20, Patience::Wait, |_| {});
    let (tell, told) = channel();
    all.add(Box::new(Naming(tell))).unwrap();
    let mut feed = all.feed(Some(Arc::new(Mutex::new(book))));
    feed.take(&FeedReport {
        report,
        arrival,
        clocks: LatencyClocks::Unreported,
        drop_reason: None,
        class: None,
        added: None,
        dropped: None,
        bytes: 100,
    });
    drop(feed);
    all.finish();
    told.recv().unwrap()
}

#[test]
fn a_report_has_the_names_of_the_pods_at_its_time() {
    let sample = Synthetic::new(1, 4, 1).report(0, TIME_NS);
    let flow = sample.report.observation.flow().unwrap();
    let arrival = Some(sample.arrival);
    let [pod, _] = record_pods();
    let book = |until_ns: u64| {
        let period = PodPeriod {
            address: Some(flow.dst),
            uid: "a".into(),
            name: Arc::new(pod.name.clone()),
            since_ns: TIME_NS - 3_600_000_000_000,
            until_ns,
        };
        PodBook::of(
            vec![
                PodPeriod {
                    address: None,
                    ..period.clone()
                },
                period,
            ],
            TIME_NS,
        )
    };
    let dst = RecordPod {
        address: Some(flow.dst),
        ..pod.clone()
    };
    let cases = [
        ("a pod that is there", arrival, PodPeriod::OPEN, vec![dst]),
        (
            "one that went before",
            arrival,
            TIME_NS - 60_000_000_000,
            vec![],
        ),
        ("a report without a time", None, PodPeriod::OPEN, vec![]),
    ];
    for (sentence, arrival, until_ns, pods) in cases {
        assert_eq!(
            named(&sample.report, arrival, book(until_ns)),
            pods,
            "{sentence}"
        );
    }
}
