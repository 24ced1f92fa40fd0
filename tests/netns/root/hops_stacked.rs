//! A packet counts once where interfaces are stacked, and tags of VLANs hide no flow.

use hostint_testing::netns::{Lab, await_that_or};
use serde_json::Value;

use crate::exchange::{exchange_tcp, exchange_udp};

/// The packets from one interface to another: those that were queued, and those that were sent.
fn packets(totals: &Value, from: &str, to: &str, start: &str) -> [u64; 2] {
    let all = totals["passages"].as_array().unwrap();
    let found = all.iter().find(|one| {
        one["in_interface"] == from && one["out_interface"] == to && one["start"] == start
    });
    let count = |end: &str| found.map_or(0, |one| one[end]["packets"].as_u64().unwrap());
    ["queued", "sent"].map(count)
}

/// m1 becomes a port of the bridge br0, which has its address.
fn bridge(lab: &Lab) {
    lab.m.sh("ip link add br0 type bridge; ip link set br0 up
         ip addr del 10.9.2.2/24 dev m1; ip link set m1 master br0
         ip addr add 10.9.2.2/24 dev br0");
}

#[test]
fn a_bridge_and_its_port_count_a_packet_once() {
    const PACKETS: u64 = 100;
    let lab = Lab::new();
    bridge(&lab);
    let line = "postcards --hops --dev m0,m1,br0 --json";
    let mut daemon = lab.m.start(line, "hops are reported");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:7001"));
    exchange_udp(&from, &to, PACKETS, 100);
    exchange_udp(&to, &from, PACKETS, 100);
    assert_eq!(daemon.end(), Some(0));
    let totals = daemon.json_lines_of("hop-totals").pop().unwrap();
    let stamped = totals["stamped"].as_u64().unwrap();
    assert_eq!(stamped, 2 * PACKETS, "{totals:#}");
    // Outwards they leave by the port; back they come by the bridge at last.
    for (from, to) in [("m0", "m1"), ("br0", "m0")] {
        assert_eq!(
            packets(&totals, from, to, "interface"),
            [PACKETS; 2],
            "{from} > {to}: {totals:#}"
        );
    }
    assert_eq!(
        totals["passages"].as_array().unwrap().len(),
        2,
        "{totals:#}"
    );
    for flow in daemon.json_lines_of("host-hop") {
        assert!(flow["packets"].as_u64().unwrap() <= PACKETS, "{flow}");
    }
}

#[test]
fn a_bridge_that_comes_over_a_timed_interface_counts_once_too() {
    let lab = Lab::new();
    let line = "postcards --hops --dev m0,m1,br* --json";
    let mut daemon = lab.m.start(line, "hops are reported");
    bridge(&lab);
    let timed = || {
        let output = lab.m.try_hostint("status --json --flows 0");
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        status["postcards"]["hops"]["interfaces"].clone()
    };
    await_that_or(|| timed() == 3, || timed().to_string());
    // TCP's packets carry their departure; what the port made of it stays.
    exchange_tcp(&lab.a, &lab.b, 7002, 100_000);
    assert_eq!(daemon.end(), Some(0));
    let totals = daemon.json_lines_of("hop-totals").pop().unwrap();
    for (from, to) in [("m0", "m1"), ("br0", "m0")] {
        let [queued, sent] = packets(&totals, from, to, "sender");
        assert!(queued > 10 && queued == sent, "{from} > {to}: {totals:#}");
    }
    assert_eq!(
        totals["passages"].as_array().unwrap().len(),
        2,
        "{totals:#}"
    );
}

/// Sends frames from a by m to b, with these bytes for a tag between the addresses and the Ethertype of IPv4.
fn send_tagged(lab: &Lab, tag: &str, port: u16, count: usize) {
    let to = lab.m.sh("cat /sys/class/net/m0/address");
    let to = to.trim();
    lab.a.sh(&format!(
        "python3 -c '
import socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((\"a0\", 0))
ip = struct.pack(\"!BBHHHBBH4s4s\", 0x45, 0, 48, 7, 0, 64, 17, 0, socket.inet_aton(\"10.9.1.1\"), socket.inet_aton(\"10.9.2.1\"))
total = sum(struct.unpack(\"!10H\", ip)); total = (total & 0xffff) + (total >> 16); total = (total & 0xffff) + (total >> 16)
ip = ip[:10] + struct.pack(\"!H\", ~total & 0xffff) + ip[12:]
udp = struct.pack(\"!HHHH\", 5000, {port}, 28, 0) + b\"x\" * 20
to = bytes.fromhex(\"{to}\".replace(\":\", \"\"))
for i in range({count}):
    try: s.send(to + bytes(6) + bytes.fromhex(\"{tag}\") + b\"\\x08\\x00\" + ip + udp)
    except OSError: pass
'"
    ));
}

#[test]
fn a_priority_is_no_vlan() {
    const PACKETS: usize = 20;
    let lab = Lab::new();
    let to = lab.b.udp("10.9.2.1:7003");
    to.set_read_timeout(Some(std::time::Duration::from_secs(10)))
        .unwrap();
    let line = "postcards --hops --dev m0,m1 --json";
    let mut daemon = lab.m.start(line, "hops are reported");
    // A priority of 5; and the VLAN 5, which m has not.
    send_tagged(&lab, "8100a000", 7003, PACKETS);
    send_tagged(&lab, "81000005", 7003, PACKETS);
    let mut got = [0; 100];
    for _ in 0..PACKETS {
        assert_eq!(to.recv(&mut got).unwrap(), 20);
    }
    assert_eq!(daemon.end(), Some(0));
    let totals = daemon.json_lines_of("hop-totals").pop().unwrap();
    assert_eq!(totals["stamped"], PACKETS, "{totals:#}");
    let last = daemon.json_lines_of("host-hop").pop().unwrap();
    assert_eq!(last["flow"]["dport"], 7003, "{last}");
    assert_eq!(last["packets"], PACKETS, "{last}");
}

#[test]
fn a_packet_with_tags_in_its_data_has_a_flow_when_it_is_dropped() {
    let lab = Lab::new();
    // The sender's own queue drops them, with the tags where the sender wrote them.
    lab.a
        .sh("tc qdisc add dev a0 root handle 1: tbf rate 8kbit burst 2000 limit 100");
    let line = "postcards --drops --json";
    let daemon = lab.a.start(line, "drops are reported");
    for (tag, port) in [("", 7010), ("81000005", 7011), ("88a8000681000005", 7012)] {
        send_tagged(&lab, tag, port, 60);
        let is_it = |line: &Value| {
            line["flow"]["dport"] == port && line["kernel_reason_name"] == "QDISC_DROP"
        };
        await_that_or(
            || daemon.json_lines_of("host-drop").iter().any(is_it),
            || format!("{tag:?}: {}", daemon.stdout()),
        );
    }
}
