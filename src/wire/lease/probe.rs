//! Probes of a lease's path: the bytes that distinguish a probe from data.

use std::net::IpAddr;

use super::{LeaseError, address_bytes, tag};
use crate::model::{LeaseKey, LeaseProbe, ProbeForm};
use crate::wire::DecodeError;
use crate::wire::cursor::Cursor;

/// The first four bytes of a probe.
pub const MAGIC: u32 = 0x6869_6e70;
/// The same of a stray that a sink's host sends back.
pub const BACK_MAGIC: u32 = 0x6869_6e72;
/// Bytes of a probe.
pub const PROBE_LEN: usize = 24;
/// Numbers of probes are below this.
pub const PROBES: u8 = ProbeForm::PROBES;
/// Source port of the first probe. Probe n has the port behind it by n.
pub const FIRST_PORT: u16 = 64512;

const VERSION: u8 = 2;
const ROUND_AT: usize = 8;
const TAG_AT: usize = 16;

fn tag_of(fields: &[u8], source: IpAddr, dest: IpAddr, key: LeaseKey) -> [u8; 8] {
    tag(key, &[fields, &address_bytes(source), &address_bytes(dest)])
}

/// The probe in a packet with these addresses, which begins with `magic`.
pub fn encode(
    probe: &LeaseProbe,
    magic: u32,
    (source, dest): (IpAddr, IpAddr),
    key: LeaseKey,
) -> [u8; PROBE_LEN] {
    let mut bytes = [0; PROBE_LEN];
    bytes[..4].copy_from_slice(&magic.to_be_bytes());
    bytes[4..ROUND_AT].copy_from_slice(&[VERSION, probe.form.number(), probe.number, probe.tos]);
    bytes[ROUND_AT..TAG_AT].copy_from_slice(&probe.round.to_be_bytes());
    let tag = tag_of(&bytes[..TAG_AT], source, dest, key);
    bytes[TAG_AT..].copy_from_slice(&tag);
    bytes
}

/// Reads the round that a stray from a sink's host names, whoever sent it.
pub fn round_of_stray(bytes: &[u8]) -> Option<u64> {
    let round: [u8; 8] = bytes.get(ROUND_AT..)?.first_chunk().copied()?;
    bytes
        .starts_with(&BACK_MAGIC.to_be_bytes())
        .then_some(u64::from_be_bytes(round))
}

/// Reads a probe that begins with the magic number `expected`; bytes behind it are ignored.
pub fn decode(
    bytes: &[u8],
    expected: u32,
    (source, dest): (IpAddr, IpAddr),
    key: LeaseKey,
) -> Result<LeaseProbe, LeaseError> {
    let mut cursor = Cursor::new(bytes);
    let magic = cursor.u32("probe magic")?;
    cursor.check("probe magic", 4, magic, expected)?;
    let version = cursor.u8("probe version")?;
    if version != VERSION {
        return Err(LeaseError::Version(version.into()));
    }
    let form = cursor.u8("probe form")?;
    let number = cursor.u8("probe number")?;
    let tos = cursor.u8("ToS of the probe")?;
    let round = cursor.u64("round of the probe")?;
    let found: [u8; 8] = cursor.array("probe tag")?;
    if tag_of(&bytes[..TAG_AT], source, dest, key) != found {
        return Err(LeaseError::Forged { nonce: round });
    }
    let form = ProbeForm::from_number(form).ok_or(DecodeError::Kind {
        what: "probe form",
        found: form,
        expected: "0 to 3",
    })?;
    if number >= PROBES {
        return Err(LeaseError::Format(DecodeError::Kind {
            what: "probe number",
            found: number,
            expected: "0 to 71",
        }));
    }
    Ok(LeaseProbe {
        form,
        number,
        tos,
        round,
    })
}
