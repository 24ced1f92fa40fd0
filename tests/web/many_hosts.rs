//! What a page of many hosts asks for: groups of pairs instead of all of them, and a short status.

use hostint::model::*;
use hostint_testing::history_samples::Synthetic;
use serde_json::{Value, json};

use super::page::{Answer, anywhere, ask, ask_with, serve, serve_page};

/// A history of a few pairs: their nodes, packets, lost packets, and the p99 of their latencies.
struct FewPairs(Vec<(u32, u32, u64, u64, i64)>);

impl FewPairs {
    fn figures(&self) -> Vec<PairFigures> {
        let latency = |p99_ns| LatencyFigures {
            samples: 100,
            min_ns: 1,
            mean_ns: 2,
            p50_ns: Some(3),
            p90_ns: Some(4),
            p99_ns: Some(p99_ns),
            max_ns: p99_ns,
            jitter_ns: Some(p99_ns - 3),
        };
        let pair = |&(source, sink, packets, lost, p99_ns)| PairFigures {
            source: NodeId(source),
            sink: NodeId(sink),
            flows: 1,
            last_ns: None,
            loss_split: None,
            loss_of_all: None,
            figures: Figures {
                reports: 100,
                packets,
                lost,
                latency: Some(latency(p99_ns)),
                ..Figures::default()
            },
        };
        self.0.iter().map(pair).collect()
    }
}

impl History for FewPairs {
    fn extent(&mut self) -> Result<Extent, HistoryError> {
        Ok(Extent::default())
    }

    fn pairs(&mut self, _: Span) -> Result<Vec<PairFigures>, HistoryError> {
        Ok(self.figures())
    }

    fn pair(&mut self, _: NodeId, _: NodeId, _: Span) -> Result<Option<PairFigures>, HistoryError> {
        Ok(None)
    }

    fn flows(&mut self, _: &FlowQuery, _: Span) -> Result<Vec<FlowFigures>, HistoryError> {
        Ok(Vec::new())
    }

    fn flow(&mut self, _: i64, _: Span) -> Result<Option<FlowFigures>, HistoryError> {
        Ok(None)
    }

    fn classes(&mut self, _: Span) -> Result<Vec<ClassFigures>, HistoryError> {
        Ok(Vec::new())
    }

    fn series(&mut self, _: &Subject, _: Span, _: usize) -> Result<Series, HistoryError> {
        Err(HistoryError("not asked for".to_owned()))
    }

    fn reports(&mut self, _: &ReportQuery, _: Span) -> Result<Vec<Record>, HistoryError> {
        Ok(Vec::new())
    }
}

/// The ends of each group, and the number of its pairs, its packets, lost ones, and the pair whose p99 it has.
fn groups(answer: &Value) -> Value {
    const COLUMNS: [&str; 8] = [
        "source",
        "sink",
        "pairs",
        "packets",
        "lost",
        "of_source",
        "of_sink",
        "p99_ns",
    ];
    let columns = &answer["groups"];
    let rows = 0..columns["source"].as_array().unwrap().len();
    let row = |at: usize| COLUMNS.map(|name| columns[name][at].clone());
    rows.map(|at| json!(row(at))).collect()
}

#[test]
fn pairs_are_grouped_by_a_label_or_by_host() {
    let pairs = vec![
        (1, 3, 100, 1, 10_004),
        (2, 3, 300, 0, 40_006),
        (3, 1, 50, 0, 5),
        (1, 9, 7, 0, 5),
    ];
    // Nodes 1 and 2 are in rack r1, node 3 is in rack r2, and node 9 has no label.
    let racks = Synthetic::of(3).in_racks_of(2);
    let server = serve_page(anywhere(), vec![Box::new(FewPairs(pairs))], racks);
    let by_rack = json!([
        ["r1", "(none)", 1, 7, 0, 1, 9, 5],
        ["r1", "r2", 2, 400, 1, 2, 3, 40_000],
        ["r2", "r1", 1, 50, 0, 3, 1, 5],
    ]);
    let host = json!([[2, null, 1, 300, 0, 2, 3, 40_000]]);
    let lossy = json!([[null, 1, 1, 50, 0, 3, 1, 5], [1, null, 2, 107, 1, 1, 9, 5]]);
    let cases = [
        (
            "sums, and the slowest pair's latency",
            "by=rack",
            3,
            by_rack.clone(),
        ),
        ("all groups beside few pairs", "by=rack&limit=1", 3, by_rack),
        (
            "a label that no host has",
            "by=zone",
            1,
            json!([["(none)", "(none)", 4, 457, 1, 2, 3, 40_000]]),
        ),
        ("the slowest host", "by=host&limit=1", 4, host),
        (
            "the host that loses most, in both directions",
            "by=host&limit=1&metric=loss",
            4,
            lossy,
        ),
    ];
    for (sentence, query, total, expected) in cases {
        let answer = ask(&server, &format!("/api/pairs?{query}")).json();
        assert_eq!(groups(&answer), expected, "{sentence}");
        assert_eq!(answer["groups_total"], total, "{sentence}");
        assert_eq!(answer["total"], 4, "{sentence}");
    }
    let lists = [
        (
            "the worst pairs first",
            "limit=2",
            4,
            json!([[2, 3], [1, 3]]),
        ),
        ("by loss", "limit=1&metric=loss", 4, json!([[1, 3]])),
        (
            "the pairs of two groups alone",
            "by=rack&from=r1&to=r2",
            2,
            json!([[1, 3], [2, 3]]),
        ),
        (
            "those of hosts without the label",
            "by=rack&from=r1&to=(none)",
            1,
            json!([[1, 9]]),
        ),
    ];
    for (sentence, query, total, expected) in lists {
        let answer = ask(&server, &format!("/api/pairs?{query}")).json();
        let rows = answer["pairs"].as_array().unwrap().iter();
        let ends: Value = rows.map(|row| json!([row[0], row[1]])).collect();
        assert_eq!(
            (ends, &answer["total"]),
            (expected, &json!(total)),
            "{sentence}"
        );
    }
    let refused = [
        ("by=rack&from=r1", "from and to need each other"),
        ("from=r1&to=r2", "the key of a label in by"),
        ("by=host&from=1&to=2", "the key of a label in by"),
        ("metric=size", "expected p50, p99, jitter or loss"),
        ("limit=0", "expected a whole number from 1 to 65536"),
    ];
    for (query, why) in refused {
        let answer = ask(&server, &format!("/api/pairs?{query}"));
        assert!(
            answer.code == 400 && answer.body.contains(why),
            "{query}: {}",
            answer.body
        );
    }
}

#[test]
fn a_group_says_which_of_its_pairs_is_unusual() {
    let server = serve(&Synthetic::of(8).in_racks_of(4).ill());
    let answer = ask(&server, "/api/pairs?by=rack").json();
    let having = |note: &str| {
        let columns = &answer["groups"];
        let rows = 0..columns["source"].as_array().unwrap().len();
        let rows = rows.filter(|at| columns[note][*at] == true);
        let ends = rows.map(|at| json!([columns["source"][at], columns["sink"][at]]));
        ends.collect::<Value>()
    };
    assert_eq!(having("more_lost"), json!([["r1", "r1"]]));
    assert_eq!(having("slower"), json!([["r2", "r1"]]));
}

fn length(answer: &Answer) -> usize {
    answer.headers["content-length"].parse().unwrap()
}

#[test]
fn of_a_thousand_hosts_the_page_asks_for_little() {
    let server = serve(&Synthetic::of_peers(1_000, 20).in_racks_of(20));
    let packed = |path| length(&ask_with(&server, "GET", path, "accept-encoding: gzip\r\n"));
    for (path, most) in [
        ("/api/pairs?by=rack&limit=50", 40_000),
        ("/api/pairs?by=host&limit=50", 8_000),
        ("/api/pairs?by=rack&from=r1&to=r2", 8_000),
        ("/api/status?form=short", 16_000),
    ] {
        let bytes = packed(path);
        println!("{path}: {bytes} bytes");
        assert!(bytes <= most, "{path}: {bytes} bytes");
    }
    let all = packed("/api/pairs");
    println!(
        "/api/pairs: {all} bytes; /api/status: {} bytes",
        packed("/api/status")
    );
    assert!(all > 200_000, "20,000 pairs are {all} bytes");
}

#[test]
fn a_short_status_says_what_all_views_show_of_hosts() {
    let server = serve(&Synthetic::of(8).in_racks_of(4));
    let status = ask(&server, "/api/status?form=short").json();
    assert_eq!(status["hosts_known"], 8);
    assert_eq!(status.get("coverage"), None);
    let of = |name: &str| status["exporters"][name].clone();
    assert_eq!(of("node"), json!([1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(of("lost"), json!([0, 0, 21, 0, 0, 0, 0, 56]));
    assert_eq!(of("reports")[7], json!(42_488));
    assert_eq!(of("reporting")[3], json!(false), "node 4 is silent");
    let last_seen = of("last_seen_ns");
    let silent = last_seen.as_array().unwrap().iter();
    let silent: Vec<bool> = silent.map(|one| !one.is_null()).collect();
    assert_eq!(silent.iter().position(|is| *is), Some(3), "{last_seen}");
    assert_eq!(of("labels")["rack"][4], json!("r2"));
    let answer = ask(&server, "/api/status?form=long");
    assert!(answer.code == 400 && answer.body.contains("expected whole or short"));
}
