//! Reports of the coverage of sources and sinks are read and written back, in parts that fit into datagrams.

use hostint::collector::decode;
use hostint::model::NodeId;
use hostint::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use hostint::wire::report_coverage::{emit, parts};
use hostint_testing::golden::udp_payload;

fn missed(sink: Option<u32>, class: Option<&str>, by_reason: &[(u8, u64)]) -> MissedPackets {
    let by_reason = by_reason.iter();
    MissedPackets {
        other: PairEnd::ToSink(sink.map(NodeId)),
        class: class.map(str::to_owned),
        by_reason: by_reason
            .map(|(reason, packets)| (MissedReason::Source(*reason), *packets))
            .collect(),
    }
}

fn unmeasured(source: u32, class: Option<&str>, by_reason: &[(u8, u64)]) -> MissedPackets {
    let by_reason = by_reason.iter();
    MissedPackets {
        other: PairEnd::FromSource(NodeId(source)),
        class: class.map(str::to_owned),
        by_reason: by_reason
            .map(|(reason, packets)| (MissedReason::Sink(*reason), *packets))
            .collect(),
    }
}

fn report(missed: Vec<MissedPackets>) -> CoverageReport {
    CoverageReport {
        node: NodeId(7),
        period_s: 10,
        epoch_ns: 1_700_000_000_123_456_789,
        missed,
    }
}

fn written(report: &CoverageReport) -> Vec<u8> {
    let mut datagram = Vec::new();
    emit(report, 1_700_000_000, &mut datagram);
    datagram
}

#[test]
fn what_is_told_is_what_is_read() {
    let told = report(vec![
        missed(Some(2), Some("storage"), &[(8, 7), (200, u64::MAX)]),
        missed(Some(0), None, &[(24, 1)]),
        missed(None, Some("é"), &[]),
        unmeasured(3, Some("storage"), &[(14, 5), (26, 1 << 40)]),
        unmeasured(0, None, &[(39, 1)]),
    ]);
    let group = decode(&written(&told)).unwrap();
    assert_eq!(group.coverage, Some(told));
    assert_eq!((group.node, group.reports.len()), (Some(NodeId(7)), 0));
}

#[test]
fn a_frame_that_was_not_written_here_is_read() {
    let group = decode(&udp_payload("hostint_coverage")).unwrap();
    let told = report(vec![
        missed(Some(9), Some("storage"), &[(8, 1234), (0, 5)]),
        missed(None, None, &[(200, (1 << 40) + 1)]),
    ]);
    assert_eq!(group.coverage, Some(told));
}

#[test]
fn the_bytes_are_those_of_the_manual() {
    let told = report(vec![missed(Some(2), Some("ab"), &[(21, 9)])]);
    let frame = [
        &[15, 0, 0, 0, 0, 0, 0, 0][..],
        &1_700_000_000_u32.to_be_bytes(),
        &[3, 0, 0, 35],
        &[0, 0, 0, 7, 0, 10, 0, 1],
        &1_700_000_000_123_456_789_u64.to_be_bytes(),
        &[1, 2, 1, 0, 0, 0, 0, 2],
        b"ab",
        &[21, 0, 0, 0, 0, 0, 0, 0, 9],
    ]
    .concat();
    assert_eq!(written(&told), frame);
}

#[test]
fn a_sink_names_the_source_of_each_pair() {
    let told = written(&report(vec![unmeasured(3, None, &[(14, 9)])]));
    let pair = [2, 0, 1, 0, 0, 0, 0, 3, 14, 0, 0, 0, 0, 0, 0, 0, 9];
    assert_eq!(told[told.len() - pair.len()..], pair);
    let mut both = told.clone();
    both[told.len() - pair.len()] = 4;
    assert!(
        decode(&both).is_err(),
        "flags of later versions are not guessed"
    );
}

#[test]
fn a_long_report_is_told_in_parts_that_fit() {
    let class = "c".repeat(255);
    let all: Vec<_> = (0..100)
        .map(|sink| missed(Some(sink), Some(&class), &[(8, 1), (21, 2)]))
        .collect();
    let told = parts(&report(all.clone()));
    assert!(told.iter().all(|part| written(part).len() <= 1232));
    let read = told.iter().flat_map(|part| {
        let group = decode(&written(part)).unwrap();
        group.coverage.unwrap().missed
    });
    assert_eq!(read.collect::<Vec<_>>(), all);
}

#[test]
fn every_cut_and_every_changed_byte_is_read_or_refused() {
    let whole = written(&report(vec![missed(Some(2), Some("ab"), &[(21, 9)])]));
    for length in 0..whole.len() {
        assert!(decode(&whole[..length]).is_err(), "{length} bytes");
    }
    for at in 0..whole.len() {
        for value in 0..=255 {
            let mut changed = whole.clone();
            changed[at] = value;
            let _ = decode(&changed);
        }
    }
}
