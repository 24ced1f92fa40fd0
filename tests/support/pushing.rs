//! Snapshots of metrics that are pushed once, and the fate of each.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostint::engines::push::*;
use hostint::model::metrics::*;
use hostint::model::*;

pub const SECRET: &str = "Bearer s3cret";

/// All that pushers and engines of this process said.
pub static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub fn tell(what: &str) {
    SAID.lock().unwrap().push(what.to_owned());
}

pub fn headers() -> Vec<(String, String)> {
    let headers = [("Authorization", SECRET), ("X-Scope-OrgID", "net")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    headers.into()
}

pub fn identity() -> Identity {
    Identity {
        host: "host-a".to_owned(),
        instance: "host-a/2".to_owned(),
    }
}

pub const LIMITS: PushLimits = PushLimits {
    bytes: 1 << 20,
    snapshots: 100,
};

fn sample(labels: &[(&str, &str)], value: MetricValue) -> Sample {
    let labels = labels.iter();
    Sample {
        labels: labels
            .map(|(name, text)| (name.to_string(), text.to_string()))
            .collect(),
        value,
    }
}

/// One family of each sort, with values that only exact integers tell apart.
pub fn families() -> Vec<MetricFamily> {
    let family = |name: &str, kind, older, samples| MetricFamily {
        name: name.to_owned(),
        kind,
        help: format!("help of {name}"),
        older,
        samples,
    };
    let exact = MetricValue::Number(((1_u64 << 53) + 1).into());
    let histogram = MetricValue::Histogram(Histogram {
        buckets: vec![(0.0, 1), (0.001, 4), (0.5, 4)],
        count: 10,
        sum: 7.25,
    });
    vec![
        family(
            "hostint_x_packets_total",
            MetricKind::Counter,
            false,
            vec![sample(&[("node", "1")], exact)],
        ),
        family(
            "hostint_x_sweep_cpu_seconds_total",
            MetricKind::Counter,
            true,
            vec![sample(&[], MetricValue::Number(1.5.into()))],
        ),
        family(
            "hostint_x_flows",
            MetricKind::Gauge,
            false,
            vec![sample(&[], MetricValue::Number((-3).into()))],
        ),
        family(
            "hostint_x_latency_seconds",
            MetricKind::Histogram,
            false,
            vec![sample(&[("a", "\"q\""), ("node", "1")], histogram)],
        ),
    ]
}

/// Pushes `families` once, waits until they are delivered or not, and ends.
pub fn push_once(push: Arc<dyn Push>) -> EngineStatus {
    let mut pushers = Pushers::new(LIMITS, || Ok(()), tell);
    pushers.add(push).unwrap();
    let counts = pushers.counts();
    let times = PushTimes {
        interval: Duration::from_secs(3600),
        since_ns: 7,
    };
    pushers.start(times, || Ok(families())).unwrap();
    await_that("what is pushed is dealt with", || {
        let status = &counts.statuses()[0];
        status.delivered + status.refused > 0
    });
    let [status] = counts.statuses().try_into().unwrap();
    // Dropped, not finished, which would push once more.
    drop(pushers);
    status
}

/// Waits until a condition holds; what is the sentence of the failure.
pub fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
