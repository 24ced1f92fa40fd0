//! VictoriaMetrics and Prometheus hold what a collector pushed, outages included.

use std::time::{Duration, Instant, SystemTime};

use hostint::model::*;
use hostint::views::metrics::sink;
use hostint_testing::collecting::Collecting;

use super::servers::{Cable, Kind, Server};
use super::*;

const TOTAL: &str = "hostint_collect_reports_total";

/// Seconds since the Unix epoch.
fn now() -> f64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap().as_secs_f64()
}

fn long() -> bool {
    std::env::var_os("HOSTINT_LONG").is_some()
}

/// So long an outage takes at least, besides what has to happen in it.
fn outage() -> Duration {
    Duration::from_secs(if long() { 60 } else { 1 })
}

/// Sends reports while nothing gets through, until several snapshots wait; from when to when that was.
fn through_an_outage(collecting: &mut Collecting) -> (f64, f64) {
    let (begin, least) = (now(), Instant::now() + outage());
    let mut waited = Vec::new();
    await_that("snapshots wait", || {
        collecting.send(100);
        let engine = collecting.engine("remote-write");
        let waiting = engine["waiting"].as_u64().unwrap();
        if waited.last().is_none_or(|most| waiting > *most) {
            waited.push(waiting);
        }
        waited.len() > 2 && Instant::now() > least
    });
    (begin, now())
}

fn all_is_there_afterwards(kind: Kind) {
    let cable = Cable::new();
    let mut server = Server::start(kind, &cable);
    let args = [
        "--push-interval",
        "1s",
        "--push-instance",
        "here",
        "--queue",
        "1G",
    ];
    let url = server.url();
    let mut collecting = Collecting::start(&[&["--remote-write", &url][..], &args].concat());
    let series = format!("{TOTAL}{{instance=\"here\",job=\"hostint\"}}");
    let arrives = |server: &Server, collecting: &Collecting| {
        let sent = collecting.sent.reports as f64;
        await_that("the server has the sum", || {
            server.value(&series) == Some(sent)
        });
    };
    let many = if long() { 500_000 } else { 5_000 };
    collecting.send(many);
    arrives(&server, &collecting);

    server.kill();
    let killed = through_an_outage(&mut collecting);
    server.begin();
    arrives(&server, &collecting);

    cable.set("down");
    let cut = through_an_outage(&mut collecting);
    cable.set("up");
    arrives(&server, &collecting);

    // Ended, it pushes how it was at the end.
    collecting.send(many);
    collecting
        .collector
        .daemon
        .signal(nix::sys::signal::Signal::SIGTERM);
    await_that("it has pushed, and ended", || {
        collecting
            .collector
            .daemon
            .child
            .try_wait()
            .unwrap()
            .is_some()
    });
    arrives(&server, &collecting);

    await_that("samples of the outages are there", || {
        let samples = server.samples(&series);
        [killed, cut].iter().all(|(begin, end)| {
            let within = samples.iter().filter(|(at, _)| at > begin && at < end);
            // One each second; a busy host may begin one a little late.
            within.count() as f64 >= ((end - begin) * 0.8).floor().max(2.0)
        })
    });
    let samples = server.samples(&series);
    // A sample whose acknowledgement was lost comes twice, the same.
    let sorted = samples.is_sorted_by(|one, next| one == next || one.0 < next.0 && one.1 <= next.1);
    assert!(sorted, "{samples:?}");
    let restarted = server.value("count(hostint_build_info)");
    assert_eq!(restarted, Some(1.0));
    for lost in ["queue_drops", "refused", "abandoned"] {
        let lost = format!("hostint_push_{lost}_total{{engine=\"remote-write\"}}");
        assert_eq!(server.value(&lost), Some(0.0), "{lost}");
    }
}

/// A tally of one node's packets, all of 1,500 ns.
fn tally(packets: u64) -> Tally {
    let mut tally = Tally::default();
    let flow = FlowKey {
        src: [10, 1, 0, 1].into(),
        dst: [10, 2, 0, 1].into(),
        sport: 1,
        dport: 2,
        protocol: 17,
        vlans: Vlans::NONE,
    };
    let mut histogram = [0; LATENCY_SLOTS];
    histogram[11] = packets as u32;
    tally.begin();
    tally.complete();
    tally.begin();
    let counts = FlowCounts {
        node: NodeId(7),
        packets,
        bytes: 100 * packets,
        lost: 0,
        recovered: 0,
        reordered: 0,
        duplicates: 0,
        latency_sum_ns: 1500 * packets as i64,
        slots: FlowSlots::coarse(&histogram),
        ..FlowCounts::default()
    };
    tally.look(flow, counts);
    tally.complete();
    tally
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn victoria_metrics_has_samples_of_the_time_that_it_was_away() {
        all_is_there_afterwards(Kind::VictoriaMetrics);
    }

    #[test]
    fn prometheus_has_samples_of_the_time_that_it_was_away() {
        all_is_there_afterwards(Kind::Prometheus);
    }

    #[test]
    fn both_understand_the_histograms_of_a_sink() {
        for kind in [Kind::VictoriaMetrics, Kind::Prometheus] {
            let cable = Cable::new();
            let server = Server::start(kind, &cable);
            let [status, ..] = hostint_testing::status_samples::all();
            let push = RemoteWrite::new(&server.url(), Vec::new(), &identity()).unwrap();
            let mut pushers = Pushers::new(LIMITS, || Ok(()), tell);
            pushers.add(Arc::new(push)).unwrap();
            let times = PushTimes {
                interval: Duration::from_secs(3600),
                since_ns: 0,
            };
            let families = move || Ok(sink::families(&status, &tally(1000), &[]));
            pushers.start(times, families).unwrap();
            let [status] = pushers.finish(Duration::from_secs(60)).try_into().unwrap();
            assert_eq!(
                (status.lost(), status.waiting),
                (0, 0),
                "{kind:?}: {status:?}"
            );
            let latency = "hostint_node_latency_seconds";
            let count = format!("{latency}_count{{node=\"7\",instance=\"host-a/2\"}}");
            await_that("the histogram is there", || {
                server.value(&count) == Some(1000.0)
            });
            let bucket = format!("{latency}_bucket{{node=\"7\",le=\"0.000002048\"}}");
            assert_eq!(server.value(&bucket), Some(1000.0), "{kind:?}");
            let below = format!("{latency}_bucket{{node=\"7\",le=\"0.000001024\"}}");
            assert_eq!(server.value(&below), Some(0.0), "{kind:?}");
            let median = format!("histogram_quantile(0.5,{latency}_bucket)");
            let median = server.value(&median).unwrap();
            assert!(
                (0.000_001..0.000_002_1).contains(&median),
                "{kind:?}: {median}"
            );
            let sum = server.value(&format!("{latency}_sum")).unwrap();
            assert!((sum - 0.0015).abs() < 1e-9, "{kind:?}: {sum}");
        }
    }
}
