//! Random packets: valid ones of every shape, and damaged ones.

use super::checksum::{be16, be32, put16};
use super::frame::{EXTENSION_PORT, Frame, INT_MD_MARK, TCP, UDP};
use super::int_block::Block;
use super::model::transit::{self, Entry};
use super::model::{Encapsulation, gpe, int_md, int_mx, layout};
use super::programs::LONGEST_FRAME;
use super::random::Random;

/// Any packet that a host sends to another with TCP or UDP in one piece, and a source may tag.
pub fn plain(random: &mut Random) -> Frame {
    let longest = LONGEST_FRAME - 22 - 104 - 60 - 108 - 4 - 9 * 24;
    let len = match random.below(8) {
        0 => 0,
        1 => random.below(4),
        2..5 => random.below(80),
        5 | 6 => random.below(1460),
        _ => random.below(longest),
    };
    let payload = random.bytes(len);
    let mut frame = Frame::ethernet()
        .ipv4()
        .dscp(random.u8() >> 2)
        .ecn(random.u8() >> 6)
        .id(random.u16())
        .ttl(random.u8().max(1))
        .dont_fragment(len > 400 || !random.one_in(4))
        .from([192, 0, 2, random.u8() & 7])
        .to([198, 51, 100, random.u8() & 7])
        .ports(40000 + random.u16() % 8, 5001)
        .payload_bytes(payload);
    if random.one_in(2) {
        frame = frame.tcp().tcp_options(random.below(11) * 4);
    } else {
        frame = frame.udp();
        if random.one_in(4) {
            frame = frame.without_udp_checksum();
        }
    }
    if random.one_in(4) {
        frame = frame.ipv6().dont_fragment(true);
        for _ in 0..random.below(8).saturating_sub(4) {
            let kind = random.pick(&[0, 43, 60]);
            frame = frame.extension_header(kind, 8 * (1 + random.below(2)));
        }
    } else if random.one_in(8) {
        frame = frame.ip_options(4 * (1 + random.below(10)));
    }
    if random.one_in(8) {
        frame = frame.padding(random.below(40));
    }
    frame
}

/// At XDP a tag stands in the frame, or two; TC hooks have it from the kernel.
pub fn with_vlans(random: &mut Random, mut frame: Frame) -> Frame {
    for _ in 0..random.below(8).saturating_sub(5) {
        frame = frame.vlan(1 + random.u16() % 4094);
    }
    frame
}

/// A packet as it may arrive at a sink: with INT of either encapsulation and any content, or without.
/// TC has VLAN tags from the kernel, which keeps them there.
pub fn received(random: &mut Random, vlans: bool) -> Vec<u8> {
    let mut frame = plain(random);
    if vlans {
        frame = with_vlans(random, frame);
    }
    let mut block = match random.below(3) {
        0 => Block::host_int().tail(random.u32()),
        1 => Block::hostint_extension(),
        _ => Block::hostint(),
    };
    block = block
        .node(random.u32())
        .port(random.u16())
        .timestamp(random.u32())
        .sequence(random.u32());
    if random.one_in(2) {
        block = block.tail(random.u32());
    }
    let (encapsulation, tagged) = match random.below(10) {
        0 => return frame.bytes(),
        1 | 2 => (Encapsulation::ExtensionUdp, frame.extended(block).bytes()),
        3 | 4 => (Encapsulation::VxlanGpe, wrapped(random, &frame.bytes())),
        5 => return with_int_mx(random, &frame.bytes()),
        6 => (Encapsulation::IntMd, with_int_md(random, &frame.bytes())),
        _ => (Encapsulation::OverTcpUdp, frame.tagged(block).bytes()),
    };
    if random.one_in(2) {
        return tagged;
    }
    let hops = random.below(10);
    pushed(random, tagged, encapsulation, hops)
}

/// The packet after this many transit hops.
pub fn pushed(
    random: &mut Random,
    tagged: Vec<u8>,
    encapsulation: Encapsulation,
    hops: usize,
) -> Vec<u8> {
    (0..hops).fold(tagged, |frame, _| {
        let entry = Entry {
            node: random.u32(),
            ingress_port: random.u16(),
            egress_port: random.u16(),
            queue: random.u32(),
            ingress_ns: random.next(),
            latency_ns: random.u32(),
        };
        transit::push(&frame, encapsulation, &entry)
    })
}

/// A packet with INT-MD.
fn with_int_md(random: &mut Random, frame: &[u8]) -> Vec<u8> {
    let own = int_md::Own {
        budget: random.u8(),
        without_queue: random.one_in(2),
        age_code: random.u8() & 15,
        node: random.u32(),
        port: random.u16(),
        queue_packets: random.u32() >> 8,
        timestamp: random.next(),
        sequence: random.u32(),
        tail: random.u32(),
    };
    own.insert(frame, INT_MD_MARK)
}

/// A packet with INT-MX.
pub fn with_int_mx(random: &mut Random, frame: &[u8]) -> Vec<u8> {
    let own = int_mx::Own {
        sample: random.u8() % 17,
        age_code: random.u8() & 15,
        sequence: random.u32() << (random.u8() % 32),
        node: random.u32(),
        port: random.u16(),
        timestamp: random.u32(),
        tail: random.u32(),
    };
    own.insert(frame, INT_MD_MARK)
}

/// A packet, or a superpacket's segments, in vxlan-gpe.
fn wrapped(random: &mut Random, frame: &[u8]) -> Vec<u8> {
    let at = layout::find(frame).expect("TCP or UDP");
    let size = 1 + random.u16() % 2_000;
    let index = random.u32() % 40;
    let first = match at.protocol {
        TCP => be32(frame, at.l4 + 4).wrapping_sub(index * u32::from(size)),
        _ => u32::from(be16(frame, at.l3 + 4)).wrapping_sub(index),
    };
    let single = random.one_in(2);
    let block = gpe::Block {
        v6: at.v6,
        budget: random.one_in(2).then(|| random.u8()),
        without_queue: random.one_in(2),
        age_code: random.u8() & 15,
        node: random.u32(),
        port: random.u16(),
        queue_packets: random.u32() >> 8,
        queue_bytes: random.u32(),
        timestamp: random.next(),
        sequence: random.u32(),
        base: first,
        size: if single { 0 } else { size },
        count: if single { 1 } else { random.u16() % 140 },
    };
    let mut wrapped = gpe::wrap(frame, &at, random.u16(), &block);
    // What routers do to the outer header.
    wrapped[at.l3 + if at.v6 { 7 } else { 8 }] ^= random.u8();
    if !at.v6 {
        wrapped[at.l3 + 1] ^= random.u8();
    }
    wrapped
}

/// A packet as it may leave a host: sometimes of a kind that is not tagged.
pub fn sent(random: &mut Random) -> Frame {
    let frame = plain(random);
    match random.below(40) {
        0 => frame.extension_header(44, 8),
        1 => frame.extension_header(60, 8 * (1 + random.below(12))),
        2 => frame.more_fragments(),
        3 => frame.fragment_offset(1 + random.u16() % 0x1fff),
        4 => frame.protocol(random.u8()),
        5 => frame.ethertype(random.u16()),
        6 => frame.to([224 + random.u8() % 16, 0, 0, 1]),
        7 => frame.destination([0xff; 6]),
        8 => frame.dont_fragment(false),
        9 => frame.ports(1, random.pick(&[32766, 9555, EXTENSION_PORT])),
        10 | 11 => frame.tagged(Block::hostint().sequence(random.u32())),
        12 => frame.extended(Block::hostint_extension()),
        _ => frame,
    }
}

/// Damages a frame in one to four ways, mostly where headers are.
pub fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(4) {
        let headers = bytes.len().min(120);
        // Addresses are of no interest to either program.
        let at = match random.below(3) {
            0 => 12 + random.below(headers - 12),
            1 => 34 + random.below(headers.max(35) - 34),
            _ => random.below(headers),
        };
        match random.below(9) {
            0..3 => flip(random, bytes, at),
            3 => set(bytes, at, random.u8()),
            4 => set(
                bytes,
                at,
                random.pick(&[0, 1, 3, 4, 9, 0x45, TCP, UDP, 0xff]),
            ),
            5 => nudge(random, bytes, random_length_field(random)),
            6 => nudge(random, bytes, at),
            7 => bytes.truncate(14 + random.below(bytes.len() - 13)),
            _ => bytes.extend(random.bytes(random_tail(random))),
        }
    }
    bytes.truncate(LONGEST_FRAME);
}

fn random_tail(random: &Random) -> usize {
    random.clone().below(24)
}

/// IP total length, outer UDP length, the shim's length.
fn random_length_field(random: &Random) -> usize {
    random.clone().pick(&[16, 38, 38, 46, 82])
}

fn flip(random: &mut Random, bytes: &mut [u8], at: usize) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set(bytes: &mut [u8], at: usize, value: u8) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

/// Makes a 16-bit field a little larger or smaller.
fn nudge(random: &mut Random, bytes: &mut [u8], at: usize) {
    if at + 2 <= bytes.len() {
        let by = random.pick(&[-44i16, -36, -20, -8, -2, -1, 1, 2, 8, 20, 36, 44]);
        let value = i16::from_be_bytes([bytes[at], bytes[at + 1]]);
        put16(bytes, at, value.wrapping_add(by).cast_unsigned());
    }
}

/// A valid packet that a source with this encapsulation tags on an interface with a large MTU.
pub fn taggable(random: &mut Random, encapsulation: Encapsulation) -> Frame {
    loop {
        let frame = plain(random);
        let bytes = frame.bytes();
        let at = layout::find(&bytes).expect("TCP or UDP");
        let fits = at.dont_fragment || at.ip_len + encapsulation.added(at.base_len()) <= 560;
        // vxlan-gpe would hide options from routers.
        let hides = encapsulation == Encapsulation::VxlanGpe && at.header_len() > at.base_len();
        if fits && !hides {
            return frame;
        }
    }
}
