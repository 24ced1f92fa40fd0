//! Reports of what a host dropped are read and written back: flows one by one, and sums in parts that fit.

use hostint::collector::{NodeNotice, decode};
use hostint::model::drop_totals_report::{DropSubject, DropSum, DropTotalsReport};
use hostint::model::*;
use hostint::wire::report_drop_totals::{emit, parts};
use hostint_testing::report_samples;

fn flow_datagrams() -> Vec<Vec<u8>> {
    report_samples::host_drops()
        .iter()
        .map(report_samples::datagram)
        .collect()
}

fn sum(reason: Option<&str>, place: Option<&str>, tagged_by: Option<u32>, packets: u64) -> DropSum {
    DropSum {
        subject: DropSubject {
            reason: KernelReason {
                number: 50,
                name: reason.map(str::to_owned),
            },
            place: place.map(str::to_owned),
            interface: Some("eth1".to_owned()),
            netns: 9,
            position: match tagged_by {
                Some(_) => DropPosition::BehindTag,
                None => DropPosition::Apart,
            },
            tagged_by: tagged_by.map(NodeId),
            ignored: tagged_by.is_none(),
            without_packet: reason.is_none(),
        },
        count: DropCount {
            packets,
            segments: packets + 1,
            bytes: packets + 2,
        },
    }
}

fn report(sums: Vec<DropSum>) -> DropTotalsReport {
    DropTotalsReport {
        node: NodeId(7),
        period_s: 10,
        epoch_ns: 1_700_000_000_123_456_789,
        sums,
    }
}

fn written(report: &DropTotalsReport) -> Vec<u8> {
    let mut datagram = Vec::new();
    emit(report, 1_700_000_000, &mut datagram);
    datagram
}

fn read_drops(datagram: &[u8]) -> DropTotalsReport {
    match decode(datagram).unwrap().notice {
        Some(NodeNotice::Drops(read)) => read,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flow_that_is_told_is_the_flow_that_is_read() {
    for (told, datagram) in report_samples::host_drops().iter().zip(flow_datagrams()) {
        let group = decode(&datagram).unwrap();
        assert_eq!(
            (group.node, group.reports),
            (Some(NodeId(2)), vec![told.clone()])
        );
    }
}

#[test]
fn the_bytes_of_a_flow_are_those_of_the_manual() {
    let datagrams = flow_datagrams();
    let frame = [
        &[10, 0, 0, 2, 0, 0, 0, 9][..],
        &1_700_000_002_u32.to_be_bytes(),
        &[0, 0, 0, 2, 31, 2, 0, 0],
        &[0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 3],
        &1_700_000_000_123_456_789_u64.to_be_bytes(),
        &1_700_000_001_123_456_789_u64.to_be_bytes(),
        &5_u64.to_be_bytes(),
        &70_u64.to_be_bytes(),
        &100_000_u64.to_be_bytes(),
        &[0, 0, 0, 50],
        &1_500_u32.to_be_bytes(),
        &4_026_531_840_u32.to_be_bytes(),
        &1000_u32.to_be_bytes(),
        &1_500_000_u32.to_be_bytes(),
        &4_242_u64.to_be_bytes(),
        &[0, 0, 0, 2],
        &4711_u32.to_be_bytes(),
        // the flow, and before NAT
        &[1, 0, 6, 0, 192, 0, 0, 80, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 2],
        &[1, 0, 6, 0, 192, 0, 0, 80, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 7],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 2],
        // a tunnel, with its own flow
        &[1, 0, 0, 0],
        &4_242_u32.to_be_bytes(),
        &[1, 0, 17, 0, 0xc7, 0x38, 0x12, 0xb5, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 203, 0, 113, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 203, 0, 113, 2],
        b"\x0aQDISC_DROP\x10__dev_queue_xmit\x04eth0\x04eth1",
        b"\x13podman/4f2a91c07be3\x28pod/5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11\x0anetns/blue",
    ]
    .concat();
    assert_eq!(datagrams[0], frame);
}

#[test]
fn sums_that_are_told_are_those_that_are_read() {
    let told = report(vec![
        sum(Some("QDISC_DROP"), Some("__dev_queue_xmit"), Some(7), 3),
        sum(None, Some("ListenOverflows"), None, u64::MAX - 2),
        sum(Some("NO_SOCKET"), None, Some(0), 0),
    ]);
    let group = decode(&written(&told)).unwrap();
    assert_eq!(group.notice, Some(NodeNotice::Drops(told)));
    assert_eq!((group.node, group.reports.len()), (Some(NodeId(7)), 0));
}

#[test]
fn the_bytes_of_sums_are_those_of_the_manual() {
    let told = report(vec![sum(Some("A"), Some("bc"), Some(7), 3)]);
    let frame = [
        &[15, 0, 0, 0, 0, 0, 0, 0][..],
        &1_700_000_000_u32.to_be_bytes(),
        &[5, 0, 0, 66],
        &[0, 0, 0, 7, 0, 10, 0, 1],
        &1_700_000_000_123_456_789_u64.to_be_bytes(),
        &[4, 2, 0, 0, 0, 0, 0, 50, 0, 0, 0, 9, 0, 0, 0, 7],
        &3_u64.to_be_bytes(),
        &4_u64.to_be_bytes(),
        &5_u64.to_be_bytes(),
        b"\x01A\x02bc\x04eth1",
    ]
    .concat();
    assert_eq!(written(&told), frame);
}

#[test]
fn many_sums_are_told_in_parts_that_fit_and_none_is_a_sign_of_life() {
    let place = "p".repeat(63);
    let all: Vec<_> = (0..200)
        .map(|packets| sum(Some("QDISC_DROP"), Some(&place), Some(7), packets))
        .collect();
    let told = parts(&report(all.clone()));
    assert!(told.iter().all(|part| written(part).len() <= 1232));
    let read = told.iter().flat_map(|part| read_drops(&written(part)).sums);
    assert_eq!(read.collect::<Vec<_>>(), all);
    assert_eq!(parts(&report(Vec::new())), [report(Vec::new())]);
}

#[test]
fn every_cut_is_refused_and_every_changed_byte_is_read_or_refused() {
    let sums = written(&report(vec![sum(Some("A"), Some("bc"), Some(7), 3)]));
    for whole in flow_datagrams().into_iter().chain([sums]) {
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
    let mut longer = flow_datagrams().remove(0);
    longer.push(0);
    assert!(decode(&longer).is_err(), "a byte more");
}
