//! Small frames of many senders, as raw sockets send them.

pub fn hardware_address(text: &str) -> [u8; 6] {
    let bytes: Vec<u8> = text
        .trim()
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    bytes.try_into().unwrap()
}

/// Where a datagram goes, and where it seems to come from.
pub struct Udp {
    pub hardware: [u8; 6],
    pub from: u32,
    pub to: u32,
    pub ports: (u16, u16),
}

/// A UDP frame without UDP checksum.
pub fn udp_frame(udp: &Udp) -> Vec<u8> {
    let mut frame = vec![0; 14 + 20 + 8 + 18];
    frame[..6].copy_from_slice(&udp.hardware);
    frame[6] = 2;
    frame[12] = 0x08;
    let ip = &mut frame[14..34];
    ip[0] = 0x45;
    ip[3] = 20 + 8 + 18;
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = 17;
    ip[12..16].copy_from_slice(&udp.from.to_be_bytes());
    ip[16..20].copy_from_slice(&udp.to.to_be_bytes());
    let words = ip
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let check = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&check.to_be_bytes());
    frame[34..36].copy_from_slice(&udp.ports.0.to_be_bytes());
    frame[36..38].copy_from_slice(&udp.ports.1.to_be_bytes());
    frame[39] = 8 + 18;
    frame
}

pub fn next_random(state: &mut u64) -> u32 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 32) as u32
}
