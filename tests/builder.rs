//! From sink events to the bytes of reports.

mod golden;

use golden::{frame, udp_payload};
use hostint::collector::decode;
use hostint::model::*;
use hostint::report::Builder;
use hostint::wire::int_v05::IntBlock;
use hostint::wire::report_v05;

/// When the golden reports were made, with some nanoseconds that a report does not show.
const NOW_NS: u64 = 1_700_000_000 * 1_000_000_000 + 987_654_321;

const BUILDER: Builder = Builder {
    sink_node: NodeId(3),
    node_id_word: true,
};

/// The event that a golden packet on the wire causes at the sink.
fn latency_event(name: &str, encapsulation: Encapsulation, l4_len: usize) -> LatencyEvent {
    let frame = frame(name);
    let ip: [u8; 20] = frame[14..34].try_into().unwrap();
    let (l4, block) = match encapsulation {
        Encapsulation::OverTcpUdp => (34, 34 + l4_len),
        Encapsulation::ExtensionUdp => (78, 42),
    };
    let l4 = &frame[l4..l4 + l4_len];
    let headers = match encapsulation {
        Encapsulation::OverTcpUdp => QuotedHeaders::new(ip, l4),
        Encapsulation::ExtensionUdp => QuotedHeaders::extension_udp(ip, l4),
    }
    .unwrap();
    let block = IntBlock::decode(&frame[block..]).unwrap();
    LatencyEvent {
        reasons: Reasons {
            new_flow: true,
            ..Reasons::default()
        },
        encapsulation,
        flow: headers.flow(),
        headers,
        source: block.source,
        sink_port: 12,
        sink_ns: (77 << 32) + 0x3d89_ae86,
        sequence: block.sequence,
        latency_ns: 254_321,
    }
}

fn loss_event(protocol: u8) -> LossEvent {
    LossEvent {
        flow: FlowKey {
            src: "192.0.2.1".parse().unwrap(),
            dst: "198.51.100.2".parse().unwrap(),
            sport: 40000,
            dport: 5001,
            protocol,
        },
        source_node: NodeId(2),
        source_port: 13,
        sink_port: 12,
        before_ns: 1_700_000_000_999_999_999,
        before_seq: 41,
        count: 5,
    }
}

fn datagram(event: &SinkEvent, sequence: u32, builder: Builder, now_ns: u64) -> Vec<u8> {
    let report = Report {
        sequence,
        observation: builder.build(event, now_ns).expect("reportable"),
    };
    let mut bytes = Vec::new();
    report_v05::emit(&report, &mut bytes);
    assert_eq!(decode(&bytes), Ok(report));
    bytes
}

#[test]
fn golden_packets_become_golden_reports() {
    use Encapsulation::{ExtensionUdp, OverTcpUdp};
    for (packet, encapsulation, l4_len, report) in [
        (
            "hostint_l4_udp_1wire",
            OverTcpUdp,
            8,
            "hostint_report_l4_udp",
        ),
        (
            "hostint_l4_tcp_1wire",
            OverTcpUdp,
            20,
            "hostint_report_l4_tcp",
        ),
        (
            "hostint_ext_udp_1wire",
            ExtensionUdp,
            8,
            "hostint_report_ext_udp",
        ),
    ] {
        let event = SinkEvent::Latency(latency_event(packet, encapsulation, l4_len));
        let expected = udp_payload(report);
        assert_eq!(datagram(&event, 1, BUILDER, NOW_NS), expected, "{report}");
        let wordless = Builder {
            node_id_word: false,
            ..BUILDER
        };
        let expected = [&expected[..12], &expected[16..]].concat();
        assert_eq!(datagram(&event, 1, wordless, NOW_NS), expected, "{report}");
    }
    let loss = SinkEvent::Loss(loss_event(17));
    assert_eq!(
        datagram(&loss, 2, BUILDER, NOW_NS + 1_000_000_000),
        udp_payload("hostint_drop_summary_udp")
    );
    assert_eq!(
        datagram(&SinkEvent::Loss(loss_event(6)), 2, BUILDER, NOW_NS).len(),
        76
    );
}

#[test]
fn an_inner_tcp_header_behind_extension_udp_is_reported_as_tcp() {
    let event = latency_event("hostint_ext_tcp_1wire", Encapsulation::ExtensionUdp, 20);
    assert_eq!(event.headers.ip()[9], 17, "the event has it as received");
    assert_eq!(event.flow.protocol, 6);
    let bytes = datagram(&SinkEvent::Latency(event), 1, BUILDER, NOW_NS);
    assert_eq!(bytes.len(), 104);
    let (received, reported) = (event.headers.ip(), &bytes[16..36]);
    assert_eq!(reported[1], received[1] | 4, "DSCP bit forced on");
    assert_eq!(reported[9], 6, "inner protocol");
    assert_eq!(reported[2..9], received[2..9], "length as received");
    assert_eq!(reported[10..], received[10..], "checksum as received");
}

#[test]
fn what_no_report_can_say_is_not_reported() {
    let six = LossEvent {
        flow: FlowKey {
            src: "::1".parse().unwrap(),
            dst: "::2".parse().unwrap(),
            ..loss_event(17).flow
        },
        ..loss_event(17)
    };
    for (sentence, event) in [
        ("a gap is no news yet", SinkEvent::Gap(loss_event(17).flow)),
        ("a loss over IPv6", SinkEvent::Loss(six)),
        ("a loss of ICMP", SinkEvent::Loss(loss_event(1))),
    ] {
        assert_eq!(BUILDER.build(&event, NOW_NS), None, "{sentence}");
    }
}

#[test]
fn headers_that_cannot_be_quoted_are_refused() {
    let mut ip = [0; 20];
    ip[0] = 0x45;
    ip[9] = 17;
    let mut with_options = ip;
    with_options[0] = 0x46;
    let mut icmp = ip;
    icmp[9] = 1;
    for (sentence, result) in [
        (
            "IPv4 header begins with 0x46, expected 0x45 (version 4, no options)",
            QuotedHeaders::new(with_options, &[0; 8]),
        ),
        (
            "IP protocol is 1, expected 6 (TCP) or 17 (UDP)",
            QuotedHeaders::new(icmp, &[0; 8]),
        ),
        (
            "L4 header has 20 bytes, expected 8",
            QuotedHeaders::new(ip, &[0; 20]),
        ),
        (
            "L4 header has 9 bytes, expected 20",
            QuotedHeaders::extension_udp(ip, &[0; 9]),
        ),
    ] {
        assert_eq!(result.unwrap_err().to_string(), sentence);
    }
}
