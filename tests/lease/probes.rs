//! Probes of a lease's path stand in their packets as data would, and damaged ones are no probes.

use std::hash::Hasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::{lease_constant, lease_form, lease_probe};
use hostint::model::{Encapsulation, LeaseKey, LeaseProbe, NodeId, ProbeForm, TunnelObstacle};
use hostint::wire::DecodeError;
use hostint::wire::lease::LeaseError;
use hostint::wire::lease::probe::{
    BACK_MAGIC, FIRST_PORT, MAGIC, PROBE_LEN, PROBES, decode, encode, round_of_stray,
};
use hostint::wire::lease::probe_packet::{GPE_PORT, ProbePacket, STRAY_PORT};
use hostint_testing::checksum::{pseudo_header, sum, verify_packet};
use hostint_testing::int_block::Block;
use hostint_testing::model::gpe;
use siphasher::sip::SipHasher24;

const KEY: LeaseKey = LeaseKey(*b"sixteen bytes of");
const ROUND: u64 = 0x0102_0304_0506_0708;
const V4: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 2)),
];
const V6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2)),
];

fn probe(form: ProbeForm) -> LeaseProbe {
    LeaseProbe {
        form,
        number: 5,
        tos: 0x2c,
        round: ROUND,
    }
}

fn packet(form: ProbeForm, [source, dest]: [IpAddr; 2]) -> ProbePacket {
    ProbePacket {
        probe: probe(form),
        source,
        dest,
        node: NodeId(2),
        entries: 3,
        is_back: false,
    }
}

#[test]
fn a_stray_of_a_sinks_host_names_its_round_and_its_addresses() {
    for [from, to] in [V4, V6] {
        let stray = ProbePacket {
            is_back: true,
            ..packet(ProbeForm::Stray, [from, to])
        };
        let bytes = stray.payload(KEY, 0).split_off(20);
        let read = |pair, key| decode(&bytes, BACK_MAGIC, pair, key).is_ok();
        assert_eq!(round_of_stray(&bytes), Some(ROUND));
        assert!(read((from, to), KEY));
        assert!(!read((to, from), KEY), "turned");
        assert!(!read((from, to), LeaseKey([0; 16])), "another key");
        let taken = decode(&bytes, MAGIC, (from, to), KEY);
        assert!(taken.is_err(), "no sink takes it for a probe");
        for len in 0..bytes.len() {
            let short = &bytes[..len];
            assert!(decode(short, BACK_MAGIC, (from, to), KEY).is_err(), "{len}");
            assert_eq!(round_of_stray(short).is_some(), len >= 16, "{len}");
        }
    }
}

fn octets(addr: IpAddr) -> Vec<u8> {
    match addr {
        IpAddr::V4(v4) => v4.octets().into(),
        IpAddr::V6(v6) => v6.octets().into(),
    }
}

fn mapped(addr: IpAddr) -> [u8; 16] {
    match addr {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// The one's complement sum of a transport header and its payload, which is all ones if the checksum is right.
fn transport_sum([source, dest]: [IpAddr; 2], protocol: u8, bytes: &[u8]) -> u16 {
    let addresses = [octets(source), octets(dest)].concat();
    let total = pseudo_header(&addresses, protocol, bytes.len()) + sum(bytes);
    let folded = (total & 0xffff) + (total >> 16);
    ((folded & 0xffff) + (folded >> 16)) as u16
}

#[test]
fn a_probe_stands_byte_by_byte_as_the_header_draws_it() {
    for ([source, dest], (number, form)) in [V4, V6]
        .into_iter()
        .flat_map(|pair| (0u8..).zip(ProbeForm::ALL).map(move |form| (pair, form)))
    {
        let mut bytes = b"hinp\x02".to_vec();
        bytes.extend([number, 5, 0x2c]);
        bytes.extend(ROUND.to_be_bytes());
        let mut hasher = SipHasher24::new_with_key(&KEY.0);
        hasher.write(&[&bytes[..], &mapped(source), &mapped(dest)].concat());
        bytes.extend(hasher.finish().to_be_bytes());
        let written = encode(&probe(form), MAGIC, (source, dest), KEY);
        assert_eq!(written.to_vec(), bytes, "{form:?} from {source}");
        let padded = [&bytes[..], &[0; 9]].concat();
        for bytes in [bytes, padded] {
            assert_eq!(decode(&bytes, MAGIC, (source, dest), KEY), Ok(probe(form)));
        }
    }
}

#[test]
fn bytes_that_are_no_probe_are_refused() {
    let [source, dest] = V4;
    let written = encode(&probe(ProbeForm::Gpe), MAGIC, (source, dest), KEY);
    for len in 0..PROBE_LEN {
        let decoded = decode(&written[..len], MAGIC, (source, dest), KEY);
        let truncated = matches!(
            decoded,
            Err(LeaseError::Format(DecodeError::Truncated { .. }))
        );
        assert!(truncated, "{len} bytes: {decoded:?}");
    }
    for (at, bit) in (0..PROBE_LEN).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut changed = written;
        changed[at] ^= 1 << bit;
        let decoded = decode(&changed, MAGIC, (source, dest), KEY);
        let noticed = match at {
            0..4 => matches!(decoded, Err(LeaseError::Format(_))),
            4 => matches!(decoded, Err(LeaseError::Version(_))),
            8..16 => matches!(decoded, Err(LeaseError::Forged { nonce }) if nonce != ROUND),
            _ => decoded == Err(LeaseError::Forged { nonce: ROUND }),
        };
        assert!(noticed, "bit {bit} of byte {at}: {decoded:?}");
    }
    let forged = Err(LeaseError::Forged { nonce: ROUND });
    let other_key = LeaseKey::default();
    assert_eq!(
        decode(&written, MAGIC, (source, dest), other_key),
        forged,
        "a key"
    );
    assert_eq!(
        decode(&written, MAGIC, (dest, source), KEY),
        forged,
        "a reflection"
    );
    let many = LeaseProbe {
        number: PROBES,
        ..probe(ProbeForm::Gpe)
    };
    let written = encode(&many, MAGIC, (source, dest), KEY);
    let decoded = decode(&written, MAGIC, (source, dest), KEY);
    assert!(
        matches!(decoded, Err(LeaseError::Format(_))),
        "number 72: {decoded:?}"
    );
}

#[test]
fn a_probe_over_udp_has_an_int_block_before_it() {
    for pair @ [source, dest] in [V4, V6] {
        let packet = packet(ProbeForm::OverUdp, pair);
        let expected = [
            &Block::host_int().flags(0x80).port(0).sequence(5).0[..],
            &encode(&packet.probe, MAGIC, (source, dest), KEY),
        ]
        .concat();
        assert_eq!(packet.payload(KEY, 0), expected, "{source}");
        assert_eq!((packet.sport(), packet.dport(7)), (64517, 4790));
    }
}

#[test]
fn a_probe_of_an_extension_has_an_inner_udp_header() {
    for pair @ [source, dest] in [V4, V6] {
        let packet = packet(ProbeForm::Extension, pair);
        let payload = packet.payload(KEY, 0);
        let block = Block::host_int().flags(0x80).port(0).sequence(5);
        assert_eq!(payload[..36], block.byte(32, 17).0, "{source}: the block");
        let udp = &payload[36..];
        assert_eq!(udp[..6], [0xfc, 0x05, 0x12, 0xb6, 0, 32], "{source}: ports");
        assert_eq!(transport_sum(pair, 17, udp), 0xffff, "{source}: checksum");
        assert_eq!(udp[8..], encode(&packet.probe, MAGIC, (source, dest), KEY));
        assert_eq!((packet.sport(), packet.dport(7)), (64517, 7));
    }
}

#[test]
fn a_probe_of_a_tunnel_has_a_block_and_an_inner_packet() {
    for pair @ [source, dest] in [V4, V6] {
        let packet = packet(ProbeForm::Gpe, pair);
        let payload = packet.payload(KEY, 0);
        let block = gpe::Block {
            port: 0,
            sequence: 5,
            ..gpe::Block::single(source.is_ipv6())
        };
        assert_eq!(payload[..60], block.bytes(), "{source}: the block");
        let inner = &payload[60..];
        assert_eq!(verify_packet(inner), Ok(()), "{source}: checksums");
        let ip_len = if source.is_ipv4() { 20 } else { 40 };
        let expected_ip = match pair {
            [IpAddr::V4(_), _] => {
                let start = [0x45, 0x2c, 0, 52, 0, 0, 0x40, 0, 64, 17];
                [&start[..], &inner[10..12], &octets(source), &octets(dest)].concat()
            }
            _ => {
                let start = [0x62, 0xc0, 0, 0, 0, 32, 17, 64];
                [&start[..], &octets(source), &octets(dest)].concat()
            }
        };
        assert_eq!(inner[..ip_len], expected_ip, "{source}: IP");
        let udp = &inner[ip_len..];
        assert_eq!(udp[..6], [0xfc, 0x05, 0x12, 0xb6, 0, 32], "{source}: ports");
        assert_eq!(udp[8..], encode(&packet.probe, MAGIC, (source, dest), KEY));
    }
}

#[test]
fn a_stray_probe_is_a_segment_or_a_datagram_of_no_conversation() {
    for pair @ [source, dest] in [V4, V6] {
        let packet = packet(ProbeForm::Stray, pair);
        let segment = packet.payload(KEY, 0);
        let probe = encode(&packet.probe, MAGIC, (source, dest), KEY);
        assert_eq!(segment[..4], [0xfc, 0x05, 0xfb, 0xff], "{source}: ports");
        assert_eq!(segment[4..12], probe[16..], "{source}: numbers");
        assert_eq!(segment[12..16], [0x50, 0x12, 0xff, 0xff], "{source}: flags");
        assert_eq!(transport_sum(pair, 6, &segment), 0xffff, "{source}");
        assert_eq!(segment[20..], probe, "{source}: the probe");
        let mut even = packet;
        even.probe.number = 4;
        let flags = [segment[13], even.payload(KEY, 0)[13]];
        assert_eq!(flags, [0x12, 0x10], "{source}: SYN and ACK, ACK");
        assert_eq!(packet.raw_protocol(), Some(6), "{source}");

        let mut datagram = packet;
        datagram.probe.number = 8;
        assert_eq!(datagram.raw_protocol(), None, "{source}: from number 8 on");
        assert_eq!((datagram.sport(), datagram.dport(7)), (64520, 64511));
        let probe = encode(&datagram.probe, MAGIC, (source, dest), KEY);
        let payload = datagram.payload(KEY, 0);
        assert_eq!(payload[..24], probe, "{source}: the probe");
        assert_eq!(payload[24..], [0; 12], "{source}: as long as a segment");
    }
}

#[test]
fn a_probe_in_options_is_a_datagram_with_an_option_behind_its_data() {
    for pair @ [source, dest] in [V4, V6] {
        let packet = packet(ProbeForm::Options, pair);
        assert_eq!(packet.raw_protocol(), Some(17), "{source}");
        for len in [0, 1400] {
            let bytes = packet.payload(KEY, len);
            let udp_len = bytes.len() - 26;
            let (datagram, area) = bytes.split_at(udp_len);
            assert_eq!(datagram[..4], [0xfc, 0x05, 0x12, 0xb6], "{source}: ports");
            assert_eq!(datagram[4..6], (udp_len as u16).to_be_bytes(), "{source}");
            assert_eq!(transport_sum(pair, 17, datagram), 0xffff, "{source}");
            // It holds, too, for those who count the whole packet.
            assert_eq!(transport_sum(pair, 17, &bytes), 0xffff, "{source}");
            assert_eq!(area[2..6], [127, 24, 0x48, 0x49], "{source}: the option");
            let rest = [0x80, 0]
                .into_iter()
                .chain((udp_len as u16 - 8).to_be_bytes());
            let rest: Vec<u8> = rest
                .chain([0, 0, 0, 5])
                .chain([0; 8])
                .chain([0, 0, 0, 2])
                .collect();
            assert_eq!(area[6..], rest, "{source}: flags, size, number, node");
            let probe = encode(&packet.probe, MAGIC, (source, dest), KEY);
            assert_eq!(datagram[8..32], probe, "{source}");
        }
    }
}

#[test]
fn zeros_fill_a_probe_up_to_a_length() {
    for (pair, form) in [V4, V6]
        .into_iter()
        .flat_map(|pair| ProbeForm::ALL.map(|form| (pair, form)))
    {
        let packet = packet(form, pair);
        let least = packet.least_len();
        assert_eq!(packet.payload(KEY, 0).len(), least, "{form:?}: short");
        // What follows a datagram's data ends at an even place, behind the zeros.
        let (ends_even, behind) = match form {
            ProbeForm::Options => (1, 26),
            _ => (0, 0),
        };
        for len in [least + 1, 1472, 8972, 65_000] {
            let payload = packet.payload(KEY, len);
            assert_eq!(payload.len(), len & !ends_even, "{form:?}");
            let filled = least - behind..payload.len() - behind;
            let zeros = payload[filled].iter().all(|byte| *byte == 0);
            assert!(zeros, "{form:?}, {len} bytes");
        }
        let longest = packet.payload(KEY, usize::MAX).len();
        assert!(longest <= 65_507, "{form:?}: it fits into an IP packet");
    }
    let long = packet(ProbeForm::Gpe, V6).payload(KEY, 1001);
    assert_eq!(verify_packet(&long[60..]), Ok(()), "of an odd length");
}

#[test]
fn both_halves_agree_on_every_constant() {
    use lease_constant as c;
    assert_eq!(c::LEASE_PROBE_MAGIC.0, MAGIC, "magic");
    assert_eq!(c::LEASE_REVERSE_MAGIC.0, BACK_MAGIC, "magic in reverse");
    assert_eq!(c::LEASE_PROBES.0, u32::from(PROBES), "number of probes");
    assert_eq!(c::LEASE_PROBE_PORT.0, u32::from(FIRST_PORT), "ports");
    let back = ProbeForm::STRAYS_BACK;
    assert_eq!(c::LEASE_STRAYS_BACK.0, u32::from(back), "number of strays");
    for (at, one) in TunnelObstacle::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(one.number()), at, "{one:?}");
    }
    assert_eq!(size_of::<lease_probe>(), PROBE_LEN, "length");
    assert_eq!(GPE_PORT, gpe::PORT, "destination");
    assert_eq!(c::LEASE_STRAY_PORT.0, u32::from(STRAY_PORT), "of strays");
    let forms = [
        (lease_form::FORM_OVER_UDP, Some(Encapsulation::OverTcpUdp)),
        (
            lease_form::FORM_EXTENSION,
            Some(Encapsulation::ExtensionUdp),
        ),
        (lease_form::FORM_GPE, Some(Encapsulation::VxlanGpe)),
        (lease_form::FORM_STRAY, None),
    ];
    for ((number, encapsulation), form) in forms.into_iter().zip(ProbeForm::ALL) {
        assert_eq!(number.0, u32::from(form.number()), "{form:?}");
        assert_eq!(encapsulation, form.encapsulation(), "{form:?}");
    }
}
