//! TCP option 114 in captures: `hostint collect --read` tells each connection's worst hop, and takes each echo once.

use std::net::Ipv6Addr;

use hostint::collector::capture::{Captured, LinkType};
use hostint::collector::captured_options::CapturedOptions;
use hostint::views::captured_option::CapturedLine;
use hostint_testing::harness::{hostint, text};
use hostint_testing::random::{Random, env_number};
use hostint_testing::scratch::TempFile;
use serde_json::{Value, json};

const CLIENT: [u8; 4] = [192, 0, 2, 1];
const SERVER: [u8; 4] = [198, 51, 100, 2];
const NOTHING: &str = "720cf0000000000000000000";

/// A segment of the client, or of the server with `is_back`.
#[derive(Clone, Copy)]
struct Segment<'a> {
    is_back: bool,
    sequence: u32,
    ack: u32,
    /// In hex.
    options: &'a str,
    data: usize,
}

const DATA: Segment = Segment {
    is_back: false,
    sequence: 1,
    ack: 1,
    options: NOTHING,
    data: 100,
};
const ACK: Segment = Segment {
    is_back: true,
    data: 0,
    ..DATA
};

fn bytes(hex: &str) -> Vec<u8> {
    let hex: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.chunks(2).map(pair).collect()
}

impl Segment<'_> {
    fn tcp(&self) -> Vec<u8> {
        let ports: [u16; 2] = match self.is_back {
            false => [40_000, 5_201],
            true => [5_201, 40_000],
        };
        let options = bytes(self.options);
        let mut out: Vec<u8> = ports.into_iter().flat_map(u16::to_be_bytes).collect();
        out.extend(self.sequence.to_be_bytes());
        out.extend(self.ack.to_be_bytes());
        out.extend([
            (((20 + options.len()) / 4) << 4) as u8,
            0x10,
            1,
            0,
            0,
            0,
            0,
            0,
        ]);
        out.extend(options);
        out.extend(vec![7; self.data]);
        out
    }

    fn frame(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let (from, to) = match self.is_back {
            false => (CLIENT, SERVER),
            true => (SERVER, CLIENT),
        };
        let mut out = bytes("020000000002 020000000001 0800 4500");
        out.extend((20 + tcp.len() as u16).to_be_bytes());
        out.extend(bytes("00004000 3f060000"));
        out.extend([from, to].concat());
        out.extend(tcp);
        out
    }

    fn frame6(&self) -> Vec<u8> {
        let tcp = self.tcp();
        let of = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last).octets();
        let (from, to) = match self.is_back {
            false => (of(1), of(2)),
            true => (of(2), of(1)),
        };
        let mut out = bytes("020000000002 020000000001 86dd 60000000");
        out.extend((tcp.len() as u16).to_be_bytes());
        out.extend([6, 63]);
        out.extend([from, to].concat());
        out.extend(tcp);
        out
    }
}

/// A capture of one packet a second from 22:13:20 on, of which so many bytes are kept.
fn capture(frames: &[Vec<u8>], most: usize) -> Vec<u8> {
    let words =
        |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let mut out = words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1]);
    for (second, frame) in (1_700_000_000..).zip(frames) {
        let kept = &frame[..most.min(frame.len())];
        out.extend(words(&[second, 0, kept.len() as u32, frame.len() as u32]));
        out.extend(kept);
    }
    out
}

/// What is told of such a capture: lines of JSON, lines of text, and standard error.
fn read(frames: &[Vec<u8>], most: usize) -> (Vec<Value>, String, String) {
    let file = TempFile::new("option.pcap", capture(frames, most));
    let output = hostint(&["collect", "--read", file.path(), "--json"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let lines = text(&output.stdout);
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let shown = hostint(&["collect", "--read", file.path()]);
    (lines.collect(), text(&shown.stdout), said)
}

fn told(segments: &[Segment<'_>]) -> Vec<Value> {
    let frames: Vec<_> = segments.iter().map(Segment::frame).collect();
    read(&frames, 65_535).0
}

#[test]
fn a_connection_is_told_with_its_worst_hop() {
    // As TCP-INT's own programs write it: a request in each segment, and the last echo again and again.
    let with_timestamps = "0101080a0000000100000002720cf0000000000082151e00";
    let segments = [
        DATA,
        Segment {
            options: with_timestamps,
            ack: 101,
            ..ACK
        },
        // The same echo, which acknowledges nothing new.
        Segment {
            options: with_timestamps,
            ack: 101,
            data: 5,
            ..ACK
        },
        Segment {
            sequence: 101,
            ..DATA
        },
        Segment {
            sequence: 201,
            ..DATA
        },
        // It was sent again.
        Segment {
            sequence: 101,
            ..DATA
        },
        // From 8.39 ms on the latency has a larger unit.
        Segment {
            options: "720cf0000000000085159c80",
            ack: 301,
            ..ACK
        },
        Segment {
            sequence: 301,
            ..DATA
        },
        // Another hop is the worst one now: 7 Gbit/s of its link of 25 are free.
        Segment {
            options: "720cf0000000000078222900",
            ack: 401,
            ..ACK
        },
    ];
    let frames: Vec<_> = segments.iter().map(Segment::frame).collect();
    let (lines, shown, said) = read(&frames, 65_535);
    let second = |s: u64| (1_700_000_000 + s) * 1_000_000_000;
    let queue =
        json!({"hop": 1, "link_gbit_s": 100, "queue_bytes": 40_960, "latency_ns": 10_223_616});
    let free = json!({"hop": 2, "link_gbit_s": 25, "free_gbit_s": 7, "latency_ns": 10_496});
    let flow = json!({"src": "192.0.2.1", "dst": "198.51.100.2", "sport": 40_000, "dport": 5_201, "protocol": 6});
    let back = json!({"src": "198.51.100.2", "dst": "192.0.2.1", "sport": 5_201, "dport": 40_000, "protocol": 6});
    let both = [
        json!({
            "schema": "hostint.tcp/1", "kind": "tcp-captured", "flow": flow, "first_ns": second(0), "last_ns": second(8),
            "requests": 5, "filled": 0, "echoes": 4, "samples": 3, "worst_echo": queue,
            "hops": [
                {"hop": 1, "samples": 2, "first_ns": second(1), "last_ns": second(6), "worst": queue},
                {"hop": 2, "samples": 1, "first_ns": second(8), "last_ns": second(8), "worst": free},
            ],
        }),
        // TCP-INT asks with each segment, so the answer's data is a request, too.
        json!({
            "schema": "hostint.tcp/1", "kind": "tcp-captured", "flow": back, "first_ns": second(2), "last_ns": second(2),
            "requests": 1, "filled": 0, "echoes": 0, "samples": 0, "hops": [],
        }),
    ];
    assert_eq!(lines, both);
    assert_eq!(
        shown,
        "tcp 192.0.2.1:40000 > 198.51.100.2:5201  5 requests, 3 samples of 4 echoes  worst hop 1 in 2: queue of 40,960 \
         bytes at 100 Gbit/s, 10.2 ms in all hops  worst hop 2 in 1: 7 Gbit/s free at 25 Gbit/s, 10.5 us in all hops\n\
         tcp 198.51.100.2:5201 > 192.0.2.1:40000  1 request, 0 samples of 0 echoes\n"
    );
    assert!(
        said.contains("9 packets, 0 datagrams, 9 with TCP option 114,"),
        "{said}"
    );
    assert!(!said.contains("no packet goes to"), "{said}");

    // Headers are enough, and such lines are no reports.
    let (cut, ..) = read(&frames, 78);
    assert_eq!(cut, both, "78 bytes of each packet");
    let file = TempFile::new("cut.pcap", capture(&frames, 78));
    let output = hostint(&["collect", "--read", file.path(), "--json"]);
    let saved = TempFile::new("option.jsonl", output.stdout);
    let again = hostint(&["collect", "--read", saved.path(), "--json"]);
    assert_eq!(text(&again.stdout), "");
    let said = text(&again.stderr);
    assert!(said.contains("2 lines, 0 reports, 0 unreadable"), "{said}");
}

#[test]
fn what_hops_filled_in_is_told_at_the_receiver_too() {
    struct Case {
        sentence: &'static str,
        /// The option in hex.
        option: &'static str,
        filled: Value,
    }
    let cases = [
        Case {
            sentence: "95 of 100 Gbit/s are free, and hops took 2.56 us",
            option: "720cf5203f00000a00000000",
            filled: json!({"hop": 1, "link_gbit_s": 100, "free_gbit_s": 95, "latency_ns": 2_560}),
        },
        Case {
            sentence: "a queue of 40 KiB at the third hop, and 10.24 ms, which a request tells exactly",
            option: "720cf5853d009c4000000000",
            filled: json!({"hop": 3, "link_gbit_s": 100, "queue_bytes": 40_960, "latency_ns": 10_240_000}),
        },
        Case {
            sentence: "the longest queue and latency, at a link of unknown speed, behind a TTL of 128",
            option: "720cf0ff7fffffff00000000",
            filled: json!({"hop": 1, "queue_bytes": 1_040_384, "latency_ns": 4_294_967_040_u64}),
        },
        Case {
            sentence: "no hop filled it in",
            option: NOTHING,
            filled: Value::Null,
        },
    ];
    for Case {
        sentence,
        option,
        filled,
    } in cases
    {
        let options = format!("0101080a0000000100000002{option}");
        let request = Segment {
            options: &options,
            ..DATA
        };
        for frame in [request.frame(), request.frame6()] {
            let (lines, ..) = read(&[frame], 65_535);
            assert_eq!(lines[0]["worst_filled"], filled, "{sentence}");
            let is_filled = u64::from(!filled.is_null());
            assert_eq!(lines[0]["filled"], is_filled, "{sentence}");
            assert_eq!(lines[0]["requests"], 1, "{sentence}");
        }
    }
}

#[test]
fn only_what_acknowledges_a_request_first_is_a_sample() {
    struct Case<'a> {
        sentence: &'static str,
        segments: &'a [Segment<'a>],
        /// Requests, echoes and samples of the client's direction.
        told: [u64; 3],
    }
    let echo = |ack| Segment {
        options: "720cf0000000000082151e00",
        ack,
        ..ACK
    };
    let at = |sequence| Segment { sequence, ..DATA };
    let wrapped = 0xffff_ffce;
    let cases = [
        Case {
            sentence: "an echo without a request in the capture",
            segments: &[echo(101)],
            told: [0, 1, 0],
        },
        Case {
            sentence: "an echo that acknowledges less than the request",
            segments: &[at(101), echo(101), echo(102)],
            told: [1, 2, 1],
        },
        Case {
            sentence: "numbers begin anew after 2^32",
            segments: &[at(wrapped), at(50), echo(50), echo(150), echo(150)],
            told: [2, 3, 2],
        },
        Case {
            sentence: "a second connection with the same ports",
            segments: &[at(0x9000_0000), at(1), echo(101)],
            told: [2, 1, 1],
        },
        Case {
            sentence: "a segment without data asks for nothing",
            segments: &[Segment { data: 0, ..DATA }, at(1), echo(1), echo(101)],
            told: [1, 2, 1],
        },
        Case {
            sentence: "options 114 behind a block of SACK",
            segments: &[
                at(1),
                Segment {
                    options: "0101050a0000000100000002720cf0000000000082151e00",
                    ack: 101,
                    ..ACK
                },
            ],
            told: [1, 1, 1],
        },
    ];
    for Case {
        sentence,
        segments,
        told: expected,
    } in cases
    {
        let lines = told(segments);
        let line = lines.iter().find(|line| line["flow"]["sport"] == 40_000);
        let line = line.unwrap_or_else(|| panic!("{sentence}: no line"));
        let counts = ["requests", "echoes", "samples"].map(|key| line[key].as_u64().unwrap());
        assert_eq!(counts, expected, "{sentence}: {line:#}");
    }
}

#[test]
fn options_that_do_not_fit_are_counted() {
    let bad = [
        ("longer than the header", "020405b472200000"),
        ("option 114 of another length", "720b0000000000000000000001"),
        ("without a length", "0101010172000000"),
    ];
    for (sentence, options) in bad {
        let options = format!("{options:0<24}");
        let segment = Segment {
            options: &options,
            ..DATA
        };
        let (lines, _, said) = read(&[segment.frame()], 65_535);
        assert_eq!(lines, Vec::<Value>::new(), "{sentence}");
        let counted = "1 packets, 0 datagrams, 1 with damaged TCP options";
        assert!(said.contains(counted), "{sentence}: {said}");
    }
    // A capture that kept too little is not the sender's fault.
    let (lines, _, said) = read(&[DATA.frame()], 60);
    assert_eq!(lines, Vec::<Value>::new());
    assert!(said.contains("1 other"), "{said}");
}

#[test]
fn damaged_segments_are_read_to_their_end() {
    let mut random = Random::seeded(env_number("HOSTINT_TEST_SEED", 1));
    let frames = [DATA.frame(), ACK.frame(), DATA.frame6()];
    for round in 0..env_number("HOSTINT_TEST_FRAMES", 20_000) {
        let mut options = CapturedOptions::default();
        let mut packets = 0;
        for _ in 0..1 + random.below(4) {
            let mut frame = frames[random.below(frames.len())].clone();
            for _ in 0..random.below(4) {
                let at = random.below(frame.len());
                frame[at] = random.next() as u8;
            }
            frame.truncate(random.below(2 * frame.len()));
            let captured = Captured {
                time_ns: packets,
                is_cut: false,
                link: LinkType::Ethernet,
                bytes: &frame,
            };
            packets += 1;
            options.see(&captured);
        }
        let counts = options.counts();
        assert!(
            counts.segments + counts.malformed <= packets,
            "round {round}"
        );
        for told in options.take() {
            let named: u64 = told.hops.iter().map(|hop| hop.samples).sum();
            assert_eq!(named, told.samples, "round {round}: {told:?}");
            assert!(told.samples <= told.echoes, "round {round}: {told:?}");
            assert!(told.filled <= told.requests, "round {round}: {told:?}");
            assert!(!CapturedLine(&told).to_string().is_empty());
        }
    }
}
