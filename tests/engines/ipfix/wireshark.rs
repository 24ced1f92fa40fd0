//! Wireshark's IPFIX dissector reads every message without complaint.

use std::path::Path;
use std::process::Command;

use hostint::engines::Engine;
use hostint::engines::ipfix::{Ipfix, MessageTransport};

use super::decoder::{Session, split};
use super::listeners::TcpCollector;
use super::parcels::*;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A capture of packets to port 4739; raw IPv4.
fn capture(name: &str, protocol: u8, messages: &[Vec<u8>]) -> String {
    const HEADER: [u32; 6] = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65535, 101];
    let mut file: Vec<u8> = HEADER.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut sequence = 1u32;
    for message in messages {
        let mut transport = [40_000u16.to_be_bytes(), 4739u16.to_be_bytes()].concat();
        if protocol == TCP {
            transport.extend(sequence.to_be_bytes());
            transport.extend([0, 0, 0, 0, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
            sequence += message.len() as u32;
        } else {
            transport.extend((8 + message.len() as u16).to_be_bytes());
            transport.extend([0, 0]);
        }
        transport.extend(message);
        let length = 20 + transport.len();
        let mut packet = vec![0x45, 0];
        packet.extend((length as u16).to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
        packet.extend([127, 0, 0, 1, 127, 0, 0, 1]);
        packet.extend(transport);
        for word in [1_800_000_000, 0, length as u32, length as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ipfix-{name}.pcap"));
    std::fs::write(&path, file).unwrap();
    path.to_str().unwrap().to_owned()
}

fn tshark(file: &str, args: &[&str]) -> String {
    let output = Command::new("tshark")
        .args(["-r", file])
        .args(args)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn wireshark_reads_every_message() {
        struct Case {
            name: &'static str,
            protocol: u8,
            messages: Vec<Vec<u8>>,
        }
        let of_all_kinds = || {
            let flows = [flow4(), flow("2001:db8::1", "2001:db8::2")];
            let entries = (1..=400u64).map(|n| {
                let mut flow = flows[n as usize % 2];
                flow.sport = n as u16 / 8;
                let report = match n / 2 % 4 {
                    0 => latency(flow, 1_234_000),
                    1 => latency(flow, -1),
                    2 => loss(flow, 1),
                    _ => summary(flow, TIME_NS + 1, n, 100 * n),
                };
                entry(n, report, TIME_NS)
            });
            parcel(1, entries.collect())
        };
        let mut sending = Sending::new();
        sending.deliver(&of_all_kinds());
        let collector = TcpCollector::start("127.0.0.1:0", &[]);
        let mut engine = Ipfix::new(settings(collector.address, MessageTransport::Tcp));
        engine.deliver(&of_all_kinds()).unwrap();
        let streams = collector.streams();
        let cases = [
            Case {
                name: "udp",
                protocol: UDP,
                messages: sending.messages,
            },
            Case {
                name: "tcp",
                protocol: TCP,
                messages: streams.iter().flat_map(|stream| split(stream)).collect(),
            },
        ];
        for case in cases {
            let name = case.name;
            let mut session = Session::default();
            case.messages
                .iter()
                .for_each(|message| session.read(message));
            let file = capture(name, case.protocol, &case.messages);
            let wrong = tshark(&file, &["-Y", "_ws.malformed || _ws.expert"]);
            assert_eq!(wrong, "", "{name}");
            let told = tshark(&file, &["-Y", "cflow", "-T", "fields", "-e", "cflow.len"]);
            let lengths: Vec<_> = told.split_whitespace().collect();
            assert_eq!(lengths.len(), session.messages, "{name}");
            let shown = tshark(&file, &["-V"]);
            let count = |what: &str| shown.matches(what).count();
            let records = session.flows.len() + session.options.len();
            let numbered = shown
                .lines()
                .filter_map(|line| line.trim().strip_prefix("Flow "));
            let numbered = numbered.filter(|number| number.parse::<u32>().is_ok());
            assert_eq!(numbered.count(), records, "{name}: records");
            // Too new for it to know by name.
            let sum = "Type 533: Value (hex bytes): 00 00 00 00 00 00 04 d2";
            let delays = session.flows.iter().filter(|flow| flow.has(533)).count();
            assert_eq!(count(sum), delays, "{name}: delays");
            assert!(delays > 0, "{name}");
            assert_eq!(count("No template found"), 0, "{name}");
        }
    }
}
