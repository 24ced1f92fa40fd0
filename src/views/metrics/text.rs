//! Metrics in Prometheus' text format 0.0.4.

use std::fmt::{Display, Write};

use crate::model::metrics::{MetricFamily, MetricKind, MetricValue};

/// Families with their help and type, one line for each value.
pub fn text(families: &[MetricFamily]) -> String {
    let mut out = String::new();
    for family in families {
        let name = &family.name;
        let kind = match family.kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        let help = family.help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for sample in &family.samples {
            let labels = &sample.labels;
            match &sample.value {
                MetricValue::Number(number) => line(&mut out, name, "", labels, None, number),
                MetricValue::Histogram(histogram) => {
                    for (bound, count) in &histogram.buckets {
                        let bound = bound.to_string();
                        line(&mut out, name, "_bucket", labels, Some(&bound), count);
                    }
                    let count = histogram.count;
                    line(&mut out, name, "_bucket", labels, Some("+Inf"), count);
                    line(&mut out, name, "_sum", labels, None, histogram.sum);
                    line(&mut out, name, "_count", labels, None, count);
                }
            }
        }
    }
    out
}

fn line(
    out: &mut String,
    name: &str,
    suffix: &str,
    labels: &[(String, String)],
    bound: Option<&str>,
    value: impl Display,
) {
    let _ = write!(out, "{name}{suffix}");
    let labels = labels
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let mut begin = '{';
    for (name, text) in labels.chain(bound.map(|bound| ("le", bound))) {
        let _ = write!(out, "{begin}{name}=\"");
        for c in text.chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '"' => out.push_str("\\\""),
                '\n' => out.push_str("\\n"),
                c => out.push(c),
            }
        }
        out.push('"');
        begin = ',';
    }
    let end = if begin == '{' { "" } else { "}" };
    let _ = writeln!(out, "{end} {value}");
}
