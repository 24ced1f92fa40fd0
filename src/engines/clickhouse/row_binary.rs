//! Rows in ClickHouse's format RowBinary: values one after another, little-endian, as all its versions read them.

use std::io::{self, Write};
use std::net::IpAddr;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::columns::{COLUMNS, Value};
use super::row::Row;
use crate::engines::Parcel;

/// A parcel's rows, compressed by gzip. Reports that do not tell their time have `now_ns`.
pub fn packed_rows(parcel: &Parcel, now_ns: u64) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    let mut row = Vec::new();
    for entry in parcel.entries() {
        row.clear();
        append_row(&Row::new(parcel.run(), entry, now_ns), &mut row);
        packed.write_all(&row)?;
    }
    packed.finish()
}

/// A parcel's rows as they are.
pub fn append_rows(parcel: &Parcel, now_ns: u64, out: &mut Vec<u8>) {
    for entry in parcel.entries() {
        append_row(&Row::new(parcel.run(), entry, now_ns), out);
    }
}

fn append_row(row: &Row<'_>, out: &mut Vec<u8>) {
    for column in COLUMNS {
        match &column.value {
            Value::U8(value) => out.push(value(row)),
            Value::U16(value) => out.extend(value(row).to_le_bytes()),
            Value::U32(value) => out.extend(value(row).to_le_bytes()),
            Value::U64(value) => out.extend(value(row).to_le_bytes()),
            Value::I64(value) => out.extend(value(row).to_le_bytes()),
            Value::MaybeU8(value) => maybe(out, value(row).map(u8::to_le_bytes)),
            Value::MaybeU16(value) => maybe(out, value(row).map(u16::to_le_bytes)),
            Value::MaybeU32(value) => maybe(out, value(row).map(u32::to_le_bytes)),
            Value::MaybeI64(value) => maybe(out, value(row).map(i64::to_le_bytes)),
            Value::Text(value) => {
                let text = value(row);
                length(out, text.len());
                out.extend(text.as_bytes());
            }
            Value::Address(value) => out.extend(address(value(row))),
            Value::ManyU32(value) => {
                let values = value(row);
                length(out, values.len());
                out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
        }
    }
}

/// NULL is a 1, and nothing behind it.
fn maybe<const N: usize>(out: &mut Vec<u8>, value: Option<[u8; N]>) {
    out.push(value.is_none().into());
    out.extend(value.into_iter().flatten());
}

/// Seven bits a byte, the lowest first.
fn length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// IPv4 as ::ffff:0:0/96.
fn address(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
