//! A model of the sink: what it does with a packet, by looking at that packet alone.

use hostint::datapath::abi::sink_counter;

use super::layout::{self, Layout, NotFound};
use super::{
    BLOCK_LEN, EXTENSION_LEN, Encapsulation, HOP_LEN, Key, MOST_PUSHED, Resemblance, TCP, UDP, gpe,
    int_md, int_mx,
};
use super::{change_ip, fixed_l4_len, l4_rest, resemblance, set_l4_check};
use crate::checksum::{be16, be32, put16};

/// How a sink is set up.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    pub over_tcp_udp: bool,
    pub extension_udp: bool,
    pub vxlan_gpe: bool,
    pub extension_port: u16,
    pub tos_value: u8,
    pub tos_mask: u8,
    /// Value and mask of the ToS byte that mark INT-MD.
    pub int_md: Option<(u8, u8)>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Seen {
    /// Nobody's business: neither changed nor counted.
    Untouched,
    /// Looks like INT or bears its mark, but is left as it is.
    Refused(sink_counter),
    Tagged(Box<Tagged>),
}

/// A packet with INT.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tagged {
    pub encapsulation: Encapsulation,
    pub key: Key,
    pub sequence: u32,
    /// Segments of a superpacket in it; 0: it can't be told which.
    pub count: u64,
    pub timestamp: u32,
    pub by_host_int: bool,
    /// Quoted in the event: the IP header's first bytes.
    pub ip: [u8; 20],
    pub l4: Vec<u8>,
    /// IP length as sent.
    pub sent_len: usize,
    /// The frame as sent.
    pub restored: Vec<u8>,
    /// Entries of transit hops, newest first.
    pub pushed: Vec<Vec<u8>>,
}

fn first_bytes(frame: &[u8], l3: usize) -> [u8; 20] {
    frame[l3..l3 + 20].try_into().expect("twenty bytes")
}

impl Sink {
    pub fn look(&self, frame: &[u8]) -> Seen {
        let marked = |at: &Layout| self.is_marked(at) || self.is_marked_md(at);
        let at = match layout::find(frame) {
            Ok(at) => at,
            Err(NotFound::TooDeep(at)) if marked(&at) => {
                return Seen::Refused(sink_counter::COUNT_SINK_IP_OPTIONS);
            }
            Err(NotFound::Malformed(at)) if marked(&at) => {
                return Seen::Refused(sink_counter::COUNT_SINK_BAD_LENGTH);
            }
            Err(_) => return Seen::Untouched,
        };
        let port = match at.protocol == UDP && !at.later_fragment {
            true => frame.get(at.l4..at.l4 + 8).map(|udp| be16(udp, 2)),
            false => None,
        };
        let extended = self.extension_udp && port == Some(self.extension_port);
        let wrapped = self.vxlan_gpe && port == Some(gpe::PORT);
        if !extended && !wrapped && !marked(&at) {
            return Seen::Untouched;
        }
        let opened = self
            .check(frame, &at)
            .and_then(|()| match (extended, wrapped) {
                (true, _) => open_extension(frame, &at),
                (_, true) => open_gpe(frame, &at),
                _ => self.open_behind_l4(frame, &at),
            });
        match opened {
            Ok(tagged) => Seen::Tagged(Box::new(tagged)),
            Err(reason) => Seen::Refused(reason),
        }
    }

    fn check(&self, frame: &[u8], at: &Layout) -> Result<(), sink_counter> {
        if at.fragment {
            return Err(sink_counter::COUNT_SINK_FRAGMENT);
        }
        if at.ip_len < at.header_len() || at.l3 + at.ip_len > frame.len() {
            return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
        }
        Ok(())
    }

    fn is_marked(&self, at: &Layout) -> bool {
        self.over_tcp_udp && at.tos & self.tos_mask == self.tos_value
    }

    fn is_marked_md(&self, at: &Layout) -> bool {
        (self.int_md).is_some_and(|(value, mask)| at.tos & mask == value)
    }

    /// The DSCP may be both marks: the first byte of the block says which INT this is.
    fn open_behind_l4(&self, frame: &[u8], at: &Layout) -> Result<Tagged, sink_counter> {
        let first = frame.get(at.l4 + fixed_l4_len(at.protocol));
        match (self.is_marked_md(at), self.is_marked(at)) {
            (true, _) if first == Some(&0x30) => open_int_mx(frame, at),
            (true, _) if first != Some(&3) => open_int_md(frame, at),
            (_, true) => self.open_over_tcp_udp(frame, at),
            _ => Err(sink_counter::COUNT_SINK_FOREIGN_MARK),
        }
    }

    fn open_over_tcp_udp(&self, frame: &[u8], at: &Layout) -> Result<Tagged, sink_counter> {
        let fixed = fixed_l4_len(at.protocol);
        let block_at = at.l4 + fixed;
        if frame.len() < block_at + BLOCK_LEN {
            return Err(sink_counter::COUNT_SINK_FOREIGN_MARK);
        }
        let l4 = &frame[at.l4..block_at];
        refuse_unless_valid(&frame[block_at..])?;
        let grown = grown(&frame[block_at..]);
        let Some(block) = frame.get(block_at..block_at + grown + BLOCK_LEN) else {
            return Err(sink_counter::COUNT_SINK_TRUNCATED);
        };
        let sent_header = match at.protocol {
            UDP if usize::from(be16(l4, 4)) + at.header_len() == at.ip_len => 8,
            UDP => return Err(sink_counter::COUNT_SINK_BAD_LENGTH),
            _ => usize::from(l4[12] >> 4) * 4,
        };
        if sent_header < fixed || at.ip_len < at.header_len() + sent_header + block.len() {
            return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
        }
        Ok(Tagged {
            encapsulation: Encapsulation::OverTcpUdp,
            key: Key::of(frame, at, l4, at.protocol),
            sequence: be32(block, grown + 28),
            count: 1,
            timestamp: be32(block, grown + 20),
            by_host_int: block[1] & 0x80 == 0,
            ip: first_bytes(frame, at.l3),
            l4: l4.to_vec(),
            sent_len: at.ip_len - block.len(),
            restored: self.restore(frame, at, block.len()),
            pushed: entries(&block[12..12 + grown], HOP_LEN),
        })
    }

    fn restore(&self, frame: &[u8], at: &Layout, block_len: usize) -> Vec<u8> {
        let protocol = at.protocol;
        let block_at = at.l4 + fixed_l4_len(protocol);
        let (flags, dscp) = (frame[block_at + 1], frame[block_at + 3] & !3);
        let unmarked = at.tos & !self.tos_mask;
        let tos = if flags & 0x40 != 0 {
            dscp | at.tos & 3
        } else {
            unmarked
        };

        let mut wire = frame.to_vec();
        if flags & 0x80 == 0 {
            wire[block_at + block_len - 4..block_at + block_len].fill(0);
        }
        without_block(frame, &wire, at, block_len, tos)
    }
}

/// The frame without what stands behind its L4 header, with a checksum that is as right as that of the wire.
fn without_block(frame: &[u8], wire: &[u8], at: &Layout, block_len: usize, tos: u8) -> Vec<u8> {
    let protocol = at.protocol;
    let block_at = at.l4 + fixed_l4_len(protocol);
    let addresses = frame[at.addresses()].to_vec();
    let rest = l4_rest(&addresses, protocol, &wire[at.l4..at.l3 + at.ip_len]);
    let has_check = protocol == TCP || be16(frame, at.l4 + 6) != 0;

    let mut sent = frame.to_vec();
    sent.drain(block_at..block_at + block_len);
    let ip_len = at.ip_len - block_len;
    change_ip(&mut sent, at, tos, ip_len, protocol);
    if protocol == UDP {
        put16(&mut sent, at.l4 + 4, (ip_len - at.header_len()) as u16);
    }
    if has_check {
        set_l4_check(&addresses, protocol, &mut sent[at.l4..at.l3 + ip_len], rest);
    }
    sent
}

fn open_int_md(frame: &[u8], at: &Layout) -> Result<Tagged, sink_counter> {
    use int_md::Resemblance;
    let block_at = at.l4 + fixed_l4_len(at.protocol);
    let Some(head) = frame.get(block_at..block_at + int_md::HEAD) else {
        return Err(sink_counter::COUNT_SINK_FOREIGN_MARK);
    };
    match int_md::resemblance(head) {
        Resemblance::Valid => {}
        Resemblance::None => return Err(sink_counter::COUNT_SINK_FOREIGN_MARK),
        Resemblance::BadShim => return Err(sink_counter::COUNT_SINK_BAD_SHIM),
        Resemblance::BadVersion => return Err(sink_counter::COUNT_SINK_BAD_VERSION),
        Resemblance::BadBitmap => return Err(sink_counter::COUNT_SINK_BAD_BITMAP),
    }
    let block_len = 4 + 4 * usize::from(head[1]);
    let Some(block) = frame.get(block_at..block_at + block_len) else {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    };
    let l4 = &frame[at.l4..block_at];
    let sent_header = match at.protocol {
        UDP if usize::from(be16(l4, 4)) + at.header_len() == at.ip_len => 8,
        UDP => return Err(sink_counter::COUNT_SINK_BAD_LENGTH),
        _ => usize::from(l4[12] >> 4) * 4,
    };
    if sent_header < l4.len() || at.ip_len < at.header_len() + sent_header + block_len {
        return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
    }
    let hop_len = 4 * usize::from(head[6]);
    // Behind the source's entry are the number and the tail.
    let source = block_len - 8 - hop_len;
    let tos = block[3] & !3 | at.tos & 3;
    Ok(Tagged {
        encapsulation: Encapsulation::IntMd,
        key: Key::of(frame, at, l4, at.protocol),
        sequence: be32(block, block_len - 8),
        count: 1,
        timestamp: be32(block, block_len - 12),
        by_host_int: false,
        ip: first_bytes(frame, at.l3),
        l4: l4.to_vec(),
        sent_len: at.ip_len - block_len,
        restored: without_block(frame, frame, at, block_len, tos),
        pushed: entries(&block[int_md::HEAD..source], hop_len),
    })
}

fn open_int_mx(frame: &[u8], at: &Layout) -> Result<Tagged, sink_counter> {
    use int_mx::Resemblance;
    let block_at = at.l4 + fixed_l4_len(at.protocol);
    let Some(head) = frame.get(block_at..block_at + int_md::HEAD) else {
        return Err(sink_counter::COUNT_SINK_FOREIGN_MARK);
    };
    let Some(block) = frame.get(block_at..block_at + int_mx::LEN) else {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    };
    match int_mx::resemblance(head) {
        Resemblance::Valid => {}
        Resemblance::BadShim => return Err(sink_counter::COUNT_SINK_BAD_SHIM),
        Resemblance::BadVersion => return Err(sink_counter::COUNT_SINK_BAD_VERSION),
        Resemblance::BadBitmap => return Err(sink_counter::COUNT_SINK_BAD_BITMAP),
    }
    let l4 = &frame[at.l4..block_at];
    let sent_header = match at.protocol {
        UDP if usize::from(be16(l4, 4)) + at.header_len() == at.ip_len => 8,
        UDP => return Err(sink_counter::COUNT_SINK_BAD_LENGTH),
        _ => usize::from(l4[12] >> 4) * 4,
    };
    if sent_header < l4.len() || at.ip_len < at.header_len() + sent_header + int_mx::LEN {
        return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
    }
    let own = int_mx::Own::of(frame);
    Ok(Tagged {
        encapsulation: Encapsulation::IntMd,
        key: Key::of(frame, at, l4, at.protocol),
        sequence: own.sequence,
        count: 1,
        timestamp: own.timestamp,
        by_host_int: false,
        ip: first_bytes(frame, at.l3),
        l4: l4.to_vec(),
        sent_len: at.ip_len - int_mx::LEN,
        restored: without_block(frame, frame, at, int_mx::LEN, block[3] & !3 | at.tos & 3),
        pushed: Vec::new(),
    })
}

fn refuse_unless_valid(block: &[u8]) -> Result<(), sink_counter> {
    match resemblance(block) {
        Resemblance::Valid => Ok(()),
        Resemblance::OnlyShimDiffers => Err(sink_counter::COUNT_SINK_BAD_SHIM),
        Resemblance::OnlyVersionDiffers => Err(sink_counter::COUNT_SINK_BAD_VERSION),
        Resemblance::OnlyBitmapDiffers => Err(sink_counter::COUNT_SINK_BAD_BITMAP),
        Resemblance::None => Err(sink_counter::COUNT_SINK_FOREIGN_MARK),
    }
}

/// Bytes of the entries that transit hops pushed onto a valid INT v0.5 block.
fn grown(block: &[u8]) -> usize {
    HOP_LEN * usize::from(block[7] - 1)
}

fn entries(stack: &[u8], len: usize) -> Vec<Vec<u8>> {
    stack.chunks(len).map(<[u8]>::to_vec).collect()
}

fn open_extension(frame: &[u8], at: &Layout) -> Result<Tagged, sink_counter> {
    if frame.len() < at.l4 + EXTENSION_LEN + 8 {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    }
    refuse_unless_valid(&frame[at.l4 + 8..])?;
    let grown = grown(&frame[at.l4 + 8..]);
    let room = EXTENSION_LEN + grown;
    let inner = at.l4 + room;
    if frame.len() < inner + 8 {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    }
    let block = &frame[at.l4 + 8..inner];
    let protocol = block[grown + 32];
    if !matches!(protocol, TCP | UDP) {
        return Err(sink_counter::COUNT_SINK_BAD_PROTOCOL);
    }
    let fixed = fixed_l4_len(protocol);
    let Some(l4) = frame.get(inner..inner + fixed) else {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    };
    let udp_len = usize::from(be16(frame, at.l4 + 4));
    if at.ip_len < at.header_len() + room + fixed || udp_len + at.header_len() != at.ip_len {
        return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
    }
    let mut restored = frame.to_vec();
    restored.drain(at.l4..inner);
    change_ip(&mut restored, at, at.tos, at.ip_len - room, protocol);
    Ok(Tagged {
        encapsulation: Encapsulation::ExtensionUdp,
        key: Key::of(frame, at, l4, protocol),
        sequence: be32(block, grown + 28),
        count: 1,
        timestamp: be32(block, grown + 20),
        by_host_int: block[1] & 0x80 == 0,
        ip: first_bytes(frame, at.l3),
        l4: l4.to_vec(),
        sent_len: at.ip_len - room,
        restored,
        pushed: entries(&block[12..12 + grown], HOP_LEN),
    })
}

fn check_gpe_block(block: &[u8]) -> Result<(), sink_counter> {
    if block[0] != 0x0c || block[3] != 0x82 {
        return Err(sink_counter::COUNT_SINK_FOREIGN_MARK);
    }
    // A node that asks for a hop's latency, too, has entries of six words, or of five without the queue.
    let (entry, bitmap) = match (block[14], block[16]) {
        (6, _) => (6, 0xf8),
        (_, 0xe8) => (5, 0xe8),
        _ => (5, 0xd8),
    };
    let stack = usize::from(block[9]).saturating_sub(7);
    let whole = stack.is_multiple_of(entry) && (1..=1 + MOST_PUSHED).contains(&(stack / entry));
    if block[8] != 0x10 || !whole || !matches!(block[11], 1 | 2) {
        return Err(sink_counter::COUNT_SINK_BAD_SHIM);
    }
    // E and M may have been set on the way
    if block[12] & !0x06 != 0x20 || !matches!(block[14], 5 | 6) {
        return Err(sink_counter::COUNT_SINK_BAD_VERSION);
    }
    if block[16..22] != [bitmap, 0, 0x48, 0x49, 0xe0, 0] || be16(block, 22) & 0xfff0 != 0 {
        return Err(sink_counter::COUNT_SINK_BAD_BITMAP);
    }
    Ok(())
}

fn open_gpe(frame: &[u8], at: &Layout) -> Result<Tagged, sink_counter> {
    if frame.len() < at.l4 + gpe::ROOM {
        return Err(sink_counter::COUNT_SINK_FOREIGN_MARK);
    }
    let head = &frame[at.l4 + 8..];
    check_gpe_block(head)?;
    if usize::from(be16(frame, at.l4 + 4)) + at.header_len() != at.ip_len {
        return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
    }
    let entry_len = 4 * usize::from(head[14]);
    let stack_len = 4 * (usize::from(head[9]) - 7);
    let room = gpe::ROOM - 20 + stack_len;
    let inner = at.l4 + room;
    if frame.len() < inner {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    }
    let pushed = entries(&head[24..24 + stack_len - entry_len], entry_len);
    // From the queue on, all stands where it does in a block without further items and entries.
    let block = &head[room - gpe::ROOM..room - 8];
    let bad = sink_counter::COUNT_SINK_BAD_INNER;
    let found = match head[11] {
        1 => layout::find_ipv4(frame, inner, at.vlans.clone()),
        _ => layout::find_ipv6(frame, inner, at.vlans.clone()),
    };
    let original = found.map_err(|_| bad)?;
    if at.header_len() != at.base_len()
        || original.v6 != at.v6
        || original.fragment
        || original.ip_len + at.header_len() + room != at.ip_len
        || original.mapped_addresses(frame) != at.mapped_addresses(frame)
    {
        return Err(bad);
    }
    let fixed = fixed_l4_len(original.protocol);
    let l4 = frame.get(original.l4..original.l4 + fixed).ok_or(bad)?;
    let l4_len = match original.protocol {
        UDP => 8,
        _ => usize::from(l4[12] >> 4) * 4,
    };
    let payload = original
        .ip_len
        .checked_sub(original.header_len() + l4_len)
        .ok_or(bad)?;
    let segments = segments(frame, at, block, l4, original.protocol, payload as u32);

    let mut restored = frame.to_vec();
    restored.drain(at.l3..inner);
    let now = layout::find(&restored).map_err(|_| bad)?;
    if at.v6 {
        restored[at.l3 + 7] = frame[at.l3 + 7];
        change_ip(&mut restored, &now, at.tos, now.ip_len, now.protocol);
    } else {
        set_ttl(&mut restored, &now, frame[at.l3 + 8]);
        change_ip(&mut restored, &now, at.tos, now.ip_len, now.protocol);
    }
    Ok(Tagged {
        encapsulation: Encapsulation::VxlanGpe,
        key: Key::of(frame, &original, l4, original.protocol),
        sequence: segments.map_or(0, |(sequence, _)| sequence),
        count: segments.map_or(0, |(_, count)| count),
        timestamp: be32(block, 40),
        by_host_int: false,
        ip: first_bytes(frame, original.l3),
        l4: l4.to_vec(),
        sent_len: original.ip_len,
        restored,
        pushed,
    })
}

/// The header checksum follows, however wrong it was.
fn set_ttl(frame: &mut [u8], at: &Layout, ttl: u8) {
    use crate::checksum::{complement, sum};
    let header = at.l3..at.l3 + at.header_len();
    let wrong_by = sum(&frame[header.clone()]);
    frame[at.l3 + 8] = ttl;
    put16(frame, at.l3 + 10, 0);
    let without = sum(&frame[header]);
    put16(frame, at.l3 + 10, complement(without + 65535 - wrong_by));
}

/// The first segment's number, and how many there are.
fn segments(
    frame: &[u8],
    at: &Layout,
    block: &[u8],
    l4: &[u8],
    protocol: u8,
    payload: u32,
) -> Option<(u32, u64)> {
    let sequence = be32(block, 44);
    let base = be32(block, 52);
    let (size, count) = (u32::from(be16(block, 56)), u32::from(be16(block, 58)));
    if count <= 1 {
        return Some((sequence, 1));
    }
    if size == 0 || payload == 0 || count > 128 {
        return None;
    }
    let index = match protocol {
        TCP => {
            let offset = be32(l4, 4).wrapping_sub(base);
            offset.is_multiple_of(size).then_some(offset / size)?
        }
        _ if at.v6 => base.wrapping_neg() & 0xffff,
        _ => u32::from(be16(frame, at.l3 + 4)).wrapping_sub(base) & 0xffff,
    };
    let here = payload.div_ceil(size);
    (index < count && here <= count - index).then_some((sequence.wrapping_add(index), here.into()))
}
