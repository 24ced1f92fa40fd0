//! The packets of a capture file: pcap or pcapng, of either byte order.

use std::io::{self, Read};

use pcap_parser::nom::{Err as NomError, IResult};
use pcap_parser::pcapng::{
    EPB_MAGIC, IDB_MAGIC, SPB_MAGIC, parse_enhancedpacketblock_be, parse_enhancedpacketblock_le,
    parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le,
    parse_simplepacketblock_be, parse_simplepacketblock_le,
};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    InterfaceDescriptionBlock, LegacyPcapBlock, Linktype, PcapError, PcapHeader, parse_pcap_frame,
    parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

/// The longest block that is read, which is longer than any packet with its options.
pub const MAX_BLOCK_BYTES: usize = 16 << 20;

const READ_BYTES: usize = 64 << 10;
const NS_PER_S: u64 = 1_000_000_000;
/// The type of a pcapng section header, the same in either byte order.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// A number in the section header, in the section's byte order.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// The reason why a capture cannot be read, or not any further.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("{0}")]
    Read(#[from] io::Error),
    #[error("it is neither pcap nor pcapng nor JSON lines")]
    Unknown,
    #[error("it ends in the middle of a block at byte {offset}")]
    Cut { offset: u64 },
    #[error("the block at byte {offset} is damaged")]
    Damaged { offset: u64 },
    #[error("the block at byte {offset} is longer than {MAX_BLOCK_BYTES} bytes")]
    TooLong { offset: u64 },
}

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Nanoseconds since the Unix epoch; 0 if the capture has no time.
    pub time_ns: u64,
    pub link: LinkType,
    pub bytes: &'a [u8],
    /// The capture holds only the packet's beginning.
    pub is_cut: bool,
}

/// The header that a captured packet begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkType {
    Ethernet,
    /// IPv4 or IPv6.
    Raw,
    /// The header that Linux makes for `-i any`.
    LinuxV1,
    LinuxV2,
    /// The address family, in the byte order of the capturing host or of the network.
    Loopback,
    Other,
}

/// A capture that is read once, from beginning to end.
pub struct Capture<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The bytes of the buffer that were processed.
    done: usize,
    /// The buffer's place in the file.
    offset: u64,
    exhausted: bool,
    format: Option<Format>,
}

enum Format {
    Pcap(PcapHeader),
    PcapNg {
        big_endian: bool,
        interfaces: Vec<Interface>,
    },
}

#[derive(Clone, Copy)]
struct Interface {
    link: LinkType,
    units_per_s: u64,
    offset_s: i64,
}

/// A packet's time and link type, its place in the block, and its length on the wire.
type PacketPlace = (u64, LinkType, std::ops::Range<usize>, u32);

/// One block of the file: its length, and the packet in it if it has one.
struct BlockStep {
    bytes: usize,
    packet: Option<PacketPlace>,
}

impl<R: Read> Capture<R> {
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            done: 0,
            offset: 0,
            exhausted: false,
            format: None,
        }
    }

    /// Returns the next packet, or `None` at the end.
    pub fn next_packet(&mut self) -> Result<Option<Captured<'_>>, CaptureError> {
        loop {
            let Some(step) = self.step()? else {
                return Ok(None);
            };
            let begin = self.done;
            self.done += step.bytes;
            if let Some((time_ns, link, place, length)) = step.packet {
                let place = begin + place.start..begin + place.end;
                return Ok(Some(Captured {
                    time_ns,
                    link,
                    is_cut: place.len() < length as usize,
                    bytes: self.buffer.get(place).unwrap_or_default(),
                }));
            }
        }
    }

    fn step(&mut self) -> Result<Option<BlockStep>, CaptureError> {
        loop {
            let rest = self.buffer.get(self.done..).unwrap_or_default();
            let offset = self.offset + self.done as u64;
            if !rest.is_empty() {
                let parsed = match &mut self.format {
                    None => begin(rest, &mut self.format),
                    Some(Format::Pcap(header)) => pcap_step(rest, header),
                    Some(Format::PcapNg {
                        big_endian,
                        interfaces,
                    }) => pcapng_step(rest, big_endian, interfaces),
                };
                match parsed {
                    Ok(step) => return Ok(Some(step)),
                    Err(Failure::Damaged) if self.format.is_none() => {
                        return Err(CaptureError::Unknown);
                    }
                    Err(Failure::Damaged) => return Err(CaptureError::Damaged { offset }),
                    Err(Failure::Incomplete) if rest.len() >= MAX_BLOCK_BYTES => {
                        return Err(CaptureError::TooLong { offset });
                    }
                    Err(Failure::Incomplete) => {}
                }
            }
            if self.exhausted {
                return match (rest.is_empty(), &self.format) {
                    (true, _) => Ok(None),
                    (false, None) => Err(CaptureError::Unknown),
                    (false, Some(_)) => Err(CaptureError::Cut { offset }),
                };
            }
            self.fill()?;
        }
    }

    /// Reads a fixed number of bytes at most: memory grows with the file's real content, not with the length that a
    /// block claims.
    fn fill(&mut self) -> Result<(), CaptureError> {
        self.buffer.drain(..self.done);
        self.offset += self.done as u64;
        self.done = 0;
        let held = self.buffer.len();
        self.buffer.resize(held + READ_BYTES, 0);
        let read = loop {
            match self.reader.read(&mut self.buffer[held..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(held + *read.as_ref().unwrap_or(&0));
        self.exhausted = read? == 0;
        Ok(())
    }
}

enum Failure {
    Incomplete,
    Damaged,
}

type Parsed<'a, T> = IResult<&'a [u8], T, PcapError<&'a [u8]>>;

/// Returns a parser's result for `bytes`, and how many of them it took.
fn parsed<'a, T>(bytes: &'a [u8], result: Parsed<'a, T>) -> Result<(usize, T), Failure> {
    match result {
        Ok((rest, value)) => Ok((bytes.len() - rest.len(), value)),
        Err(NomError::Incomplete(_)) => Err(Failure::Incomplete),
        Err(NomError::Error(_) | NomError::Failure(_)) => Err(Failure::Damaged),
    }
}

/// Returns a parser's result for a complete block, which is damaged if the parser asks for more bytes.
fn whole<'a, T>(result: Parsed<'a, T>) -> Result<T, Failure> {
    result.map(|(_, value)| value).map_err(|_| Failure::Damaged)
}

fn begin(bytes: &[u8], format: &mut Option<Format>) -> Result<BlockStep, Failure> {
    let Some(magic) = bytes.first_chunk::<4>() else {
        return Err(Failure::Incomplete);
    };
    let mut taken = 0;
    *format = Some(if *magic == SECTION_HEADER {
        Format::PcapNg {
            big_endian: false,
            interfaces: Vec::new(),
        }
    } else {
        let (size, header) = parsed(bytes, parse_pcap_header(bytes))?;
        taken = size;
        Format::Pcap(header)
    });
    Ok(BlockStep {
        bytes: taken,
        packet: None,
    })
}

fn pcap_step(bytes: &[u8], header: &PcapHeader) -> Result<BlockStep, Failure> {
    let frame = match header {
        _ if header.is_modified_format() => parse_pcap_frame_modified,
        _ if header.is_bigendian() => parse_pcap_frame_be,
        _ => parse_pcap_frame,
    };
    let (
        taken,
        LegacyPcapBlock {
            ts_sec,
            ts_usec,
            data,
            origlen,
            ..
        },
    ) = parsed(bytes, frame(bytes))?;
    let fraction = if header.is_nanosecond_precision() {
        u64::from(ts_usec)
    } else {
        u64::from(ts_usec) * 1000
    };
    let place = taken - data.len()..taken;
    Ok(BlockStep {
        bytes: taken,
        packet: Some((
            u64::from(ts_sec) * NS_PER_S + fraction,
            // The upper bits tell whether frames end with a checksum.
            link_type(Linktype(header.network.0 & 0xffff)),
            place,
            origlen,
        )),
    })
}

/// Takes one block. Its length is checked here, because pcap-parser 0.17 panics at some lengths that are too short.
fn pcapng_step(
    bytes: &[u8],
    big_endian: &mut bool,
    interfaces: &mut Vec<Interface>,
) -> Result<BlockStep, Failure> {
    let word = |at: usize, big_endian: bool| {
        let bytes = bytes
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(Failure::Incomplete)?;
        Ok(if big_endian {
            u32::from_be_bytes(*bytes)
        } else {
            u32::from_le_bytes(*bytes)
        })
    };
    if bytes.starts_with(&SECTION_HEADER) {
        *big_endian = match word(8, true)? {
            BYTE_ORDER => true,
            swapped if swapped.swap_bytes() == BYTE_ORDER => false,
            _ => return Err(Failure::Damaged),
        };
        interfaces.clear();
    }
    let length = word(4, *big_endian)? as usize;
    if length < 12 || !length.is_multiple_of(4) {
        return Err(Failure::Damaged);
    }
    let block = bytes.get(..length).ok_or(Failure::Incomplete)?;
    if word(length - 4, *big_endian)? as usize != length {
        return Err(Failure::Damaged);
    }
    Ok(BlockStep {
        bytes: length,
        packet: packet_of(word(0, *big_endian)?, block, *big_endian, interfaces)?,
    })
}

/// Returns the packet of a complete block, if it has one. A block that describes an interface is remembered.
fn packet_of(
    kind: u32,
    block: &[u8],
    big_endian: bool,
    interfaces: &mut Vec<Interface>,
) -> Result<Option<PacketPlace>, Failure> {
    match kind {
        IDB_MAGIC => {
            let description = whole(if big_endian {
                parse_interfacedescriptionblock_be(block)
            } else {
                parse_interfacedescriptionblock_le(block)
            })?;
            interfaces.push(Interface::new(&description, big_endian));
            Ok(None)
        }
        EPB_MAGIC => {
            let packet = whole(if big_endian {
                parse_enhancedpacketblock_be(block)
            } else {
                parse_enhancedpacketblock_le(block)
            })?;
            let interface = interfaces.get(packet.if_id as usize);
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            Ok(Some((
                interface.map_or(0, |interface| interface.time_ns(ticks)),
                interface.map_or(LinkType::Other, |interface| interface.link),
                // Block type, length, interface, time and two lengths come first.
                28..28 + packet.packet_data().len(),
                packet.origlen,
            )))
        }
        SPB_MAGIC => {
            let packet = whole(if big_endian {
                parse_simplepacketblock_be(block)
            } else {
                parse_simplepacketblock_le(block)
            })?;
            let link = interfaces
                .first()
                .map_or(LinkType::Other, |first| first.link);
            let place = 12..12 + packet.packet_data().len();
            Ok(Some((0, link, place, packet.origlen)))
        }
        _ => Ok(None),
    }
}

impl Interface {
    fn new(description: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Self {
        // pcap-parser 0.17 reads the offset as little-endian in sections of either byte order.
        let offset_s = if big_endian {
            description.ts_offset().swap_bytes()
        } else {
            description.ts_offset()
        };
        Self {
            link: link_type(description.linktype),
            units_per_s: description.ts_resolution().unwrap_or(0),
            offset_s,
        }
    }

    fn time_ns(&self, ticks: u64) -> u64 {
        let ns = u128::from(ticks) * u128::from(NS_PER_S);
        let ns = ns.checked_div(self.units_per_s.into()).unwrap_or(0);
        let offset = i128::from(self.offset_s) * i128::from(NS_PER_S);
        let ns = i128::try_from(ns)
            .unwrap_or(i128::MAX)
            .saturating_add(offset);
        u64::try_from(ns).unwrap_or(0)
    }
}

fn link_type(code: Linktype) -> LinkType {
    match code.0 {
        0 | 108 => LinkType::Loopback,
        1 => LinkType::Ethernet,
        // The BSDs have other numbers for raw IP.
        12 | 14 | 101 | 228 | 229 => LinkType::Raw,
        113 => LinkType::LinuxV1,
        276 => LinkType::LinuxV2,
        _ => LinkType::Other,
    }
}
