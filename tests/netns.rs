//! The real binary on real traffic between network namespaces.

#[path = "support/netns.rs"]
mod netns;

#[path = "support/line.rs"]
mod line;

mod root {
    use std::collections::HashSet;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use nix::sys::signal::Signal;
    use serde_json::Value;

    use crate::netns::{HOSTINT, Host, Lab, await_that, pins_below, sh};

    /// Bytes that differ everywhere and for every seed.
    fn noise(seed: u64, len: usize) -> Vec<u8> {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..len)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                (x >> 32) as u8
            })
            .collect()
    }

    /// Sends datagrams of all lengths; every one must arrive as it was sent.
    fn exchange_udp(from: &UdpSocket, to: &UdpSocket, count: u64, max_len: usize) {
        let mut buffer = [0; 2000];
        for i in 0..count {
            let sent = noise(i, (i as usize * 7) % max_len);
            from.send_to(&sent, to.local_addr().unwrap()).unwrap();
            let (len, _) = to.recv_from(&mut buffer).unwrap();
            assert!(
                sent == buffer[..len],
                "datagram {i} of {} bytes came changed",
                sent.len()
            );
        }
    }

    /// Sends a stream there and back; it must arrive as it was sent.
    fn exchange_tcp(a: &Host, b: &Host, port: u16, len: usize) {
        let listener = b.enter(|| TcpListener::bind(("10.9.2.1", port))).unwrap();
        let echo = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            stream.write_all(&all).unwrap();
        });
        let data = noise(port.into(), len);
        let mut stream = a.enter(|| TcpStream::connect(("10.9.2.1", port))).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        stream.write_all(&data).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        echo.join().unwrap();
        assert!(data == back, "{len} bytes over TCP came back changed");
    }

    fn flow(status: &Value, name: &str, port: u16) -> Value {
        status["sink"]["flows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|flow| flow["flow"]["dport"] == port)
            .unwrap_or_else(|| panic!("{name}: no flow to port {port}: {status}"))
            .clone()
    }

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
                name: "over-tcp-udp through clsact",
                flags: "--no-tcx",
                offloads: FINISHED,
            },
            Case {
                name: "over-tcp-udp with another mark",
                flags: "--dscp-value 0x17 --dscp-mask 0x3f",
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
            let mark = if case.flags.contains("dscp") {
                case.flags
            } else {
                ""
            };
            let port = if case.flags.contains("4444") {
                "--extension-port 4444"
            } else {
                ""
            };
            let _a = lab.a.sink("--dev a0 --node-id 1");
            let _b = lab.b.sink(&format!("--dev b0 --node-id 2 {mark} {port}"));
            lab.a
                .hostint(&format!("source attach --dev a0 {}", case.flags));
            lab.a.hostint("source add-dest 10.9.2.0/24");

            let capture = std::env::temp_dir().join(format!("{}.pcap", lab.m.ns));
            let mut tcpdump = lab
                .m
                .command(
                    "tcpdump",
                    &[
                        "--immediate-mode",
                        "-U",
                        "-B",
                        "65536",
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
            exchange_udp(&from, &to, 600, 1300);
            exchange_tcp(&lab.a, &lab.b, 7000, 400_000);

            let tagged = lab.a.count("source", "tagged");
            assert!(
                tagged > 600 + 280,
                "{}: only {tagged} packets were tagged",
                case.name
            );
            assert_eq!(lab.b.count("sink", "stripped"), tagged, "{}", case.name);
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
    fn reported_loss_is_the_true_loss() {
        struct Case {
            name: &'static str,
            encap: &'static str,
            rule: &'static str,
            packets: u32,
        }
        let cases = [
            Case {
                name: "1 % of UDP",
                encap: "over-tcp-udp",
                rule: "ip protocol udp numgen random mod 100 < 1",
                packets: 20_000,
            },
            Case {
                name: "10 % of UDP in extension-udp",
                encap: "extension-udp",
                rule: "ip protocol udp numgen random mod 100 < 10",
                packets: 20_000,
            },
            Case {
                name: "every second of UDP, random",
                encap: "over-tcp-udp",
                rule: "ip protocol udp numgen random mod 2 < 1",
                packets: 20_000,
            },
            Case {
                name: "bursts of 700 of every 1000",
                encap: "over-tcp-udp",
                rule: "ip protocol udp numgen inc mod 1000 < 700",
                packets: 20_000,
            },
        ];
        for case in cases {
            let lab = Lab::new();
            let _sinks = lab.tag(&format!("--encap {}", case.encap));
            let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
            let send = |n: u32| {
                for _ in 0..n {
                    from.send_to(&[7; 64], "10.9.2.1:6000").unwrap();
                }
            };
            // The sink must have been there before the flow to know that a flow begins at 1.
            lab.drop_packets(case.rule);
            send(case.packets);
            await_that("what was sent has left the source", || {
                lab.a.count("source", "tagged") == u64::from(case.packets)
            });
            let dropped = lab.dropped();
            // A number is missed when a later one arrives.
            send(1);
            let name = case.name;
            await_that(
                &format!("{name}: {dropped} packets are reported lost"),
                || lab.b.count("sink", "lost") - lab.b.count("sink", "recovered") == dropped,
            );
            let status = lab.b.status();
            let flow = flow(&status, name, 6000);
            assert_eq!(flow["lost"], dropped, "{name}");
            assert_eq!(flow["missing"], 0, "{name}");
            assert_eq!(
                flow["packets"].as_u64().unwrap() + dropped,
                u64::from(case.packets) + 1,
                "{name}: arrived and lost make up what was sent"
            );
            drop(to);
        }
    }

    #[test]
    fn loss_reordering_and_duplication_are_told_apart_exactly() {
        struct Case {
            name: &'static str,
            encap: &'static str,
            drop_every: u64,
            double_every: u64,
            hold_every: u64,
            /// How many packets overtake one that is held.
            overtaken_by: usize,
        }
        const PACKETS: u64 = 9_240; // a multiple of every period below
        let cases = [
            Case {
                name: "neighbours change places",
                encap: "over-tcp-udp",
                drop_every: 0,
                double_every: 0,
                hold_every: 4,
                overtaken_by: 1,
            },
            Case {
                name: "a packet comes 200 late",
                encap: "over-tcp-udp",
                drop_every: 0,
                double_every: 0,
                hold_every: 1155,
                overtaken_by: 200,
            },
            Case {
                name: "all at once",
                encap: "over-tcp-udp",
                drop_every: 7,
                double_every: 11,
                hold_every: 10,
                overtaken_by: 3,
            },
            Case {
                name: "all at once in extension-udp",
                encap: "extension-udp",
                drop_every: 5,
                double_every: 6,
                hold_every: 12,
                overtaken_by: 5,
            },
        ];
        for case in cases {
            let every = |period: u64, n: u64, phase: u64| period != 0 && n % period == phase;
            // 1, 2 and 3 are different packets for all periods above but where drop comes first.
            let dropped = (0..PACKETS)
                .filter(|n| every(case.drop_every, *n, 1))
                .count() as u64;
            let held_ones = (0..PACKETS)
                .filter(|n| !every(case.drop_every, *n, 1) && every(case.hold_every, *n, 2))
                .count() as u64;
            let doubled = (0..PACKETS)
                .filter(|n| !every(case.drop_every, *n, 1) && !every(case.hold_every, *n, 2))
                .filter(|n| every(case.double_every, *n, 3))
                .count() as u64;
            let lab = Lab::new();
            let _sinks = lab.tag(&format!("--encap {}", case.encap));
            let mut held: Vec<(usize, Vec<u8>)> = Vec::new();
            crate::line::install(&lab, move |n, packet| {
                if every(case.drop_every, n, 1) {
                    return Vec::new();
                }
                if every(case.hold_every, n, 2) {
                    held.push((case.overtaken_by, packet));
                    return Vec::new();
                }
                let mut out = vec![packet.clone()];
                if every(case.double_every, n, 3) {
                    out.push(packet);
                }
                for entry in &mut held {
                    entry.0 = entry.0.saturating_sub(1);
                }
                out.extend(
                    held.extract_if(.., |entry| entry.0 == 0)
                        .map(|entry| entry.1),
                );
                out
            });
            let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
            // The last packets flush what is held; they pass themselves.
            let name = case.name;
            for n in 0..PACKETS {
                from.send_to(&n.to_be_bytes(), "10.9.2.1:6000").unwrap();
            }
            let state = || flow(&lab.b.status(), name, 6000);
            await_that(
                &format!("{name}: all packets but the lost ones are counted"),
                || {
                    let flow = state();
                    flow["packets"].as_u64() == Some(PACKETS - dropped + doubled)
                        && flow["lost"] == dropped
                },
            );
            let flow = state();
            assert_eq!(flow["reordered"], held_ones, "{name}: {flow}");
            assert_eq!(flow["duplicates"], doubled, "{name}: {flow}");
            assert_eq!(flow["missing"], 0, "{name}: {flow}");
            drop(to);
        }
    }

    #[test]
    fn lost_tcp_segments_are_counted_and_the_stream_survives() {
        let lab = Lab::new();
        lab.make_room();
        let _sinks = lab.tag("");
        lab.drop_packets("tcp dport 7001 tcp flags & (syn|fin) == 0 numgen random mod 100 < 10");
        exchange_tcp(&lab.a, &lab.b, 7001, 300_000);
        let dropped = lab.dropped();
        assert!(dropped > 5, "the rule dropped {dropped} segments");
        // The connection's last packets may be among the lost: one more makes their numbers miss.
        await_that(
            "the dropped segments are reported lost, but for a lost tail",
            || {
                let lost = lab.b.count("sink", "lost") - lab.b.count("sink", "recovered");
                let tagged = lab.a.count("source", "tagged");
                let arrived = lab.b.count("sink", "stripped");
                lost == dropped
                    || (lost < dropped && tagged == arrived + dropped && lost + 3 >= dropped)
            },
        );
    }

    #[test]
    fn collector_gets_every_report_numbered_and_reports_are_never_tagged() {
        let lab = Lab::new();
        lab.b.sh("ip addr add fd00::1/64 dev lo");
        let _a = lab
            .a
            .sink("--dev a0 --node-id 1 --collector 10.9.2.1 --report-period 50ms");
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        let mut sender_side = lab
            .a
            .start("collect --json --listen 10.9.1.1", "collecting");
        let mut collect = lab.b.start("collect --json", "collecting on [::]");
        let log = std::env::temp_dir().join(format!("{}.log", lab.b.ns));
        let mut b = lab.b.sink(&format!(
            "--dev b0 --node-id 2 --collector 127.0.0.1 --collector [fd00::1]:32766 --report-to-sender \
             --report-log {} --report-period 20ms",
            log.display()
        ));
        // Tagged both ways: b's answers are measured by a's sink, whose reports travel to b.
        lab.b.hostint("source attach --dev b0");
        lab.b.hostint("source add-dest 10.9.1.1");
        let (x, y) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        lab.drop_packets("udp dport 6000 numgen random mod 10 < 1");
        for _ in 0..3000 {
            x.send_to(&[1; 32], "10.9.2.1:6000").unwrap();
            y.send_to(&[2; 32], "10.9.1.1:5000").unwrap();
        }
        let dropped = lab.dropped();
        x.send_to(&[1; 32], "10.9.2.1:6000").unwrap();
        let gaps = |lines: &str| -> u64 {
            lines
                .lines()
                .filter_map(|line| serde_json::from_str::<Value>(line).ok())
                .filter(|line| line["exporter"] == "127.0.0.1")
                .filter_map(|line| line["gap"]["count"].as_u64())
                .sum()
        };
        await_that("the drop reports add up to what was dropped", || {
            gaps(&collect.stdout()) == dropped
        });
        assert_eq!(b.end(), Some(0));
        let sent: u64 = lab.b.status()["sink"]["daemon"]
            .as_array()
            .unwrap()
            .iter()
            .find(|counter| counter["name"] == "reports_sent")
            .unwrap()["value"]
            .as_u64()
            .unwrap();
        let lines = |text: String, exporter: &str| -> Vec<Value> {
            text.lines()
                .map(|line| serde_json::from_str(line).expect(line))
                .filter(|line: &Value| line["exporter"] == exporter)
                .collect()
        };
        await_that("three destinations got all reports", || {
            lines(collect.stdout(), "127.0.0.1").len()
                + lines(collect.stdout(), "fd00::1").len()
                + lines(sender_side.stdout(), "10.9.2.1").len()
                == sent as usize
        });
        let reports = lines(collect.stdout(), "127.0.0.1");
        for (i, report) in reports.iter().enumerate() {
            assert_eq!(report["schema"], "hostint.report/1");
            assert_eq!(
                report["report_seq"],
                i + 1,
                "reports are numbered without a gap"
            );
        }
        let latency = reports
            .iter()
            .find(|report| report["kind"] == "latency")
            .unwrap();
        assert_eq!(latency["source"]["node"], 1);
        assert_eq!(latency["sink"]["node"], 2);
        assert_eq!(latency["flow"]["dport"], 6000);
        let ns = latency["latency_ns"].as_i64().unwrap();
        assert!((0..2_000_000_000).contains(&ns), "latency of {ns} ns");
        assert_eq!(
            std::fs::read_to_string(&log).unwrap().lines().count(),
            reports.len(),
            "the log has each report too"
        );
        assert!(
            lab.a.count("source", "report") > 0,
            "a's reports met the source"
        );
        assert!(
            !lines(collect.stdout(), "10.9.1.1").is_empty(),
            "a's reports, sent to a watched destination, can be read"
        );
        assert_eq!(collect.end(), Some(0));
        assert!(
            collect.stderr().contains(" 0 lost on the way"),
            "{}",
            collect.stderr()
        );
        assert_eq!(sender_side.end(), Some(0));
        let _ = std::fs::remove_file(&log);
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
                "source attach --dev v0 {flags} --force --node-id 9"
            ));
            lab.a.hostint("source add-dest 10.9.2.1");
            let _b = lab.b.sink("--dev b0 --node-id 2");
            let (from, to) = (guest.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
            exchange_udp(&from, &to, 300, 1300);
            exchange_tcp(&guest, &lab.b, 7000, 200_000);
            let tagged = lab.a.count("source", "tagged");
            assert!(tagged > 300 + 140, "{flags}: {tagged} packets tagged");
            assert_eq!(lab.b.count("sink", "stripped"), tagged, "{flags}");
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

    #[test]
    fn packets_without_room_and_superpackets_pass_untagged_and_are_counted() {
        let lab = Lab::new();
        let _sinks = lab.tag("");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let mut buffer = [0; 2000];
        for (len, tagged, too_long) in [
            (1500 - 28 - 36, 1, 0),
            (1500 - 28 - 35, 1, 1),
            (1500 - 28, 1, 2),
        ] {
            from.send_to(&noise(1, len), "10.9.2.1:6000").unwrap();
            assert_eq!(to.recv(&mut buffer).unwrap(), len);
            assert_eq!(lab.a.count("source", "tagged"), tagged, "{len} bytes");
            assert_eq!(lab.a.count("source", "too_long"), too_long, "{len} bytes");
        }
        lab.a.sh("ip link set a0 mtu 1400");
        from.send_to(&noise(1, 1400 - 28 - 35), "10.9.2.1:6000")
            .unwrap();
        assert_eq!(to.recv(&mut buffer).unwrap(), 1400 - 28 - 35);
        assert_eq!(
            lab.a.count("source", "too_long"),
            3,
            "the MTU is followed live"
        );

        exchange_tcp(&lab.a, &lab.b, 7000, 3_000_000);
        assert!(lab.a.count("source", "superpacket") > 100);
        assert_eq!(
            lab.b.count("sink", "stripped"),
            lab.a.count("source", "tagged")
        );
    }

    #[test]
    fn the_mark_alone_changes_nothing_and_dscp_and_ecn_come_back() {
        use nix::sys::socket::{setsockopt, sockopt};
        let lab = Lab::new();
        let _b = lab.b.sink("--dev b0 --node-id 2");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        setsockopt(&to, sockopt::IpRecvTos, &true).unwrap();
        for tos in [0x04, 0x06, 0xb8, 0xbc, 0x03, 0xff] {
            setsockopt(&from, sockopt::Ipv4Tos, &tos).unwrap();
            exchange_udp(&from, &to, 50, 200);
        }
        assert_eq!(lab.b.count("sink", "stripped"), 0);
        assert_eq!(lab.b.count("sink", "foreign_mark"), 4 * 50);

        let _a = lab.a.sink("--dev a0 --node-id 1");
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        for tos in [0x00, 0x04, 0x06, 0xb8, 0xbd, 0x03, 0xff] {
            setsockopt(&from, sockopt::Ipv4Tos, &tos).unwrap();
            from.send_to(b"tos", "10.9.2.1:6000").unwrap();
            let mut space = nix::cmsg_space!(u8);
            let mut data = [0; 16];
            let mut iov = [std::io::IoSliceMut::new(&mut data)];
            let message = nix::sys::socket::recvmsg::<()>(
                std::os::fd::AsRawFd::as_raw_fd(&to),
                &mut iov,
                Some(&mut space),
                nix::sys::socket::MsgFlags::empty(),
            )
            .unwrap();
            let seen = message.cmsgs().unwrap().find_map(|cmsg| match cmsg {
                nix::sys::socket::ControlMessageOwned::Ipv4Tos(tos) => Some(tos),
                _ => None,
            });
            assert_eq!(seen, Some(tos as u8), "ToS {tos:#04x} comes back");
        }
        assert_eq!(lab.b.count("sink", "stripped"), 7);
    }

    #[test]
    fn stripping_outlives_the_daemon_and_detach_leaves_nothing() {
        let lab = Lab::new();
        let [a_sink, mut b_sink] = lab.tag("");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 100, 1000);
        b_sink.kill();
        exchange_udp(&from, &to, 100, 1000);
        assert_eq!(
            lab.b.count("sink", "stripped"),
            200,
            "a killed daemon's program strips"
        );
        assert_eq!(lab.b.status()["sink"]["attachments"][0]["mode"], "native");

        let mut b_sink = lab.b.sink("--dev b0 --node-id 2");
        exchange_udp(&from, &to, 100, 1000);
        let status = lab.b.status();
        assert_eq!(lab.b.count("sink", "stripped"), 300, "counters go on");
        assert_eq!(
            flow(&status, "restart", 6000)["packets"],
            300,
            "flows go on"
        );
        assert_eq!(flow(&status, "restart", 6000)["lost"], 0);
        assert_eq!(b_sink.end(), Some(0));
        assert!(
            b_sink.stderr().contains("still stripped"),
            "{}",
            b_sink.stderr()
        );

        lab.a.hostint("source detach");
        exchange_udp(&from, &to, 10, 1000);
        drop(a_sink);
        lab.a.hostint("sink --detach");
        lab.b.hostint("sink --detach");
        exchange_udp(&from, &to, 10, 1000);
        for host in [&lab.a, &lab.b] {
            assert_eq!(
                host.try_hostint("status").status.code(),
                Some(3),
                "nothing runs"
            );
            let links = host.sh("ip -d link; bpftool net");
            assert!(
                !links.contains("prog/xdp") && !links.contains("source_tc"),
                "{links}"
            );
        }
        assert_eq!(lab.a.try_hostint("source detach").status.code(), Some(3));
        assert_eq!(lab.b.try_hostint("sink --detach").status.code(), Some(3));
    }

    #[test]
    fn one_daemon_serves_a_host_and_ends_when_its_sink_is_detached() {
        let lab = Lab::new();
        let b = &lab.b.ns;
        sh(&format!(
            "ip -n {b} link add x0 type veth peer name x1; ip -n {b} link set x0 up"
        ));
        let mut first = lab.b.sink("--dev b0 --dev x0 --node-id 2");
        let second = lab.b.try_hostint("sink --dev x0 --node-id 2");
        assert_eq!(second.status.code(), Some(1));
        let text = String::from_utf8(second.stderr).unwrap();
        assert!(
            text.contains("another hostint sink serves this host"),
            "{text}"
        );
        assert_eq!(first.end(), Some(0));

        let mut again = lab
            .b
            .start("sink --dev b0 --node-id 2", "still attached to x0");
        lab.b.hostint("sink --detach");
        assert_eq!(again.wait(), Some(0), "nothing is left to serve");
        assert!(
            again.stderr().contains("was detached"),
            "{}",
            again.stderr()
        );
    }

    #[test]
    fn a_hook_that_is_taken_is_left_alone_and_nothing_stays_behind() {
        let lab = Lab::new();
        lab.a
            .hostint("source attach --dev a0 --hook xdp --force --node-id 1");
        let refused = lab.a.try_hostint("sink --dev a0 --node-id 1");
        assert_eq!(refused.status.code(), Some(1));
        let text = String::from_utf8(refused.stderr).unwrap();
        assert!(
            text.contains("cannot attach the sink to a0") && text.contains("another program"),
            "{text}"
        );
        let status = lab.a.status();
        assert!(status["sink"].is_null(), "{status}");
        assert_eq!(
            status["source"]["attachments"][0]["hook"], "xdp",
            "the other program stays"
        );

        let mut sink = lab.b.sink("--dev b0 --node-id 2");
        let refused = lab.b.try_hostint("source attach --dev b0 --hook xdp");
        assert_eq!(refused.status.code(), Some(1));
        assert!(lab.b.status()["source"].is_null());
        assert_eq!(lab.b.status()["sink"]["attachments"][0]["mode"], "native");
        assert_eq!(sink.end(), Some(0));
    }

    #[test]
    fn idle_flows_are_forgotten_at_source_and_sink_and_come_back_without_false_loss() {
        let lab = Lab::new();
        let _a = lab.a.sink("--dev a0 --node-id 1");
        let _b = lab.b.sink("--dev b0 --node-id 2 --idle-flow-timeout 1s");
        lab.a
            .hostint("source attach --dev a0 --idle-flow-timeout 1s");
        lab.a.hostint("source add-dest 10.9.2.1");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        exchange_udp(&from, &to, 20, 100);
        await_that("both tables are empty", || {
            lab.a.status()["source"]["flows_total"] == 0
                && lab.b.status()["sink"]["flows_total"] == 0
        });
        exchange_udp(&from, &to, 20, 100);
        assert_eq!(lab.b.count("sink", "lost"), 0);
        assert_eq!(lab.b.count("sink", "duplicate"), 0);
        assert_eq!(lab.b.count("sink", "flow_new"), 2);
    }

    #[test]
    fn destinations_change_live_by_name_address_and_prefix() {
        let lab = Lab::new();
        let a = &lab.a.ns;
        // ip netns exec lays this over /etc/hosts
        sh(&format!(
            "mkdir -p /etc/netns/{a}; echo '10.9.2.1 host-r' > /etc/netns/{a}/hosts"
        ));
        let _sinks = lab.tag("");
        lab.a.hostint("source del-dest 10.9.2.1");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let mut expected = 0;
        for (change, tags) in [
            ("del-dest 10.9.9.9", false),
            ("add-dest host-r", true),
            ("add-dest 10.8.0.0/16 10.9.2.0/24", true),
            ("del-dest host-r", true),
            ("del-dest 10.9.2.0/24", false),
            ("add-dest 0.0.0.0/0", true),
        ] {
            let output = lab.a.try_hostint(&format!("source {change}"));
            assert_eq!(
                output.status.success(),
                change != "del-dest 10.9.9.9",
                "{change}"
            );
            exchange_udp(&from, &to, 5, 100);
            expected += if tags { 5 } else { 0 };
            assert_eq!(lab.a.count("source", "tagged"), expected, "after {change}");
        }
        let dests: Value = serde_json::from_str(&lab.a.hostint("source dests --json")).unwrap();
        let prefixes: HashSet<&str> = dests["dests"]
            .as_array()
            .unwrap()
            .iter()
            .map(|dest| dest["prefix"].as_str().unwrap())
            .collect();
        assert_eq!(prefixes, HashSet::from(["0.0.0.0/0", "10.8.0.0/16"]));
        let _ = std::fs::remove_dir_all(format!("/etc/netns/{a}"));
    }

    #[test]
    fn test_options_do_what_they_say() {
        let lab = Lab::new();
        let _a = lab.a.sink("--dev a0 --node-id 1");
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        let from = lab.a.udp("10.9.1.1:5000");
        let other = lab.a.udp("10.9.1.1:5001");
        let to = lab.b.udp("10.9.2.1:6000");

        let mut b = lab
            .b
            .sink("--dev b0 --node-id 2 --drop-tagged --xdp-mode generic");
        assert!(b.stderr().contains("generic"), "{}", b.stderr());
        from.send_to(b"gone", "10.9.2.1:6000").unwrap();
        await_that("the tagged packet is dropped", || {
            lab.b.count("sink", "dropped_tagged") == 1
        });
        b.end();
        lab.b.hostint("sink --detach");

        let _b = lab
            .b
            .sink("--dev b0 --node-id 2 --max-flows 1 --xdp-mode generic");
        exchange_udp(&from, &to, 20, 1000);
        exchange_udp(&other, &to, 20, 1000);
        let status = lab.b.status();
        assert_eq!(status["sink"]["flows_total"], 1);
        assert_eq!(status["sink"]["attachments"][0]["mode"], "generic");
        assert_eq!(
            lab.b.count("sink", "untracked"),
            20,
            "a full table measures no newcomer"
        );
        assert_eq!(lab.b.count("sink", "stripped"), 40, "but strips it");
    }

    #[test]
    fn several_interfaces_share_one_sink_and_a_private_bpffs_separates_hosts() {
        let lab = Lab::new();
        let (a, b) = (&lab.a.ns, &lab.b.ns);
        sh(&format!(
            "ip link add a1 netns {a} type veth peer name b1 netns {b}
             ip -n {a} addr add 10.9.3.1/24 dev a1; ip -n {a} link set a1 up
             ip -n {b} addr add 10.9.3.2/24 dev b1; ip -n {b} link set b1 up"
        ));
        let dir = std::env::temp_dir().join(format!("{b}-bpffs"));
        sh(&format!(
            "mkdir -p {d}; mount -t bpf bpf {d}",
            d = dir.display()
        ));
        let mut b_host = lab.b.clone();
        b_host.bpffs = Some(dir.clone());
        let _a = lab.a.sink("--dev a0 --dev a1 --node-id 1");
        let mut b_sink = b_host.sink("--dev b0 --dev b1 --node-id 2");
        lab.a.hostint("source attach --dev a0 --dev a1");
        lab.a.hostint("source add-dest 10.9.2.1 10.9.3.2");
        exchange_udp(
            &lab.a.udp("10.9.1.1:5000"),
            &lab.b.udp("10.9.2.1:6000"),
            30,
            1000,
        );
        exchange_udp(
            &lab.a.udp("10.9.3.1:5000"),
            &lab.b.udp("10.9.3.2:6000"),
            30,
            1000,
        );
        assert_eq!(b_host.count("sink", "stripped"), 60);
        assert_eq!(b_host.status()["sink"]["flows_total"], 2);
        assert!(!pins_below(&dir.join("hostint")).is_empty());
        assert_eq!(
            lab.b.try_hostint("status").status.code(),
            Some(3),
            "the system's own bpffs has no pins"
        );

        b_host.hostint("sink --detach --dev b1");
        exchange_udp(
            &lab.a.udp("10.9.1.1:5000"),
            &lab.b.udp("10.9.2.1:6000"),
            10,
            1000,
        );
        assert_eq!(b_host.count("sink", "stripped"), 70, "b0 goes on");
        b_sink.end();
        b_host.hostint("sink --detach");
        assert_eq!(
            pins_below(&dir.join("hostint")),
            Vec::<String>::new(),
            "detach removes every pin"
        );
        sh(&format!("umount {d}; rmdir {d}", d = dir.display()));
    }

    #[test]
    fn report_log_is_reopened_on_sigusr1_and_written_in_both_forms() {
        for (format, first) in [
            ("host-int", "Seq: 1 Time: "),
            ("json", "{\"schema\":\"hostint.report/1\""),
        ] {
            let lab = Lab::new();
            let log = std::env::temp_dir().join(format!("{}-{format}.log", lab.b.ns));
            let _a = lab.a.sink("--dev a0 --node-id 1");
            let b = lab.b.sink(&format!(
                "--dev b0 --node-id 2 --report-log {} --log-format {format} --report-period 10ms",
                log.display()
            ));
            lab.a.hostint("source attach --dev a0");
            lab.a.hostint("source add-dest 10.9.2.1");
            let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
            let read = || std::fs::read_to_string(&log).unwrap_or_default();
            exchange_udp(&from, &to, 1, 100);
            await_that("the first report is logged", || !read().is_empty());
            assert!(read().starts_with(first), "{}", read());
            std::fs::remove_file(&log).unwrap();
            b.signal(Signal::SIGUSR1);
            await_that("a new file is written", || {
                exchange_udp(&from, &to, 1, 100);
                !read().is_empty()
            });
            std::fs::remove_file(&log).unwrap();
        }
    }

    #[test]
    fn a_source_needs_a_sink_on_its_host() {
        let lab = Lab::new();
        let output = lab.a.try_hostint("source attach --dev a0 --node-id 1");
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(
            text.contains("no sink runs on this host") && text.contains("--force"),
            "{text}"
        );
        let output = lab.a.try_hostint("source attach --dev a0 --force");
        assert_eq!(
            output.status.code(),
            Some(2),
            "no sink to take the node id from"
        );
        lab.a.hostint("source attach --dev a0 --force --node-id 1");
        assert_eq!(lab.a.status()["node_id"], 1);
        assert!(std::path::Path::new(HOSTINT).exists());
    }
}
