//! Roll-ups equal the sums of their reports, in whatever order those came.

use std::collections::{BTreeMap, HashMap};

use hostint::model::*;
use hostint_testing::random::Random;
use hostint_testing::synthetic::{Sample, Synthetic};

use crate::disk::*;

/// 2026-11-21 00:00 UTC.
const DAWN: u64 = 1_795_219_200 * SECOND;

/// What a plain reading of the reports gives.
#[derive(Clone, Default)]
struct Plain {
    reports: u64,
    lost: u64,
    latency: LatencyHistogram,
}

impl Plain {
    fn add(&mut self, report: &Report) {
        self.reports += 1;
        if let Body::DropSummary(summary) = &report.observation.body {
            self.lost += u64::from(summary.count);
        }
        if let Some(latency) = report.observation.latency_ns() {
            self.latency.add(latency);
        }
    }

    fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Self {
        let mut plain = Self::default();
        samples.for_each(|sample| plain.add(&sample.report));
        plain
    }

    fn assert(&self, figures: &Figures, what: &str) {
        assert_eq!(figures.reports, self.reports, "reports of {what}");
        assert_eq!(figures.lost, self.lost, "lost of {what}");
        assert_eq!(figures.latency, self.latency.figures(), "latency of {what}");
    }
}

pub fn ends(sample: &Sample) -> (NodeId, NodeId) {
    match &sample.report.observation.body {
        Body::Latency(report) => (report.hops.source().node, report.hops.sink().node),
        Body::DropSummary(summary) => (summary.source_node, summary.sink_node),
        _ => unreachable!(),
    }
}

fn within(samples: &[Sample], span: Span) -> impl Iterator<Item = &Sample> {
    let range = span.since_ns..span.until_ns;
    samples
        .iter()
        .filter(move |sample| range.contains(&sample.arrival.received_ns))
}

/// Random reports over five hours.
fn samples(seed: u64, count: usize) -> Vec<Sample> {
    samples_over(5 * HOUR, seed, count)
}

/// Random reports over some time.
pub fn samples_over(time_ns: u64, seed: u64, count: usize) -> Vec<Sample> {
    let mut network = Synthetic::new(seed, 5, 40);
    let mut random = Random::seeded(seed);
    let mut times: Vec<u64> = (0..count).map(|_| DAWN + random.next() % time_ns).collect();
    times.sort_unstable();
    times
        .iter()
        .map(|time| network.report(random.below(40), *time))
        .collect()
}

/// Whether figures are those of these reports.
pub fn check_figures(reader: &mut impl History, samples: &[Sample], span: Span, what: &str) {
    let here: Vec<&Sample> = within(samples, span).collect();
    let pairs = reader.pairs(span).unwrap();
    let mut by_pair: BTreeMap<_, Vec<&Sample>> = BTreeMap::new();
    for sample in &here {
        by_pair.entry(ends(sample)).or_default().push(sample);
    }
    let named: Vec<_> = pairs.iter().map(|pair| (pair.source, pair.sink)).collect();
    let expected: Vec<_> = by_pair.keys().copied().collect();
    assert_eq!(named, expected, "{what}: pairs");
    for (pair, own) in pairs.iter().zip(by_pair.values()) {
        Plain::of(own.iter().copied()).assert(&pair.figures, &format!("{what}: {pair:?}"));
        let alone = reader.pair(pair.source, pair.sink, span).unwrap();
        assert_eq!(alone.as_ref(), Some(pair), "{what}: by itself");
    }
    let nobody = reader.pair(NodeId(1), NodeId(99), span).unwrap();
    assert_eq!(nobody, None, "{what}: a pair without reports");

    let mut by_flow: HashMap<FlowKey, Vec<&Sample>> = HashMap::new();
    for sample in &here {
        let flow = sample.report.observation.flow().unwrap();
        by_flow.entry(flow).or_default().push(sample);
    }
    let query = FlowQuery {
        limit: usize::MAX,
        ..FlowQuery::default()
    };
    let flows = reader.flows(&query, span).unwrap();
    assert_eq!(flows.len(), by_flow.len(), "{what}: flows");
    for flow in &flows {
        let own = &by_flow[&flow.flow];
        Plain::of(own.iter().copied()).assert(&flow.figures, &format!("{what}: {}", flow.flow));
        assert_eq!(flow.class.as_deref(), own[0].class);
        assert_eq!(flow.source.zip(flow.sink), Some(ends(own[0])));
        let one = reader.flow(flow.id, span).unwrap().unwrap();
        assert_eq!(one.figures, flow.figures, "{what}: {} by itself", flow.flow);
    }
    let lost: Vec<u64> = flows.iter().map(|flow| flow.figures.lost).collect();
    assert!(
        lost.is_sorted_by(|one, next| one >= next),
        "{what}: {lost:?}"
    );

    for class in reader.classes(span).unwrap() {
        let own = here.iter().filter(|one| one.class == Some(&*class.class));
        Plain::of(own.copied()).assert(&class.figures, &format!("{what}: {}", class.class));
    }

    // Each point has what belongs there, and all points have all.
    for points in [3, 20, 100_000] {
        let series = reader.series(&Subject::All, span, points).unwrap();
        let mut sum = 0;
        for point in &series.points {
            let period = Span {
                since_ns: point.begin_ns.max(span.since_ns),
                until_ns: (point.begin_ns + series.period_ns).min(span.until_ns),
            };
            sum += point.figures.reports;
            if period.since_ns == point.begin_ns
                && period.until_ns == point.begin_ns + series.period_ns
            {
                let what = format!("{what}: point {points} {}", point.begin_ns);
                Plain::of(within(samples, period)).assert(&point.figures, &what);
            }
        }
        assert!(sum >= here.len() as u64, "{what}: {points} points");
    }
}

/// The same, and whether there are as many single reports.
fn check(reader: &mut impl History, samples: &[Sample], span: Span, what: &str) {
    check_figures(reader, samples, span, what);
    let here: Vec<&Sample> = within(samples, span).collect();
    let reports = reader
        .reports(
            &ReportQuery {
                subject: Subject::All,
                limit: usize::MAX >> 1,
            },
            span,
        )
        .unwrap();
    assert_eq!(reports.len(), here.len(), "{what}: single reports");
}

#[test]
fn roll_ups_are_the_sums_of_their_reports_in_any_order() {
    for (round, shuffled) in [(1, false), (2, true), (3, true)] {
        let disk = Disk::new();
        let samples = samples(round, 2_000);
        let mut order: Vec<&Sample> = samples.iter().collect();
        if shuffled {
            let mut random = Random::seeded(round);
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last + 1));
            }
        }
        // Some sessions, as of a collector that is restarted.
        for part in order.chunks(order.len() / 3 + 1) {
            let store = disk.open();
            let mut keeper = store.keeper();
            part.iter().for_each(|sample| keep(&mut keeper, sample));
            let counts = store.counts();
            drop((keeper, store));
            assert_eq!((counts.stored(), counts.drops()), (part.len() as u64, 0));
        }
        let mut reader = disk.reader();
        check(&mut reader, &samples, ALWAYS, "always");
        let mut random = Random::seeded(round);
        for _ in 0..10 {
            // Whole periods, of whatever length.
            let unit = [10 * SECOND, MINUTE, HOUR][random.below(3)];
            let steps = 5 * HOUR / unit;
            let since_ns = DAWN + random.next() % steps * unit;
            let span = Span {
                since_ns,
                until_ns: since_ns + (1 + random.next() % steps) * unit,
            };
            check(&mut reader, &samples, span, &format!("{round} {span:?}"));
        }
        let extent = reader.extent().unwrap();
        assert_eq!(extent.reports, samples.len() as u64);
        assert_eq!(extent.flows, 40);
        let last = samples.last().unwrap().arrival.received_ns;
        assert_eq!(extent.last_ns, last);
        assert_eq!(integrity(&disk.file()), "ok");
    }
}

#[test]
fn single_reports_are_what_came_newest_first() {
    let disk = Disk::new();
    let samples = samples(9, 3_000);
    let store = disk.open();
    let mut keeper = store.keeper();
    for (n, sample) in samples.iter().enumerate() {
        // Datagrams and lines alike.
        let evidence = if n % 3 == 0 {
            sample.line()
        } else {
            sample.datagram()
        };
        keeper.keep(
            &sample.report,
            0,
            Some(sample.arrival),
            sample.class,
            None,
            &evidence,
        );
    }
    drop((keeper, store));
    let mut reader = disk.reader();
    let query = FlowQuery {
        limit: 5,
        ..FlowQuery::default()
    };
    let flows = reader.flows(&query, ALWAYS).unwrap();
    let mut subjects: Vec<Subject> = flows.iter().map(|flow| Subject::Flow(flow.id)).collect();
    let (source, sink) = ends(&samples[0]);
    subjects.push(Subject::Pair { source, sink });
    subjects.push(Subject::Class("web".to_owned()));
    subjects.push(Subject::All);
    let span = Span {
        since_ns: DAWN + HOUR + 3 * SECOND,
        until_ns: DAWN + 3 * HOUR + 7 * SECOND,
    };
    for subject in subjects {
        for limit in [1, 7, 1_000_000] {
            let own = within(&samples, span).filter(|sample| match &subject {
                Subject::All => true,
                Subject::Class(class) => sample.class == Some(class),
                Subject::Pair { source, sink } => ends(sample) == (*source, *sink),
                Subject::Flow(id) => {
                    let flow = flows.iter().find(|flow| flow.id == *id).unwrap().flow;
                    sample.report.observation.flow() == Some(flow)
                }
            });
            let expected: Vec<Record> = own
                .map(|sample| {
                    Record::new(&sample.report, Some(sample.arrival)).in_class(sample.class)
                })
                .collect();
            let expected: Vec<Record> = expected.into_iter().rev().take(limit).collect();
            let query = ReportQuery {
                subject: subject.clone(),
                limit,
            };
            let found = reader.reports(&query, span).unwrap();
            assert_eq!(found.len(), expected.len(), "{subject:?} {limit}");
            assert_eq!(found, expected, "{subject:?} {limit}");
        }
    }
}

#[test]
fn flows_are_found_by_nodes_class_and_words() {
    let disk = Disk::new();
    let store = disk.open();
    let mut keeper = store.keeper();
    let samples = samples(4, 500);
    samples.iter().for_each(|sample| keep(&mut keeper, sample));
    drop((keeper, store));
    let mut reader = disk.reader();
    let mut ask = |query: FlowQuery| {
        let query = FlowQuery {
            limit: 1000,
            ..query
        };
        reader.flows(&query, ALWAYS).unwrap()
    };
    let all = ask(FlowQuery::default());
    type Fits = fn(&FlowFigures) -> bool;
    let cases: [(&str, FlowQuery, Fits); 6] = [
        (
            "of a source",
            FlowQuery {
                source: Some(NodeId(2)),
                ..FlowQuery::default()
            },
            |flow| flow.source == Some(NodeId(2)),
        ),
        (
            "of a pair",
            FlowQuery {
                source: Some(NodeId(1)),
                sink: Some(NodeId(2)),
                ..FlowQuery::default()
            },
            |flow| (flow.source, flow.sink) == (Some(NodeId(1)), Some(NodeId(2))),
        ),
        (
            "of a class",
            FlowQuery {
                class: Some("web".to_owned()),
                ..FlowQuery::default()
            },
            |flow| flow.class.as_deref() == Some("web"),
        ),
        (
            "with words, in whatever case",
            FlowQuery {
                search: Some("TCP :443".to_owned()),
                ..FlowQuery::default()
            },
            |flow| flow.flow.protocol == 6 && flow.flow.dport == 443,
        ),
        (
            "with a word of the class",
            FlowQuery {
                search: Some("stor".to_owned()),
                ..FlowQuery::default()
            },
            |flow| flow.class.as_deref() == Some("storage"),
        ),
        (
            "that nobody has",
            FlowQuery {
                search: Some("sctp".to_owned()),
                ..FlowQuery::default()
            },
            |_| false,
        ),
    ];
    for (name, query, fits) in cases {
        let found = ask(query);
        let expected: Vec<_> = all.iter().filter(|flow| fits(flow)).cloned().collect();
        assert_eq!(found, expected, "{name}");
    }
    for (order, key) in [
        (
            FlowOrder::Packets,
            (|flow| flow.figures.packets as i64) as fn(&FlowFigures) -> i64,
        ),
        (FlowOrder::Latency, |flow| {
            flow.figures
                .latency
                .map_or(i64::MIN, |one| one.p99_ns.unwrap())
        }),
        (FlowOrder::Jitter, |flow| {
            flow.figures
                .latency
                .map_or(i64::MIN, |one| one.jitter_ns.unwrap())
        }),
    ] {
        let found = ask(FlowQuery {
            order,
            ..FlowQuery::default()
        });
        let keys: Vec<i64> = found.iter().map(key).collect();
        assert!(
            keys.is_sorted_by(|one, next| one >= next),
            "{order:?}: {keys:?}"
        );
    }
}
