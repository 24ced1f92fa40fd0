//! The metrics of several daemons as one text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Joins texts of metrics, again and again.
#[derive(Debug, Default)]
pub struct JoinedMetrics {
    /// The families that several daemons had at one time, whose series have a label since then: names of series stay when a
    /// daemon ends.
    shared: BTreeSet<String>,
}

/// A family: its lines of help and type, and those of its series by daemon.
#[derive(Default)]
struct JoinedFamily<'a> {
    head: Vec<&'a str>,
    series: Vec<(&'a str, &'a str)>,
}

impl JoinedMetrics {
    /// Each family once, in the order of the daemons. What says the same of the whole host (`_info`) is there once; other
    /// families that several daemons have get the label `role`.
    pub fn text(&mut self, pages: &[(&str, String)]) -> String {
        let mut order = Vec::new();
        let mut families: BTreeMap<&str, JoinedFamily<'_>> = BTreeMap::new();
        for (role, page) in pages {
            let mut name = "";
            for line in page.lines() {
                let head = line
                    .strip_prefix("# HELP ")
                    .or(line.strip_prefix("# TYPE "));
                if let Some(head) = head {
                    name = head.split(' ').next().unwrap_or_default();
                }
                let family = families.entry(name).or_insert_with(|| {
                    order.push(name);
                    JoinedFamily::default()
                });
                match head {
                    Some(_) if family.head.contains(&line) || family.head.len() > 1 => {}
                    Some(_) => family.head.push(line),
                    None => family.series.push((role, line)),
                }
            }
        }
        let mut out = String::new();
        for name in order {
            if let Some(family) = families.get(name) {
                self.add(name, family, &mut out);
            }
        }
        out
    }

    fn add(&mut self, name: &str, family: &JoinedFamily<'_>, out: &mut String) {
        for line in &family.head {
            let _ = writeln!(out, "{line}");
        }
        if name.ends_with("_info") {
            let mut known = BTreeSet::new();
            for (_, line) in &family.series {
                if known.insert(*line) {
                    let _ = writeln!(out, "{line}");
                }
            }
            return;
        }
        let roles: BTreeSet<&str> = family.series.iter().map(|(role, _)| *role).collect();
        if roles.len() > 1 {
            self.shared.insert(name.to_owned());
        }
        let labelled = self.shared.contains(name);
        for (role, line) in &family.series {
            let end = line.find(['{', ' ']).filter(|_| labelled);
            let _ = match end.map(|end| line.split_at(end)) {
                Some((name, rest)) => match rest.strip_prefix('{') {
                    Some(labels) => writeln!(out, "{name}{{role=\"{role}\",{labels}"),
                    None => writeln!(out, "{name}{{role=\"{role}\"}}{rest}"),
                },
                None => writeln!(out, "{line}"),
            };
        }
    }
}
