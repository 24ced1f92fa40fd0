//! Reports of episodes of queues are read and written back, and nothing else is taken for one.

use hostint::collector::decode;
use hostint::model::{Body, MOST_QUEUE_FLOWS, Report};
use hostint_testing::report_samples;

fn datagram(report: &Report) -> Vec<u8> {
    report_samples::datagram(report)
}

fn datagrams() -> Vec<Vec<u8>> {
    report_samples::queue_episodes()
        .iter()
        .map(datagram)
        .collect()
}

#[test]
fn an_episode_that_is_told_is_the_episode_that_is_read() {
    for told in report_samples::queue_episodes() {
        assert_eq!(decode(&datagram(&told)).unwrap().reports, vec![told]);
    }
}

#[test]
fn the_bytes_are_those_of_the_manual() {
    let flow = |port: u8| {
        [
            &[1, 0, 17, 0, 0x13, port, 0x1b, 0x59, 0, 0, 0, 0][..],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 2],
        ]
        .concat()
    };
    let frame = [
        &[12, 0x40, 0, 3, 0, 0, 0, 9][..],
        &1_700_000_002_u32.to_be_bytes(),
        // node, flags, flows
        &[0, 0, 0, 2, 6, 2, 0, 0],
        // output port, queue, handle, quota
        &[0, 0, 0, 3, 0, 0, 0, 1, 0, 0x10, 0, 0, 0, 0, 0, 40],
        &200_000_u64.to_be_bytes(),
        &100_000_u64.to_be_bytes(),
        &5_u64.to_be_bytes(),
        &1_700_000_000_123_456_789_u64.to_be_bytes(),
        &1_700_000_000_323_456_789_u64.to_be_bytes(),
        &1_700_000_000_423_456_789_u64.to_be_bytes(),
        &50_u64.to_be_bytes(),
        &52_100_u64.to_be_bytes(),
        &40_u64.to_be_bytes(),
        &10_u64.to_be_bytes(),
        &7_u64.to_be_bytes(),
        &62_520_u32.to_be_bytes(),
        &60_u32.to_be_bytes(),
        &1_000_000_u32.to_be_bytes(),
        &30_u64.to_be_bytes(),
        &31_260_u64.to_be_bytes(),
        &flow(0x88),
        &10_u64.to_be_bytes(),
        &10_420_u64.to_be_bytes(),
        &flow(0x89),
        b"\x04eth1",
    ]
    .concat();
    let mut told = datagrams()[0].clone();
    told[1] |= 0x40;
    assert_eq!(told, frame);
}

#[test]
fn flows_beyond_the_most_are_left_out() {
    let [mut report, _] = report_samples::queue_episodes();
    let Body::Queue(told) = &mut report.observation.body else {
        unreachable!()
    };
    let flow = told.episode.flows[0];
    told.episode.flows = vec![flow; MOST_QUEUE_FLOWS + 3];
    let bytes = datagram(&report);
    assert!(bytes.len() < 1400, "{} bytes", bytes.len());
    let read = decode(&bytes).unwrap().reports;
    let Body::Queue(read) = &read[0].observation.body else {
        unreachable!()
    };
    assert_eq!(read.episode.flows.len(), MOST_QUEUE_FLOWS);
}

#[test]
fn what_is_cut_or_goes_on_is_refused() {
    for datagram in datagrams() {
        for len in 0..datagram.len() {
            assert!(decode(&datagram[..len]).is_err(), "{len} bytes");
        }
        assert!(decode(&[&datagram[..], &[0]].concat()).is_err());
        for (at, what) in [
            (16, "unknown flags"),
            (17, "too many flows"),
            (18, "reserved bytes"),
        ] {
            let mut changed = datagram.clone();
            changed[at] |= 0x80;
            assert!(decode(&changed).is_err(), "{what}");
        }
    }
    for (flag, what) in [(2, "an end"), (4, "a time")] {
        let mut changed = datagrams()[0].clone();
        changed[16] &= !flag;
        assert!(decode(&changed).is_err(), "{what} that is not there");
    }
}
