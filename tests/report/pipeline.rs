//! Bytes of the ring buffer become events, reports, datagrams, and the same reports again.

use hostint::datapath::abi::{bytes_of, flow_key, gap_event, latency_event, loss_event};
use hostint::datapath::sink::events;
use hostint::model::{Body, FlowKey, NodeId, Report, SinkEvent, Vlans};
use hostint::report::Builder;
use hostint_testing::golden::decode;
use hostint_testing::report_samples;

const BUILDER: Builder = Builder {
    sink_node: NodeId(2),
    node_id_word: true,
    packet_headers: true,
    host_int: false,
    clock: None,
};

/// An IPv4 address as flow keys have it.
fn mapped(address: [u8; 4]) -> [u32; 4] {
    [0, 0, 0xffff_u32.to_be(), u32::from_ne_bytes(address)]
}

fn key() -> flow_key {
    flow_key {
        saddr: mapped([192, 0, 2, 1]),
        daddr: mapped([198, 51, 100, 2]),
        sport: 5000u16.to_be(),
        dport: 6000u16.to_be(),
        layers: 17,
    }
}

fn latency() -> latency_event {
    let mut event = latency_event {
        kind: 1,
        reasons: 1,
        encapsulation: 1,
        l4_len: 8,
        key: key(),
        now_ns: 1_700_000_000_123_456_789,
        latency_ns: -1500,
        ifindex: 0x1_0007,
        ..Default::default()
    };
    event.ip = [
        0x45, 4, 0, 128, 0, 1, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2,
    ];
    event.l4[..8].copy_from_slice(&[0x13, 0x88, 0x17, 0x70, 0, 108, 0xab, 0xcd]);
    let sent = (event.now_ns as u32).wrapping_add(1500);
    event.source_node = 1;
    (event.ingress_port, event.egress_port) = (3, 3);
    (event.ingress_ts, event.egress_ts) = (sent, sent);
    event.sequence = 42;
    event
}

/// The report that a collector reads after an event, and the event.
fn through(bytes: &[u8]) -> (SinkEvent, Option<Report>) {
    let event = events::decode(bytes).expect("an event");
    let report = BUILDER
        .build(&event, 1_700_000_001_000_000_000)
        .map(|observation| {
            let mut report = Report {
                sequence: 9,
                observation,
            };
            // v0.5 tells the low 32 bits of the arrival.
            if let Body::Latency(report) = &mut report.observation.body {
                report.arrival_ns = None;
            }
            let datagram = report_samples::datagram(&report);
            assert_eq!(
                decode(&datagram).as_ref(),
                Ok(&report),
                "decode(emit(report)) is the report"
            );
            report
        });
    (event, report)
}

#[test]
fn a_latency_event_arrives_as_a_latency_report() {
    let (event, report) = through(bytes_of(&latency()));
    let report = report.expect("a report");
    let SinkEvent::Latency(event) = event else {
        panic!("{event:?}")
    };
    assert_eq!(event.latency_ns, -1500, "delays are signed");
    assert_eq!(event.sink_port, 7, "ports are the interface's low 16 bits");
    assert_eq!(report.observation.flow(), Some(event.flow));
    assert_eq!(
        report.observation.latency_ns(),
        Some(-1500),
        "on the wire too"
    );
    assert_eq!(report.observation.reporter(), Some(NodeId(2)));
    assert_eq!(
        event.flow,
        FlowKey {
            src: [192, 0, 2, 1].into(),
            dst: [198, 51, 100, 2].into(),
            sport: 5000,
            dport: 6000,
            protocol: 17,
            vlans: Vlans::NONE,
        }
    );
}

#[test]
fn a_loss_event_arrives_as_a_drop_summary_and_a_gap_is_no_report() {
    let loss = loss_event {
        kind: 2,
        ifindex: 7,
        key: key(),
        hole_ns: 1_700_000_000_999_999_999,
        first: 0,
        count: 70_000,
        source_node: 1,
        source_port: 3,
        zero: 0,
    };
    let (_, report) = through(bytes_of(&loss));
    let Some(Body::DropSummary(summary)) = report.map(|report| report.observation.body) else {
        panic!("no drop summary")
    };
    assert_eq!(
        summary.before_seq,
        u32::MAX,
        "the number before the first lost one, across the wrap"
    );
    assert_eq!(summary.count, 70_000);
    assert_eq!(summary.gap_time_s, 1_700_000_000);

    let gap = gap_event {
        kind: 3,
        zero: 0,
        key: key(),
    };
    let (event, report) = through(bytes_of(&gap));
    assert!(matches!(event, SinkEvent::Gap(_)) && report.is_none());
}

#[test]
fn bytes_that_are_no_event_are_refused() {
    let whole = bytes_of(&latency()).to_vec();
    for len in 0..whole.len() {
        assert_eq!(
            events::decode(&whole[..len]),
            None,
            "{len} bytes of a latency event"
        );
    }
    for (name, change) in [
        ("an unknown kind", (0, 9)),
        ("an unknown encapsulation", (5, 4)),
        ("an L4 header longer than its place", (6, 21)),
        ("an L4 header that is neither UDP nor TCP", (6, 12)),
    ] {
        let mut bytes = whole.clone();
        bytes[change.0] = change.1;
        assert_eq!(events::decode(&bytes), None, "{name}");
    }
}
