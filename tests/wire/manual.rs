//! The tables of hostint-reports(7) about records of hosts and totals have the fields where the decoder reads them.

use std::collections::{BTreeMap, BTreeSet};

use hostint::model::Report;
use hostint::wire::{DecodeError, report_v05};
use hostint_testing::report_samples;

const PAGE: &str = include_str!("../../man/hostint-reports.7");

/// The kind of a report, and of a framed one the sub-kind.
type Kind = (u8, Option<u8>);

/// The number behind this word in a heading, as in "kind 15, sub-kind 3".
fn number_behind(heading: &str, word: &str) -> Option<u8> {
    let (_, behind) = heading.split_once(word)?;
    let digits: String = behind.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The offsets in the tables of each kind that begin behind the fixed header.
fn in_the_manual() -> BTreeMap<Kind, BTreeSet<usize>> {
    let mut found: BTreeMap<Kind, BTreeSet<usize>> = BTreeMap::new();
    let page = PAGE.replace("\\-", "-");
    for section in page.split("\n.SS ").skip(1) {
        let heading = section.lines().next().unwrap();
        let Some(kind) = number_behind(heading, ": kind ") else {
            continue;
        };
        let kind = (kind, number_behind(heading, "sub-kind "));
        let tables = section.split(".TS\n").skip(1);
        for table in tables.filter_map(|table| table.split(".TE").next()) {
            let offsets: Vec<usize> = table
                .lines()
                .filter_map(|line| line.split_once('@')?.0.parse().ok())
                .collect();
            // Others have what repeats in it, with offsets of its own.
            if offsets.first().is_some_and(|first| *first >= 12) {
                found.entry(kind).or_default().extend(offsets);
            }
        }
    }
    // The frame is drawn once, with the totals of a flow.
    if let Some(frame) = found.remove(&(15, None)) {
        found.insert((15, Some(2)), frame);
    }
    found
}

/// Where the decoder begins to read a field: of each beginning of the datagram it names the field that is cut.
fn in_the_decoder(datagram: &[u8]) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([datagram.len()]);
    for length in 12..datagram.len() {
        let mut cut = datagram[..length].to_vec();
        if datagram[0] & 0x0f == 15 && length >= 16 {
            // The frame says its length before.
            let rest = u16::try_from(length - 16).unwrap();
            cut[14..16].copy_from_slice(&rest.to_be_bytes());
        }
        if let Err(DecodeError::Truncated { offset, .. }) = report_v05::decode(&cut) {
            found.insert(offset);
        }
    }
    found
}

fn samples() -> Vec<Report> {
    let all = report_samples::all().into_iter();
    let mut samples: Vec<Report> = all.filter_map(|record| record.report().ok()).collect();
    samples.extend(report_samples::summaries());
    samples.extend(report_samples::host_drops());
    samples.extend(report_samples::host_hops());
    samples.extend(report_samples::queue_episodes());
    samples.extend(report_samples::connections());
    samples
}

#[test]
fn each_offset_in_a_table_is_one_where_the_decoder_reads_a_field() {
    let mut read: BTreeMap<Kind, BTreeSet<usize>> = BTreeMap::new();
    for report in samples() {
        let datagram = report_samples::datagram(&report);
        if datagram.len() < 16 {
            continue;
        }
        let kind = datagram[0] & 0x0f;
        let sub_kind = (kind == 15).then_some(datagram[12]);
        let offsets = in_the_decoder(&datagram);
        read.entry((kind, sub_kind)).or_default().extend(offsets);
    }
    let manual = in_the_manual();
    let mut compared = Vec::new();
    // Kinds 3 to 6 have one size each, by which the decoder refuses them before it reads a field.
    for (kind, offsets) in manual.iter().filter(|(kind, _)| kind.0 > 6) {
        let Some(read) = read.get(kind) else { continue };
        for offset in offsets {
            assert!(
                read.contains(offset),
                "kind {kind:?}: a field at {offset}, and the decoder has them at {read:?}"
            );
        }
        compared.push(*kind);
    }
    assert!(compared.len() >= 6, "{compared:?}");
}
