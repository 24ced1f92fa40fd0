//! Reports of the state of TCP connections are read and written back, byte for byte as the manual has them.

use hostint::collector::decode;
use hostint::model::*;
use hostint_testing::report_samples;

fn datagrams() -> [Vec<u8>; 2] {
    report_samples::connections().map(|report| report_samples::datagram(&report))
}

#[test]
fn a_connection_that_is_told_is_the_connection_that_is_read() {
    for (told, datagram) in report_samples::connections().iter().zip(datagrams()) {
        let group = decode(&datagram).unwrap();
        assert_eq!(
            (group.node, group.reports),
            (Some(NodeId(2)), vec![told.clone()])
        );
    }
}

#[test]
fn the_bytes_of_a_connection_are_those_of_the_manual() {
    let longs = |longs: &[u64]| -> Vec<u8> { longs.iter().flat_map(|n| n.to_be_bytes()).collect() };
    let words: Vec<u8> = (201..=223_u32).flat_map(u32::to_be_bytes).collect();
    let frame = [
        &[13, 0, 0, 5, 0, 0, 0, 9][..],
        &1_700_000_002_u32.to_be_bytes(),
        &[0, 0, 0, 2, 3, 1, 7, 3],
        // all flags, and all fields
        &0x1ff_u16.to_be_bytes(),
        &32_767_u16.to_be_bytes(),
        &longs(&[
            1_700_000_000_000_001,
            1_700_000_001_123_456_789,
            1_700_000_000_123_456_789,
            4_242,
            60,
        ]),
        &longs(&[
            1_000_000, 1_000_001, 1_000_002, 1_000_003, 1_000_004, 1_000_005,
        ]),
        &longs(&[101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111]),
        &words,
        &[2, 0, 0, 0],
        &[1, 0, 6, 0, 192, 0, 0, 80, 0, 0, 0, 0],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1],
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 2],
        b"\x05cubic\x03web",
        // option 114: off after a timeout, hop 2, with the speed of its link, its queue and free bandwidth
        &words_of(&[301, 302, 303, 304]),
        &[1, 2, 7, 0],
        &words_of(&[100, 40_960, 9]),
        &longs(&[305, 306]),
    ]
    .concat();
    assert_eq!(datagrams()[0], frame);
}

fn words_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|n| n.to_be_bytes()).collect()
}

#[test]
fn each_answer_of_a_hop_is_read_as_it_was_told() {
    let none = OptionFigures::default();
    let hop = WorstHop {
        hop: 15,
        link_gbit_s: None,
        queue_bytes: None,
        free_gbit_s: None,
        latency_ns: 0,
    };
    let worst = |sample| OptionFigures {
        worst: Some(WorstSample {
            sample,
            age_ns: 0,
            node: None,
        }),
        ..none
    };
    for (sentence, option) in [
        ("no answer", none),
        ("a hop alone", worst(hop)),
        (
            "free bandwidth",
            worst(WorstHop {
                free_gbit_s: Some(0),
                ..hop
            }),
        ),
        (
            "an empty queue",
            worst(WorstHop {
                queue_bytes: Some(0),
                ..hop
            }),
        ),
        (
            "a link",
            worst(WorstHop {
                link_gbit_s: Some(400),
                ..hop
            }),
        ),
    ] {
        let [_, mut report] = report_samples::connections();
        let Body::Connection(told) = &mut report.observation.body else {
            panic!("another kind of report");
        };
        told.connection.sample.option = Some(option);
        let datagram = report_samples::datagram(&report);
        let read = decode(&datagram).unwrap().reports;
        assert_eq!(read, vec![report], "{sentence}");
    }
}

type Flag = fn(&mut TcpFigures) -> &mut bool;

#[test]
fn each_flag_has_its_bit() {
    let flags: [Flag; 9] = [
        |tcp| &mut tcp.cwnd_limited,
        |tcp| &mut tcp.delivery_rate_app_limited,
        |tcp| &mut tcp.app_limited,
        |tcp| &mut tcp.ecn,
        |tcp| &mut tcp.window_scaled,
        |tcp| &mut tcp.sack,
        |tcp| &mut tcp.timestamps,
        |tcp| &mut tcp.paced,
        |tcp| &mut tcp.waits_for_room,
    ];
    for (bit, flag) in flags.into_iter().enumerate() {
        let [_, mut report] = report_samples::connections();
        let Body::Connection(told) = &mut report.observation.body else {
            panic!("another kind of report");
        };
        *flag(&mut told.connection.sample.tcp) = true;
        let datagram = report_samples::datagram(&report);
        assert_eq!(datagram[20..22], (1_u16 << bit).to_be_bytes(), "bit {bit}");
    }
}

#[test]
fn a_field_without_a_value_has_zeros() {
    let [_, least] = datagrams();
    assert_eq!(least[22..24], [0, 0], "no field has a value");
    // the first byte of: beginning, cgroup, retransmitted bytes, round-trip time, slow-start threshold, marks
    for at in [40, 48, 136, 200, 216, 256] {
        let mut changed = least.clone();
        changed[at] = 1;
        assert!(
            decode(&changed).is_err(),
            "byte {at} of a field without a value"
        );
    }
}

#[test]
fn states_that_no_kernel_has_are_one_and_survive_a_line() {
    const STATES: usize = 18;
    for states in [[6, 5], [0, 32], [12, 77], [255, 255]] {
        let mut datagram = datagrams()[0].clone();
        datagram[STATES..STATES + 2].copy_from_slice(&states);
        let report = decode(&datagram).unwrap().reports.remove(0);
        let record = Record::new(&report, None);
        let mut line = Vec::new();
        record.append_line(&mut line).unwrap();
        let read = Record::read_line(&line).unwrap();
        assert_eq!(read.report().unwrap(), report, "{states:?}");
    }
}

#[test]
fn what_no_kernel_and_no_host_tells_is_refused() {
    let [most, _] = datagrams();
    let cases = [
        ("news of a sixth kind", 16, 5),
        ("a seventh limit", 17, 6),
        ("an unknown flag", 20, 3),
        ("an unknown field", 22, 0x80),
        ("a reserved byte", 293, 1),
        ("a name that does not show", 341, 7),
        ("a class that does not show", 347, 7),
        ("an unknown reason why option 114 is off", 366, 2),
        ("a hop beyond 15", 367, 16),
        ("an unknown figure of a hop", 368, 15),
        ("figures of no hop", 367, 0),
        ("another reserved byte", 369, 1),
        ("free bandwidth that is not told", 368, 3),
    ];
    for (sentence, at, value) in cases {
        let mut changed = most.clone();
        changed[at] = value;
        assert!(decode(&changed).is_err(), "{sentence}");
    }
}

#[test]
fn every_cut_is_refused_and_every_changed_byte_is_read_or_refused() {
    for whole in datagrams() {
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
        let mut longer = whole;
        longer.push(0);
        assert!(decode(&longer).is_err(), "a byte more");
    }
}
