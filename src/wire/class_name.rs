//! The name of a class in a report.

use super::cursor::Cursor;
use super::error::DecodeError;
use crate::model::node_identity::is_plain;

/// Reads a name of this length; that of no class is 0. Sinks take no name that does not show, so one was not made by them.
pub(super) fn take(cursor: &mut Cursor<'_>, bytes: u8) -> Result<Option<String>, DecodeError> {
    let what = "class";
    let offset = cursor.offset();
    let name = str::from_utf8(cursor.take(what, bytes.into())?).ok();
    let name = name.filter(|name| name.chars().all(is_plain));
    let name = name.ok_or(DecodeError::Text { what, offset })?;
    Ok((!name.is_empty()).then(|| name.to_owned()))
}
