//! What a sink does with a packet, by looking at it alone.

use hostint::datapath::abi::sink_counter;

use super::{BLOCK_LEN, EXTENSION_LEN, Encapsulation, Key, Resemblance, TCP, UDP};
use super::{change_ip, fixed_l4_len, l4_rest, resemblance, set_l4_check};
use crate::support::checksum::{be16, be32, put16};

/// How a sink is set up.
#[derive(Clone, Copy, Debug)]
pub struct Sink {
    pub over_tcp_udp: bool,
    pub extension_udp: bool,
    pub extension_port: u16,
    pub tos_value: u8,
    pub tos_mask: u8,
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
    pub block: [u8; BLOCK_LEN],
    /// Quoted in the event, as received.
    pub ip: [u8; 20],
    pub l4: Vec<u8>,
    /// IP total length as sent.
    pub sent_len: usize,
    /// The frame as sent.
    pub restored: Vec<u8>,
}

impl Tagged {
    pub fn sequence(&self) -> u32 {
        be32(&self.block, 28)
    }

    pub fn timestamp(&self) -> u32 {
        be32(&self.block, 20)
    }

    pub fn by_host_int(&self) -> bool {
        self.block[1] & 0x80 == 0
    }
}

impl Sink {
    pub fn look(&self, frame: &[u8]) -> Seen {
        let Some(ip) = frame.get(14..34) else {
            return Seen::Untouched;
        };
        if be16(frame, 12) != 0x0800 || !matches!(ip[9], TCP | UDP) {
            return Seen::Untouched;
        }
        let extended = self.extension_udp && self.is_for_extension_port(frame, ip);
        let marked = self.over_tcp_udp && ip[1] & self.tos_mask == self.tos_value;
        if !extended && !marked {
            return Seen::Untouched;
        }
        match self.open(frame, ip, extended) {
            Ok(tagged) => Seen::Tagged(Box::new(tagged)),
            Err(reason) => Seen::Refused(reason),
        }
    }

    /// Fragments but the first have no port, packets with options have it elsewhere.
    fn is_for_extension_port(&self, frame: &[u8], ip: &[u8]) -> bool {
        let begins = ip[0] == 0x45 && be16(ip, 6) & 0x1fff == 0;
        let port = || frame.get(34..42).map(|udp| be16(udp, 2));
        ip[9] == UDP && begins && port() == Some(self.extension_port)
    }

    fn open(&self, frame: &[u8], ip: &[u8], extended: bool) -> Result<Tagged, sink_counter> {
        if ip[0] != 0x45 {
            return Err(sink_counter::COUNT_SINK_IP_OPTIONS);
        }
        if be16(ip, 6) & 0x3fff != 0 {
            return Err(sink_counter::COUNT_SINK_FRAGMENT);
        }
        let total = usize::from(be16(ip, 2));
        if total < 20 || 14 + total > frame.len() {
            return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
        }
        if extended {
            open_extension(frame, ip, total)
        } else {
            self.open_over_tcp_udp(frame, ip, total)
        }
    }

    fn open_over_tcp_udp(
        &self,
        frame: &[u8],
        ip: &[u8],
        total: usize,
    ) -> Result<Tagged, sink_counter> {
        let protocol = ip[9];
        let fixed = fixed_l4_len(protocol);
        let after = 34 + fixed + BLOCK_LEN;
        if frame.len() < after {
            return Err(sink_counter::COUNT_SINK_FOREIGN_MARK);
        }
        let l4 = &frame[34..34 + fixed];
        let block = &frame[34 + fixed..after];
        refuse_unless_valid(block)?;
        let sent_header = match protocol {
            UDP if usize::from(be16(l4, 4)) == total - 20 => 8,
            UDP => return Err(sink_counter::COUNT_SINK_BAD_LENGTH),
            _ => usize::from(l4[12] >> 4) * 4,
        };
        if sent_header < fixed || total < 20 + sent_header + BLOCK_LEN {
            return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
        }
        Ok(Tagged {
            encapsulation: Encapsulation::OverTcpUdp,
            key: Key::of(ip, l4, protocol),
            block: block.try_into().expect("36 bytes"),
            ip: ip.try_into().expect("20 bytes"),
            l4: l4.to_vec(),
            sent_len: total - BLOCK_LEN,
            restored: self.restore(frame, total),
        })
    }

    fn restore(&self, frame: &[u8], total: usize) -> Vec<u8> {
        let protocol = frame[23];
        let at = 34 + fixed_l4_len(protocol);
        let (flags, dscp) = (frame[at + 1], frame[at + 3] & !3);
        let ecn = frame[15] & 3;
        let unmarked = frame[15] & !self.tos_mask;
        let tos = if flags & 0x40 != 0 {
            dscp | ecn
        } else {
            unmarked
        };

        let mut wire = frame.to_vec();
        if flags & 0x80 == 0 {
            wire[at + BLOCK_LEN - 4..at + BLOCK_LEN].fill(0);
        }
        let rest = l4_rest(&wire[14..34], protocol, &wire[34..14 + total]);
        let has_check = protocol == TCP || be16(frame, 40) != 0;

        let mut sent = frame.to_vec();
        sent.drain(at..at + BLOCK_LEN);
        let total = total - BLOCK_LEN;
        change_ip(&mut sent, tos, total, protocol);
        if protocol == UDP {
            put16(&mut sent, 38, total as u16 - 20);
        }
        if has_check {
            let (ip, l4) = sent[14..14 + total].split_at_mut(20);
            set_l4_check(ip, protocol, l4, rest);
        }
        sent
    }
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

fn open_extension(frame: &[u8], ip: &[u8], total: usize) -> Result<Tagged, sink_counter> {
    let inner = 34 + EXTENSION_LEN;
    if frame.len() < inner + 8 {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    }
    let block = &frame[42..inner];
    refuse_unless_valid(block)?;
    let protocol = block[32];
    if !matches!(protocol, TCP | UDP) {
        return Err(sink_counter::COUNT_SINK_BAD_PROTOCOL);
    }
    let fixed = fixed_l4_len(protocol);
    let Some(l4) = frame.get(inner..inner + fixed) else {
        return Err(sink_counter::COUNT_SINK_TRUNCATED);
    };
    if total < 20 + EXTENSION_LEN + fixed || usize::from(be16(frame, 38)) != total - 20 {
        return Err(sink_counter::COUNT_SINK_BAD_LENGTH);
    }
    let mut restored = frame.to_vec();
    restored.drain(34..inner);
    change_ip(&mut restored, ip[1], total - EXTENSION_LEN, protocol);
    Ok(Tagged {
        encapsulation: Encapsulation::ExtensionUdp,
        key: Key::of(ip, l4, protocol),
        block: block.try_into().expect("36 bytes"),
        ip: ip.try_into().expect("20 bytes"),
        l4: l4.to_vec(),
        sent_len: total - EXTENSION_LEN,
        restored,
    })
}
