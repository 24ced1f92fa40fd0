//! Names: the payload of a ping by which the daemons of a source and of its sink tell each other their hosts' names.

use std::net::IpAddr;

use super::{LeaseError, address_bytes, tag};
use crate::model::node_identity::{MOST_NAME_BYTES, is_plain, printable};
use crate::model::{LeaseKey, NodeId};
use crate::wire::DecodeError;
use crate::wire::cursor::Cursor;

/// The first four bytes of a message with a name.
pub const MAGIC: u32 = 0x6869_6e6e;
/// Bytes of such a message.
pub const NAME_LEN: usize = 176;

const VERSION: u32 = 2;
const TAG_AT: usize = 168;
const FLAG_ANSWER: u16 = 1;

/// What a host tells another one of itself, beside an answer to a full question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NameMessage {
    /// The nonce of the question, and the sink's clock in its answer: only a source that got the answer knows both.
    pub receipt: NameReceipt,
    pub instance: u64,
    pub node: NodeId,
    /// The sink's host answers with its own name.
    pub is_answer: bool,
    /// Empty if the host tells none. Read from the wire, it has at most 128 bytes, all of characters that show.
    pub name: String,
}

/// What shows that a source got the answer to a full question.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NameReceipt {
    pub nonce: u64,
    pub answered_ns: u64,
}

/// The message in a packet that is sent with these addresses. A name that is too long is cut.
pub fn encode(message: &NameMessage, from: IpAddr, to: IpAddr, key: LeaseKey) -> [u8; NAME_LEN] {
    let plain: String = message.name.chars().filter(|c| is_plain(*c)).collect();
    let mut lengths = (0..=MOST_NAME_BYTES.min(plain.len())).rev();
    let name = lengths.find_map(|length| plain.get(..length));
    let name = name.unwrap_or_default().as_bytes();
    let flags = if message.is_answer { FLAG_ANSWER } else { 0 };
    let mut fields = Vec::with_capacity(NAME_LEN);
    fields.extend(MAGIC.to_be_bytes());
    fields.extend(VERSION.to_be_bytes());
    fields.extend(message.receipt.nonce.to_be_bytes());
    fields.extend(message.receipt.answered_ns.to_be_bytes());
    fields.extend(message.instance.to_be_bytes());
    fields.extend(message.node.0.to_be_bytes());
    fields.extend(flags.to_be_bytes());
    fields.extend((name.len() as u16).to_be_bytes());
    fields.extend(name);
    fields.resize(TAG_AT, 0);
    let tag = tag_of(&fields, from, to, key);
    fields.extend(tag);
    let mut bytes = [0; NAME_LEN];
    bytes.copy_from_slice(&fields);
    bytes
}

/// Reads a message that was sent with these addresses.
///
/// # Errors
/// It is none, or of another version, or its tag is not that of a host with the key.
pub fn decode(
    bytes: &[u8],
    from: IpAddr,
    to: IpAddr,
    key: LeaseKey,
) -> Result<NameMessage, LeaseError> {
    let mut cursor = Cursor::new(bytes);
    let magic = cursor.u32("magic of the name")?;
    cursor.check("magic of the name", 4, magic, MAGIC)?;
    let version = cursor.u32("version of the name")?;
    if version != VERSION {
        return Err(LeaseError::Version(version));
    }
    if bytes.len() != NAME_LEN {
        return Err(LeaseError::Format(DecodeError::Length {
            what: "name message",
            found: bytes.len(),
            expected: "176",
        }));
    }
    let receipt = NameReceipt {
        nonce: cursor.u64("nonce of the question")?,
        answered_ns: cursor.u64("time of the answer")?,
    };
    let (fields, found) = bytes.split_at(TAG_AT);
    if found != tag_of(fields, from, to, key) {
        return Err(LeaseError::Forged {
            nonce: receipt.nonce,
        });
    }
    let instance = cursor.u64("instance")?;
    let node = NodeId(cursor.u32("node ID")?);
    let flags = cursor.u16("flags of the name")?;
    let length = usize::from(cursor.u16("length of the name")?);
    if length > MOST_NAME_BYTES {
        return Err(LeaseError::Format(DecodeError::Length {
            what: "name",
            found: length,
            expected: "at most 128",
        }));
    }
    let name = cursor.take("name", length)?;
    Ok(NameMessage {
        receipt,
        instance,
        node,
        is_answer: flags & FLAG_ANSWER != 0,
        name: printable(&String::from_utf8_lossy(name)),
    })
}

fn tag_of(fields: &[u8], from: IpAddr, to: IpAddr, key: LeaseKey) -> [u8; 8] {
    tag(key, &[fields, &address_bytes(from), &address_bytes(to)])
}
