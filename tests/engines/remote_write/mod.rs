//! The remote-write engine: series as receivers get them, and the fate of each sample when a receiver fails.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostint::engines::push::*;
use hostint::engines::remote_write::{MetricType, RemoteWrite, WriteRequest};
use hostint::engines::{Accepted, Trouble};
use hostint::model::EngineUnit;
use hostint::model::metrics::Snapshot;
use prost::Message;

mod outages;
mod servers;

use hostint_testing::http_server::{HttpServer, Reply};
use hostint_testing::pushing::{
    LIMITS, SAID, SECRET, await_that, headers, identity, push_once, tell,
};

/// Samples of the families that are pushed: three numbers, and a histogram of six series.
const SAMPLES: u64 = 9;

fn remote_write(receiving: &HttpServer) -> RemoteWrite {
    let url = receiving.url.clone() + "api/v1/write";
    RemoteWrite::new(&url, headers(), &identity()).unwrap()
}

#[test]
fn whatever_a_receiver_does_what_becomes_of_samples_is_counted() {
    let says = |status| Reply::status(status, "because");
    let asked = Reply::Says(429, "Retry-After: 1\r\n", Vec::new());
    let cases = [
        ("takes all", vec![], false, 0),
        ("takes all without a word", vec![says(204)], false, 0),
        ("hangs once", vec![Reply::Hang], false, 1),
        (
            "closes the connection twice",
            vec![Reply::Close; 2],
            false,
            2,
        ),
        ("is overloaded, and asks to wait", vec![asked], false, 1),
        ("has defects", [500, 502, 503].map(says).into(), false, 3),
        ("finds it out of order", vec![says(400)], true, 0),
        ("wants to know who it is", vec![says(401)], true, 0),
        ("finds it too large", vec![says(413)], true, 0),
        ("lives elsewhere", vec![says(302)], true, 0),
        (
            "comes back, and refuses",
            vec![says(503), says(400)],
            true,
            1,
        ),
    ];
    std::thread::scope(|scope| {
        for (name, does, refused, retries) in &cases {
            scope.spawn(move || {
                let receiving = HttpServer::taking(does.clone());
                let status = push_once(Arc::new(remote_write(&receiving)));
                let counts = if *refused { (0, SAMPLES) } else { (SAMPLES, 0) };
                assert_eq!((status.delivered, status.refused), counts, "{name}");
                assert_eq!(status.retries, *retries, "{name}");
                assert_eq!((status.waiting, &status.trouble), (0, &None), "{name}");
                let requests = receiving.seen();
                assert_eq!(requests.len() as u64, 1 + retries, "{name}");
                for request in &requests {
                    assert_eq!(request.target, "/api/v1/write", "{name}");
                    for (header, value) in [
                        ("authorization", SECRET),
                        ("content-encoding", "snappy"),
                        ("content-type", "application/x-protobuf"),
                        ("x-prometheus-remote-write-version", "0.1.0"),
                        ("x-scope-orgid", "net"),
                    ] {
                        assert_eq!(request.header(header), Some(value), "{name}: {header}");
                    }
                    assert_eq!(request.body, requests[0].body, "{name}: the same bytes");
                }
            });
        }
    });
    let said = SAID.lock().unwrap().join("\n");
    for word in [
        "503 because; trying again",
        "9 samples refused: HTTP status 413",
    ] {
        assert!(said.contains(word), "{word} in {said}");
    }
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn series_have_sorted_labels_and_who_they_are_of() {
    let receiving = HttpServer::taking(vec![]);
    push_once(Arc::new(remote_write(&receiving)));
    let request = WriteRequest::decode(receiving.seen()[0].unpacked().as_slice()).unwrap();
    let series = request.series.iter().map(|series| {
        let labels = series.labels.iter();
        let mut labels = Vec::from_iter(labels.map(|label| (&*label.name, &*label.value)));
        assert!(labels.is_sorted(), "{labels:?}");
        assert!(labels.contains(&("job", "hostint")) && labels.contains(&("instance", "host-a/2")));
        labels.retain(|(name, _)| !["job", "instance"].contains(name));
        let labels = labels.iter().map(|(name, value)| format!("{name}={value}"));
        let [sample] = series.samples[..] else {
            panic!("{series:?}");
        };
        assert!(sample.time_ms > 1_700_000_000_000);
        let labels = Vec::from_iter(labels).join(" ");
        format!(
            "{} {}",
            labels.strip_prefix("__name__=").unwrap(),
            sample.value
        )
    });
    let latency = "hostint_x_latency_seconds";
    assert_eq!(
        Vec::from_iter(series),
        [
            "hostint_x_packets_total node=1 9007199254740992".to_owned(),
            "hostint_x_sweep_cpu_seconds_total 1.5".to_owned(),
            "hostint_x_flows -3".to_owned(),
            format!("{latency}_bucket a=\"q\" le=0 node=1 1"),
            format!("{latency}_bucket a=\"q\" le=0.001 node=1 4"),
            format!("{latency}_bucket a=\"q\" le=0.5 node=1 4"),
            format!("{latency}_bucket a=\"q\" le=+Inf node=1 10"),
            format!("{latency}_sum a=\"q\" node=1 7.25"),
            format!("{latency}_count a=\"q\" node=1 10"),
        ]
    );
    let metadata = &request.metadata[3];
    assert_eq!(metadata.family, latency);
    assert_eq!(metadata.kind, MetricType::Histogram as i32);
    assert_eq!((&*metadata.unit, request.metadata.len()), ("seconds", 4));
}

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
        EngineUnit::Samples
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
