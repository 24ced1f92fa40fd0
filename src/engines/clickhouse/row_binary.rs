//! Rows in ClickHouse's format RowBinary: consecutive little-endian values, which all versions read.

use std::io::{self, Write};
use std::net::IpAddr;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::columns::{ColumnValue, TableColumn};
use super::row::TableRow;
use super::row_part::RowPart;
use crate::engines::{FedReport, RunId};

/// Neighbouring columns of one part, and their bytes in rows that lack it.
struct ColumnRun<'a> {
    part: RowPart,
    columns: &'a [&'a TableColumn],
    nothing: Vec<u8>,
}

/// Returns the columns by part, in their order.
fn runs<'a>(columns: &'a [&'a TableColumn]) -> Vec<ColumnRun<'a>> {
    let runs = columns.chunk_by(|one, next| one.part == next.part);
    let run = |columns: &'a [&'a TableColumn]| {
        Some(ColumnRun {
            part: columns.first()?.part,
            columns,
            nothing: columns
                .iter()
                .flat_map(|column| column.value.nothing())
                .copied()
                .collect(),
        })
    };
    runs.filter_map(run).collect()
}

/// Appends the rows of these reports with these columns. Reports without a time get `now_ns`.
pub fn append_rows<'a>(
    run: RunId,
    entries: impl Iterator<Item = &'a FedReport>,
    columns: &[&TableColumn],
    now_ns: u64,
    out: &mut Vec<u8>,
) {
    let runs = runs(columns);
    for entry in entries {
        append_row(&TableRow::new(run, entry, now_ns), &runs, out);
    }
}

/// Returns the same rows, compressed by gzip.
pub fn packed_rows<'a>(
    run: RunId,
    entries: impl Iterator<Item = &'a FedReport>,
    columns: &[&TableColumn],
    now_ns: u64,
) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    let mut row = Vec::new();
    let runs = runs(columns);
    for entry in entries {
        row.clear();
        append_row(&TableRow::new(run, entry, now_ns), &runs, &mut row);
        packed.write_all(&row)?;
    }
    packed.finish()
}

fn append_row(row: &TableRow<'_>, runs: &[ColumnRun<'_>], out: &mut Vec<u8>) {
    for run in runs {
        if run.part.is_in(row) {
            append_values(row, run.columns, out);
        } else {
            out.extend_from_slice(&run.nothing);
        }
    }
}

fn append_values(row: &TableRow<'_>, columns: &[&TableColumn], out: &mut Vec<u8>) {
    for column in columns {
        match &column.value {
            ColumnValue::U8(value) => out.push(value(row)),
            ColumnValue::U16(value) => out.extend_from_slice(&value(row).to_le_bytes()),
            ColumnValue::U32(value) => out.extend_from_slice(&value(row).to_le_bytes()),
            ColumnValue::U64(value) => out.extend_from_slice(&value(row).to_le_bytes()),
            ColumnValue::I64(value) => out.extend_from_slice(&value(row).to_le_bytes()),
            ColumnValue::MaybeU8(value) => maybe(out, value(row).map(u8::to_le_bytes)),
            ColumnValue::MaybeU16(value) => maybe(out, value(row).map(u16::to_le_bytes)),
            ColumnValue::MaybeU32(value) => maybe(out, value(row).map(u32::to_le_bytes)),
            ColumnValue::MaybeU64(value) => maybe(out, value(row).map(u64::to_le_bytes)),
            ColumnValue::MaybeI64(value) => maybe(out, value(row).map(i64::to_le_bytes)),
            ColumnValue::Text(value) => text(out, value(row)),
            ColumnValue::Address(value) => out.extend_from_slice(&address(value(row))),
            ColumnValue::ManyText(value) => {
                let texts = value(row);
                length(out, texts.len());
                texts.into_iter().for_each(|one| text(out, one));
            }
            ColumnValue::ManyAddress(value) => many(out, value(row), address),
            ColumnValue::ManyU8(value) => many(out, value(row), u8::to_le_bytes),
            ColumnValue::ManyU16(value) => many(out, value(row), u16::to_le_bytes),
            ColumnValue::ManyU32(value) => many(out, value(row), u32::to_le_bytes),
            ColumnValue::ManyU64(value) => many(out, value(row), u64::to_le_bytes),
            ColumnValue::ManyI64(value) => many(out, value(row), i64::to_le_bytes),
        }
    }
}

/// Appends a nullable value: NULL is a 1 without a value.
fn maybe<const N: usize>(out: &mut Vec<u8>, value: Option<[u8; N]>) {
    out.push(value.is_none().into());
    if let Some(value) = value {
        out.extend_from_slice(&value);
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    length(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// Appends an array.
fn many<T, const N: usize>(out: &mut Vec<u8>, values: Vec<T>, bytes: fn(T) -> [u8; N]) {
    length(out, values.len());
    for value in values {
        out.extend_from_slice(&bytes(value));
    }
}

/// Appends a length in groups of seven bits, the lowest first.
fn length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

/// Returns an address in 16 bytes. IPv4 is mapped into ::ffff:0:0/96.
fn address(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
