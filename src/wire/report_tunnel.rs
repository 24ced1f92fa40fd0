//! The tunnel in reports of hosts: its kind, three reserved bytes, its number, and its own flow.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_extended::{decode_flow, emit_flow};
use crate::model::{Tunnel, TunnelId, TunnelKind};

pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Tunnel, DecodeError> {
    let number = cursor.u8("kind of a tunnel")?;
    let kind = TunnelKind::from_number(number).ok_or(DecodeError::Kind {
        what: "kind of a tunnel",
        found: number,
        expected: "1 to 3",
    })?;
    let reserved = u32::from(cursor.u8("reserved byte of a tunnel")?);
    cursor.check("reserved byte of a tunnel", 1, reserved, 0)?;
    let reserved = cursor.u16("reserved bytes of a tunnel")?;
    cursor.check("reserved bytes of a tunnel", 2, reserved.into(), 0)?;
    let id = cursor.u32("number of a tunnel")?;
    let (outer, _) = decode_flow(cursor, 0)?;
    Ok(Tunnel {
        which: TunnelId { kind, id },
        outer,
    })
}

pub(super) fn emit(tunnel: &Tunnel, out: &mut Vec<u8>) {
    out.extend([tunnel.which.kind.number(), 0, 0, 0]);
    out.extend(tunnel.which.id.to_be_bytes());
    emit_flow(&tunnel.outer, 0, out);
}
