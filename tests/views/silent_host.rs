//! The shipped alert names one silent host among many, from reports in the default format to the rule.

use std::collections::BTreeMap;
use std::fmt::Write;

use hostint::collector::{Exporters, decode};
use hostint::model::{Arrival, CollectStatus};
use hostint::views::metrics::{Rising, collect, text};
use hostint_testing::dashboards::promtool;
use hostint_testing::exporting::loss_at;
use hostint_testing::places::repository;
use hostint_testing::scratch::Folder;

const MINUTE: u64 = 60_000_000_000;

/// The series that a collector shows in an hour, minute by minute. Node 5 falls silent after ten minutes.
fn scraped() -> BTreeMap<String, Vec<String>> {
    let (mut exporters, mut rising) = (Exporters::default(), Rising::default());
    let mut series = BTreeMap::<String, Vec<String>>::new();
    for minute in 0..60 {
        let now_ns = u64::from(minute) * MINUTE + MINUTE / 2;
        for node in (1..=6).filter(|node| *node != 5 || minute < 10) {
            let arrival = Arrival {
                exporter: ([192, 0, 2, node as u8], 5000).into(),
                received_ns: now_ns,
            };
            exporters.received(arrival, &decode(&loss_at(node, minute)).unwrap());
        }
        let hosts = exporters.hosts(now_ns);
        let status = CollectStatus {
            hosts_known: hosts.known,
            hosts_reporting: hosts.reporting,
            exporters: exporters.health(100, now_ns),
            ..CollectStatus::default()
        };
        let page = text(&collect::families(&status, &mut rising));
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            series
                .entry(name.to_owned())
                .or_default()
                .push(value.to_owned());
        }
    }
    series
}

#[test]
fn one_silent_host_among_six_is_named() {
    let mut test = format!(
        "rule_files: [{}/packaging/prometheus/hostint.rules.yml]\n\
         evaluation_interval: 1m\n\
         tests:\n- interval: 1m\n  input_series:\n",
        repository().display()
    );
    for (name, values) in scraped() {
        let _ = writeln!(
            test,
            "  - series: '{name}'\n    values: '{}'",
            values.join(" ")
        );
    }
    test += "  promql_expr_test:\n";
    for (minute, nodes) in [(14, &[][..]), (40, &[5])] {
        let _ = writeln!(
            test,
            "  - expr: count by (node) (ALERTS{{alertname=\"HostintExporterSilent\",alertstate=\"firing\"}})\n    \
             eval_time: {minute}m\n    exp_samples:"
        );
        for node in nodes {
            let _ = writeln!(test, "    - {{labels: '{{node=\"{node}\"}}', value: 1}}");
        }
    }
    let folder = Folder::create();
    let file = folder.file("silent.yml");
    std::fs::write(&file, test).unwrap();
    promtool(&["test", "rules"], &[file]);
}
