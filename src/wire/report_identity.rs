//! hostint's report of a node's identity (NProto 15, sub-kind 1). It is about no packet, so it is no [`Report`].
//!
//! [`Report`]: crate::model::Report

use std::collections::BTreeMap;

use super::cursor::Cursor;
use super::error::DecodeError;
use super::report_framed;
use crate::model::node_identity::{
    MOST_INTERFACE_BYTES, MOST_INTERFACES, MOST_LABEL_BYTES, MOST_LABEL_KEY_BYTES, MOST_LABELS,
    MOST_NAME_BYTES, MOST_VERSION_BYTES, is_plain, printable,
};
use crate::model::{KernelParts, NodeId, NodeIdentity};

const SUB_KIND: u8 = 1;

/// True for a datagram that announces an identity.
pub(super) fn is_one(datagram: &[u8]) -> bool {
    report_framed::announces(datagram, SUB_KIND)
}

/// Reads a whole datagram. What follows the parts of the kernel is left for later versions.
pub(super) fn decode(datagram: &[u8]) -> Result<NodeIdentity, DecodeError> {
    let (_, mut cursor) = report_framed::open(datagram)?;
    let node = NodeId(cursor.u32("node ID")?);
    let period_s = cursor.u16("period of identities")?;
    let name = text(&mut cursor, "node name", MOST_NAME_BYTES)?;
    let version = text(&mut cursor, "version", MOST_VERSION_BYTES)?;
    let count = cursor.u8("number of labels")?;
    if usize::from(count) > MOST_LABELS {
        return Err(DecodeError::Length {
            what: "labels",
            found: count.into(),
            expected: "at most 8",
        });
    }
    let mut labels = BTreeMap::new();
    for _ in 0..count {
        let key = text(&mut cursor, "label", MOST_LABEL_KEY_BYTES)?;
        labels.insert(
            key,
            text(&mut cursor, "value of a label", MOST_LABEL_BYTES)?,
        );
    }
    let interfaces = interfaces(&mut cursor)?;
    let lacks = KernelParts::from_bits(cursor.u64("parts of the kernel")?);
    Ok(NodeIdentity {
        node,
        period_s,
        name,
        version,
        labels,
        interfaces,
        lacks,
    })
}

fn interfaces(cursor: &mut Cursor<'_>) -> Result<BTreeMap<u16, String>, DecodeError> {
    let count = cursor.u8("number of interfaces")?;
    if usize::from(count) > MOST_INTERFACES {
        return Err(DecodeError::Length {
            what: "interfaces",
            found: count.into(),
            expected: "at most 32",
        });
    }
    let mut names = BTreeMap::new();
    for _ in 0..count {
        let port = cursor.u16("port")?;
        names.insert(
            port,
            text(cursor, "name of an interface", MOST_INTERFACE_BYTES)?,
        );
    }
    Ok(names)
}

/// Characters that are not UTF-8, or that would not show as themselves, are replaced.
fn text(cursor: &mut Cursor<'_>, what: &'static str, most: usize) -> Result<String, DecodeError> {
    let length = usize::from(cursor.u8(what)?);
    if length > most {
        return Err(DecodeError::Length {
            what,
            found: length,
            expected: "less",
        });
    }
    let bytes = cursor.take(what, length)?;
    Ok(printable(&String::from_utf8_lossy(bytes)))
}

/// Appends the datagram, which has the number 0 because it is none of the reports. Texts are cut to what a report has room for.
pub fn emit(identity: &NodeIdentity, time_s: u32, out: &mut Vec<u8>) {
    let mut content = Vec::new();
    content.extend(identity.node.0.to_be_bytes());
    content.extend(identity.period_s.to_be_bytes());
    put(&identity.name, MOST_NAME_BYTES, &mut content);
    put(&identity.version, MOST_VERSION_BYTES, &mut content);
    let labels: Vec<_> = identity.labels.iter().take(MOST_LABELS).collect();
    content.push(labels.len() as u8);
    for (key, value) in labels {
        put(key, MOST_LABEL_KEY_BYTES, &mut content);
        put(value, MOST_LABEL_BYTES, &mut content);
    }
    let interfaces: Vec<_> = identity.interfaces.iter().take(MOST_INTERFACES).collect();
    content.push(interfaces.len() as u8);
    for (port, name) in interfaces {
        content.extend(port.to_be_bytes());
        put(name, MOST_INTERFACE_BYTES, &mut content);
    }
    content.extend(identity.lacks.bits().to_be_bytes());
    report_framed::emit_unnumbered(SUB_KIND, time_s, &content, out);
}

/// Appends the length of a text, and the text without what does not show, cut to `most` bytes.
pub(super) fn put(text: &str, most: usize, out: &mut Vec<u8>) {
    let plain: String = text.chars().filter(|c| is_plain(*c)).collect();
    let mut lengths = (0..=most.min(plain.len())).rev();
    let cut = lengths.find_map(|length| plain.get(..length));
    let bytes = cut.unwrap_or_default().as_bytes();
    out.push(bytes.len() as u8);
    out.extend(bytes);
}
