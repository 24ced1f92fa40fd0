//! What hosts tell of drops is in messages and events with what each report adds, and nodes and interfaces have their names.

use hostint::engines::otlp::OtlpLogs;
use hostint::engines::otlp::messages::{Any, LogRecord, LogsRequest};
use hostint::engines::{FedBatch, FedReport, Parcel, RunId, kafka};
use hostint::model::*;
use hostint_testing::fed_reports::fed;
use hostint_testing::path_samples::{path_parts, two_hops};
use hostint_testing::pushing::identity;
use hostint_testing::report_samples;
use prost::Message;

fn entry(body: Body, dropped: Option<DropCount>) -> FedReport {
    let names = [(2, "router"), (3, "web-1")].into_iter();
    let names = names.map(|(node, name)| (NodeId(node), name.to_owned()));
    FedReport {
        names: std::sync::Arc::new(names.collect()),
        dropped: dropped.map(Box::new),
        ..fed(body)
    }
}

fn event(entry: FedReport) -> LogRecord {
    let engine = OtlpLogs::new("http://127.0.0.1:1", Vec::new(), &identity()).unwrap();
    let batch = FedBatch {
        run: RunId(1),
        entries: vec![entry],
        bytes: 0,
    };
    let request = LogsRequest::decode(&engine.encode(&Parcel::of(1, batch))[..]).unwrap();
    request.resources[0].scopes[0].records[0].clone()
}

fn says(event: &LogRecord, key: &str) -> Option<String> {
    let found = event.attributes.iter().find(|one| one.key == key)?;
    match found.value.clone()?.value? {
        Any::Text(text) => Some(text),
        Any::Int(number) => Some(number.to_string()),
        other => Some(format!("{other:?}")),
    }
}

#[test]
fn reports_of_drops_have_what_they_add_in_messages_and_events() {
    let more = DropCount {
        packets: 2,
        segments: 20,
        bytes: 30_000,
    };
    let [flow, _] = report_samples::host_drops();
    let [(no_loss, _), (loss, _)] = report_samples::host_drop_sums();
    let queue = &report_samples::queue_episodes()[0];
    for (what, body, dropped, severity) in [
        ("a flow", flow.observation.body.clone(), Some(more), "WARN"),
        (
            "a flow that is told again",
            flow.observation.body,
            None,
            "INFO",
        ),
        ("packets that are no loss", no_loss, Some(more), "INFO"),
        ("a sum", loss, Some(more), "WARN"),
        ("a queue", queue.observation.body.clone(), None, "INFO"),
    ] {
        let entry = entry(body, dropped);
        let message = kafka::message(RunId(1), &entry);
        let told = message
            .added_drops
            .map(|it| (it.packets, it.segments, it.bytes));
        assert_eq!(told, dropped.map(|_| (2, 20, 30_000)), "{what}");
        let event = event(entry);
        assert_eq!(event.severity_text, severity, "{what}");
        for (key, value) in [("packets", "2"), ("segments", "20"), ("bytes", "30000")] {
            let told = says(&event, &format!("hostint.added_drops.{key}"));
            let expected = dropped.map(|_| value.to_owned());
            assert_eq!(told, expected, "{what}: {key}");
        }
        let reporter = says(&event, "hostint.reporter_name");
        assert_eq!(reporter.as_deref(), Some("router"), "{what}");
    }
}

#[test]
fn a_sum_of_drops_comes_with_all_that_identifies_it() {
    let [(body, count), _] = report_samples::host_drop_sums();
    let entry = entry(body, Some(count));
    let message = kafka::message(RunId(1), &entry);
    let record = super::kafka::read_back::record(&message);
    let expected = Record::new(&entry.report, None).naming(&entry.names);
    assert_eq!(record, expected);
    assert_eq!(message.kind, "host-drop-sum");
    let event = event(entry);
    for (key, value) in [
        ("kind", "host-drop-sum"),
        ("host_drop_sum.kernel_reason_name", "QDISC_DROP"),
        ("host_drop_sum.place", "__dev_queue_xmit"),
        ("host_drop_sum.interface", "eth1"),
        ("host_drop_sum.position", "behind-tag"),
        ("host_drop_sum.tagged_by", "3"),
        ("tagged_by_name", "web-1"),
    ] {
        let told = says(&event, &format!("hostint.{key}"));
        assert_eq!(told.as_deref(), Some(value), "{key}");
    }
}

#[test]
fn flows_of_hosts_have_the_attributes_of_flows() {
    for report in [
        &report_samples::host_drops()[0],
        &report_samples::host_hops()[0],
    ] {
        let event = event(entry(report.observation.body.clone(), None));
        for (key, value) in [
            ("source.address", "192.0.2.1"),
            ("destination.port", "80"),
            ("network.transport", "tcp"),
            ("network.type", "ipv4"),
        ] {
            assert_eq!(says(&event, key).as_deref(), Some(value), "{key}");
        }
    }
}

#[test]
fn ports_on_a_path_have_the_names_of_their_interfaces() {
    let latency = Body::Latency(two_hops().report(1, 5000, 1_700_000_000_000_000_000));
    let [(part, _), _] = path_parts();
    let summary = report_samples::all().into_iter();
    let mut summary = summary.filter(|record| record.kind == "drop-summary");
    let summary = summary.next().unwrap().report().unwrap().observation.body;
    // Node 28674 has a name for one of its two ports, the sink for none, and a port of elsewhere is in no report.
    let named = [
        (1, 7, "veth"),
        (28673, 2, "eth0"),
        (28673, 3, "eth1"),
        (28674, 4, "lan"),
        (9, 2, "elsewhere"),
    ];
    for (what, body, interfaces, attributes) in [
        (
            "a packet",
            latency,
            &[
                (1, 7, "veth"),
                (28674, 4, "lan"),
                (28673, 2, "eth0"),
                (28673, 3, "eth1"),
            ][..],
            &[
                ("source.ingress_interface", Some("veth")),
                ("source.egress_interface", Some("veth")),
                ("transit.0.ingress_interface", Some("lan")),
                ("transit.0.egress_interface", None),
                ("transit.1.ingress_interface", Some("eth0")),
                ("transit.1.egress_interface", Some("eth1")),
                ("sink.ingress_interface", None),
                ("interfaces.0.name", None),
            ][..],
        ),
        (
            "a hop of a path",
            Body::PathPart(Box::new(part)),
            &[(28673, 2, "eth0"), (28673, 3, "eth1")],
            &[
                ("path_part.from.interface", Some("eth0")),
                ("path_part.to.interface", Some("eth1")),
            ],
        ),
        (
            "a report that is about no hop",
            summary,
            &[],
            &[("source.egress_interface", None)],
        ),
    ] {
        let ports = named.iter().map(|(node, port, name)| {
            let node = NodeId(*node);
            (NodePort { node, port: *port }, (*name).to_owned())
        });
        let names = NodeNames::default().with_ports(ports.collect());
        let entry = FedReport {
            names: std::sync::Arc::new(names),
            ..fed(body)
        };
        let message = kafka::message(RunId(1), &entry);
        let told = message.interfaces.iter();
        let told: Vec<_> = told.map(|one| (one.node, one.port, &*one.name)).collect();
        assert_eq!(told, interfaces, "{what}");
        let event = event(entry);
        for (key, value) in attributes {
            let told = says(&event, &format!("hostint.{key}"));
            assert_eq!(told.as_deref(), *value, "{what}: {key}");
        }
    }
}
