//! Drops, hops and queues as standard reports: v0.5 byte for byte as SD-Fabric's switches write it, and v2.0 with counts.

use hostint::collector::decode;
use hostint::model::*;
use hostint::wire::report_postcards::{self, StandardReport};
use hostint::wire::{report_v05, report_v20};
use hostint_testing::golden::{frame, udp_payload};
use hostint_testing::path_samples::two_hops;
use hostint_testing::report_samples;

const NS: u64 = 1_700_000_001_123_456_789;

fn samples() -> (HostDropReport, FlowPassageReport, QueuePacket) {
    let [drop, _] = report_samples::host_drops();
    let [hop, _] = report_samples::host_hops();
    let (Body::HostDrop(drop), Body::FlowPassage(hop)) =
        (drop.observation.body, hop.observation.body)
    else {
        unreachable!()
    };
    let packet = QueuePacket {
        flow: FlowKey {
            src: "2001:db8::1".parse().unwrap(),
            dst: "2001:db8::2".parse().unwrap(),
            sport: 40001,
            dport: 443,
            protocol: 17,
            vlans: Vlans::NONE,
        },
        ifindex: 0x0001_0003,
        queue: 2,
        left_ns: NS,
        wait_ns: Some(5_000_000),
        queue_packets: 271,
        queue_bytes: 400_000,
        episode: 4,
        suppressed: 9,
        drops: 1,
    };
    (*drop, *hop, packet)
}

fn all(version: ReportVersion) -> [StandardReport; 3] {
    let (drop, hop, packet) = samples();
    [
        report_postcards::drop(&drop, version),
        report_postcards::hop(&hop, version),
        report_postcards::queue(NodeId(2), &packet, version),
    ]
}

fn observation((hw_id, flags, report): StandardReport) -> Observation {
    Observation {
        hw_id,
        flags,
        clock: None,
        body: Body::Packet(Box::new(report)),
    }
}

fn v05(report: StandardReport) -> Vec<u8> {
    let mut datagram = Vec::new();
    let report = Report {
        sequence: 9,
        observation: observation(report),
    };
    report_v05::emit(&report, &mut datagram);
    datagram
}

/// The headers of 192.0.2.1:49152 to 198.51.100.2:80, with their right checksums.
#[rustfmt::skip]
const FRAME: [u8; 54] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0,
    0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0x52, 0x92, 192, 0, 2, 1, 198, 51, 100, 2,
    192, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x10, 0xff, 0xff, 0x00, 0x00, 0, 0,
];

/// Without the checksums, whose correctness is a test of its own.
fn without_sums(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for at in [24, 25, 50, 51] {
        if let Some(byte) = frame.get_mut(at) {
            *byte = 0;
        }
    }
    frame
}

#[test]
fn v05_is_as_switches_write_it() {
    let [drop, hop, queue] = all(ReportVersion::V05).map(v05);
    let low = |ns: u64| (ns as u32).to_be_bytes();
    let expected = [
        &[0x01, 0x80, 0, 2, 0, 0, 0, 9][..],
        &low(NS),
        &[0, 0, 0, 2, 0, 2, 0, 3, 0, 71, 0, 0],
    ];
    assert_eq!(drop[..24], expected.concat(), "a drop");
    assert_eq!(
        without_sums(&drop[24..]),
        without_sums(&FRAME),
        "its packet"
    );
    let expected = [
        &[0x02, 0x20, 0, 1, 0, 0, 0, 9][..],
        &low(NS - 12_345),
        &[0, 0, 0, 2, 0, 2, 0, 3, 0, 0, 0, 0],
        &low(NS),
    ];
    assert_eq!(hop[..28], expected.concat(), "a hop");
    assert_eq!(without_sums(&hop[28..]), without_sums(&FRAME), "its packet");
    let expected = [
        &[0x02, 0x40, 0, 3, 0, 0, 0, 9][..],
        &low(NS - 5_000_000),
        &[0, 0, 0, 2, 0, 0, 0, 3, 2, 0, 1, 15],
        &low(NS),
    ];
    assert_eq!(queue[..28], expected.concat(), "a packet in a queue");
    assert_eq!(queue.len(), 28 + 14 + 40 + 8);
    assert_eq!(queue[40..42], [0x86, 0xdd]);
}

#[test]
fn collectors_read_what_was_written() {
    for version in [ReportVersion::V05, ReportVersion::V20] {
        for report in all(version) {
            let mut told = observation(report.clone());
            if let Body::Packet(report) = &mut told.body
                && let Some(packet) = &mut report.packet
            {
                // In v2.0 it is padded to whole words.
                let is_padded = version == ReportVersion::V20;
                let len = packet.bytes.len();
                packet.length = if is_padded {
                    len.next_multiple_of(4)
                } else {
                    len
                };
                packet.bytes.resize(packet.length, 0);
            }
            let datagram = match version {
                ReportVersion::V20 => {
                    let mut datagram = Vec::new();
                    report_v20::begin(report.0, NodeId(2), &mut datagram);
                    report_v20::append(report.1, &report.2, &mut datagram).unwrap();
                    datagram
                }
                _ => v05(report),
            };
            let read = decode(&datagram).unwrap().reports;
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].observation, told, "{version:?}");
        }
    }
}

#[test]
fn v20_has_the_counts() {
    let [drop, hop, queue] = all(ReportVersion::V20).map(|(.., report)| report);
    let (told, forwarded, packet) = samples();
    assert_eq!(drop.metadata.drop_reason, Some(71));
    let words = [50, 0, 70, 0, 100_000, 1500, told.drop.netns, 4242];
    assert_eq!(drop.metadata.domain_words, words);
    assert_eq!(hop.metadata.hop_latency_ns, Some(forwarded.hop.hop_ns));
    assert_eq!(hop.metadata.domain_words, [9_000, 1_000_000, 0, 70]);
    assert_eq!(queue.metadata.hop_latency_ns, packet.wait_ns);
    assert_eq!(queue.metadata.domain_words, [0, 4, 400_000, 0, 9, 0, 1]);
}

#[test]
fn any_flow_has_a_packet() {
    let (mut drop, ..) = samples();
    let v4 = ["192.0.2.1", "198.51.100.2"];
    let v6 = ["2001:db8::1", "2001:db8::2"];
    let tagged = Vlans { outer: 7, inner: 8 };
    // Addresses, protocol, VLANs, and the bytes of the frame.
    let cases = [
        (v4, 6, Vlans::NONE, 54),
        (v4, 17, Vlans::NONE, 42),
        (v4, 1, Vlans::NONE, 34),
        (v4, 253, tagged, 42),
        (v6, 6, tagged, 82),
        (v6, 58, Vlans::NONE, 54),
        (["192.0.2.1", "2001:db8::2"], 6, Vlans::NONE, 14),
    ];
    for ([src, dst], protocol, vlans, bytes) in cases {
        let flow = FlowKey {
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            sport: if protocol == 6 || protocol == 17 {
                1
            } else {
                0
            },
            dport: if protocol == 6 || protocol == 17 {
                2
            } else {
                0
            },
            protocol,
            vlans,
        };
        drop.drop.flow = flow;
        let (.., report) = report_postcards::drop(&drop, ReportVersion::V05);
        let packet = report.packet.unwrap();
        assert_eq!(packet.bytes.len(), bytes, "{flow}");
        if flow.src.is_ipv4() == flow.dst.is_ipv4() {
            assert_eq!(packet.flow, Some(flow), "the packet is of its flow");
        }
    }
}

#[test]
fn reasons_have_codes() {
    use hostint::model::drop_codes::code_of;
    // The kernel's reason, its place, the code, and what SD-Fabric calls it.
    let cases: [(Option<&str>, Option<&str>, u8, &str); 18] = [
        (Some("NETFILTER_DROP"), None, 80, "acl deny"),
        (Some("QDISC_DROP"), None, 71, "traffic manager"),
        (Some("QDISC_OVERLIMIT"), None, 71, "traffic manager"),
        (Some("IP_INNOROUTES"), None, 29, "ip routing miss"),
        (Some("NEIGH_FAILED"), None, 29, "ip routing miss"),
        (Some("IP_INHDR"), Some("ip_forward"), 26, "ip ttl zero"),
        (
            Some("IP_INHDR"),
            Some("ip_rcv_core"),
            25,
            "outer ip version invalid",
        ),
        (Some("TCP_CSUM"), None, 182, "checksum failed"),
        (Some("IP_RPFILTER"), None, 184, "unauthorised source"),
        (
            Some("NOT_SPECIFIED"),
            Some("ip_error"),
            29,
            "ip routing miss",
        ),
        (
            Some("NOT_SPECIFIED"),
            Some("ip6_pkt_drop"),
            29,
            "ip routing miss",
        ),
        (Some("NOT_SPECIFIED"), Some("tcp_v4_rcv"), 0, "unknown"),
        (Some("TCP_RESET"), None, 207, "tcp refused"),
        (Some("TC_EGRESS"), None, 80, "acl deny"),
        (Some("SOCKET_RCVBUFF"), None, 201, "socket buffer full"),
        (Some("NO_SOCKET"), None, 200, "no socket"),
        (Some("A_REASON_OF_LATER_KERNELS"), None, 0, "unknown"),
        (None, Some("ip_forward"), 0, "unknown"),
    ];
    let names = DropReasons::profile("sd-fabric").unwrap();
    for (reason, place, code, name) in cases {
        assert_eq!(code_of(reason, place), code, "{reason:?}");
        assert_eq!(names.name(code).unwrap_or_default(), name, "{reason:?}");
    }
}

#[test]
fn a_packet_in_int_mx_is_told_with_its_headers_up_to_int() {
    let packet = frame("hostint_mx_udp_1wire");
    let card = MxNotice {
        arrived_ns: Some(1_700_000_001_123_456_789),
        left_ns: 1_700_000_001_123_459_700,
        ingress_port: 2,
        egress_port: 3,
        queue_packets: Some(5),
        first: FirstHeader::Ipv4,
        quote: packet[14..14 + 20 + 8 + 36].to_vec(),
    };
    let (hw_id, flags, report) = report_postcards::mx(NodeId(11), &card);
    let mut datagram = Vec::new();
    report_v20::begin(hw_id, NodeId(11), &mut datagram);
    report_v20::append(flags, &report, &mut datagram).unwrap();
    report_v20::renumber(&mut datagram, 9);
    assert_eq!(datagram, udp_payload("hostint_report_mx_udp"));
    let unknown = MxNotice {
        arrived_ns: None,
        queue_packets: None,
        ..card
    };
    let (_, _, report) = report_postcards::mx(NodeId(11), &unknown);
    let told = &report.metadata;
    assert_eq!((told.ingress_ts, told.queue_id), (None, None), "not known");
}

#[test]
fn the_manual_says_how_many_bytes_hops_tell() {
    const MANUAL: &str = include_str!("../../man/hostint-sizing.7");
    const SINK: usize = 120;
    let len = |first, headers: usize| {
        let mut quote = vec![0; headers + 36];
        quote[0] = if first == FirstHeader::Ipv4 {
            0x45
        } else {
            0x60
        };
        let card = MxNotice {
            arrived_ns: Some(1),
            left_ns: 2,
            ingress_port: 2,
            egress_port: 3,
            queue_packets: Some(5),
            first,
            quote,
        };
        let (hw_id, flags, report) = report_postcards::mx(NodeId(11), &card);
        let mut datagram = Vec::new();
        report_v20::begin(hw_id, NodeId(11), &mut datagram);
        let shared = datagram.len();
        report_v20::append(flags, &report, &mut datagram).unwrap();
        assert_eq!(shared + 28, 36, "of a datagram, as an IP packet");
        datagram.len() - shared
    };
    let (udp, tcp) = (len(FirstHeader::Ipv4, 28), len(FirstHeader::Ipv4, 40));
    assert_eq!(len(FirstHeader::Ipv6, 48), udp + 20);
    let line = format!("{udp} for UDP over IPv4, {tcp} for TCP, and 20 more over IPv6");
    assert!(MANUAL.contains(&line), "{line}");
    let grouped = |number: u64| {
        let digits = number.to_string();
        let parts = digits.as_bytes().rchunks(3).rev();
        let parts = parts.map(|part| std::str::from_utf8(part).unwrap());
        parts.collect::<Vec<_>>().join(",")
    };
    for (packets, sample, hops) in [
        (1_000, 1, 4),
        (10_000, 64, 4),
        (100_000, 64, 4),
        (100_000, 64, 8),
        (1_000_000, 1024, 4),
    ] {
        let told = packets as f64 / f64::from(sample);
        let bytes = told * (hops as f64 * (udp + 36) as f64 + SINK as f64);
        let line = format!(
            "{}@{sample}@{hops}@{}@{:.1}",
            grouped(packets),
            grouped((told * (hops + 1) as f64).round_ties_even() as u64),
            8.0 * bytes / 1e6
        );
        assert!(
            MANUAL.lines().any(|is| is == line),
            "not in the manual: {line}"
        );
    }
}

#[test]
fn a_sinks_report_says_that_hops_tell_of_the_packet_too() {
    for told in [false, true] {
        let mut report = two_hops().sample(3, 5, NS).report;
        report.observation.flags.intermediate = told;
        let datagram = report_samples::datagram(&report);
        let read = decode(&datagram).unwrap().reports.remove(0);
        assert_eq!(read.observation.flags.intermediate, told);
    }
}
