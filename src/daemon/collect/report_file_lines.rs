//! Reads lines of JSON, as `hostint collect --read` does.

use std::io::{self, BufRead};

use anyhow::{Context, Result, bail};

use super::output::written;
use super::summary::{self, WRONG_TIME};
use super::takers::Hub;
use crate::cli::CollectArgs;
use crate::collector::LineReader;
use crate::collector::stamps::StampJudge;
use crate::model::Record;
use crate::model::{coverage, drop_totals_report};
use crate::os::clock;
use crate::views::tcp_json;

/// The number of unreadable lines that are named; more are counted only.
const NAMED_LINES: u64 = 5;

const NS_PER_S: u64 = 1_000_000_000;

/// True for a line that a collector writes beside those of reports.
fn is_beside_reports(line: &[u8]) -> bool {
    coverage::is_record(line) || drop_totals_report::is_record(line) || tcp_json::is_captured(line)
}

/// The lines of a file, counted by kind.
#[derive(Default)]
struct Lines {
    seen: u64,
    read: u64,
    bad: u64,
}

/// Hands all reports of the lines to lines, history and engines.
pub fn read(
    reader: impl BufRead,
    name: &str,
    args: &CollectArgs,
    live: bool,
    hub: &mut Hub,
) -> Result<()> {
    let mut lines = LineReader::new(reader);
    let mut counts = Lines::default();
    let mut judge = StampJudge::new(live, clock::realtime_ns);
    let end = loop {
        if args.count.is_some_and(|count| counts.read >= count) {
            break Ok(());
        }
        let line = match lines.next_line() {
            Ok(Some(line)) => line,
            Ok(None) => break Ok(()),
            Err(err) => break Err(err).with_context(|| format!("cannot read {name} to its end")),
        };
        counts.seen += 1;
        if line.trim_ascii().is_empty() || is_beside_reports(line) {
            continue;
        }
        match Record::read_line(line).and_then(|record| record.report().map(|_| record)) {
            Ok(record) => {
                counts.read += 1;
                judge.push(stamp_of(&record), (record, line.to_vec()));
            }
            Err(err) => {
                counts.bad += 1;
                if counts.bad <= NAMED_LINES {
                    eprintln!("hostint: {name} line {}: {err}", counts.seen);
                }
            }
        }
        let mut result = take_records(&mut judge, hub);
        if live {
            result = result.and_then(|()| hub.flush());
        }
        if !written(result)? {
            break Ok(());
        }
    };
    judge.end();
    written(take_records(&mut judge, hub))?;
    summary::say_exporters(&hub.ledgers.exporters);
    let Lines { seen, read, bad } = counts;
    let wrong = match judge.wrong() {
        0 => String::new(),
        wrong => format!(", {wrong} {WRONG_TIME}"),
    };
    eprintln!("hostint: {name}: {seen} lines, {read} reports, {bad} unreadable lines{wrong}");
    end?;
    if read == 0 && bad > 0 {
        bail!("cannot read {name}: none of its {bad} lines is a report");
    }
    Ok(())
}

/// Returns the time by which a history keeps a report: that of its arrival, or else its own.
fn stamp_of(record: &Record) -> u64 {
    let arrived_ns = record.arrival().map(|arrival| arrival.received_ns);
    let own_ns = || u64::from(record.report_time_s.unwrap_or(0)) * NS_PER_S;
    arrived_ns.filter(|ns| *ns > 0).unwrap_or_else(own_ns)
}

/// Hands on the reports whose times were judged.
fn take_records(judge: &mut StampJudge<(Record, Vec<u8>)>, hub: &mut Hub) -> io::Result<()> {
    while let Some(judged) = judge.next_judged() {
        let (mut record, line) = judged.item;
        if judged.is_wrong {
            // A line that has no time at all would be of now, which is long after the others.
            if record.arrival().is_some() || record.report_time_s.is_none() {
                record.received_ns = Some(judged.time_ns);
            } else {
                record.report_time_s = u32::try_from(judged.time_ns / NS_PER_S).ok();
            }
        }
        if let Ok(report) = record.report() {
            hub.read_back(&record, report, &line)?;
        }
    }
    Ok(())
}
