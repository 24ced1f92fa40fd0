//! A router pushes onto INT-MD of other sources, behind TCP and UDP and in Geneve, over both IP versions, and Wireshark reads
//! what arrives.

use std::io::Read as _;
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};

use hostint_testing::frame::Frame;
use hostint_testing::model::geneve::{self, Tunnel, other_option};
use hostint_testing::model::int_md::{Header, insert};
use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};

use crate::exchange::{exchange_tcp, exchange_udp, flow};

const HOP: u32 = 9;
const DSCP: u8 = 0x17;
const PORT: u16 = 51_966;
const TRANSIT: &str = "transit attach --dev m0,m1 --node-id 9 --carriers int-md,geneve --int-dscp 0x17 --int-port 51966";

/// A header of a switch, node 7, that asks for node, ports, latency, queue and both times.
fn of_a_switch() -> Header {
    Header {
        stack: [7u32.to_be_bytes().to_vec(), vec![0; 28]].concat(),
        ..Header::asking(0xfc00)
    }
}

/// Sends the IP packet of this frame as it is.
fn send(host: &Host, frame: &[u8]) {
    let hex: String = frame[14..]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    host.sh(&format!(
        "python3 -c '
import socket
packet = bytes.fromhex(\"{hex}\")
v6 = packet[0] >> 4 == 6
family, to = (socket.AF_INET6, \"fd09:2::1\") if v6 else (socket.AF_INET, \"10.9.2.1\")
socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_RAW).sendto(packet, (to, 0))
'"
    ));
}

/// Listens at the host until it is dropped.
pub struct Capture {
    tcpdump: Child,
    file: String,
}

impl Capture {
    pub fn start(host: &Host, dev: &str) -> Self {
        let file = format!("{}/{}.pcap", env!("CARGO_TARGET_TMPDIR"), host.ns);
        let arguments = ["--immediate-mode", "-U", "-Q", "in", "-i", dev, "-w", &file];
        let mut tcpdump = host
            .command("tcpdump", &arguments)
            .arg("udp or tcp")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = [0; 64];
        assert_ne!(tcpdump.stderr.as_mut().unwrap().read(&mut said).unwrap(), 0);
        Self { tcpdump, file }
    }

    /// These fields of all packets so far, as Wireshark reads them with these options.
    pub fn fields(&self, names: &[&str], options: &[&str]) -> Vec<String> {
        let mut tshark = Command::new("tshark");
        tshark
            .args(["-nr", &self.file, "-T", "fields"])
            .args(options);
        for name in names {
            tshark.args(["-e", name]);
        }
        let output = tshark.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// The nodes of the stack of a packet, and the newest entry's time of arrival.
    fn stack(&self, number: usize) -> (String, u64) {
        let line = self
            .fields(&["int.node_id", "int.ingress_ts"], &marks())
            .remove(number);
        let (nodes, times) = line.split_once('\t').unwrap();
        let newest = times.split(',').next().unwrap();
        (nodes.to_owned(), newest.parse().unwrap())
    }

    /// What Wireshark says of the checksums of a packet; 1: good.
    pub fn checksums(&self, number: usize) -> Vec<String> {
        let all = ["ip", "udp", "tcp"];
        let preferences = all.map(|protocol| format!("-o{protocol}.check_checksum:TRUE"));
        let names = all.map(|protocol| format!("{protocol}.checksum.status"));
        let line = self
            .fields(
                &names.each_ref().map(|name| &**name),
                &preferences.each_ref().map(|one| &**one),
            )
            .remove(number);
        let states = line.split([',', '\t']).filter(|state| !state.is_empty());
        states.map(str::to_owned).collect()
    }
}

/// The options by which Wireshark finds INT-MD.
pub fn marks() -> [&'static str; 3] {
    [
        "-oint.dscp_value:0x17",
        "-oint.dscp_mask:0x3f",
        concat!(
            "-Xlua_script:",
            env!("CARGO_MANIFEST_DIR"),
            "/packaging/wireshark/hostint.lua"
        ),
    ]
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = self.tcpdump.kill();
        let _ = self.tcpdump.wait();
    }
}

/// The frame between the hosts of the lab.
fn in_lab(frame: Frame) -> Frame {
    let six = |text: &str| text.parse().unwrap();
    let frame = frame.from([10, 9, 1, 1]).to([10, 9, 2, 1]);
    match frame.is_ipv6() {
        true => frame.addresses6(six("fd09:1::1"), six("fd09:2::1")),
        false => frame,
    }
}

#[test]
fn wireshark_reads_the_entry_and_finds_every_checksum_right() {
    let lab = Lab::new();
    lab.add_ipv6();
    lab.m.hostint(TRANSIT);
    let capture = Capture::start(&lab.b, "b0");
    let (header, no_hops) = (
        of_a_switch(),
        Header {
            remaining: 0,
            ..of_a_switch()
        },
    );
    let by_port = Header {
        shim: 0x14,
        original: 5_001,
        ..of_a_switch()
    };
    let cases = [
        ("UDP by DSCP", udp(), &header, Some(DSCP), "9,7"),
        (
            "UDP by port",
            udp().ports(40_000, PORT),
            &by_port,
            None,
            "9,7",
        ),
        (
            "TCP",
            tcp().tcp_options(12).payload(300),
            &header,
            Some(DSCP),
            "9,7",
        ),
        ("UDP over IPv6", udp6(), &header, Some(DSCP), "9,7"),
        (
            "TCP over IPv6",
            tcp6().payload(999),
            &header,
            Some(DSCP),
            "9,7",
        ),
        ("no hops remain", udp(), &no_hops, Some(DSCP), "7"),
        ("no room", udp().payload(1_410), &header, Some(DSCP), "7"),
    ];
    let mut packets = Vec::new();
    for (sentence, frame, header, dscp, nodes) in cases {
        packets.push((
            sentence,
            insert(&in_lab(frame).bytes(), header, dscp),
            nodes,
        ));
    }
    let tunnel = Tunnel {
        before: other_option(2),
        ..Tunnel::around(tcp().payload(200).bytes())
    };
    for (sentence, outer) in [("Geneve", udp()), ("Geneve over IPv6", udp6())] {
        let frame = tunnel.wrap(in_lab(outer), &header);
        packets.push((sentence, frame.bytes(), "9,7"));
    }
    for (number, (sentence, packet, nodes)) in packets.into_iter().enumerate() {
        send(&lab.a, &packet);
        await_that(sentence, || {
            capture.fields(&["frame.number"], &[]).len() > number
        });
        let (told, arrived_ns) = capture.stack(number);
        assert_eq!(told, nodes, "{sentence}");
        assert_eq!(arrived_ns != 0, nodes == "9,7", "{sentence}: {arrived_ns}");
        let checksums = capture.checksums(number);
        assert!(!checksums.is_empty(), "{sentence}");
        assert!(
            checksums.iter().all(|state| state == "1"),
            "{sentence}: {checksums:?}"
        );
    }
    let counters = lab.m.counters("transit");
    let told = ["pushed", "no_budget", "too_long", "no_arrival"].map(|name| counters[name]);
    assert_eq!(told, [7, 1, 1, 0], "{counters:?}");
}

#[test]
fn what_hostints_source_sends_is_standard_int_md_in_tcp_and_udp() {
    let lab = Lab::new();
    lab.m.hostint(TRANSIT);
    let _sinks = [
        lab.a.leasing_sink("--dev a0 --node-id 1"),
        lab.b
            .leasing_sink("--dev b0 --node-id 2 --int-dscp 0x17 --allow 10.9.1.1"),
    ];
    // Nobody finishes checksums behind the source, and it sees no superpackets.
    lab.a.sh("ethtool -K a0 tx off >/dev/null");
    lab.a.hostint(
        "source attach --dev a0 --encap int-md --int-dscp 0x17 --max-hops 2 --superpackets no-gso",
    );
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let capture = Capture::start(&lab.b, "b0");
    let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    exchange_udp(&from, &to, 50, 1_300);
    exchange_tcp(&lab.a, &lab.b, 7000, 100_000);
    let names = [
        "ip.proto",
        "int.node_id",
        "int.domain_id",
        "hostint.sequence",
    ];
    let captured = |protocol: &str| -> Vec<Vec<String>> {
        let lines = capture.fields(&names, &marks()).into_iter();
        let values = lines.map(|line| line.split('\t').map(str::to_owned).collect());
        values
            .filter(|values: &Vec<String>| values[0] == protocol)
            .collect()
    };
    // The capture has room for a few packets at a time.
    await_that_or(
        || captured("17").len() >= 10,
        || format!("datagrams are captured: {:?}", captured("17")),
    );
    let mut last = 0;
    for values in captured("17") {
        assert_eq!(values[1..3], ["9,1", "0x4849"], "{values:?}");
        let sequence: u32 = values[3].parse().unwrap();
        assert!(last < sequence && sequence <= 50, "{values:?}");
        last = sequence;
    }
    for values in captured("6") {
        assert_eq!(values[1..3], ["9,1", "0x4849"], "{values:?}");
    }
    assert_eq!(capture.checksums(0), ["1", "1"], "IP and UDP");
    assert_eq!(capture.checksums(9), ["1", "1"], "IP and UDP");
    let flow = flow(&lab.b.status(), "the connection", 7000);
    assert_eq!(flow["encapsulation"], "int-md");
    let (pushed, stripped) = (
        lab.m.count("transit", "pushed"),
        lab.b.count("sink", "received"),
    );
    assert!(stripped > 50 + 100_000 / 1_500, "{stripped}");
    assert_eq!(pushed, stripped, "the hop is in each packet");
    assert_eq!(lab.b.checksum_errors(), 0, "all was restored");
}

/// Sends it until the socket gets something, and returns that.
fn carry(from: &UdpSocket, to: &UdpSocket, payload: &[u8]) -> Vec<u8> {
    let mut got = vec![0; 2_000];
    from.send_to(payload, to.local_addr().unwrap()).unwrap();
    let length = to.recv(&mut got).unwrap();
    got.truncate(length);
    got
}

#[test]
fn a_checksum_that_the_device_finishes_is_left_alone() {
    let lab = Lab::new();
    lab.m.hostint(TRANSIT);
    let (from, to) = (lab.a.udp("10.9.1.1:40000"), lab.b.udp("10.9.2.1:51966"));
    let mut payload = of_a_switch().bytes();
    payload.extend(b"what the application says");
    assert_eq!(carry(&from, &to, &payload), payload, "unfinished");
    assert_eq!(lab.m.count("transit", "unfinished"), 1);
    lab.a.sh("ethtool -K a0 tx off >/dev/null");
    let grown = carry(&from, &to, &payload);
    assert_eq!(grown.len(), payload.len() + 32, "finished");
    assert_eq!(grown[16..20], HOP.to_be_bytes(), "the newest entry");
    assert_eq!(grown[48..], payload[16..], "all else stays");
    assert_eq!(lab.m.count("transit", "pushed"), 1);
    // The end of a tunnel that is no device of the kernel.
    let to = lab.b.udp(&format!("10.9.2.1:{}", geneve::PORT));
    let payload = Tunnel::around(b"a packet".to_vec()).bytes(&of_a_switch());
    let grown = carry(&from, &to, &payload);
    assert_eq!(grown.len(), payload.len() + 32, "Geneve");
    assert_eq!(grown[24..28], HOP.to_be_bytes(), "the newest entry");
    assert_eq!(grown[56..], payload[24..], "all else stays");
    assert_eq!(lab.m.count("transit", "pushed"), 2);
    assert_eq!(lab.b.checksum_errors(), 0);
}

#[test]
fn the_hop_says_onto_which_kinds_it_pushes() {
    let lab = Lab::new();
    lab.m.hostint(TRANSIT);
    let status = lab.m.status();
    let at = &status["transit"]["interfaces"][0];
    let told = ["carriers", "int_dscp_value", "int_dscp_mask", "int_port"];
    let told: Vec<String> = told.iter().map(|key| at[key].to_string()).collect();
    assert_eq!(
        told,
        ["[\"int-md\",\"geneve\"]", "23", "63", "51966"],
        "{at}"
    );
    let text = lab.m.hostint("status");
    assert!(
        text.contains(", int-md geneve, int-md dscp 0x17/0x3f, int-md port 51966"),
        "{text}"
    );
}
