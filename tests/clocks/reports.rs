//! The interval of each reported latency holds, also about the time when a clock was set. Reports come a little after
//! their packets, and wait for the hosts' next readings, which come once a second, sometimes late.

use hostint::clocks::{ClockDifferences, HostClocks, Reading, Statement};
use hostint::model::CorrectedLatency;
use hostint_testing::random::{Random, env_number};

use super::told::{Told, collected};
use super::world::{
    Habits, Host, MS, Path, SECOND, WINDOW, any_habits, any_paths, below, exponential,
};

/// Reports of a world.
const REPORTS: u64 = 50;
/// The collector hands reports on after this.
const LONGEST: i128 = 3 * SECOND;

/// A packet from host 0 to host 1, by true time, and when its report came.
struct Reported {
    sent: i128,
    arrived: i128,
    noted: i128,
}

/// What the collector knows of two hosts.
struct Collector {
    clocks: HostClocks,
    differences: ClockDifferences,
    computed: i128,
}

impl Collector {
    fn new() -> Self {
        Self {
            clocks: HostClocks::default(),
            differences: ClockDifferences::default(),
            computed: -WINDOW,
        }
    }

    fn settle(&mut self, at: i128) {
        if at - self.computed > 900 * MS {
            self.computed = at;
            self.clocks.settle(collected(at));
            self.differences = ClockDifferences::compute(&self.clocks, collected(at));
        }
    }

    fn are_reported(&self, report: &Reported) -> bool {
        [0, 1]
            .iter()
            .all(|host| self.clocks.has_reported(*host, collected(report.noted)))
    }

    fn correct(&self, hosts: &[Host], report: &Reported) -> Option<CorrectedLatency> {
        let arrived = hosts[1].clock(report.arrived);
        let stamped = i64::from((arrived - hosts[0].clock(report.sent)) as i32);
        let found = self
            .differences
            .of_packet(&self.clocks, (0, 1), arrived, stamped)?;
        let bound = [found.bound.low_ns, found.bound.high_ns];
        CorrectedLatency::new(stamped, found.estimate_ns, found.error_ns, bound)
    }
}

/// The times when a host's readings are taken, and when they arrive: each second, and a little after the clock was set.
fn tellings(random: &mut Random, host: &Host) -> Vec<(i128, i128)> {
    let flight = random.pick(&[MS, 30 * MS, 250 * MS]);
    let begin = -2 * SECOND + below(random, SECOND);
    let mut times: Vec<i128> = (0..20).map(|n| begin + n * (SECOND + 10 * MS)).collect();
    let after = |step: &i128| step + below(random, 15 * MS);
    times.extend(host.steps.iter().map(after));
    times.sort_unstable();
    let mut tellings = Vec::new();
    for at in times {
        let late = match random.chance(0.05) {
            true => below(random, 2 * SECOND),
            false => exponential(random, 1e6),
        };
        tellings.push((at, at + flight + late));
    }
    tellings
}

/// Reports of packets at any time, and of those about the time when a clock was set.
fn reports(random: &mut Random, hosts: &[Host], path: Path) -> Vec<Reported> {
    let steps: Vec<i128> = hosts.iter().flat_map(|host| host.steps.clone()).collect();
    let report = |_| {
        let delay = path.delay(random);
        let sent = match steps.is_empty() || random.chance(0.3) {
            true => 3 * SECOND + below(random, WINDOW),
            false => random.pick(&steps) + below(random, 20 * MS + 2 * delay) - 20 * MS - delay,
        };
        let arrived = sent + delay;
        let noted = arrived + below(random, 100 * MS) + random.pick(&[0, 0, 900 * MS]);
        Reported {
            sent,
            arrived,
            noted,
        }
    };
    (0..REPORTS).map(report).collect()
}

enum News {
    Reading(usize, Reading),
    Packet(usize),
    Report(Reported),
}

/// The latencies of a world's reports, with their true values.
fn judged(random: &mut Random, habits: [Habits; 2]) -> Vec<(i128, Option<CorrectedLatency>)> {
    let hosts = habits.map(|habits| Host::new(random, habits)).to_vec();
    let paths = any_paths(random);
    let mut told = Told::of(hosts);
    told.link(random, 0, 1, paths);
    let mut news: Vec<(i128, News)> = Vec::new();
    for host in 0..2 {
        let told_of = &told.hosts[host];
        let mut before = None;
        for (taken, arrives) in tellings(random, told_of) {
            let since = before.replace(taken).unwrap_or(taken);
            let reading = told_of.reading_since(random, since, taken);
            news.push((arrives, News::Reading(host, reading)));
        }
    }
    let packets = told.packets.iter().enumerate();
    news.extend(packets.map(|(place, packet)| (packet.0, News::Packet(place))));
    for report in reports(random, &told.hosts, paths[0]) {
        news.push((report.noted, News::Report(report)));
    }
    news.sort_by_key(|(at, _)| *at);

    let mut collector = Collector::new();
    let mut readings = [Vec::new(), Vec::new()];
    let (mut waiting, mut found) = (Vec::new(), Vec::new());
    for (at, one) in news {
        match one {
            News::Reading(host, reading) => {
                readings[host].push(reading);
                readings[host].sort_by_key(|reading| reading.raw_ns);
                let last = readings[host].iter().rev().take(6).rev().copied();
                let said = Statement::default();
                let now = collected(at);
                collector.clocks.note_readings(host as u32, said, last, now);
                collector.settle(at);
            }
            News::Packet(place) => {
                let (_, from, to, stamps) = told.packets[place];
                collector
                    .clocks
                    .note_packet(from, to, stamps, collected(at));
            }
            News::Report(report) => waiting.push(report),
        }
        waiting.retain(|report| {
            let is_told = collector.are_reported(report);
            if is_told || at - report.noted > LONGEST {
                let corrected = is_told.then(|| collector.correct(&told.hosts, report));
                found.push((report.arrived - report.sent, corrected.flatten()));
                return false;
            }
            true
        });
    }
    found
}

#[test]
fn the_interval_of_each_report_holds_when_clocks_are_set() {
    let (mut random, seed) = Random::from_env();
    let worlds = env_number("HOSTINT_TEST_CASES", 10_000) / REPORTS;
    let (mut known, mut all, mut widths) = (0, 0, Vec::new());
    for world in 0..worlds {
        let sentence = format!("HOSTINT_TEST_SEED={seed}, world {world}");
        let habits = [(); 2].map(|()| any_habits(&mut random, 50_000));
        for (latency, corrected) in judged(&mut random, habits) {
            all += 1;
            let Some(corrected) = corrected else { continue };
            let [low, high] = corrected.bound_ns;
            assert!(
                (low.into()..=high.into()).contains(&latency),
                "{sentence}: {latency} in {corrected:?}"
            );
            known += 1;
            widths.push((high - low) / 2);
        }
    }
    widths.sort_unstable();
    println!(
        "{known} of {all} reported latencies are known and hold; half width median {} ns, 95 % {} ns",
        widths[widths.len() / 2],
        widths[widths.len() * 95 / 100]
    );
    assert!(known * 10 > all * 3, "{known} of {all}");
}
