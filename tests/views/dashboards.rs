//! Dashboards and alerts are complete, name only metrics that exist, and each alert fires in time.
//!
//! tests/netns has a real Prometheus answer every query.

use std::collections::{BTreeMap, BTreeSet};

use hostint_testing::dashboards::{RULES, dashboards, files, panels, promtool, queries};
use hostint_testing::places::repository;
use serde_json::Value;

/// What Grafana's grid has.
const COLUMNS: u64 = 24;

/// Names and types of all metrics.
fn metrics() -> BTreeMap<String, String> {
    let golden = std::fs::read_to_string(repository().join("tests/golden/metrics.txt")).unwrap();
    let types = golden
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types
        .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
        .collect()
}

/// Each metric that an expression names, and what stands before it.
fn named(expr: &str) -> Vec<(&str, &str)> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = expr[from..].find(in_name) {
        let begin = from + at;
        let len = expr[begin..].find(|c| !in_name(c));
        from = len.map_or(expr.len(), |len| begin + len);
        let word = &expr[begin..from];
        if word.starts_with("hostint_") {
            found.push((word, &expr[..begin]));
        }
    }
    found
}

/// Counters are asked for their rate and nothing else is; no metric is asked for that there is not.
fn check_metrics(at: &str, expr: &str, metrics: &BTreeMap<String, String>) {
    for (name, before) in named(expr) {
        let of_histogram = name.strip_suffix("_bucket");
        let family = of_histogram.unwrap_or(name);
        let kind = metrics.get(family);
        let kind = kind.unwrap_or_else(|| panic!("{at}: there is no {name}"));
        assert_eq!(of_histogram.is_some(), kind == "histogram", "{at}: {name}");
        let by_time = before.ends_with("rate(") || before.ends_with("increase(");
        assert_eq!(by_time, kind != "gauge", "{at}: {name} is a {kind}");
    }
}

#[test]
fn every_query_names_metrics_that_there_are() {
    let metrics = metrics();
    for query in queries() {
        assert!(!named(&query.expr).is_empty(), "{}", query.at);
        check_metrics(&query.at, &query.expr, &metrics);
    }
    let rules: String = RULES
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .collect();
    assert!(named(&rules).len() > 50);
    check_metrics("hostint.rules.yml", &rules, &metrics);
}

#[test]
fn the_manual_names_all_metrics_and_no_others() {
    let page = std::fs::read_to_string(repository().join("man/hostint-metrics.7")).unwrap();
    let in_name = |c: char| c.is_ascii_alphanumeric() || "_*".contains(c);
    let words: BTreeSet<&str> = page
        .split(|c| !in_name(c))
        .filter(|word| word.starts_with("hostint_"))
        .map(|word| word.strip_suffix("_bucket").unwrap_or(word))
        .collect();
    let stands_for = |word: &str, name: &str| match word.split_once('*') {
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
        None => word == name,
    };
    let metrics = metrics();
    for name in metrics.keys() {
        let named = words.iter().any(|word| stands_for(word, name));
        assert!(named, "hostint-metrics(7) does not name {name}");
    }
    // Those of hostint tcp are not among the samples.
    for word in words
        .iter()
        .filter(|word| !word.starts_with("hostint_tcp_"))
    {
        let known = metrics.keys().any(|name| stands_for(word, name));
        assert!(known, "hostint-metrics(7) names {word}, which there is not");
    }
}

#[test]
fn no_query_is_about_addresses_or_knows_a_scrape_interval() {
    for query in queries() {
        let (at, expr) = (&query.at, &query.expr);
        for selector in expr.split('{').skip(1) {
            let selector = selector.split('}').next().unwrap();
            for matcher in selector.split(',') {
                let matchers = [
                    "instance=~\"$instance\"",
                    "node=~\"$node\"",
                    "class=~\"$class\"",
                    "le=\"0\"",
                    "state=\"silent\"",
                    "kind=~\"wire\"",
                    "kind=~\"hop\"",
                    "kind=~\"queue\"",
                    "kind=~\"buffer|stack\"",
                    "kind=~\"read\"",
                ];
                assert!(matchers.contains(&matcher), "{at}: {matcher}");
            }
        }
        for labels in expr.split("by (").skip(1) {
            for label in labels.split(')').next().unwrap().split(", ") {
                let bounded = [
                    "instance", "node", "class", "engine", "state", "le", "kind", "from", "to",
                ];
                assert!(bounded.contains(&label), "{at}: {label}");
            }
        }
        for range in expr.split('[').skip(1) {
            let range = range.split(']').next().unwrap();
            assert!(["$__rate_interval", "1h"].contains(&range), "{at}: {range}");
        }
    }
}

#[test]
fn a_dashboard_can_be_imported_anywhere() {
    let metrics = metrics();
    let mut uids = BTreeSet::new();
    for (name, dashboard) in dashboards() {
        assert_eq!(dashboard["id"], Value::Null, "{name}");
        assert_eq!(dashboard["uid"], name);
        assert!(uids.insert(name.clone()));
        assert_eq!(
            dashboard["schemaVersion"], 39,
            "{name}: Grafana 10.4 or newer"
        );
        for key in ["title", "description"] {
            assert!(!dashboard[key].as_str().unwrap().is_empty(), "{name} {key}");
        }
        let variables = dashboard["templating"]["list"].as_array().unwrap();
        let mut known = vec!["__rate_interval"];
        for variable in variables {
            let called = variable["name"].as_str().unwrap();
            if called == "datasource" {
                assert_eq!(variable["query"], "prometheus", "{name}");
            } else {
                let query = variable["query"]["query"].as_str().unwrap();
                assert_eq!(variable["datasource"]["uid"], "${datasource}", "{name}");
                let asked = query.strip_prefix("label_values(").unwrap();
                for (metric, _) in named(asked) {
                    assert!(metrics.contains_key(metric), "{name}: {metric}");
                }
            }
            known.push(called);
        }
        assert_eq!(known[1], "datasource", "{name}");
        let panels = panels(&dashboard);
        let mut sources = Vec::new();
        for panel in panels {
            sources.push(&panel["datasource"]);
            let targets = panel["targets"].as_array().unwrap().iter();
            sources.extend(targets.map(|target| &target["datasource"]));
        }
        for source in sources {
            assert_eq!(source["uid"], "${datasource}", "{name}");
            assert_eq!(source["type"], "prometheus", "{name}");
        }
        let text = dashboard["panels"].to_string();
        for used in text.split('$').skip(1) {
            let used = used.trim_start_matches('{');
            let end = used.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let used = &used[..end.unwrap()];
            assert!(known.contains(&used), "{name}: ${used}");
        }
    }
}

#[test]
fn panels_say_what_they_show_and_lie_beside_each_other() {
    for (name, dashboard) in dashboards() {
        let mut ids = BTreeSet::new();
        let mut taken = BTreeSet::new();
        for panel in dashboard["panels"].as_array().unwrap() {
            let at = format!("{name}, {}", panel["title"]);
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{at}: id");
            let [x, y, w, h] =
                ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().unwrap());
            assert!(w > 0 && h > 0 && x + w <= COLUMNS, "{at}: too wide");
            for row in y..y + h {
                for column in x..x + w {
                    assert!(taken.insert((row, column)), "{at}: over another");
                }
            }
            if panel["type"] == "row" {
                assert_eq!((w, h), (COLUMNS, 1), "{at}");
                continue;
            }
            let kinds = ["heatmap", "stat", "table", "timeseries"];
            assert!(kinds.contains(&panel["type"].as_str().unwrap()), "{at}");
            let description = panel["description"].as_str().unwrap();
            assert!(description.ends_with('.'), "{at}: {description:?}");
            let unit = &panel["fieldConfig"]["defaults"]["unit"];
            let units = ["Bps", "percentunit", "pps", "s", "short"];
            assert!(units.contains(&unit.as_str().unwrap()), "{at}: {unit}");
            let letters: Vec<&str> = panel["targets"]
                .as_array()
                .unwrap()
                .iter()
                .map(|target| target["refId"].as_str().unwrap())
                .collect();
            assert!(
                letters.is_sorted_by(|one, next| one < next),
                "{at}: {letters:?}"
            );
        }
        let rows = taken.last().unwrap().0 + 1;
        let full =
            (0..rows).filter(|row| (0..COLUMNS).all(|column| taken.contains(&(*row, column))));
        assert_eq!(full.count() as u64, rows, "{name}: there are holes");
    }
}

#[test]
fn every_alert_says_what_to_do_and_has_a_test_of_both_kinds() {
    let tests: String = files("tests/views/prometheus", ".yml")
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    let alerts: Vec<&str> = RULES.split("- alert: ").skip(1).collect();
    assert!(alerts.len() > 15);
    for alert in alerts {
        let name = alert.lines().next().unwrap();
        for key in ["for: ", "severity: ", "summary: ", "description: "] {
            assert!(alert.contains(key), "{name}: no {key}");
        }
        let severity = alert.split("severity: ").nth(1).unwrap();
        let severity = severity.lines().next().unwrap();
        assert!(
            ["info", "warning", "critical"].contains(&severity),
            "{name}"
        );
        let asked = format!("ALERTS{{alertname=\"{name}\",alertstate=\"firing\"}}");
        let answers: BTreeSet<&str> = tests
            .split("- expr: ")
            .filter(|test| test.contains(&asked))
            .map(|test| {
                test.split(" value: ")
                    .nth(1)
                    .unwrap()
                    .lines()
                    .next()
                    .unwrap()
            })
            .collect();
        assert!(
            answers.contains("0") && answers.len() > 1,
            "{name}: {answers:?}"
        );
    }
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn promtool_accepts_the_rules_and_the_example() {
        promtool(
            &["check", "rules"],
            &files("packaging/prometheus", ".rules.yml"),
        );
        let example = files("packaging/prometheus", "scrape.example.yml");
        promtool(&["check", "config", "--syntax-only"], &example);
    }

    #[test]
    fn alerts_fire_when_they_should() {
        promtool(&["test", "rules"], &files("tests/views/prometheus", ".yml"));
    }
}
