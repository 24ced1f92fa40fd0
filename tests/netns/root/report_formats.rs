//! Reports of real traffic in each version of Telemetry Report are read by our collector and by tshark.

use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hostint::collector::{ReportGroup, decode};
use hostint::model::{Body, Observation, ReportVersion};
use hostint_testing::netns::{Lab, await_that};

/// A file with these datagrams to the report port, as tshark reads it.
fn capture(name: &str, datagrams: &[Vec<u8>]) -> std::path::PathBuf {
    let mut text = String::new();
    for datagram in datagrams {
        for (at, row) in datagram.chunks(16).enumerate() {
            text += &format!("{:06x}", 16 * at);
            for byte in row {
                text += &format!(" {byte:02x}");
            }
            text += "\n";
        }
        text += "\n";
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.txt"));
    std::fs::write(&path, text).unwrap();
    let capture = path.with_extension("pcap");
    let made = Command::new("text2pcap")
        .args(["-q", "-F", "pcap", "-u", "40000,32766"])
        .args([&path, &capture])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    capture
}

fn tshark(capture: &Path, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/wireshark/hostint.lua");
    let output = Command::new("tshark")
        .arg("-nr")
        .arg(capture)
        .arg(format!("-Xlua_script:{}", script.display()))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What arrives until it is enough; that is asked again and again.
fn gather(socket: &UdpSocket, mut enough: impl FnMut(&[Vec<u8>]) -> bool) -> Vec<Vec<u8>> {
    socket
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let (mut all, mut buffer) = (Vec::new(), vec![0; 65_536]);
    await_that("enough reports came", || {
        while let Ok(length) = socket.recv(&mut buffer) {
            all.push(buffer[..length].to_vec());
        }
        enough(&all)
    });
    all
}

fn observations(datagrams: &[Vec<u8>]) -> Vec<Observation> {
    let groups = datagrams.iter().map(|bytes| decode(bytes).unwrap());
    let reports = groups.flat_map(|group: ReportGroup| {
        assert_eq!(group.refused, []);
        group.reports
    });
    reports.map(|report| report.observation).collect()
}

fn lost(datagrams: &[Vec<u8>]) -> u64 {
    let counts = observations(datagrams)
        .into_iter()
        .map(|seen| match seen.body {
            Body::DropSummary(summary) => u64::from(summary.count),
            _ => 0,
        });
    counts.sum()
}

#[test]
fn every_format_tells_real_traffic_to_our_collector_and_to_wireshark() {
    for (format, version) in [
        ("v0.5", ReportVersion::V05),
        ("v1.0", ReportVersion::V10),
        ("v2.0", ReportVersion::V20),
    ] {
        let lab = Lab::new();
        lab.add_ipv6();
        let collector = lab.a.udp("10.9.1.1:32766");
        let mut collect = lab
            .b
            .start("collect --json --listen 127.0.0.1", "collecting");
        let mut b = lab.b.sink(&format!(
            "--dev b0 --node-id 2 --collector 10.9.1.1 --collector 127.0.0.1 --report-format {format} \
             --report-period 20ms --allow 10.9.1.0/24,fd09:1::/64"
        ));
        let _a = lab.a.sink("--dev a0 --node-id 1");
        lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
        lab.a.hostint("source add-dest --static 10.9.2.1 fd09:2::1");
        let four = [lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000")];
        let six = [lab.a.udp("[fd09:1::1]:5000"), lab.b.udp("[fd09:2::1]:6000")];
        let send = |count: usize| {
            for [from, to] in [&four, &six].repeat(count) {
                from.send_to(&[7; 40], to.local_addr().unwrap()).unwrap();
            }
        };
        let mut datagrams = gather(&collector, |all| {
            send(50);
            let seen = observations(all);
            [false, true].iter().all(|ipv6| {
                let mut latencies = seen.iter().filter(|seen| seen.latency_ns().is_some());
                latencies.any(|seen| seen.flow().unwrap().src.is_ipv6() == *ipv6)
            })
        });
        lab.drop_packets("udp dport 6000 numgen random mod 10 < 1");
        send(1000);
        let dropped = lab.dropped();
        send(1);
        // A queue on the way may have dropped more.
        let before = lost(&datagrams);
        datagrams.extend(gather(&collector, |all| {
            let told = before + lost(all);
            told >= dropped && told == lab.b.count("sink", "lost")
        }));
        assert!(dropped > 0);
        let seen = observations(&datagrams);
        for ipv6 in [false, true] {
            let of_family = |seen: &&Observation| seen.flow().unwrap().src.is_ipv6() == ipv6;
            let latency = seen.iter().filter(of_family).find_map(|seen| {
                let ns = seen.latency_ns()?;
                (seen.version() == version).then_some((ns, seen))
            });
            let (ns, seen) = latency.unwrap_or_else(|| panic!("{format}: no latency, IPv6 {ipv6}"));
            assert!((0..2_000_000_000).contains(&ns), "{format}: {ns} ns");
            assert_eq!(seen.reporter().unwrap().0, 2);
            assert_eq!(seen.flow().unwrap().dport, 6000);
        }

        assert_eq!(b.end(), Some(0));
        let count = |name: &str| lab.b.daemon_count(name);
        let (sent, sent_datagrams) = (count("reports_sent"), count("report_datagrams_sent"));
        assert_eq!(count("reports_lost") + count("report_datagrams_lost"), 0);
        match version {
            ReportVersion::V20 => assert!(sent_datagrams < sent, "{sent_datagrams} of {sent}"),
            _ => assert_eq!(sent_datagrams, sent),
        }
        await_that("the other collector has as many", || {
            2 * collect.json_lines().len() as u64 == sent
        });
        assert_eq!(collect.end(), Some(0));
        assert!(
            collect.stderr().contains(" 0 lost on the way"),
            "{}",
            collect.stderr()
        );

        let capture = capture(&format!("report-{format}"), &datagrams);
        let text = tshark(&capture, &["-V"]);
        for word in [
            "Lua Error",
            ".lua:",
            "Malformed",
            "Bad checksum",
            "incorrect",
        ] {
            assert!(!text.contains(word), "{format}: {word} in\n{text}");
        }
        // hostint's latency in each packet with INT, from both hops.
        let told = tshark(
            &capture,
            &[
                "-Y",
                "int.latency_ns",
                "-T",
                "fields",
                "-E",
                "occurrence=a",
                "-e",
                "int.latency_ns",
            ],
        );
        let told: Vec<i64> = told
            .split([',', '\n'])
            .filter(|text| !text.is_empty())
            .map(|text| text.parse().unwrap())
            .collect();
        let ours: Vec<i64> = seen.iter().filter_map(Observation::latency_ns).collect();
        assert_eq!(told, ours, "{format}");
        let warnings = tshark(
            &capture,
            &[
                "-Y",
                "_ws.expert.severity >= 0x600000",
                "-T",
                "fields",
                "-e",
                "_ws.expert.message",
            ],
        );
        let odd: Vec<&str> = warnings
            .lines()
            .filter(|line| !line.contains("dropped") && !line.contains("lost after number"))
            .collect();
        assert_eq!(odd, Vec::<&str>::new(), "{format}");
    }
}

#[test]
fn groups_stay_below_the_path_mtu_also_when_it_shrinks() {
    let lab = Lab::new();
    let collector = lab.a.udp("10.9.1.1:32766");
    let mut b = lab.b.sink(
        "--dev b0 --node-id 2 --collector 10.9.1.1 --report-format v2.0 --report-period 10ms \
         --allow 10.9.1.0/24",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let to = lab.b.udp("10.9.2.1:6000");
    let senders: Vec<UdpSocket> = (0..200).map(|_| lab.a.udp("10.9.1.1:0")).collect();
    let send = || {
        for from in &senders {
            from.send_to(&[1; 400], to.local_addr().unwrap()).unwrap();
        }
    };
    for (mtu, change) in [
        (1500, "true"),
        (1280, "ip route replace default via 10.9.2.2 mtu 1280"),
        (700, "ip route replace default via 10.9.2.2 mtu 700"),
    ] {
        lab.b.sh(change);
        let mut grouped = 0;
        // What was sent before the change was known is not looked at: the kernel refuses what is too big from now on.
        let least = mtu - 28 - 256;
        while grouped < 3 {
            send();
            for datagram in gather(&collector, |all| !all.is_empty()) {
                assert!(datagram.len() + 28 <= 1500);
                let full = datagram.len() > least && datagram.len() + 28 <= mtu;
                grouped += u32::from(full);
            }
        }
    }
    assert_eq!(b.end(), Some(0));
    assert_eq!(
        lab.b.daemon_count("reports_lost"),
        0,
        "what was too big was sent in parts"
    );
}
