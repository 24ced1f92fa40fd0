//! What a sink sends about a flow has no more bytes than the flow, summaries included.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use hostint::collector::decode;
use hostint::model::Body;
use hostint_testing::netns::{Lab, await_that_or};

/// As IP packets over IPv4.
const IP_AND_UDP_BYTES: u64 = 28;
/// What the source adds to a packet, which counts as the flow's, too: at most a tunnel and INT.
const MOST_ADDED_BYTES: u64 = 72;
const PORTS: std::ops::Range<u16> = 6000..6030;

/// The packets of the flow to a port, and the bytes of data in each: some flows have very few, some many.
fn shape(port: u16) -> (u32, usize) {
    let number = u32::from(port - PORTS.start);
    let packets = [1, 2, 5, 12, 60, 300][number as usize % 6];
    let bytes = [1, 80, 200, 600, 1200][number as usize / 6];
    (packets, bytes)
}

/// What a collector received of flows, by their destination ports.
#[derive(Clone, Debug, Default)]
struct Told {
    datagrams: u64,
    bytes: u64,
    summaries: u64,
}

#[test]
fn a_flow_is_told_of_in_no_more_bytes_than_it_has() {
    let lab = Lab::new();
    let collector = lab.a.udp("10.9.1.1:32766");
    collector.set_nonblocking(true).unwrap();
    let _b = lab.b.sink(
        "--dev b0 --node-id 2 --collector 10.9.1.1 --allow 10.9.1.0/24 --summary-period 1s \
         --report-period 100ms --max-summaries 1000 --idle-flow-timeout 1s --loss-timeout 100ms",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let from = lab.a.udp("10.9.1.1:5000");
    let to: Vec<_> = PORTS
        .map(|port| lab.b.udp(&format!("10.9.2.1:{port}")))
        .collect();
    let mut sent = BTreeMap::<u16, u64>::new();
    let most = PORTS.map(|port| shape(port).0).max().unwrap();
    for round in 0..most {
        for port in PORTS.filter(|port| round < shape(*port).0) {
            let data = vec![7; shape(port).1];
            from.send_to(&data, format!("10.9.2.1:{port}")).unwrap();
            *sent.entry(port).or_default() +=
                data.len() as u64 + IP_AND_UDP_BYTES + MOST_ADDED_BYTES;
        }
    }
    let mut told = BTreeMap::<u16, Told>::new();
    let mut buffer = vec![0; 65_536];
    let mut receive = |told: &mut BTreeMap<u16, Told>| loop {
        let length = match collector.recv(&mut buffer) {
            Ok(length) => length,
            Err(err) if err.kind() == ErrorKind::WouldBlock => break,
            Err(err) => panic!("{err}"),
        };
        // Probes of the collector are no reports.
        let Ok(group) = decode(&buffer[..length]) else {
            continue;
        };
        for report in group.reports {
            let Some(flow) = report.observation.flow() else {
                continue;
            };
            let of_flow = told.entry(flow.dport).or_default();
            of_flow.datagrams += 1;
            of_flow.bytes += length as u64 + IP_AND_UDP_BYTES;
            let is_summary = matches!(report.observation.body, Body::Summary(_));
            of_flow.summaries += u64::from(is_summary);
        }
    };
    // Its last summary is sent when a flow is forgotten.
    let summarised =
        |told: &BTreeMap<u16, Told>| told.values().filter(|one| one.summaries > 0).count();
    await_that_or(
        || {
            receive(&mut told);
            summarised(&told) >= 10 && lab.b.status()["sink"]["flows_total"] == 0
        },
        || "flows are not summarised, or not forgotten".to_owned(),
    );
    receive(&mut told);
    for (port, told) in &told {
        let Some(sent) = sent.get(port) else {
            continue;
        };
        assert!(told.bytes <= *sent, "port {port}: {sent} bytes, {told:?}");
    }
    assert!(
        !told.contains_key(&PORTS.start),
        "a packet of 1 byte pays for nothing"
    );
    drop(to);
}
