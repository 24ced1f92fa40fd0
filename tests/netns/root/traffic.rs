//! Tagged packets arrive as they were sent, and packets that hostint does not understand pass unmodified.

use std::io::Read;
use std::process::{Command, Stdio};

use hostint_testing::netns::{Lab, await_that, sh, with_form};

use crate::exchange::{exchange_tcp, exchange_udp, flow};

#[test]
fn tagged_traffic_arrives_as_it_was_sent_with_valid_checksums_on_the_wire() {
    struct Case {
        name: &'static str,
        flags: &'static str,
        offloads: &'static str,
    }
    // m1 finishes checksums as a NIC would: what a leaves unfinished is valid on the second wire.
    const SOFT: &str = "a0 off";
    const FINISHED: &str = "m1 off";
    let cases = [
        Case {
            name: "over-tcp-udp, checksums by the sender's stack",
            flags: "--encap over-tcp-udp",
            offloads: SOFT,
        },
        Case {
            name: "over-tcp-udp, checksums finished by a device",
            flags: "--encap over-tcp-udp",
            offloads: FINISHED,
        },
        Case {
            name: "over-tcp-udp through clsact, with another mark",
            flags: "--no-tcx --dscp-value 0x17 --dscp-mask 0x3f",
            offloads: FINISHED,
        },
        Case {
            name: "extension-udp, checksums by the sender's stack",
            flags: "--encap extension-udp",
            offloads: SOFT,
        },
        Case {
            name: "extension-udp, checksums finished by a device",
            flags: "--encap extension-udp",
            offloads: FINISHED,
        },
        Case {
            name: "extension-udp through clsact, another port",
            flags: "--encap extension-udp --no-tcx --extension-port 4444",
            offloads: FINISHED,
        },
    ];
    for case in cases {
        let lab = Lab::new();
        lab.make_room();
        lab.a.sh("true");
        let (dev, state) = case.offloads.split_once(' ').unwrap();
        let host = if dev == "a0" { &lab.a } else { &lab.m };
        host.sh(&format!("ethtool -K {dev} tx {state} >/dev/null"));
        let mark = case.flags.strip_prefix("--no-tcx ");
        let mark = mark
            .filter(|mark| mark.starts_with("--dscp"))
            .unwrap_or_default();
        let port = if case.flags.contains("4444") {
            "--extension-port 4444"
        } else {
            ""
        };
        let _a = lab.a.sink("--dev a0 --node-id 1");
        let _b = lab.b.sink(&format!("--dev b0 --node-id 2 {mark} {port}"));
        lab.a
            .hostint(&format!("source attach --dev a0 {}", with_form(case.flags)));
        lab.a.hostint("source add-dest --static 10.9.2.0/24");

        let capture = std::env::temp_dir().join(format!("{}.pcap", lab.m.ns));
        let mut tcpdump = lab
            .m
            .command(
                "tcpdump",
                &[
                    "--immediate-mode",
                    "-U",
                    // Room for all of them, though nobody reads: each takes as much as the longest may.
                    "-B",
                    "65536",
                    "-s",
                    "4096",
                    "-Q",
                    "out",
                    "-i",
                    "m1",
                    "-w",
                ],
            )
            .arg(&capture)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = [0; 64];
        assert_ne!(tcpdump.stderr.as_mut().unwrap().read(&mut said).unwrap(), 0);

        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 200, 1300);
        exchange_tcp(&lab.a, &lab.b, 7000, 400_000);

        let tagged = lab.a.count("source", "tagged");
        assert!(
            tagged > 200 + 280,
            "{}: only {tagged} packets were tagged",
            case.name
        );
        assert_eq!(lab.b.count("sink", "received"), tagged, "{}", case.name);
        assert_eq!(lab.b.count("sink", "lost"), 0, "{}", case.name);
        assert_eq!(
            lab.a.checksum_errors() + lab.b.checksum_errors(),
            0,
            "{}",
            case.name
        );
        assert_eq!(lab.a.count("source", "table_full"), 0, "{}", case.name);

        let packets = || {
            Command::new("tshark")
                .arg("-r")
                .arg(&capture)
                .args([
                    "-o",
                    "tcp.check_checksum:TRUE",
                    "-o",
                    "udp.check_checksum:TRUE",
                ])
                .args([
                    "-o",
                    "ip.check_checksum:TRUE",
                    "-Y",
                    "ip.dst==10.9.2.1",
                    "-T",
                    "fields",
                ])
                .args([
                    "-e",
                    "ip.checksum.status",
                    "-e",
                    "tcp.checksum.status",
                    "-e",
                    "udp.checksum.status",
                ])
                .output()
                .map(|output| String::from_utf8(output.stdout).unwrap())
                .unwrap()
        };
        await_that("every tagged packet is in the capture", || {
            packets().lines().count() as u64 >= tagged
        });
        let _ = tcpdump.kill();
        let _ = tcpdump.wait();
        for (i, line) in packets().lines().enumerate() {
            // 1: good; 3: not present, a UDP checksum of 0
            let states: Vec<&str> = line.split_whitespace().collect();
            let outer = if case.flags.contains("extension") {
                "3"
            } else {
                "1"
            };
            assert_eq!(
                states,
                ["1", outer],
                "{}: packet {i} on the wire",
                case.name
            );
        }
        let _ = std::fs::remove_file(&capture);
    }
}

#[test]
fn guest_traffic_is_tagged_on_the_hosts_end_of_its_veth() {
    for flags in [
        "--hook xdp",
        "--hook tc-ingress --encap extension-udp",
        "--hook tc-ingress --encap over-tcp-udp",
    ] {
        let lab = Lab::new();
        let guest = lab.host("g");
        let (a, g) = (&lab.a.ns, &guest.ns);
        // a becomes a bridge between its uplink and the guest
        sh(&format!(
            "ip -n {a} addr flush dev a0
             ip link add g0 netns {g} type veth peer name v0 netns {a}
             ip -n {a} link add br0 type bridge
             ip -n {a} link set a0 master br0; ip -n {a} link set v0 master br0
             ip -n {a} link set br0 up; ip -n {a} link set v0 up
             ip -n {g} addr add 10.9.1.1/24 dev g0; ip -n {g} link set g0 up
             ip -n {g} link set g0 gso_max_segs 1
             ip -n {g} route add default via 10.9.1.2 mtu 1440 advmss 1400"
        ));
        lab.a.hostint(&format!(
            "source attach --dev v0 {} --force --node-id 9",
            with_form(flags)
        ));
        lab.a.hostint("source add-dest --static 10.9.2.1");
        let _b = lab.b.sink("--dev b0 --node-id 2");
        let (from, to) = (guest.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 300, 1300);
        exchange_tcp(&guest, &lab.b, 7000, 200_000);
        let tagged = lab.a.count("source", "tagged");
        assert!(tagged > 300 + 140, "{flags}: {tagged} packets tagged");
        assert_eq!(lab.b.count("sink", "received"), tagged, "{flags}");
        assert_eq!(
            lab.b.checksum_errors() + guest.checksum_errors(),
            0,
            "{flags}"
        );
        assert_eq!(
            flow(&lab.b.status(), flags, 6000)["source_node"],
            9,
            "{flags}"
        );
    }
}
