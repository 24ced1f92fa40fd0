//! Results as lines and as a table, and which of them are harm.

use serde_json::Value;

/// The initial retransmission timeout of TCP, and a margin for a machine that does much else.
const LONGEST_WAIT_MS: u64 = 1000 + 500;

fn text(row: &Value, name: &str) -> String {
    row[name].as_str().unwrap_or("").to_owned()
}

pub fn line(row: &Value) -> String {
    format!(
        "{}, {}: {} in {:.2} s, longest stall {} ms, {} timeouts{}",
        text(row, "case"),
        if row["hostint"] == true {
            "with hostint"
        } else {
            "without"
        },
        if row["whole"] == true {
            "whole"
        } else {
            "NOT WHOLE"
        },
        row["seconds"].as_f64().unwrap_or(0.0),
        row["longest_stall_ms"],
        row["timeouts"],
        match row["failure"].as_str() {
            Some(failure) => format!(": {failure}"),
            None => String::new(),
        }
    )
}

/// Both rows of each case.
fn pairs(rows: &[Value]) -> Vec<(&Value, &Value)> {
    let of = |hostint: bool| rows.iter().filter(move |row| row["hostint"] == hostint);
    of(true)
        .filter_map(|with| {
            let without = of(false).rfind(|row| row["case"] == with["case"])?;
            Some((without, with))
        })
        .collect()
}

/// The state that each end's source shows of the sink in front of the other end.
fn states(row: &Value) -> String {
    let ends = row["peers"].as_array().into_iter().flatten();
    let of_end = |end: &Value| -> String {
        let peers = end.as_array().into_iter().flatten();
        let is_family = |peer: &&Value| {
            let is_ipv6 = text(peer, "dest").contains(':');
            is_ipv6 == (row["family"] == "IPv6")
        };
        let names = |value: &Value| -> String {
            let names = value.as_array().into_iter().flatten();
            names
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let said = peers.filter(is_family).map(|peer| {
            let (ways, eaten) = (names(&peer["ways"]), names(&peer["eaten"]));
            format!("{}, open: [{ways}], eaten: [{eaten}]", text(peer, "state"))
        });
        said.collect::<Vec<_>>().join(" ")
    };
    ends.map(of_end).collect::<Vec<_>>().join(" / ")
}

/// A Markdown table with a line for each case.
pub fn of(rows: &[Value]) -> String {
    let mut out = String::from(
        "| case | whole | longest stall, ms (without) | timeouts (without) | throughput against without | tagged | peers |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for (without, with) in pairs(rows) {
        let seconds = |row: &Value| row["seconds"].as_f64().unwrap_or(0.0);
        out += &format!(
            "| {} | {} | {} ({}) | {} ({}) | {:.2} | {} | {} |\n",
            text(with, "case"),
            match (without["whole"] == true, with["whole"] == true) {
                (false, _) => "does not run here",
                (true, true) => "yes",
                (true, false) => "NO",
            },
            with["longest_stall_ms"],
            without["longest_stall_ms"],
            with["timeouts"],
            without["timeouts"],
            seconds(without) / seconds(with).max(0.001),
            with["tagged"],
            states(with),
        );
    }
    out
}

/// Cases that run without hostint and not, or much later, with it.
pub fn harmed(rows: &[Value]) -> Vec<String> {
    let stall = |row: &Value| row["longest_stall_ms"].as_u64().unwrap_or(0);
    pairs(rows)
        .into_iter()
        .filter(|(without, with)| {
            let is_broken = without["whole"] == true && with["whole"] != true;
            is_broken || stall(with) > stall(without) + LONGEST_WAIT_MS
        })
        .map(|(_, with)| line(with))
        .collect()
}
