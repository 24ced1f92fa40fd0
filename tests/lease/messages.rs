//! Lease messages written by a source are read by a sink, and other bytes are taken for neither.

use std::hash::Hasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::{
    lease_answer, lease_constant, lease_message, lease_question, sink_flag,
};
use hostint::model::{
    ClockSource, ClockState, Encapsulation, Encapsulations, LeaseAnswer, LeaseEcho, LeaseKey,
    LeaseQuestion, Marks, NodeId,
};
use hostint::wire::DecodeError;
use hostint::wire::lease::v1::{MESSAGE_LEN, VERSION, decode_echo, encode_answer, encode_question};
use hostint::wire::lease::{LeaseError, MAGIC};
use siphasher::sip::SipHasher24;

const KEY: LeaseKey = LeaseKey(*b"sixteen bytes of");
const OTHER_KEY: LeaseKey = LeaseKey(*b"sixteen bytes on");
const NONCE: u64 = 0x0102_0304_0506_0708;
const V4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1));

fn question(flow_source: IpAddr) -> LeaseQuestion {
    LeaseQuestion {
        nonce: NONCE,
        flow_source,
        origin: V6,
        asked_ns: 0x1112_1314_1516_1718,
        source_node: NodeId(0x2122_2324),
    }
}

fn answer() -> LeaseAnswer {
    LeaseAnswer {
        instance: 0x3132_3334_3536_3738,
        node: NodeId(0x4142_4344),
        encapsulations: Encapsulations::default().with(Encapsulation::VxlanGpe),
        marks: Marks {
            tos_value: 0x04,
            tos_mask: 0xfc,
            extension_port: 33122,
        },
        clock: ClockState {
            source: ClockSource::Tai,
            synchronised: true,
        },
        mtu: 9000,
        tai_offset_s: 37,
        software: (3, 4),
        answered_ns: 0x5152_5354_5556_5758,
    }
}

fn asked() -> [u8; MESSAGE_LEN] {
    encode_question(&question(V4), V4, KEY)
}

fn answered() -> [u8; MESSAGE_LEN] {
    encode_answer(&asked(), &answer(), KEY)
}

fn sip(key: LeaseKey, bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new_with_key(&key.0);
    hasher.write(bytes);
    hasher.finish()
}

#[test]
fn an_answer_says_what_the_sink_wrote() {
    struct Case {
        name: &'static str,
        source: IpAddr,
        answer: LeaseAnswer,
    }
    let cases = [
        Case {
            name: "IPv4",
            source: V4,
            answer: answer(),
        },
        Case {
            name: "IPv6",
            source: V6,
            answer: answer(),
        },
        Case {
            name: "all encapsulations",
            source: V4,
            answer: LeaseAnswer {
                encapsulations: Encapsulation::COUNTED
                    .into_iter()
                    .fold(Encapsulations::default(), Encapsulations::with),
                ..answer()
            },
        },
        Case {
            name: "a clock that nothing keeps right",
            source: V6,
            answer: LeaseAnswer {
                clock: ClockState {
                    source: ClockSource::Realtime,
                    synchronised: false,
                },
                tai_offset_s: 0,
                ..answer()
            },
        },
        Case {
            name: "a clock of unknown kind, an offset below zero",
            source: V4,
            answer: LeaseAnswer {
                clock: ClockState {
                    source: ClockSource::Unknown,
                    synchronised: true,
                },
                tai_offset_s: -1,
                ..answer()
            },
        },
        Case {
            name: "the largest numbers",
            source: V6,
            answer: LeaseAnswer {
                instance: u64::MAX,
                node: NodeId(u32::MAX),
                marks: Marks {
                    tos_value: 0xff,
                    tos_mask: 0xff,
                    extension_port: u16::MAX,
                },
                mtu: u16::MAX,
                software: (0xff, 0xff),
                answered_ns: u64::MAX,
                ..answer()
            },
        },
    ];
    for Case {
        name,
        source,
        answer,
    } in cases
    {
        for dest in [V4, V6] {
            let message = encode_question(&question(source), dest, KEY);
            let expected = LeaseEcho {
                nonce: NONCE,
                asked_ns: question(source).asked_ns,
                answer: Some(answer),
            };
            let written = encode_answer(&message, &answer, KEY);
            assert_eq!(decode_echo(&written, KEY), Ok(expected), "{name}");
            assert_eq!(
                written[..56],
                message[..56],
                "{name}: the question and its tag stay"
            );
        }
    }
}

#[test]
fn a_question_stands_byte_by_byte_as_the_header_draws_it() {
    for (source, dest) in [(V4, V6), (V6, V4)] {
        let octets = |addr| match addr {
            IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
            IpAddr::V6(v6) => v6.octets(),
        };
        let mut bytes = b"hint\0\0\0\x01".to_vec();
        bytes.extend(NONCE.to_be_bytes());
        bytes.extend(octets(source));
        bytes.extend(0x1112_1314_1516_1718u64.to_be_bytes());
        bytes.extend([0x21, 0x22, 0x23, 0x24, 0, 0, 0, 0]);
        let tag = sip(KEY, &[&bytes[..], &octets(V6), &octets(dest)].concat());
        bytes.extend(tag.to_be_bytes());
        bytes.extend([0; 40]);
        let message = encode_question(&question(source), dest, KEY);
        assert_eq!(
            message.to_vec(),
            bytes,
            "fields, the tag with both addresses, and room for the answer"
        );
    }
}

#[test]
fn an_answer_stands_byte_by_byte_as_the_header_draws_it() {
    let mut bytes = asked()[..56].to_vec();
    bytes.extend(0x3132_3334_3536_3738u64.to_be_bytes());
    bytes.extend([0x41, 0x42, 0x43, 0x44]);
    bytes.extend([8, 0x04, 0xfc, 0x81]);
    bytes.extend(33122u16.to_be_bytes());
    bytes.extend(9000u16.to_be_bytes());
    bytes.extend([0, 37, 3, 4]);
    bytes.extend(0x5152_5354_5556_5758u64.to_be_bytes());
    bytes.extend(sip(KEY, &bytes).to_be_bytes());
    assert_eq!(answered().to_vec(), bytes);
}

#[test]
fn a_question_that_nobody_answered_comes_back_without_an_answer() {
    for (source, dest) in [(V4, V4), (V6, V6), (V4, V6)] {
        let message = encode_question(&question(source), dest, KEY);
        let expected = LeaseEcho {
            nonce: NONCE,
            asked_ns: question(source).asked_ns,
            answer: None,
        };
        for key in [KEY, OTHER_KEY] {
            assert_eq!(
                decode_echo(&message, key),
                Ok(expected),
                "{source} to {dest}: a host without a sink sends back what it got"
            );
        }
    }
}

#[test]
fn every_shorter_message_is_refused() {
    for message in [asked(), answered()] {
        for len in 0..MESSAGE_LEN {
            let decoded = decode_echo(&message[..len], KEY);
            let truncated = matches!(
                decoded,
                Err(LeaseError::Format(DecodeError::Truncated { .. }))
            );
            assert!(truncated, "{len} bytes: {decoded:?}");
        }
    }
}

#[test]
fn messages_of_another_kind_are_refused() {
    struct Case {
        name: &'static str,
        at: usize,
        bytes: [u8; 4],
        error: LeaseError,
    }
    let no_magic = |found| {
        LeaseError::Format(DecodeError::Field {
            what: "lease magic",
            offset: 0,
            found,
            expected: MAGIC,
        })
    };
    let cases = [
        Case {
            name: "another magic",
            at: 0,
            bytes: *b"ping",
            error: no_magic(u32::from_be_bytes(*b"ping")),
        },
        Case {
            name: "magic in host order",
            at: 0,
            bytes: *b"tnih",
            error: no_magic(u32::from_be_bytes(*b"tnih")),
        },
        Case {
            name: "version 0",
            at: 4,
            bytes: [0; 4],
            error: LeaseError::Version(0),
        },
        Case {
            name: "version 2",
            at: 4,
            bytes: [0, 0, 0, 2],
            error: LeaseError::Version(2),
        },
        Case {
            name: "a version in host order",
            at: 4,
            bytes: [1, 0, 0, 0],
            error: LeaseError::Version(1 << 24),
        },
    ];
    for Case {
        name,
        at,
        bytes,
        error,
    } in cases
    {
        for mut message in [asked(), answered()] {
            message[at..at + 4].copy_from_slice(&bytes);
            assert_eq!(decode_echo(&message, KEY), Err(error), "{name}");
        }
    }
}

#[test]
fn any_flipped_bit_of_an_answered_message_is_noticed() {
    for at in 0..MESSAGE_LEN {
        for bit in 0..8 {
            let mut message = answered();
            message[at] ^= 1 << bit;
            let decoded = decode_echo(&message, KEY);
            let noticed = match at {
                0..4 => matches!(decoded, Err(LeaseError::Format(_))),
                4..8 => matches!(decoded, Err(LeaseError::Version(_))),
                8..16 => matches!(decoded, Err(LeaseError::Forged { nonce }) if nonce != NONCE),
                _ => decoded == Err(LeaseError::Forged { nonce: NONCE }),
            };
            assert!(noticed, "bit {bit} of byte {at}: {decoded:?}");
        }
    }
}

#[test]
fn any_flipped_bit_in_the_room_for_an_answer_makes_a_forged_one() {
    for at in 56..MESSAGE_LEN {
        for bit in 0..8 {
            let mut message = asked();
            message[at] ^= 1 << bit;
            let decoded = decode_echo(&message, KEY);
            let forged = Err(LeaseError::Forged { nonce: NONCE });
            assert_eq!(decoded, forged, "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn an_answer_to_one_question_does_not_fit_another() {
    let mut message = answered();
    let other = LeaseQuestion {
        nonce: NONCE + 1,
        ..question(V4)
    };
    message[..56].copy_from_slice(&encode_question(&other, V4, KEY)[..56]);
    let forged = Err(LeaseError::Forged { nonce: NONCE + 1 });
    assert_eq!(decode_echo(&message, KEY), forged);
}

#[test]
fn hosts_with_different_keys_do_not_understand_each_other() {
    let none = LeaseKey::default();
    for (theirs, ours) in [(KEY, OTHER_KEY), (KEY, none), (none, KEY)] {
        let written = encode_answer(&asked(), &answer(), theirs);
        let forged = Err(LeaseError::Forged { nonce: NONCE });
        assert_eq!(decode_echo(&written, ours), forged, "answers");
        let tag = |key| encode_question(&question(V4), V4, key)[48..56].to_vec();
        assert_ne!(tag(theirs), tag(ours), "questions");
    }
}

#[test]
fn the_tag_is_siphash_2_4_as_published() {
    // Appendix A of the paper, and of the reference implementation's vectors those of whole words.
    let key = LeaseKey(std::array::from_fn(|i| i as u8));
    for (len, hash) in [
        (0, 0x726f_db47_dd0e_0e31),
        (8, 0x93f5_f579_9a93_2462),
        (15, 0xa129_ca61_49be_45e5),
        (16, 0x3f2a_cc7f_57c2_9bdb),
    ] {
        let message: Vec<u8> = (0..len).collect();
        assert_eq!(sip(key, &message), hash, "{len} bytes");
    }
}

#[test]
fn both_halves_agree_on_every_constant() {
    use lease_constant as c;
    assert_eq!(c::LEASE_MAGIC.0, MAGIC, "magic");
    assert_eq!(c::LEASE_VERSION_1.0, VERSION, "version");
    assert_eq!(c::LEASE_MESSAGE_LEN.0 as usize, MESSAGE_LEN, "message");
    assert_eq!(c::LEASE_KEY_LEN.0 as usize, KEY.0.len(), "key");
    let sizes = [
        (size_of::<lease_message>(), c::LEASE_MESSAGE_LEN),
        (size_of::<lease_question>(), c::LEASE_QUESTION_LEN),
        (size_of::<lease_answer>(), c::LEASE_ANSWER_LEN),
    ];
    for (size, stated) in sizes {
        assert_eq!(size, stated.0 as usize, "{stated:?}");
    }
    let synchronised = u32::from(answered()[71]) & c::LEASE_CLOCK_SYNCHRONISED.0;
    assert_eq!(synchronised, 0x80, "the clock's bit");
}

#[test]
fn an_encapsulation_has_one_bit_in_settings_and_in_answers() {
    for (encapsulation, flag) in [
        (Encapsulation::OverTcpUdp, sink_flag::SINK_OVER_TCP_UDP),
        (Encapsulation::ExtensionUdp, sink_flag::SINK_EXTENSION_UDP),
        (Encapsulation::VxlanGpe, sink_flag::SINK_VXLAN_GPE),
    ] {
        let only = Encapsulations::default().with(encapsulation);
        assert_eq!(u32::from(only.bits()), flag.0, "{encapsulation}");
        assert_eq!(
            Encapsulations::from_bits(flag.0 as u8),
            only,
            "{encapsulation}"
        );
        assert!(only.contains(encapsulation), "{encapsulation}");
    }
    let all = 1 | 2 | 8;
    assert_eq!(
        Encapsulations::from_bits(0xff).bits(),
        all,
        "flags of other meaning are left out"
    );
}
