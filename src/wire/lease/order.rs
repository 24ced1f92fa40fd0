//! Orders to a fleet: the payload of a ping by which agents of hosts with one key pass them on.

use std::net::IpAddr;

use super::{LeaseError, address_bytes, tag};
use crate::model::{FleetOrder, LeaseKey};
use crate::wire::DecodeError;
use crate::wire::cursor::Cursor;

/// The first four bytes of an order.
pub const MAGIC: u32 = 0x6869_6e6f;
/// Bytes of an order.
pub const ORDER_LEN: usize = 40;

const VERSION: u32 = 1;
const TAG_AT: usize = 32;
const FLAG_OFF: u32 = 1;
const FLAG_ANSWER: u32 = 2;

/// An order in a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrderMessage {
    pub order: FleetOrder,
    /// The host that sends it has obeyed it, and says so.
    pub is_answer: bool,
}

/// The message in a packet that is sent with these addresses.
pub fn encode(message: &OrderMessage, from: IpAddr, to: IpAddr, key: LeaseKey) -> [u8; ORDER_LEN] {
    let OrderMessage { order, is_answer } = message;
    let off = if order.is_off { FLAG_OFF } else { 0 };
    let answer = if *is_answer { FLAG_ANSWER } else { 0 };
    let mut fields = Vec::with_capacity(ORDER_LEN);
    fields.extend(MAGIC.to_be_bytes());
    fields.extend(VERSION.to_be_bytes());
    fields.extend(order.epoch.to_be_bytes());
    fields.extend(order.ordered_ns.to_be_bytes());
    fields.extend((off | answer).to_be_bytes());
    fields.resize(TAG_AT, 0);
    let tag = tag_of(&fields, from, to, key);
    fields.extend(tag);
    let mut bytes = [0; ORDER_LEN];
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
) -> Result<OrderMessage, LeaseError> {
    let mut cursor = Cursor::new(bytes);
    let magic = cursor.u32("magic of the order")?;
    cursor.check("magic of the order", 4, magic, MAGIC)?;
    let version = cursor.u32("version of the order")?;
    if version != VERSION {
        return Err(LeaseError::Version(version));
    }
    if bytes.len() != ORDER_LEN {
        return Err(LeaseError::Format(DecodeError::Length {
            what: "order",
            found: bytes.len(),
            expected: "40",
        }));
    }
    let epoch = cursor.u64("epoch of the order")?;
    let ordered_ns = cursor.u64("time of the order")?;
    let flags = cursor.u32("flags of the order")?;
    let (fields, found) = bytes.split_at(TAG_AT);
    if found != tag_of(fields, from, to, key) {
        return Err(LeaseError::Forged { nonce: epoch });
    }
    Ok(OrderMessage {
        order: FleetOrder {
            is_off: flags & FLAG_OFF != 0,
            epoch,
            ordered_ns,
        },
        is_answer: flags & FLAG_ANSWER != 0,
    })
}

fn tag_of(fields: &[u8], from: IpAddr, to: IpAddr, key: LeaseKey) -> [u8; 8] {
    tag(key, &[fields, &address_bytes(from), &address_bytes(to)])
}
