//! The shipped dashboards and rules, taken apart.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::places::repository;

pub const RULES: &str = include_str!("../../packaging/prometheus/hostint.rules.yml");

/// A query of a panel.
pub struct Query {
    /// Dashboard, panel and the query's letter.
    pub at: String,
    pub panel: String,
    pub expr: String,
}

/// Each file in a folder of the repository whose name ends so, in order.
pub fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join(folder)).unwrap();
    let mut found: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(end))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{folder}/*{end}");
    found
}

/// Each dashboard by the name of its file.
pub fn dashboards() -> Vec<(String, Value)> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        (name, serde_json::from_str(&text).unwrap())
    };
    files("packaging/grafana", ".json")
        .iter()
        .map(read)
        .collect()
}

/// Panels that show something.
pub fn panels(dashboard: &Value) -> Vec<&Value> {
    let panels = dashboard["panels"].as_array().unwrap().iter();
    panels.filter(|panel| panel["type"] != "row").collect()
}

/// Every query of every panel.
pub fn queries() -> Vec<Query> {
    let mut found = Vec::new();
    for (name, dashboard) in dashboards() {
        for panel in panels(&dashboard) {
            let title = panel["title"].as_str().unwrap();
            for target in panel["targets"].as_array().unwrap() {
                found.push(Query {
                    at: format!("{name}, {title}, {}", target["refId"]),
                    panel: title.to_owned(),
                    expr: target["expr"].as_str().unwrap().to_owned(),
                });
            }
        }
    }
    found
}

/// Runs promtool, which must agree.
pub fn promtool(arguments: &[&str], files: &[PathBuf]) {
    let output = Command::new("promtool")
        .args(arguments)
        .args(files)
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{said}");
}
