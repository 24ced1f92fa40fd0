//! Reports of the coverage of sources and sinks are read and written back, in parts that fit into datagrams.

use hostint::collector::{NodeNotice, decode};
use hostint::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use hostint::model::{NodeId, Volume};
use hostint::wire::report_coverage::{emit, parts};
use hostint_testing::golden::udp_payload;

/// Packets by reason, of ten bytes and the number of the reason each.
fn missed(sink: Option<u32>, class: Option<&str>, by_reason: &[(u8, u64)]) -> MissedPackets {
    told(
        PairEnd::ToSink(sink.map(NodeId)),
        class,
        by_reason,
        MissedReason::Source,
    )
}

fn unmeasured(source: u32, class: Option<&str>, by_reason: &[(u8, u64)]) -> MissedPackets {
    told(
        PairEnd::FromSource(NodeId(source)),
        class,
        by_reason,
        MissedReason::Sink,
    )
}

fn told(
    other: PairEnd,
    class: Option<&str>,
    by_reason: &[(u8, u64)],
    numbered: fn(u8) -> MissedReason,
) -> MissedPackets {
    let by_reason = by_reason.iter().map(|(reason, packets)| {
        let bytes = packets.wrapping_mul(10) ^ u64::from(*reason);
        (numbered(*reason), Volume::of(*packets, bytes))
    });
    MissedPackets {
        other,
        class: class.map(str::to_owned),
        by_reason: by_reason.collect(),
    }
}

/// The same from a host that tells no bytes.
fn without_bytes(mut report: CoverageReport) -> CoverageReport {
    for one in &mut report.missed {
        for volume in one.by_reason.values_mut() {
            volume.bytes = None;
        }
    }
    report
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

fn read_coverage(datagram: &[u8]) -> CoverageReport {
    match decode(datagram).unwrap().notice {
        Some(NodeNotice::Coverage(read)) => read,
        other => panic!("{other:?}"),
    }
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
    assert_eq!(group.notice, Some(NodeNotice::Coverage(told)));
    assert_eq!((group.node, group.reports.len()), (Some(NodeId(7)), 0));
}

#[test]
fn a_class_moves_no_cursor() {
    for class in ["\u{1b}[2Jweb", "we\u{202e}b"] {
        let told = report(vec![missed(Some(2), Some(class), &[(8, 7)])]);
        let refused = decode(&written(&told)).unwrap_err().to_string();
        assert_eq!(refused, "class at offset 40 is no printable UTF-8");
    }
}

#[test]
fn bytes_that_are_not_told_are_not_known() {
    let all = report(vec![
        missed(Some(2), Some("storage"), &[(8, 7), (21, 3)]),
        unmeasured(3, None, &[(14, 5)]),
    ]);
    let none = without_bytes(all.clone());
    let (with, without) = (written(&all), written(&none));
    assert_eq!(read_coverage(&without), none);
    assert_eq!(with.len(), without.len() + 3 * 8, "they stand at the end");
    let up_to_pairs = 16..without.len();
    assert_eq!(
        with[up_to_pairs.clone()],
        without[up_to_pairs],
        "so a reader of the version before finds all that it knows"
    );
    let mut mixed = all;
    let of_sink = mixed.missed[1].by_reason.values_mut();
    of_sink.for_each(|volume| volume.bytes = None);
    assert_eq!(written(&mixed), without, "they are told of all, or of none");
}

#[test]
fn frames_that_were_not_written_here_are_read() {
    let pairs = vec![
        missed(Some(9), Some("storage"), &[(8, 1234), (0, 5)]),
        missed(None, None, &[(200, (1 << 40) + 1)]),
    ];
    let group = decode(&udp_payload("hostint_coverage")).unwrap();
    assert_eq!(
        group.notice,
        Some(NodeNotice::Coverage(without_bytes(report(pairs.clone()))))
    );
    // Its reasons stand in another order than in the model, and something follows the bytes.
    let mut with_bytes = report(pairs);
    for (pair, reason, bytes) in [(0, 0, 500), (0, 8, 1_851_000), (1, 200, 1 << 50)] {
        let by_reason = &mut with_bytes.missed[pair].by_reason;
        let volume = by_reason.get_mut(&MissedReason::Source(reason)).unwrap();
        volume.bytes = Some(bytes);
    }
    let group = decode(&udp_payload("hostint_coverage_bytes")).unwrap();
    assert_eq!(group.notice, Some(NodeNotice::Coverage(with_bytes)));
}

#[test]
fn the_bytes_are_those_of_the_manual() {
    let told = report(vec![missed(Some(2), Some("ab"), &[(21, 9)])]);
    let frame = [
        &[15, 0, 0, 0, 0, 0, 0, 0][..],
        &1_700_000_000_u32.to_be_bytes(),
        &[3, 0, 0, 43],
        &[0, 0, 0, 7, 0, 10, 0, 1],
        &1_700_000_000_123_456_789_u64.to_be_bytes(),
        &[1, 2, 1, 0, 0, 0, 0, 2],
        b"ab",
        &[21, 0, 0, 0, 0, 0, 0, 0, 9],
        &(90_u64 ^ 21).to_be_bytes(),
    ]
    .concat();
    assert_eq!(written(&told), frame);
}

#[test]
fn a_sink_names_the_source_of_each_pair() {
    let told = written(&report(vec![unmeasured(3, None, &[(14, 9)])]));
    let pair = [2, 0, 1, 0, 0, 0, 0, 3, 14, 0, 0, 0, 0, 0, 0, 0, 9];
    let begin = told.len() - pair.len() - 8;
    assert_eq!(told[begin..told.len() - 8], pair);
    let mut both = told.clone();
    both[begin] = 4;
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
    let read = told
        .iter()
        .flat_map(|part| read_coverage(&written(part)).missed);
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
