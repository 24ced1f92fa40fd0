//! Lease messages of version 2 stand byte by byte as the header draws them, and other bytes are not taken for one.

use std::hash::Hasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::{
    lease_answer, lease_capability, lease_constant, lease_flag, lease_message, lease_question,
    lease_short_message,
};
use hostint::model::{
    Capabilities, ClockSource, ClockState, ClockSteering, Encapsulation, Encapsulations,
    FullAnswer, FullEcho, FullQuestion, LeaseKey, LeaseWitness, Marks, NodeId, ShortEcho,
    ShortQuestion,
};
use hostint::wire::DecodeError;
use hostint::wire::lease::message::{
    FULL_LEN, LeaseEcho, SHORT_LEN, VERSION, decode_echo, encode_full_answer, encode_full_question,
    encode_short_answer, encode_short_question,
};
use hostint::wire::lease::{LeaseError, MAGIC};
use siphasher::sip::SipHasher24;

const KEY: LeaseKey = LeaseKey(*b"sixteen bytes of");
const OTHER_KEY: LeaseKey = LeaseKey(*b"sixteen bytes on");
const NONCE: u64 = 0x0102_0304_0506_0708;
const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

fn full_question(flow_source: IpAddr) -> FullQuestion {
    FullQuestion {
        nonce: NONCE,
        flow_source,
        origin: V6,
        asked_ns: 0x1112_1314_1516_1718,
        source_node: NodeId(0x2122_2324),
        capabilities: Capabilities::from_bits(0x8000_0005),
        round: 0x6162_6364_6566_6768,
    }
}

fn witness() -> LeaseWitness {
    LeaseWitness {
        astray: true,
        untold: true,
        asked_shift: 0x13,
        digest: 0x8182_8384,
        stripped: [0x9192_9394, 0xa1a2_a3a4, 0xb1b2_b3b4],
        lost: 0xc1c2_c3c4,
        answered_ns: 0x5152_5354_5556_5758,
    }
}

fn full_answer() -> FullAnswer {
    FullAnswer {
        witness: witness(),
        instance: 0x3132_3334_3536_3738,
        node: NodeId(0x4142_4344),
        capabilities: Capabilities::from_bits(0x0000_004f),
        marks: Marks {
            tos_value: 0x04,
            tos_mask: 0xfc,
            extension_port: 33122,
        },
        clock: ClockState {
            source: ClockSource::Tai,
            synchronised: true,
        },
        clock_steering: ClockSteering::of_ppb(80_000),
        mtu: 9000,
        tai_offset_s: 37,
        software: (3, 4),
        arrived: [1, 1 << 71, (1 << 72) - 1, 2, 1 << 32],
        tos_changed: [4, 0, 0xfc, 0xff, 0],
    }
}

fn full_asked() -> [u8; FULL_LEN] {
    encode_full_question(&full_question(V4), V4, KEY)
}

fn full_answered() -> [u8; FULL_LEN] {
    encode_full_answer(&full_asked(), &full_answer(), KEY)
}

fn short_asked() -> [u8; SHORT_LEN] {
    let question = ShortQuestion {
        nonce: NONCE,
        origin: V6,
    };
    encode_short_question(&question, V4, KEY)
}

fn short_answered() -> [u8; SHORT_LEN] {
    encode_short_answer(&short_asked(), &witness(), KEY)
}

fn full_echo(answer: Option<FullAnswer>) -> LeaseEcho {
    LeaseEcho::Full(FullEcho {
        nonce: NONCE,
        asked_ns: 0x1112_1314_1516_1718,
        answer,
    })
}

fn short_echo(answer: Option<LeaseWitness>) -> LeaseEcho {
    let nonce = NONCE;
    LeaseEcho::Short(ShortEcho { nonce, answer })
}

/// Every message, the room for its answer, and what its echo says.
fn messages() -> [(&'static str, Vec<u8>, usize, LeaseEcho); 4] {
    let (full, short) = (Some(full_answer()), Some(witness()));
    [
        ("a full question", full_asked().into(), 64, full_echo(None)),
        ("a full answer", full_answered().into(), 64, full_echo(full)),
        (
            "a short question",
            short_asked().into(),
            24,
            short_echo(None),
        ),
        (
            "a short answer",
            short_answered().into(),
            24,
            short_echo(short),
        ),
    ]
}

fn octets(addr: IpAddr) -> [u8; 16] {
    match addr {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

fn sip(bytes: &[u8]) -> [u8; 8] {
    let mut hasher = SipHasher24::new_with_key(&KEY.0);
    hasher.write(bytes);
    hasher.finish().to_be_bytes()
}

#[test]
fn a_full_question_stands_byte_by_byte_as_the_header_draws_it() {
    for (source, dest) in [(V4, V6), (V6, V4)] {
        let mut bytes = b"hint\0\0\0\x02".to_vec();
        bytes.extend(NONCE.to_be_bytes());
        bytes.extend(octets(source));
        bytes.extend(0x1112_1314_1516_1718u64.to_be_bytes());
        bytes.extend([0x21, 0x22, 0x23, 0x24, 0x80, 0, 0, 5]);
        bytes.extend(0x6162_6364_6566_6768u64.to_be_bytes());
        let tag = sip(&[&bytes[..], &octets(V6), &octets(dest)].concat());
        bytes.extend(tag);
        bytes.extend([0; 136]);
        let message = encode_full_question(&full_question(source), dest, KEY);
        assert_eq!(message.to_vec(), bytes, "{source} to {dest}");
    }
    let nothing_asked = FullQuestion {
        round: 0,
        ..full_question(V4)
    };
    let message = encode_full_question(&nothing_asked, V4, KEY);
    assert_eq!(message[48..56], [0; 8], "no round");
}

#[test]
fn a_full_answer_stands_byte_by_byte_as_the_header_draws_it() {
    let mut bytes = full_asked()[..64].to_vec();
    bytes.extend(0x3132_3334_3536_3738u64.to_be_bytes());
    bytes.extend([0x41, 0x42, 0x43, 0x44, 0, 0, 0, 0x4f]);
    bytes.extend([0x13, 0, 0, 3, 0x81, 0x82, 0x83, 0x84]);
    bytes.extend([0x04, 0xfc, 0x81, 20]);
    bytes.extend(33122u16.to_be_bytes());
    bytes.extend(9000u16.to_be_bytes());
    bytes.extend([0, 37, 3, 4]);
    bytes.extend([4, 0, 0xfc, 0xff]);
    bytes.extend(0x5152_5354_5556_5758u64.to_be_bytes());
    for counted in [0x9192_9394u32, 0xa1a2_a3a4, 0xb1b2_b3b4, 0xc1c2_c3c4] {
        bytes.extend(counted.to_be_bytes());
    }
    for word in [1, 0, 0, 0x80, u64::MAX, 0xff, 2, 1] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend(sip(&bytes));
    assert_eq!(full_answered().to_vec(), bytes);
}

#[test]
fn short_messages_stand_byte_by_byte_as_the_header_draws_them() {
    let mut bytes = b"hint\0\0\0\x02".to_vec();
    bytes.extend(NONCE.to_be_bytes());
    let tag = sip(&[&bytes[..], &octets(V6), &octets(V4)].concat());
    bytes.extend(tag);
    let question = [&bytes[..], &[0; 40]].concat();
    assert_eq!(short_asked().to_vec(), question, "the question");
    bytes.extend([0x13, 0, 0, 3, 0x81, 0x82, 0x83, 0x84]);
    for counted in [0x9192_9394u32, 0xa1a2_a3a4, 0xb1b2_b3b4, 0xc1c2_c3c4] {
        bytes.extend(counted.to_be_bytes());
    }
    bytes.extend(0x5152_5354_5556_5758u64.to_be_bytes());
    bytes.extend(sip(&bytes));
    assert_eq!(short_answered().to_vec(), bytes, "the answer");
}

#[test]
fn an_echo_says_what_was_asked_and_answered() {
    for (name, bytes, _, echo) in messages() {
        assert_eq!(decode_echo(&bytes, KEY), Ok(echo), "{name}");
    }
    let other_answers = [
        ("nothing", FullAnswer::default()),
        (
            "the largest numbers",
            FullAnswer {
                arrived: [
                    u128::MAX,
                    u128::MAX,
                    u128::MAX,
                    (1 << 32) - 1,
                    (1 << 96) - 1,
                ],
                tos_changed: [0xff, 0xff, 0xff, 0xff, 0],
                tai_offset_s: -1,
                capabilities: Capabilities::from_bits(u32::MAX),
                ..full_answer()
            },
        ),
    ];
    for (name, answer) in other_answers {
        let written = encode_full_answer(&full_asked(), &answer, KEY);
        let read = decode_echo(&written, KEY);
        assert_eq!(read, Ok(full_echo(Some(answer))), "{name}");
    }
}

#[test]
fn an_echo_that_nobody_wrote_into_is_no_answer_whatever_the_key() {
    for (name, bytes, _, echo) in messages() {
        if name.contains("question") {
            assert_eq!(decode_echo(&bytes, OTHER_KEY), Ok(echo), "{name}");
        }
    }
}

#[test]
fn a_message_of_any_other_length_is_refused() {
    let longest = [&full_answered()[..], &[0; 40]].concat();
    for len in (0..longest.len()).filter(|len| ![FULL_LEN, SHORT_LEN].contains(len)) {
        let decoded = decode_echo(&longest[..len], KEY);
        let refused = match len {
            0..16 => matches!(
                decoded,
                Err(LeaseError::Format(DecodeError::Truncated { .. }))
            ),
            _ => matches!(decoded, Err(LeaseError::Format(DecodeError::Length { .. }))),
        };
        assert!(refused, "{len} bytes: {decoded:?}");
    }
    let cut_to_short = decode_echo(&full_answered()[..SHORT_LEN], KEY);
    let forged = Err(LeaseError::Forged { nonce: NONCE });
    assert_eq!(cut_to_short, forged, "a full message cut to a short one");
}

#[test]
fn no_other_version_is_read() {
    for (name, bytes, ..) in messages() {
        for version in [0u32, 1, 3, 2 << 24] {
            let mut message = bytes.clone();
            message[4..8].copy_from_slice(&version.to_be_bytes());
            let decoded = decode_echo(&message, KEY);
            assert_eq!(decoded, Err(LeaseError::Version(version)), "{name}");
        }
    }
}

#[test]
fn any_flipped_bit_of_an_answer_is_noticed() {
    for (name, bytes, room, _) in messages() {
        let answered = name.contains("answer");
        for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut message = bytes.clone();
            message[at] ^= 1 << bit;
            let decoded = decode_echo(&message, KEY);
            let noticed = match at {
                0..4 => matches!(decoded, Err(LeaseError::Format(_))),
                4..8 => matches!(decoded, Err(LeaseError::Version(_))),
                8..16 if answered => {
                    matches!(decoded, Err(LeaseError::Forged { nonce }) if nonce != NONCE)
                }
                _ if answered || at >= room => decoded == Err(LeaseError::Forged { nonce: NONCE }),
                _ => decoded.is_ok(),
            };
            assert!(noticed, "{name}: bit {bit} of byte {at}: {decoded:?}");
        }
    }
}

#[test]
fn an_answer_by_another_key_is_forged() {
    let forged = Err(LeaseError::Forged { nonce: NONCE });
    for (name, bytes, ..) in messages() {
        if name.contains("answer") {
            assert_eq!(decode_echo(&bytes, OTHER_KEY), forged, "{name}");
            assert_eq!(decode_echo(&bytes, LeaseKey::default()), forged, "{name}");
        }
    }
}

#[test]
fn an_answer_has_a_part_that_version_1_has_too() {
    let part = full_answer().summary();
    let encapsulations = Encapsulation::COUNTED
        .into_iter()
        .chain([Encapsulation::IntMd])
        .fold(Encapsulations::default(), Encapsulations::with);
    assert_eq!(part.encapsulations, encapsulations, "bits 1, 2, 4 and 8");
    assert_eq!(part.answered_ns, witness().answered_ns);
    assert_eq!((part.node, part.mtu), (NodeId(0x4142_4344), 9000));
}

#[test]
fn both_halves_agree_on_every_constant() {
    use lease_constant as c;
    assert_eq!(c::LEASE_MAGIC.0, MAGIC, "magic");
    assert_eq!(c::LEASE_VERSION.0, VERSION, "version");
    for (flag, witness) in [
        (
            lease_flag::LEASE_FLAG_ASTRAY,
            LeaseWitness {
                astray: true,
                ..LeaseWitness::default()
            },
        ),
        (
            lease_flag::LEASE_FLAG_UNTOLD,
            LeaseWitness {
                untold: true,
                ..LeaseWitness::default()
            },
        ),
    ] {
        let written = encode_short_answer(&short_asked(), &witness, KEY);
        assert_eq!(written[24..28], flag.0.to_be_bytes(), "{flag:?}");
    }
    let asks = LeaseWitness {
        asked_shift: 31,
        ..LeaseWitness::default()
    };
    let written = encode_short_answer(&short_asked(), &asks, KEY);
    let share = lease_flag::LEASE_SHARE_MASK.0 << lease_flag::LEASE_SHARE_AT.0;
    assert_eq!(written[24..28], share.to_be_bytes(), "the share");
    let sizes = [
        ("a full message", size_of::<lease_message>(), FULL_LEN),
        (
            "a short message",
            size_of::<lease_short_message>(),
            SHORT_LEN,
        ),
        ("a question", size_of::<lease_question>(), 56),
        ("an answer", size_of::<lease_answer>(), 128),
    ];
    for (name, size, written) in sizes {
        assert_eq!(size, written, "{name}");
    }
    for (encapsulation, bit) in [
        (
            Encapsulation::OverTcpUdp,
            lease_capability::CAPABLE_OVER_TCP_UDP,
        ),
        (
            Encapsulation::ExtensionUdp,
            lease_capability::CAPABLE_EXTENSION_UDP,
        ),
        (Encapsulation::VxlanGpe, lease_capability::CAPABLE_VXLAN_GPE),
    ] {
        let only = Encapsulations::default().with(encapsulation);
        assert_eq!(Capabilities::from(only).bits(), bit.0, "{encapsulation}");
        let read = Capabilities::from_bits(bit.0).encapsulations();
        assert_eq!(read, only, "{encapsulation}");
    }
}
