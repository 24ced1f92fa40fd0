//! Wireshark's dissector, run by tshark, explains known packets, and no packet makes it raise an error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use hostint::model::*;
use hostint::wire::report_v05;
use hostint_testing::random::Random;
use hostint_testing::report_samples::*;

/// What is left of a packet in a capture, and the size that it had.
struct Captured {
    bytes: Vec<u8>,
    size: usize,
}

impl Captured {
    fn whole(bytes: Vec<u8>) -> Self {
        let size = bytes.len();
        Self { bytes, size }
    }

    fn cut(mut bytes: Vec<u8>, to: usize) -> Self {
        let size = bytes.len();
        bytes.truncate(to);
        Self { bytes, size }
    }
}

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn script() -> PathBuf {
    at("packaging/wireshark/hostint.lua")
}

/// Writes packets, a minute apart, and gives the file.
fn capture(name: &str, packets: &[Captured]) -> PathBuf {
    const MAGIC: u32 = 0xa1b2_c3d4;
    const VERSION: u32 = 4 << 16 | 2;
    const ETHERNET: u32 = 1;
    let mut file = Vec::new();
    let words = |words: &[u32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    file.extend(words(&[MAGIC, VERSION, 0, 0, 65535, ETHERNET]));
    for (second, packet) in (1_700_000_000..).step_by(60).zip(packets) {
        let lengths = [packet.bytes.len(), packet.size].map(|length| length as u32);
        file.extend(words(&[second, 0, lengths[0], lengths[1]]));
        file.extend(&packet.bytes);
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("dissector-{name}.pcap"));
    std::fs::write(&path, file).unwrap();
    path
}

/// What tshark prints, errors included.
fn tshark(capture: &Path, arguments: &[&str]) -> String {
    run(Command::new("tshark")
        .args(["-n", "-r"])
        .arg(capture)
        .arg(format!("-Xlua_script:{}", script().display()))
        .args(arguments))
}

fn run(tshark: &mut Command) -> String {
    let output = tshark
        .output()
        .unwrap_or_else(|e| panic!("tshark: {e} (try: packaging/install-build-deps.sh --test)"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{tshark:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned() + &errors
}

/// Words that would tell of a Lua error, or of one that the dissector caught itself.
fn assert_no_errors(said: &str) {
    for word in ["Lua Error", ".lua:", "errs where INT was expected"] {
        if let Some(line) = said.lines().find(|line| line.contains(word)) {
            panic!("{line}");
        }
    }
}

/// The packet called so in tests/wire/dissector or tests/golden.
fn frame(name: &str) -> Vec<u8> {
    match at(&format!("tests/wire/dissector/{name}.hex")).exists() {
        true => hostint_testing::golden::frame(&format!("../wire/dissector/{name}")),
        false => hostint_testing::golden::frame(name),
    }
}

/// A packet's name, and for each field its values.
type Expected = (String, BTreeMap<String, Vec<String>>);

/// Reads a table of `[name]` and `field = value | value` lines.
fn expected(table: &str) -> Vec<Expected> {
    let text = std::fs::read_to_string(at(table)).unwrap();
    let mut all: Vec<Expected> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[') {
            all.push((name.trim_end_matches(']').to_owned(), BTreeMap::new()));
        } else if let Some((field, values)) = line.split_once('=') {
            let values = values.split('|').map(|value| value.trim().to_owned());
            let values = values.filter(|value| !value.is_empty()).collect();
            let (_, fields) = all.last_mut().unwrap();
            fields.insert(field.trim().to_owned(), values);
        }
    }
    all
}

/// Later versions of tshark write True and False.
fn plain(value: &str) -> String {
    match value {
        "True" => "1".to_owned(),
        "False" => "0".to_owned(),
        other => other.to_owned(),
    }
}

/// One run of tshark for all packets and all fields of the table.
fn assert_fields(name: &str, table: &[Expected]) {
    let packets: Vec<Captured> = table
        .iter()
        .map(|(name, _)| Captured::whole(frame(name)))
        .collect();
    let fields: BTreeSet<&str> = table
        .iter()
        .flat_map(|(_, fields)| fields.keys().map(String::as_str))
        .collect();
    let mut arguments = vec!["-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|"];
    for field in &fields {
        arguments.extend(["-e", field]);
    }
    let said = tshark(&capture(name, &packets), &arguments);
    assert_no_errors(&said);
    let mut wrong = Vec::new();
    let mut lines = said.lines();
    for (name, expected) in table {
        let line = lines.next().unwrap_or_default();
        let columns: BTreeMap<&str, &str> = fields.iter().copied().zip(line.split('\t')).collect();
        for (field, values) in expected {
            let found = columns.get(field.as_str()).copied().unwrap_or_default();
            let found: Vec<String> = found
                .split('|')
                .filter(|value| !value.is_empty())
                .map(plain)
                .collect();
            if found != *values {
                wrong.push(format!("{name}: {field} is {found:?}, expected {values:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The numbers of the packets that a filter finds, with one more argument or none.
fn found(capture: &Path, filter: &str, arguments: &[&str]) -> String {
    let mut all = vec!["-Y", filter, "-T", "fields", "-e", "frame.number"];
    all.extend(arguments);
    let said = tshark(capture, &all);
    let numbers: Vec<&str> = said
        .lines()
        .filter(|line| line.parse::<u32>().is_ok())
        .collect();
    numbers.join(",")
}

fn all_packets() -> Vec<Vec<u8>> {
    ["tests/golden", "tests/wire/dissector"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(at(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hex"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect::<BTreeSet<String>>()
        .iter()
        .map(|name| frame(name))
        .collect()
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn every_field_of_the_golden_packets_is_shown() {
        let table = expected("tests/wire/dissector/vectors.txt");
        assert!(table.len() >= 56, "{} packets", table.len());
        assert_fields("vectors", &table);
    }

    #[test]
    fn packets_of_hostint_and_malformed_ones_are_explained() {
        assert_fields("hostint", &expected("tests/wire/dissector/hostint.txt"));
    }

    /// What a packet without INT has to look like: as if the dissector were not there.
    #[test]
    fn a_packet_behind_int_is_dissected_as_without_it() {
        let fields = [
            "-T",
            "fields",
            "-e",
            "udp.length",
            "-e",
            "udp.checksum",
            "-e",
            "udp.payload",
            "-e",
            "tcp.len",
            "-e",
            "tcp.checksum",
            "-e",
            "tcp.options",
            "-e",
            "tcp.payload",
            "-e",
            "udp.checksum.status",
            "-e",
            "tcp.checksum.status",
            "-o",
            "udp.check_checksum:TRUE",
            "-o",
            "tcp.check_checksum:TRUE",
        ];
        for (before, with_int) in [
            ("hostint_l4_udp_0orig", "hostint_l4_udp_1wire"),
            ("hostint_l4_tcp_0orig", "hostint_l4_tcp_1wire"),
            ("int10_cc_0orig", "int10_cc_1source"),
        ] {
            let [before, after] = [before, with_int]
                .map(|name| capture(name, &[Captured::whole(frame(name))]))
                .map(|capture| tshark(&capture, &fields));
            assert!(before.contains("\t"), "{before}");
            assert_eq!(before, after, "{with_int}");
        }
    }

    #[test]
    fn preferences_say_where_to_look() {
        let names = [
            "hostint_l4_udp_1wire",
            "hostint_ext_udp_1wire",
            "int21_md_udp_dport",
            "int10_udp_probe_marker",
            "int21_md_gre_ipv4",
            "int21_md_geneve",
            "tr05_drop",
            "lease_answer",
        ];
        let packets: Vec<Captured> = names.map(|name| Captured::whole(frame(name))).into();
        let capture = capture("preferences", &packets);
        for (what, preference, numbers) in [
            ("all but a wrong tag", "int.dscp:TRUE", "1,2,3,4,5,6,7"),
            ("no DSCP mark", "int.dscp:FALSE", "2,3,4,5,6,7"),
            ("another mark", "int.dscp_value:0x00", "2,3,4,5,6,7"),
            (
                "no extension-udp",
                "int.extension_ports:33123",
                "1,3,4,5,6,7",
            ),
            ("no INT port", "int.ports:1-5", "1,2,4,5,6,7"),
            ("no probe marker", "int.marker:", "1,2,3,5,6,7"),
            ("no GRE type", "int.gre_types:1", "1,2,3,4,6,7"),
            ("another class", "int.geneve_classes:171", "1,2,3,4,5,7"),
            (
                "other report ports",
                "int_report.ports:1,32765",
                "1,2,3,4,5,6",
            ),
            (
                "another lease key: the tags are wrong",
                "hostint.key:000102030405060708090a0b0c0d0e0f",
                "1,2,3,4,5,6,7,8",
            ),
            ("no lease key", "hostint.key:", "1,2,3,4,5,6,7"),
        ] {
            let filter = "int || int_report || hostint.expert.tag";
            assert_eq!(
                found(&capture, filter, &["-o", preference]),
                numbers,
                "{what}"
            );
        }
    }

    #[test]
    fn filters_compare_latencies() {
        let packets = ["hostint_report_l4_udp", "hostint_l4_udp_1wire"]
            .map(|name| Captured::whole(frame(name)));
        let capture = capture("latency", &packets);
        for (filter, numbers) in [
            ("int.latency_ns > 50000", "1"),
            ("int.latency_ns > 254321", ""),
            ("hostint.sequence == 1", "1,2"),
        ] {
            assert_eq!(found(&capture, filter, &[]), numbers, "{filter}");
        }
    }

    #[test]
    fn damaged_packets_raise_no_error() {
        let packets = all_packets();
        let (mut random, seed) = Random::from_env();
        let damaged: Vec<Captured> = (0..3000)
            .map(|_| {
                let mut bytes = packets[random.below(packets.len())].clone();
                for _ in 0..random.below(5) {
                    // Mostly behind Ethernet and IP: they would go elsewhere.
                    let from = if random.one_in(10) { 12 } else { 34 };
                    let place = from + random.below(bytes.len() - from);
                    bytes[place] = match random.below(3) {
                        0 => random.pick(&[0, 0xff]),
                        1 => random.u8(),
                        _ => bytes[place] ^ 1 << random.below(8),
                    };
                }
                let length = 14 + random.below(bytes.len() - 13);
                match random.below(4) {
                    0 => Captured::cut(bytes, length),
                    1 => Captured::whole(bytes[..length].to_vec()),
                    _ => Captured::whole(bytes),
                }
            })
            .chain([Captured::whole(frame("hostint_report_l4_udp"))])
            .collect();
        let capture = capture("damaged", &damaged);
        for arguments in [&["-V"][..], &["-2", "-V", "-Y", "int"], &[]] {
            let said = tshark(&capture, arguments);
            println!("seed {seed}, {arguments:?}: {} lines", said.lines().count());
            assert_no_errors(&said);
            assert!(
                said.contains("Latency 254.3 us from node 2 to 3"),
                "{arguments:?}"
            );
        }
    }

    /// Wireshark 4.0 forgets to take calls back that run off a packet's end; 200 of them would be the end of Lua.
    #[test]
    fn int_is_found_in_a_capture_of_packets_that_were_cut() {
        let mut packets: Vec<Captured> = (0..400)
            .map(|number| {
                let plain =
                    ["hostint_l4_tcp_0orig", "int10_cc_0orig", "int21_md_geneve"][number % 3];
                Captured::cut(frame(plain), 44)
            })
            .collect();
        packets.insert(0, Captured::cut(frame("hostint_l4_udp_1wire"), 60));
        packets.push(Captured::cut(frame("hostint_l4_udp_1wire"), 80));
        packets.push(Captured::whole(frame("hostint_l4_tcp_1wire")));
        let said = tshark(&capture("cut", &packets), &["-V"]);
        assert_no_errors(&said);
        assert_eq!(
            said.matches("In-band Network Telemetry, Host-INT").count(),
            3
        );
    }

    /// With each optional field of the encoder, and without it.
    #[test]
    fn reports_of_hosts_are_read_to_their_last_byte() {
        let mut reports = Vec::new();
        for number in 0..16 {
            for report in host_drops() {
                let Body::HostDrop(mut one) = report.observation.body.clone() else {
                    panic!("another kind");
                };
                let has = |bit: usize| number >> bit & 1 != 0;
                one.drop.flow_before_nat = one.drop.flow_before_nat.filter(|_| has(0));
                one.drop.tunnel = one.drop.tunnel.filter(|_| has(1));
                one.drop.int = one.drop.int.filter(|_| has(3));
                if !has(2) {
                    one.drop.pods = PacketPods::default();
                }
                reports.push(of_body(Body::HostDrop(one)));
            }
            for report in host_hops() {
                let Body::FlowPassage(mut one) = report.observation.body.clone() else {
                    panic!("another kind");
                };
                let has = |bit: usize| number >> bit & 1 != 0;
                one.hop.flow_before_nat = one.hop.flow_before_nat.filter(|_| has(0));
                one.hop.tunnel = one.hop.tunnel.filter(|_| has(1));
                if !has(2) {
                    one.hop.pods = PacketPods::default();
                }
                reports.push(of_body(Body::FlowPassage(one)));
            }
        }
        reports.extend(queue_episodes());
        reports.extend(connections());
        reports.extend(summaries());
        let packets: Vec<Captured> = reports.iter().map(in_a_frame).collect();
        let said = tshark(&capture("hosts", &packets), &["-V"]);
        assert_no_errors(&said);
        for word in ["cut short", "this one", "Malformed"] {
            let line = said.lines().find(|line| line.contains(word));
            assert_eq!(line, None, "{word}");
        }
        assert!(said.contains("Pod behind the input interface: podman/4f2a91c07be3"));
        assert!(said.contains("Pod: netns/blue"));
    }

    /// The report as a datagram to the usual port.
    fn in_a_frame(report: &Report) -> Captured {
        let mut frame = frame("tr05_drop");
        frame.truncate(42);
        report_v05::emit(report, &mut frame);
        let length = (frame.len() - 14) as u16;
        frame[16..18].copy_from_slice(&length.to_be_bytes());
        frame[38..40].copy_from_slice(&(length - 20).to_be_bytes());
        (frame[40], frame[41]) = (0, 0);
        Captured::whole(frame)
    }

    #[test]
    fn the_folder_works_as_a_plugin() {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dissector-home");
        let plugins = home.join(".local/lib/wireshark/plugins");
        let _ = std::fs::remove_dir_all(&home);
        std::fs::create_dir_all(&plugins).unwrap();
        std::os::unix::fs::symlink(at("packaging/wireshark"), plugins.join("hostint")).unwrap();
        let capture = capture("plugin", &[Captured::whole(frame("hostint_l4_udp_1wire"))]);
        let mut alone = Command::new("tshark");
        let said = run(alone.env("HOME", &home).arg("-r").arg(&capture));
        assert_no_errors(&said);
        assert!(
            said.contains("[INT: node 2, packet 1 of its flow]"),
            "{said}"
        );
        let mut twice = Command::new("tshark");
        let both = run(twice
            .env("HOME", &home)
            .arg(format!("-Xlua_script:{}", script().display()))
            .arg("-r")
            .arg(&capture));
        assert_eq!(said, both, "the second one does nothing");
    }
}
