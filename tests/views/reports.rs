//! Reports as text: flows, latencies, log lines, text lines and JSON.

use hostint::model::*;
use hostint::report::LogLine;
use hostint::views::digits::Nanoseconds;
use hostint::views::text::TextLine;
use hostint::views::{dests, rules};
use hostint::wire::packet;
use hostint_testing::golden::{decode, udp_payload};
use hostint_testing::path_samples::two_hops;
use serde_json::{Value, json};

fn report(name: &str) -> Report {
    decode(&udp_payload(name)).unwrap()
}

fn flow_of(frame: &[u8]) -> Option<FlowKey> {
    packet::read(FirstHeader::Ethernet, frame, true).flow
}

fn arrival() -> Arrival {
    Arrival {
        exporter: "203.0.113.3:43981".parse().unwrap(),
        received_ns: 1_700_000_000_123_456_789,
    }
}

#[test]
fn frames_tell_their_flow_and_vlans_through_truncation_and_odd_headers() {
    let plain = udp_payload("ihr_flow_udp").split_off(28);
    let tagged = [&plain[..12], &[0x81, 0, 0, 5], &plain[12..]].concat();
    let twice = [&plain[..12], &[0x88, 0xa8, 0, 9], &tagged[12..]].concat();
    let thrice = [&plain[..12], &[0x88, 0xa8, 0, 3], &twice[12..]].concat();
    let with_priority = [&plain[..12], &[0x81, 0, 0xe0, 0], &plain[12..]].concat();
    let flow = flow_of(&plain);
    let in_vlans = |outer, inner| {
        let vlans = Vlans { outer, inner };
        flow.map(|flow| FlowKey { vlans, ..flow })
    };
    assert!(flow.is_some());
    let swapped = udp_payload("ihr_drop_proto17").split_off(24);
    let mut fragment = plain.clone();
    fragment[21] = 7;
    let cases = [
        ("a VLAN tag is part of the flow", tagged, in_vlans(0, 5)),
        ("two VLAN tags are", twice, in_vlans(9, 5)),
        ("of three the innermost two", thrice, in_vlans(9, 5)),
        ("a tag without VLAN id is no VLAN", with_priority, flow),
        ("ports alone are enough of UDP", plain[..38].to_vec(), flow),
        ("three bytes of UDP are not", plain[..37].to_vec(), None),
        ("half an IP header is not", plain[..24].to_vec(), None),
        ("nothing is not", Vec::new(), None),
        (
            "a later fragment has no ports",
            fragment,
            flow.map(|flow| FlowKey {
                sport: 0,
                dport: 0,
                ..flow
            }),
        ),
    ];
    for (sentence, bytes, expected) in cases {
        assert_eq!(flow_of(&bytes), expected, "{sentence}");
    }
    let flow = flow_of(&swapped);
    assert_eq!(flow.map(|flow| flow.protocol), Some(17), "{flow:?}");
}

#[test]
fn latency_is_signed_and_knows_the_wrap() {
    let at = |ts| Hop {
        node: NodeId(1),
        ingress_port: 0,
        egress_port: 0,
        ingress_ts: ts,
        egress_ts: 0,
        queue: None,
    };
    for (sentence, source, sink, expected) in [
        ("forward", 1_000, 24_400, 23_400),
        ("clocks apart", 24_400, 1_000, -23_400),
        ("across the wrap", u32::MAX - 9, 90, 100),
        ("back across the wrap", 90, u32::MAX - 9, -100),
        ("equal", 5, 5, 0),
        ("as far as it goes", 0, 0x7fff_ffff, 0x7fff_ffff),
    ] {
        let stack = HopStack::over(at(source), &[], at(sink));
        assert_eq!(stack.latency_ns(), Some(expected), "{sentence}");
    }
    let alone = HopStack::newest_first(&[at(3)]).unwrap();
    assert_eq!(alone.latency_ns(), None, "one hop is no way");
}

#[test]
fn a_latency_log_line_is_host_ints_to_the_letter() {
    let hop = |node, port, ts| Hop {
        node: NodeId(node),
        ingress_port: port,
        egress_port: port,
        ingress_ts: ts,
        egress_ts: ts,
        queue: None,
    };
    let mut report = report("hostint_report_l4_udp");
    let Body::Latency(latency) = &mut report.observation.body else {
        panic!("no latency report");
    };
    latency.time_s = 458_136;
    latency.hops = HopStack::over(hop(2, 13, 1_037_040_573), &[], hop(3, 12, 1_037_050_488));
    assert_eq!(
        LogLine(&report).to_string(),
        "Seq: 1 Time: 458136 s Type: Latency Source NodeID: 2 IngressPort: 13 EgressPort: 13 \
         IngressTS: 1037040573 ns EgressTS: 1037040573 ns Sink NodeID: 3 IngressPort: 12 \
         EgressPort: 12 IngressTS: 1037050488 ns EgressTS: 1037050488 ns"
    );
}

#[test]
fn log_lines_of_other_kinds_follow_that_style() {
    for (name, line) in [
        (
            "hostint_drop_summary_udp",
            "Seq: 2 Time: 1700000001 s Type: Drop Source NodeID: 2 Port: 13 Sink NodeID: 3 \
             Port: 12 SrcIP: 192.0.2.1 DstIP: 198.51.100.2 Protocol: 17 SrcPort: 40000 \
             DstPort: 5001 GapTime: 1700000000 s GapSeq: 41 GapCount: 5",
        ),
        (
            "hostint_drop_summary_extended_tcp",
            "Seq: 2 Time: 1700000001 s Type: Drop Source NodeID: 2 Port: 13 Sink NodeID: 3 \
             Port: 12 SrcIP: 192.0.2.1 DstIP: 198.51.100.2 Protocol: 6 SrcPort: 49152 \
             DstPort: 80 GapTime: 1700000000 s GapSeq: 41 GapCount: 5",
        ),
        (
            "hostint_report_extended_udp6",
            "Seq: 1 Time: 1700000000 s Type: Latency Source NodeID: 2 IngressPort: 13 \
             EgressPort: 13 IngressTS: 1032178965 ns EgressTS: 1032178965 ns Sink NodeID: 3 \
             IngressPort: 12 EgressPort: 12 IngressTS: 1032433286 ns EgressTS: 1032433286 ns",
        ),
        (
            "tr05_drop",
            "Seq: 8 Time: 1032178965 ns Type: PacketDrop NodeID: 103 IngressPort: 31 \
             EgressPort: 32 QueueID: 3 Reason: 80",
        ),
        (
            "tr05_local",
            "Seq: 9 Time: 1032178965 ns Type: Local NodeID: 103 IngressPort: 31 EgressPort: 32 \
             QueueID: 3 QueueOccupancy: 1500 EgressTS: 1032181965 ns",
        ),
        (
            "tr05_flow_int05",
            "Seq: 7 Time: 1032178965 ns Type: Ethernet",
        ),
    ] {
        assert_eq!(LogLine(&report(name)).to_string(), line);
    }
}

#[test]
fn text_lines_are_for_people() {
    let reasons = DropReasons::profile(DropReasons::PROFILES[0]).unwrap();
    for (name, line) in [
        (
            "hostint_report_l4_udp",
            "22:13:20.123Z latency  udp 192.0.2.1:40000 > 198.51.100.2:5001  254.3 us  \
             node 2 -> 3  seq 1  report 1 from 203.0.113.3",
        ),
        (
            "hostint_drop_summary_udp",
            "22:13:20.123Z LOSS     udp 192.0.2.1:40000 > 198.51.100.2:5001  \
             5 packets after seq 41  node 2 -> 3  report 2 from 203.0.113.3",
        ),
        (
            "hostint_report_extended_udp6",
            "22:13:20.123Z latency  udp [2001:db8::1]:40000 > [2001:db8:1::2]:5001 vlan 100.7  \
             254.3 us  node 2 -> 3  seq 7  queue 12 packets 18000 bytes  \
             report 1 from 203.0.113.3",
        ),
        (
            "hostint_drop_summary_extended_tcp",
            "22:13:20.123Z LOSS     tcp 192.0.2.1:49152 > 198.51.100.2:80 vlan 7  \
             5 packets after seq 41  node 2 -> 3  report 2 from 203.0.113.3",
        ),
        (
            "tr05_drop",
            "22:13:20.123Z DROP     tcp 192.0.2.1:49152 > 198.51.100.2:80  \
             reason 80 (acl deny)  port 31 -> 32  queue 3  node 103  report 8 of subsystem 5 from 203.0.113.3",
        ),
        (
            "tr05_local",
            "22:13:20.123Z local    tcp 192.0.2.1:49152 > 198.51.100.2:80  \
             port 31 -> 32  congested queue 3 occupancy 1500  node 103  report 9 of subsystem 5 \
             from 203.0.113.3",
        ),
        (
            "tr10_drop",
            "22:13:20.123Z DROP     tcp 192.0.2.1:49152 > 198.51.100.2:80  reason 71 (traffic manager)  \
             port 31 -> 32  queue 3  node 103  report 22 of subsystem 9 from 203.0.113.3",
        ),
        (
            "tr20_inner_only_vxlan",
            "22:13:20.123Z packet   udp 192.168.1.1:56789 > 192.168.2.2:4789  \
             around tcp 10.10.1.1:49152 > 10.10.2.2:80  node 101 -> 102 -> 103  \
             report 34 of subsystem 1 from 203.0.113.3",
        ),
        (
            "tr20_intermediate",
            "22:13:20.123Z transit  tcp 192.0.2.1:49152 > 198.51.100.2:80  queue 2 occupancy 1000  \
             node 101 -> 102  report 38 of subsystem 1 from 203.0.113.3",
        ),
        (
            "tr05_flow_int05",
            "22:13:20.123Z packet   tcp 192.0.2.1:49152 > 198.51.100.2:22  node 101 -> 102  \
             report 7 of subsystem 5 from 203.0.113.3",
        ),
    ] {
        let line_of = TextLine {
            report: &report(name),
            arrival: Some(arrival()),
            reasons: &reasons,
            names: &NodeNames::NONE,
            clocks: LatencyClocks::Unreported,
        };
        assert_eq!(line_of.to_string(), line);
        let nobody_saw_it = TextLine {
            arrival: None,
            ..line_of
        };
        let bare = line.strip_prefix("22:13:20.123Z ").unwrap();
        let bare = bare.strip_suffix(" from 203.0.113.3").unwrap();
        assert_eq!(nobody_saw_it.to_string(), bare);
    }
}

#[test]
fn nodes_have_their_names_beside_their_ids() {
    let names = [(2, "web-3"), (102, "leaf"), (103, "db"), (7, "elsewhere")];
    let names: NodeNames = (names.into_iter())
        .map(|(node, name)| (NodeId(node), name.to_owned()))
        .collect();
    // The report, its line in text, and the names that it has in JSON.
    let cases = [
        (
            "hostint_report_l4_udp",
            "node web-3 (2) -> 3",
            json!([{"node": 2, "name": "web-3"}]),
        ),
        (
            "hostint_drop_summary_udp",
            "node web-3 (2) -> 3",
            json!([{"node": 2, "name": "web-3"}]),
        ),
        (
            "tr05_drop",
            "node db (103)",
            json!([{"node": 103, "name": "db"}]),
        ),
        ("tr20_intermediate", "node 101 -> leaf (102)", Value::Null),
    ];
    for (name, expected, in_json) in cases {
        let report = report(name);
        let line = TextLine {
            report: &report,
            arrival: None,
            reasons: &DropReasons::default(),
            names: &names,
            clocks: LatencyClocks::Unreported,
        };
        let line = line.to_string();
        assert!(line.contains(&format!("  {expected}  ")), "{line}");
        let record = Record::new(&report, None).naming(&names);
        let record = serde_json::to_value(record).unwrap();
        if !in_json.is_null() {
            assert_eq!(record["names"], in_json, "{name}");
        }
        let unnamed = Record::new(&report, None).naming(&NodeNames::NONE);
        assert_eq!(unnamed, Record::new(&report, None), "{name}");
    }
}

#[test]
fn ports_of_hops_have_the_names_of_their_interfaces() {
    let port = |port| NodePort {
        node: NodeId(28673),
        port,
    };
    let ports = [(port(2), "eth0"), (port(3), "eth1"), (port(9), "eth7")];
    let ports = ports.map(|(at, name)| (at, name.to_owned()));
    let names = NodeNames::default().with_ports(ports.into());
    let report = two_hops().sample(1, 5000, 1_700_000_000_000_000_000).report;
    let record = Record::new(&report, None).naming(&names);
    let line = serde_json::to_value(&record).unwrap();
    assert_eq!(
        line["interfaces"],
        json!([
            {"node": 28673, "port": 2, "name": "eth0"},
            {"node": 28673, "port": 3, "name": "eth1"},
        ])
    );
    let read: Record = serde_json::from_value(line).unwrap();
    assert_eq!(read, record);
}

#[test]
fn drop_reasons_have_the_names_of_their_list() {
    for (list, code, name) in [
        ("int-host-reporter", 0, Some("unknown")),
        ("int-host-reporter", 26, Some("outer ip ttl zero")),
        ("int-host-reporter", 30, Some("ip header length invalid")),
        ("int-host-reporter", 80, Some("acl deny")),
        ("int-host-reporter", 184, Some("unauthorised source")),
        ("int-host-reporter", 60, None),
        ("p4lang-switch", 26, Some("outer ip ttl zero")),
        ("p4lang-switch", 30, Some("ip version invalid")),
        ("p4lang-switch", 60, Some("acl deny")),
        ("p4lang-switch", 80, None),
        ("sd-fabric", 71, Some("traffic manager")),
        ("sd-fabric", 180, Some("encapsulation failed")),
        ("sd-fabric", 183, None),
        ("sd-fabric", 200, Some("no socket")),
        ("int-host-reporter", 207, Some("tcp refused")),
    ] {
        let reasons = DropReasons::profile(list).unwrap();
        assert_eq!(reasons.name(code), name, "{list} {code}");
        let mut report = report("tr05_drop");
        if let Body::Packet(packet) = &mut report.observation.body {
            packet.metadata.drop_reason = Some(code);
        }
        let mut line = Vec::new();
        let record = Record::new(&report, None).with_names(&reasons);
        record.append_line(&mut line).unwrap();
        let json: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(json["drop_reason"], code, "{list}");
        assert_eq!(
            json.get("drop_reason_name").and_then(Value::as_str),
            name,
            "{list} {code}"
        );
    }
    assert_eq!(DropReasons::profile("nobody"), None);
}

#[test]
fn durations_show_in_the_unit_that_reads_best() {
    for (ns, text) in [
        (0, "0 ns"),
        (-1, "-1 ns"),
        (999, "999 ns"),
        (1_000, "1.0 us"),
        (23_449, "23.4 us"),
        (-23_450, "-23.5 us"),
        (999_949, "999.9 us"),
        (999_950, "1.0 ms"),
        (999_949_999, "999.9 ms"),
        (999_950_000, "1.0 s"),
        (-2_147_483_648, "-2.1 s"),
        (i64::MIN, "-9223372036.9 s"),
    ] {
        assert_eq!(Nanoseconds(ns).to_string(), text);
    }
}

#[test]
fn flows_read_like_sentences() {
    let (four, six) = (("10.0.0.1", "10.0.0.2"), ("2001:db8::1", "2001:db8::2"));
    for ((src, dst), protocol, (outer, inner), text) in [
        (four, 17, (0, 0), "udp 10.0.0.1:5001 > 10.0.0.2:9000"),
        (four, 17, (0, 7), "udp 10.0.0.1:5001 > 10.0.0.2:9000 vlan 7"),
        (
            four,
            6,
            (100, 7),
            "tcp 10.0.0.1:5001 > 10.0.0.2:9000 vlan 100.7",
        ),
        (
            six,
            6,
            (0, 0),
            "tcp [2001:db8::1]:5001 > [2001:db8::2]:9000",
        ),
        (
            six,
            17,
            (0, 4095),
            "udp [2001:db8::1]:5001 > [2001:db8::2]:9000 vlan 4095",
        ),
        (four, 1, (0, 0), "icmp 10.0.0.1 > 10.0.0.2"),
        (six, 58, (0, 7), "icmpv6 2001:db8::1 > 2001:db8::2 vlan 7"),
        (four, 132, (0, 0), "sctp 10.0.0.1:5001 > 10.0.0.2:9000"),
        (four, 47, (0, 0), "protocol-47 10.0.0.1 > 10.0.0.2"),
    ] {
        let flow = FlowKey {
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            sport: 5001,
            dport: 9000,
            protocol,
            vlans: Vlans { outer, inner },
        };
        assert_eq!(flow.to_string(), text);
    }
}

#[test]
fn encapsulations_are_found_by_their_names() {
    for encapsulation in Encapsulation::ALL {
        assert_eq!(encapsulation.to_string().parse(), Ok(encapsulation));
    }
    let unknown = "vxlan".parse::<Encapsulation>().unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "unknown encapsulation \"vxlan\": expected over-tcp-udp, extension-udp, vxlan-gpe, int-md, ioam or options"
    );
}

fn json_of(report: &Report, arrival: Option<Arrival>) -> Value {
    let mut line = Vec::new();
    Record::new(report, arrival).append_line(&mut line).unwrap();
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    assert_eq!(line.last(), Some(&b'\n'));
    serde_json::from_slice(&line).unwrap()
}

#[test]
fn json_of_a_latency_report() {
    let hop = |node: u32, port: u16, ts: u32| {
        json!({
            "node": node, "ingress_port": port, "egress_port": port,
            "ingress_ts_ns": ts, "egress_ts_ns": ts,
        })
    };
    let mut expected = json!({
        "schema": "hostint.report/1",
        "kind": "latency",
        "version": "0.5",
        "tracked_flow": true,
        "exporter": "203.0.113.3",
        "exporter_port": 43981,
        "received_ns": 1_700_000_000_123_456_789_u64,
        "hw_id": 0,
        "report_seq": 1,
        "report_time_s": 1_700_000_000,
        "reporter_node": 3,
        "flow": {
            "src": "192.0.2.1", "dst": "198.51.100.2",
            "sport": 40000, "dport": 5001, "protocol": 17,
        },
        "source": hop(2, 13, 0x3d85_cd15),
        "sink": hop(3, 12, 0x3d89_ae86),
        "latency_ns": 254_321,
        "seq": 1,
    });
    let report = report("hostint_report_l4_udp");
    assert_eq!(json_of(&report, Some(arrival())), expected);
    let object = expected.as_object_mut().unwrap();
    for known_to_receivers in ["exporter", "exporter_port", "received_ns"] {
        object.remove(known_to_receivers);
    }
    assert_eq!(json_of(&report, None), expected, "as the sink logs it");
}

#[test]
fn json_of_a_drop_summary_report() {
    let json = json_of(&report("hostint_drop_summary_udp"), None);
    assert_eq!(json["kind"], "drop-summary");
    assert_eq!(json["source"], json!({"node": 2, "port": 13}));
    assert_eq!(json["sink"], json!({"node": 3, "port": 12}));
    assert_eq!(
        json["gap"],
        json!({"first_seq": 42, "last_seq": 46, "count": 5, "time_s": 1_700_000_000})
    );
}

#[test]
fn json_of_the_standard_reports() {
    let drop = json_of(&report("tr05_drop"), None);
    assert_eq!(drop["drop_reason"], 80);
    assert_eq!(drop["ingress_ts_ns"], 0x3d85_cd15);
    assert_eq!(drop.get("report_time_s"), None);
    let local = json_of(&report("tr05_local"), None);
    assert_eq!(local["queue_occupancy"], 1500);
    assert_eq!(local["reporter_node"], 103);
    let ethernet = json_of(&report("tr05_flow_int05"), None);
    assert_eq!(
        (&ethernet["frame_bytes"], &ethernet["hw_id"]),
        (&json!(97), &json!(5))
    );
    assert_eq!(ethernet.get("reporter_node"), None);
}

#[test]
fn json_of_extended_reports_has_more_and_the_rest_stays() {
    let latency = json_of(&report("hostint_report_extended_udp6"), None);
    assert_eq!(latency["kind"], "latency");
    assert_eq!(latency["reporter_node"], 3);
    assert_eq!(
        latency["flow"],
        json!({
            "src": "2001:db8::1", "dst": "2001:db8:1::2",
            "sport": 40000, "dport": 5001, "protocol": 17,
            "vlan": 7, "outer_vlan": 100,
        })
    );
    assert_eq!(
        latency["source"],
        json!({
            "node": 2, "ingress_port": 13, "egress_port": 13,
            "ingress_ts_ns": 0x3d85_cd15, "egress_ts_ns": 0x3d85_cd15,
            "queue": {"packets": 12, "bytes": 18_000},
        })
    );
    assert_eq!(latency["sink"].get("queue"), None);
    assert_eq!(
        (&latency["latency_ns"], &latency["seq"]),
        (&json!(254_321), &json!(7))
    );

    let loss = json_of(&report("hostint_drop_summary_extended_tcp"), None);
    assert_eq!(loss["kind"], "drop-summary");
    assert_eq!(
        loss["flow"],
        json!({
            "src": "192.0.2.1", "dst": "198.51.100.2",
            "sport": 49152, "dport": 80, "protocol": 6,
            "vlan": 7,
        })
    );
    assert_eq!(
        loss["gap"],
        json!({"first_seq": 42, "last_seq": 46, "count": 5, "time_s": 1_700_000_000})
    );
}

#[test]
fn json_tells_the_sinks_clock_as_far_as_it_is_known() {
    use ClockSource::{Nic, Realtime, Tai, Unknown};
    let mut report = report("hostint_report_l4_udp");
    let cases = [
        ("nothing is known", None, None, None),
        ("tai", Some((Tai, true)), Some("tai"), Some(true)),
        (
            "realtime",
            Some((Realtime, false)),
            Some("realtime"),
            Some(false),
        ),
        ("nic", Some((Nic, true)), Some("nic"), Some(true)),
        (
            "the source of time is unknown",
            Some((Unknown, true)),
            None,
            Some(true),
        ),
    ];
    for (sentence, clock, name, synchronised) in cases {
        report.observation.clock = clock.map(|(source, synchronised)| ClockState {
            source,
            synchronised,
        });
        let json = json_of(&report, None);
        let of = |key: &str| json.get(key).cloned();
        assert_eq!(of("sink_clock"), name.map(Value::from), "{sentence}");
        assert_eq!(
            of("sink_clock_synchronised"),
            synchronised.map(Value::from),
            "{sentence}"
        );
    }
}

#[test]
fn destinations_stand_in_columns() {
    let dest = |prefix: &str, name: &str| Dest {
        prefix: prefix.parse().unwrap(),
        name: name.to_owned(),
        fixed: name == "old",
    };
    let four = [
        dest("10.0.0.0/24", "lab"),
        dest("10.0.1.1", "10.0.1.1"),
        dest("10.0.1.2", "old"),
    ];
    assert_eq!(
        dests::render(&four, false),
        "10.0.0.0/24        lab\n10.0.1.1\n10.0.1.2           old                  static\n"
    );
    let both = [
        dest("10.0.0.0/24", "lab"),
        dest("2001:db8:1:2::/64", "v6"),
        dest("2001:db8:1:2:3:4:5:6", "h"),
    ];
    assert_eq!(
        dests::render(&both, false),
        "10.0.0.0/24          lab\n2001:db8:1:2::/64    v6\n2001:db8:1:2:3:4:5:6 h\n"
    );
    assert_eq!(
        dests::render(&both[1..2], true),
        "{\"dests\":[{\"name\":\"v6\",\"prefix\":\"2001:db8:1:2::/64\",\"static\":false}],\"schema\":\"hostint.dests/1\"}\n"
    );
}

#[test]
fn rules_are_sentences_in_the_order_in_which_they_are_asked() {
    let place = |text: &str, prefix: Option<&str>| RuleHost {
        text: text.to_owned(),
        prefixes: prefix
            .iter()
            .map(|prefix| prefix.parse().unwrap())
            .collect(),
    };
    let rule = WatchRule {
        priority: 100,
        ..WatchRule::default()
    };
    let rules = [
        WatchRule {
            class: Some("storage".to_owned()),
            protocols: vec![Transport::Tcp],
            to: vec![
                place("10.2.0.0/16", Some("10.2.0.0/16")),
                place("nas", Some("10.3.0.9")),
                place("gone", None),
            ],
            to_ports: vec!["2049".parse().unwrap(), "3260-3269".parse().unwrap()],
            fixed: true,
            ..rule.clone()
        },
        WatchRule {
            priority: 5,
            one_flow_in: 10,
            one_packet_in: 3,
            ..rule.clone()
        },
        WatchRule {
            action: WatchAction::Exclude,
            from_ports: vec!["53".parse().unwrap()],
            dscp: vec![0, 46],
            devs: vec!["eth1".to_owned()],
            ..rule.clone()
        },
        WatchRule {
            priority: 200,
            from: (1..11)
                .map(|n| place(&format!("10.0.0.{n}"), Some(&format!("10.0.0.{n}"))))
                .collect(),
            ..rule
        },
    ];
    let expected = "  \
  200 watch   from 10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4, 10.0.0.5, 10.0.0.6, 10.0.0.7, 10.0.0.8 and 2 more
  100 exclude from port 53 dscp 0, 46 on eth1
  100 watch   tcp to 10.2.0.0/16, nas (10.3.0.9), gone (not found) port 2049, 3260-3269, static, class storage
    5 watch   everything, one flow in 10, one packet in 3
";
    assert_eq!(rules::render(&rules, false), expected);
    let json: Value = serde_json::from_str(&rules::render(&rules, true)).unwrap();
    assert_eq!(json["schema"], "hostint.rules/1");
    assert_eq!(json["rules"][2]["to_ports"][1], "3260-3269");
    assert_eq!(json["rules"][2]["to"][1]["prefixes"][0], "10.3.0.9");
}
