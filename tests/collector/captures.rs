//! Reports are read from every capture format and link type, and damaged captures give what they still have.

use hostint::collector::capture::{Capture, CaptureError, LinkType, MAX_BLOCK_BYTES};
use hostint::collector::datagram::{self, NoDatagram};
use hostint_testing::golden::{frame, udp_payload};

const NS: u64 = 1_700_000_000_123_456_789;

#[derive(Clone, Copy, Debug)]
struct Order {
    big_endian: bool,
}

impl Order {
    fn u16(self, value: u16) -> [u8; 2] {
        match self.big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        match self.big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }

    fn i64(self, value: i64) -> [u8; 8] {
        match self.big_endian {
            true => value.to_be_bytes(),
            false => value.to_le_bytes(),
        }
    }
}

const ORDERS: [Order; 2] = [Order { big_endian: false }, Order { big_endian: true }];

fn pcap(order: Order, nanoseconds: bool, link: u32, packets: &[&[u8]]) -> Vec<u8> {
    let magic = if nanoseconds {
        0xa1b2_3c4d
    } else {
        0xa1b2_c3d4
    };
    let mut out = order.u32(magic).to_vec();
    out.extend(order.u16(2));
    out.extend(order.u16(4));
    for word in [0, 0, 262_144, link] {
        out.extend(order.u32(word));
    }
    let fraction = (NS % 1_000_000_000) as u32;
    for packet in packets {
        out.extend(order.u32((NS / 1_000_000_000) as u32));
        out.extend(order.u32(if nanoseconds {
            fraction
        } else {
            fraction / 1000
        }));
        out.extend(order.u32(packet.len() as u32));
        out.extend(order.u32(packet.len() as u32 + 7));
        out.extend(*packet);
    }
    out
}

fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let length = order.u32((12 + body.len() + padding) as u32);
    [
        &order.u32(kind)[..],
        &length,
        body,
        &vec![0; padding],
        &length,
    ]
    .concat()
}

fn section(order: Order) -> Vec<u8> {
    let body = [
        &order.u32(0x1a2b_3c4d)[..],
        &order.u16(1),
        &order.u16(0),
        &order.i64(-1),
    ]
    .concat();
    block(order, 0x0a0d_0d0a, &body)
}

/// An interface with a resolution of 10^-9 s, and its clock so many seconds behind.
fn interface(order: Order, link: u16, behind_s: i64) -> Vec<u8> {
    let mut body = [&order.u16(link)[..], &order.u16(0), &order.u32(0)].concat();
    body.extend([&order.u16(9)[..], &order.u16(1), &[9, 0, 0, 0]].concat());
    body.extend([&order.u16(14)[..], &order.u16(8), &order.i64(behind_s)].concat());
    body.extend([0; 4]);
    block(order, 1, &body)
}

fn enhanced(order: Order, interface: u32, time: u64, packet: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let size = packet.len() as u32;
    for word in [interface, (time >> 32) as u32, time as u32, size, size] {
        body.extend(order.u32(word));
    }
    body.extend(packet);
    body.resize(body.len().next_multiple_of(4), 0);
    block(order, 6, &body)
}

type Packets = Vec<(u64, LinkType, Vec<u8>)>;

/// All packets of a capture, and how it ended.
fn read(reader: impl std::io::Read) -> (Packets, Option<CaptureError>) {
    let mut capture = Capture::new(reader);
    let mut packets = Packets::new();
    loop {
        match capture.next_packet() {
            Ok(Some(packet)) => packets.push((packet.time_ns, packet.link, packet.bytes.to_vec())),
            Ok(None) => return (packets, None),
            Err(error) => return (packets, Some(error)),
        }
    }
}

/// Gives a byte at a time, as a slow pipe may.
struct Trickle<'a>(&'a [u8]);

impl std::io::Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some((first, rest)) = self.0.split_first() else {
            return Ok(0);
        };
        buffer[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn both_formats_are_read_in_either_byte_order() {
    let report = frame("tr20_drop");
    for order in ORDERS {
        let link = LinkType::Ethernet;
        let ng = [
            section(order),
            block(order, 0x0bad, &[1, 2, 3]),
            interface(order, 1, 0),
            interface(order, 101, 3600),
            enhanced(order, 0, NS, &report),
            enhanced(order, 1, NS - 3_600_000_000_000, &report[14..]),
            enhanced(order, 9, NS, &report),
            block(
                order,
                3,
                &[&order.u32(report.len() as u32)[..], &report].concat(),
            ),
            // Another section begins anew, in another byte order.
            section(ORDERS[usize::from(!order.big_endian)]),
        ]
        .concat();
        for (sentence, file, expected) in [
            (
                "pcap with nanoseconds",
                pcap(order, true, 1, &[&report, &report]),
                vec![(NS, link, 0); 2],
            ),
            (
                "pcap with microseconds",
                pcap(order, false, 1, &[&report]),
                vec![(NS / 1000 * 1000, link, 0)],
            ),
            (
                "pcapng",
                ng,
                vec![
                    (NS, link, 0),
                    (NS, LinkType::Raw, 14),
                    (0, LinkType::Other, 0),
                    (0, link, 0),
                ],
            ),
            ("an empty capture", pcap(order, true, 1, &[]), vec![]),
        ] {
            let expected: Vec<_> = expected
                .into_iter()
                .map(|(time, link, from)| (time, link, report[from..].to_vec()))
                .collect();
            let (packets, error) = read(&file[..]);
            assert!(error.is_none(), "{sentence}, {order:?}: {error:?}");
            assert_eq!(packets, expected, "{sentence}, {order:?}");
            let (packets, error) = read(Trickle(&file));
            assert!(error.is_none(), "{sentence} byte by byte");
            assert_eq!(packets, expected, "{sentence} byte by byte");
        }
    }
}

#[test]
fn a_cut_or_damaged_capture_gives_what_it_has() {
    let report = frame("tr20_drop");
    let order = ORDERS[0];
    let ng = [
        section(order),
        interface(order, 1, 0),
        enhanced(order, 0, NS, &report),
        enhanced(order, 0, NS, &report),
    ]
    .concat();
    for file in [pcap(order, true, 1, &[&report, &report]), ng.clone()] {
        let mut most = 0;
        for length in 0..file.len() {
            let (packets, error) = read(&file[..length]);
            assert!(packets.len() >= most, "cut to {length}");
            most = packets.len();
            if let Some(CaptureError::Cut { offset }) = error {
                assert!(offset < length as u64);
            }
        }
        assert_eq!(most, 1, "the second is not whole");
    }
    let mut lengths_differ = ng.clone();
    let last = lengths_differ.len() - 4;
    lengths_differ[last] ^= 4;
    let (packets, error) = read(&lengths_differ[..]);
    assert_eq!(packets.len(), 1);
    assert!(
        matches!(error, Some(CaptureError::Damaged { .. })),
        "{error:?}"
    );

    for (sentence, bad) in [
        (
            "a block shorter than its frame",
            &[9, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0][..],
        ),
        ("of length 0", &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (
            "an unknown block of length 9",
            &[1, 0, 0, 0x80, 9, 0, 0, 0, 0, 0, 0, 0],
        ),
        ("an odd length", &[9, 0, 0, 0, 13, 0, 0, 0, 0, 0, 0, 0, 0]),
        (
            "a packet without room for its header",
            &[6, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0],
        ),
        (
            "an interface without",
            &[1, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0],
        ),
        (
            "a simple packet without",
            &[3, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0],
        ),
        (
            "a packet longer than its block",
            &[
                &[6, 0, 0, 0, 32, 0, 0, 0][..],
                &[0; 12],
                &[200, 0, 0, 0, 200, 0, 0, 0, 32, 0, 0, 0],
            ]
            .concat(),
        ),
        (
            "a section of no byte order",
            &[10, 13, 13, 10, 28, 0, 0, 0, 1, 2, 3, 4],
        ),
    ] {
        let good = [
            section(order),
            interface(order, 1, 0),
            enhanced(order, 0, NS, &report),
        ];
        let (packets, error) = read(&[&good.concat()[..], bad, &[0; 64]].concat()[..]);
        assert_eq!(packets.len(), 1, "{sentence}");
        let damaged = matches!(error, Some(CaptureError::Damaged { .. }));
        assert!(damaged, "{sentence}: {error:?}");
    }
    for (sentence, file) in [
        ("text", &b"Nov 21 kernel: hello"[..]),
        ("three bytes", b"\x0a\x0d\x0d"),
        (
            "an ELF file",
            b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ),
    ] {
        let (packets, error) = read(file);
        assert_eq!(packets.len(), 0, "{sentence}");
        assert!(
            matches!(error, Some(CaptureError::Unknown)),
            "{sentence}: {error:?}"
        );
    }
    assert!(read(&[][..]).1.is_none(), "nothing is an empty capture");

    // A packet that claims 2 GB of an endless file ends at the limit, not with the memory.
    let mut endless = pcap(order, true, 1, &[]);
    endless.extend([[0; 8], [0, 0, 0, 0x80, 0, 0, 0, 0x80]].concat());
    let (packets, error) = read(std::io::Read::chain(&endless[..], std::io::repeat(7)));
    assert_eq!(packets.len(), 0);
    let error = error.unwrap().to_string();
    assert_eq!(
        error,
        format!("the block at byte 24 is longer than {MAX_BLOCK_BYTES} bytes")
    );
}

fn find(link: u32, packet: &[u8]) -> Result<(String, Vec<u8>, bool), NoDatagram> {
    let file = pcap(ORDERS[0], true, link, &[packet]);
    let mut capture = Capture::new(&file[..]);
    let captured = capture.next_packet().unwrap().unwrap();
    datagram::find(&captured, &[32766, 9]).map(|found| {
        (
            found.from.to_string(),
            found.payload.to_vec(),
            found.wrong_checksum,
        )
    })
}

/// A report over IPv6, with its checksum.
fn over_ipv6(payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let builder = etherparse::PacketBuilder::ipv6([3; 16], [9; 16], 64).udp(43981, 32766);
    let mut out = Vec::new();
    builder.write(&mut out, payload).unwrap();
    assert_eq!(out.len(), 40 + usize::from(length));
    out
}

#[test]
fn reports_are_found_behind_every_link_layer() {
    let ethernet = frame("tr20_drop");
    let (ip, payload) = (&ethernet[14..], udp_payload("tr20_drop"));
    let six = over_ipv6(&payload);
    let before = |header: &[u8], packet: &[u8]| [header, packet].concat();
    let mut cooked = [0; 16];
    cooked[14..].copy_from_slice(&[8, 0]);
    let mut cooked6 = cooked;
    cooked6[14..].copy_from_slice(&[0x86, 0xdd]);
    let mut cooked2 = [0; 20];
    cooked2[..2].copy_from_slice(&[8, 0]);
    let tagged = [&ethernet[..12], &[0x81, 0, 0, 5], &ethernet[12..]].concat();
    let padded = before(&ethernet, &[0; 6]);
    let (from, from6) = (
        "203.0.113.3:43981",
        "[303:303:303:303:303:303:303:303]:43981",
    );
    for (sentence, link, packet, from) in [
        ("Ethernet", 1, ethernet.clone(), from),
        ("a VLAN", 1, tagged, from),
        ("padding behind the packet", 1, padded, from),
        ("raw IPv4", 101, ip.to_vec(), from),
        ("raw IPv6", 101, six.clone(), from6),
        ("raw, by BSD's number", 12, ip.to_vec(), from),
        ("IPv4 only", 228, ip.to_vec(), from),
        ("IPv6 only", 229, six.clone(), from6),
        ("cooked", 113, before(&cooked, ip), from),
        ("cooked IPv6", 113, before(&cooked6, &six), from6),
        ("cooked v2", 276, before(&cooked2, ip), from),
        ("loopback of BSD", 0, before(&[2, 0, 0, 0], ip), from),
        ("loopback IPv6", 0, before(&[30, 0, 0, 0], &six), from6),
        ("loopback of OpenBSD", 108, before(&[0, 0, 0, 2], ip), from),
    ] {
        let expected = (from.to_owned(), payload.clone(), false);
        assert_eq!(find(link, &packet), Ok(expected), "{sentence}");
        for length in 0..packet.len() {
            // Padding may go; anything else makes it another packet or a cut one.
            let cut = find(link, &packet[..length]);
            assert!(
                cut.is_err() || sentence.starts_with("padding"),
                "{sentence} cut to {length}"
            );
        }
    }
}

#[test]
fn what_is_no_report_is_told_apart() {
    let report = frame("tr20_drop");
    let with = |at: usize, value: u8| {
        let mut changed = report.clone();
        changed[at] = value;
        changed
    };
    for (sentence, link, packet, why) in [
        ("another port", 1, with(36, 1), NoDatagram::Other),
        ("TCP", 1, with(23, 6), NoDatagram::Other),
        ("ARP", 1, with(13, 6), NoDatagram::Other),
        ("a first fragment", 1, with(20, 0x20), NoDatagram::Fragment),
        ("a later fragment", 1, with(21, 5), NoDatagram::Fragment),
        (
            "a packet cut by the capture",
            1,
            report[..100].to_vec(),
            NoDatagram::Cut,
        ),
        (
            "a UDP length beyond the packet",
            1,
            with(38, 9),
            NoDatagram::Cut,
        ),
        (
            "a link layer nobody knows",
            147,
            report.clone(),
            NoDatagram::Link,
        ),
    ] {
        assert_eq!(find(link, &packet), Err(why), "{sentence}");
    }
}

#[test]
fn a_wrong_checksum_is_told_and_the_report_read() {
    let report = frame("tr20_drop");
    let last = report.len() - 1;
    let with = |changes: &[(usize, u8)]| {
        let mut changed = report.clone();
        for (at, value) in changes {
            changed[*at] = *value;
        }
        changed
    };
    for (sentence, packet, wrong) in [
        ("as it was sent", report.clone(), false),
        ("no UDP checksum", with(&[(40, 0), (41, 0)]), false),
        ("damaged data", with(&[(last, 0x61)]), true),
        ("damaged IP header", with(&[(22, 9)]), true),
        (
            "a sender that left it to its card",
            with(&[(40, 1), (41, 2)]),
            true,
        ),
    ] {
        assert_eq!(
            find(1, &packet).map(|found| found.2),
            Ok(wrong),
            "{sentence}"
        );
    }
    let mut six = over_ipv6(&udp_payload("tr20_drop"));
    six[46..48].fill(0);
    assert!(find(101, &six).unwrap().2, "over IPv6 there has to be one");
}
