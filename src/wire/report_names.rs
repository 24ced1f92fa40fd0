//! The names in reports of hosts: of reasons, functions, interfaces and pods.

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_identity;
use crate::model::PacketPods;
use crate::model::node_identity::is_plain;

/// The longest name of a reason, a function of the kernel, an interface, or a pod.
pub(super) const MOST_NAME: usize = 63;

/// Reads a name; an empty one is none. The kernel's names have only characters that show.
pub(super) fn name(
    cursor: &mut Cursor<'_>,
    what: &'static str,
) -> Result<Option<String>, DecodeError> {
    let length = usize::from(cursor.u8(what)?);
    let offset = cursor.offset();
    let bytes = cursor.take(what, length)?;
    let text = str::from_utf8(bytes).ok();
    let text = text.filter(|text| length <= MOST_NAME && text.chars().all(is_plain));
    let text = text.ok_or(DecodeError::Text { what, offset })?;
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

pub(super) fn emit_name(name: Option<&str>, out: &mut Vec<u8>) {
    report_identity::put(name.unwrap_or_default(), MOST_NAME, out);
}

/// Reads the names of pods.
pub(super) fn pods(cursor: &mut Cursor<'_>) -> Result<PacketPods, DecodeError> {
    Ok(PacketPods {
        in_pod: name(cursor, "name of the pod behind the input port")?,
        out_pod: name(cursor, "name of the pod behind the output port")?,
        pod: name(cursor, "name of the pod")?,
    })
}

pub(super) fn emit_pods(pods: &PacketPods, out: &mut Vec<u8>) {
    for name in [&pods.in_pod, &pods.out_pod, &pods.pod] {
        emit_name(name.as_deref(), out);
    }
}
