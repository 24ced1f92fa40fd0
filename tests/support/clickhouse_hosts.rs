//! What hosts tell of drops, hops and queues, and the names of nodes: each figure is in a column of its own.

use hostint::engines::clickhouse::ClickHouse;
use hostint::engines::{Engine, FedBatch, FedReport, Parcel, RunId};
use hostint::model::*;

use crate::clickhouse_queries::named;
use crate::fed_reports::{fed, record_pods};
use crate::path_samples::path_parts;
use crate::report_samples;

/// The number of the first report.
const FIRST: u64 = 200_000;

/// What a report adds to an earlier one of the same drops.
const MORE: DropCount = DropCount {
    packets: 2,
    segments: 20,
    bytes: 30_000,
};

/// Columns as SQL, and the text of what a row has there.
type Expected = Vec<(&'static str, String)>;

fn columns<const N: usize>(columns: [(&'static str, &str); N]) -> Expected {
    let texts = columns.into_iter();
    texts
        .map(|(column, text)| (column, text.to_owned()))
        .collect()
}

/// The names of some interfaces.
fn ports() -> PortNames {
    let nodes = (1..=10).chain([28_673]);
    let ports = nodes.flat_map(|node| (1..=9).map(move |port| (NodeId(node), port)));
    let named = ports.map(|(node, port)| (NodePort { node, port }, format!("if-{node}-{port}")));
    named.collect()
}

fn entry(body: Body, number: u64, dropped: Option<DropCount>) -> FedReport {
    let names = (1..=28_680).map(|node| (NodeId(node), format!("name-{node}")));
    FedReport {
        number,
        names: std::sync::Arc::new(names.collect::<NodeNames>().with_ports(ports())),
        dropped: dropped.map(Box::new),
        ..fed(body)
    }
}

/// The way of drops and of hops through the host, which the samples have in common.
fn way(pod: &'static str) -> Expected {
    let mut way = columns([
        ("reporter_node", "2"),
        ("reporter_name", "name-2"),
        ("IPv6NumToString(src)", "::ffff:192.0.2.1"),
        ("sport", "49152"),
        ("in_interface", "eth0"),
        ("out_interface", "eth1"),
        ("in_ifindex", "2"),
        ("out_ifindex", "3"),
        ("in_pod", "podman/4f2a91c07be3"),
        ("IPv6NumToString(before_nat_src)", "::ffff:10.0.0.7"),
        ("IPv6NumToString(before_nat_dst)", "::ffff:198.51.100.2"),
        ("before_nat_sport", "49152"),
        ("before_nat_dport", "80"),
        ("tunnel_id", "4242"),
        ("IPv6NumToString(tunnel_src)", "::ffff:203.0.113.1"),
        ("IPv6NumToString(tunnel_dst)", "::ffff:203.0.113.2"),
        ("tunnel_sport", "51000"),
        ("tunnel_dport", "4789"),
    ]);
    way.push(("pod", pod.to_owned()));
    way
}

fn drops() -> (FedReport, Expected) {
    let [most, _] = report_samples::host_drops();
    let mut expected = way("netns/blue");
    let uid = "pod/5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11";
    expected.push(("pods.uid", format!("['','{uid}']")));
    expected.extend(columns([
        (
            "arrayMap(one -> IPv6NumToString(one), pods.address)",
            "['::ffff:192.0.2.1','::']",
        ),
        ("pods.namespace", "['shop','shop']"),
        ("pods.pod", "['web-5d9c-x7k2p','db-0']"),
        ("pods.workload", "['web','db']"),
        ("pods.workload_kind", "['Deployment','StatefulSet']"),
        ("src_namespace", "shop"),
        ("src_pod", "web-5d9c-x7k2p"),
        ("src_workload", "web"),
        ("dst_namespace", ""),
        ("dst_pod", ""),
        ("dst_workload", ""),
    ]));
    expected.extend(columns([
        ("kind", "host-drop"),
        ("out_pod", "pod/5b0b3c1e-8a44-4f1f-9a53-0d2f6f1f7a11"),
        ("tunnel_kind", "vxlan"),
        ("host_drop_reason", "50"),
        ("host_drop_reason_name", "QDISC_DROP"),
        ("host_drop_place", "__dev_queue_xmit"),
        ("host_drop_interface", ""),
        ("host_drop_ifindex", "3"),
        ("host_drop_netns", "4026531840"),
        ("host_drop_position", "behind-tag"),
        ("host_drop_tagged_by", "2"),
        ("host_drop_tagged_by_name", "name-2"),
        ("host_drop_seq", "4711"),
        ("host_drop_ignored", "0"),
        ("host_drop_without_packet", "0"),
        ("host_drop_packets", "5"),
        ("host_drop_segments", "70"),
        ("host_drop_bytes", "100000"),
        ("host_drop_first_ns", "1700000000123456789"),
        ("host_drop_last_ns", "1700000001123456789"),
        ("host_drop_age_ns", "1500"),
        ("host_drop_queue_packets", "1000"),
        ("host_drop_queue_bytes", "1500000"),
        ("host_drop_superpacket", "1"),
        ("host_drop_cgroup", "4242"),
        ("added_drop_packets", "2"),
        ("added_drop_segments", "20"),
        ("added_drop_bytes", "30000"),
        ("host_hop_ns", "\\N"),
        ("episode_packets", "0"),
    ]));
    let entry = FedReport {
        pods: record_pods().to_vec(),
        ..entry(most.observation.body, FIRST, Some(MORE))
    };
    (entry, expected)
}

fn hops() -> (FedReport, Expected) {
    let [most, _] = report_samples::host_hops();
    let mut expected = way("");
    expected.extend(columns([
        ("kind", "host-hop"),
        ("out_pod", "netns/blue"),
        ("tunnel_kind", "gtp-u"),
        ("host_hop_reasons", "['ports','latency']"),
        ("host_hop_from_sender", "1"),
        ("host_hop_packets", "70"),
        ("host_hop_bytes", "100000"),
        ("host_hop_first_ns", "1700000000123456789"),
        ("host_hop_last_ns", "1700000001123456789"),
        ("host_hop_ns", "12345"),
        ("host_hop_mean_ns", "9000"),
        ("host_hop_max_ns", "1000000"),
        ("host_drop_reason", "\\N"),
        ("host_drop_position", ""),
        ("added_drop_packets", "0"),
    ]));
    (entry(most.observation.body, FIRST + 1, None), expected)
}

fn episode() -> (FedReport, Expected) {
    let [most, _] = report_samples::queue_episodes();
    let ends = "arrayMap(one -> IPv6NumToString(one), episode_flows.src)";
    let expected = columns([
        ("kind", "queue"),
        ("reporter_name", "name-2"),
        ("episode_interface", "eth1"),
        ("episode_ifindex", "3"),
        ("episode_queue", "1"),
        ("episode_handle", "1048576"),
        ("episode_measure", "time"),
        ("episode_trigger", "200000"),
        ("episode_reset", "100000"),
        ("episode_quota", "40"),
        ("episode_number", "5"),
        ("episode_begin_ns", "1700000000123456789"),
        ("episode_last_ns", "1700000000323456789"),
        ("episode_end_ns", "1700000000423456789"),
        ("episode_packets", "50"),
        ("episode_bytes", "52100"),
        ("episode_told", "40"),
        ("episode_suppressed", "10"),
        ("episode_drops", "7"),
        ("episode_max_bytes", "62520"),
        ("episode_max_packets", "60"),
        ("episode_max_time_ns", "1000000"),
        (ends, "['::ffff:192.0.2.1','::ffff:192.0.2.1']"),
        (
            "arrayMap(one -> IPv6NumToString(one), episode_flows.dst)",
            "['::ffff:198.51.100.2','::ffff:198.51.100.2']",
        ),
        ("episode_flows.sport", "[5000,5001]"),
        ("episode_flows.dport", "[7001,7001]"),
        ("episode_flows.protocol", "[17,17]"),
        ("episode_flows.packets", "[30,10]"),
        ("episode_flows.bytes", "[31260,10420]"),
        ("IPv6NumToString(tunnel_src)", "::"),
    ]);
    (entry(most.observation.body, FIRST + 2, None), expected)
}

fn sums() -> [(FedReport, Expected); 2] {
    let [(most, more), (least, again)] = report_samples::host_drop_sums();
    let told = columns([
        ("kind", "host-drop-sum"),
        ("reporter_name", "name-2"),
        ("flow_hash", "0"),
        ("host_drop_reason", "50"),
        ("host_drop_reason_name", "QDISC_DROP"),
        ("host_drop_place", "__dev_queue_xmit"),
        ("host_drop_interface", "eth1"),
        ("host_drop_netns", "4026531840"),
        ("host_drop_position", "behind-tag"),
        ("host_drop_tagged_by", "3"),
        ("host_drop_tagged_by_name", "name-3"),
        ("host_drop_seq", "\\N"),
        ("host_drop_ignored", "1"),
        ("host_drop_without_packet", "1"),
        ("host_drop_packets", "0"),
        ("added_drop_packets", "3"),
        ("added_drop_segments", "9"),
        ("added_drop_bytes", "12000"),
    ]);
    let bare = columns([
        ("host_drop_reason", "0"),
        ("host_drop_reason_name", ""),
        ("host_drop_position", "apart"),
        ("host_drop_tagged_by", "\\N"),
        ("added_drop_packets", "3"),
    ]);
    [
        (entry(most, FIRST + 3, Some(more)), told),
        (entry(least, FIRST + 4, Some(again)), bare),
    ]
}

/// A packet over transit hops, and the names of all its nodes.
fn named_hops() -> (FedReport, Expected) {
    let mut records = report_samples::all().into_iter();
    let record = records.find(|record| record.kind == "latency" && !record.transit.is_empty());
    let record = record.unwrap();
    let name = |node: NodeId| format!("name-{node}");
    let (source, sink) = (record.source.unwrap().node(), record.sink.unwrap().node());
    let between = record.transit.iter().rev().map(|hop| hop.node);
    let nodes = [source].into_iter().chain(between).chain([sink]);
    let nodes: Vec<_> = nodes.map(|node| format!("'{}'", name(node))).collect();
    let named = ports();
    let interfaces = |side: usize| {
        let ends = [&record.source, &record.sink].map(|end| end.as_ref().unwrap().hop().unwrap());
        let hops = [ends[0]].into_iter().chain(record.transit.iter().rev());
        let names = hops.chain([ends[1]]).map(|hop| {
            let name = named.get(&hop.ports()[side]);
            format!("'{}'", name.map_or("", String::as_str))
        });
        format!("[{}]", names.collect::<Vec<_>>().join(","))
    };
    let expected = vec![
        ("source_name", name(source)),
        ("sink_name", name(sink)),
        ("hops.name", format!("[{}]", nodes.join(","))),
        ("hops.ingress_interface", interfaces(0)),
        ("hops.egress_interface", interfaces(1)),
    ];
    let body = record.report().unwrap().observation.body;
    (entry(body, FIRST + 5, None), expected)
}

/// A hop on a path, with the names of its interfaces.
fn named_part() -> (FedReport, Expected) {
    let mut parts = path_parts().into_iter();
    let is_hop = |part: &PathPart| part.record().part == "hop";
    let (part, _) = parts.find(|(part, _)| is_hop(part)).unwrap();
    let expected = columns([
        ("path_part", "hop"),
        ("path_from_node", "28673"),
        ("path_from_interface", "if-28673-2"),
        ("path_to_interface", "if-28673-3"),
    ]);
    (
        entry(Body::PathPart(Box::new(part)), FIRST + 6, None),
        expected,
    )
}

/// Delivers reports of hosts, and asks for each figure of them.
pub fn check(engine: &mut ClickHouse, ask: &dyn Fn(&str) -> String) {
    let [most, least] = sums();
    let all = [
        drops(),
        hops(),
        episode(),
        most,
        least,
        named_hops(),
        named_part(),
    ];
    let (entries, expected): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    let numbers: Vec<_> = entries.iter().map(|entry| entry.number).collect();
    let batch = FedBatch {
        run: RunId(u64::MAX),
        entries,
        bytes: 0,
    };
    engine.deliver(&Parcel::of(3, batch)).unwrap();
    for (number, expected) in numbers.iter().zip(expected) {
        let columns: Vec<_> = expected.iter().map(|(column, _)| *column).collect();
        let columns = columns.join(", ");
        let row = ask(&format!(
            "SELECT {columns} FROM hostint.reports WHERE number = {number} FORMAT TabSeparated"
        ));
        let found = row.trim_end_matches('\n').split('\t');
        let found: Vec<_> = (expected.iter().zip(found))
            .map(|((column, _), text)| (*column, text.to_owned()))
            .collect();
        assert_eq!(found, expected, "{number}");
    }
    let query = |name: &str| {
        let query = named(name).replace("$since", "1699999999");
        ask(&query.replace("$until", "1700000003"))
    };
    let found = query("host-drops");
    let told = "2\tname-2\tQDISC_DROP\tbehind-tag\t__dev_queue_xmit\t1\t3\t9\t12000\n";
    let bare = "2\tname-2\t\tapart\t\t0\t3\t9\t12000\n";
    assert_eq!(found, format!("{bare}{told}"));
    let found = query("queue-episodes");
    let ours = found.lines().find(|row| row.contains("name-2\teth1"));
    let ends = "1700000000123456789\t1700000000423456789";
    let expected = format!("2\tname-2\teth1\t1\t{ends}\t50\t10\t7\t62520\t1000000");
    assert_eq!(ours, Some(&*expected), "{found}");
}
