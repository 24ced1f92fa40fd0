//! The number that tells a machine from others, and the node ids that are derived from it and from names.

use std::hash::Hasher;
use std::str::FromStr;

use siphasher::sip::SipHasher24;

use crate::model::NodeId;

/// Ids below are those that people choose.
const LOWEST_NODE: u64 = 1 << 16;

/// The largest id means that a node is unknown.
const NODES: u64 = u32::MAX as u64 - LOWEST_NODE;

/// The 128 bits of machine-id(5). They are confidential, so that only keyed hashes of them are reported or kept.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct MachineId([u8; 16]);

/// The text of a file that holds no machine id.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("it holds no machine id (try systemd-machine-id-setup)")]
pub struct NoMachineId;

impl FromStr for MachineId {
    type Err = NoMachineId;

    fn from_str(text: &str) -> Result<Self, NoMachineId> {
        let text = text.trim();
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u128::from_str_radix(text, 16) {
            Ok(number) if digits && number != 0 => Ok(Self(number.to_be_bytes())),
            _ => Err(NoMachineId),
        }
    }
}

/// The node id of a host, or of a named network namespace on it, by the name that its cluster knows it by.
pub fn node_of_name(name: &str, namespace: Option<&str>) -> NodeId {
    node_of(b"hostint: by name", name.as_bytes(), namespace)
}

fn node_of(key: &[u8; 16], seed: &[u8], namespace: Option<&str>) -> NodeId {
    NodeId((LOWEST_NODE + hash(key, seed, namespace) % NODES) as u32)
}

fn hash(key: &[u8; 16], seed: &[u8], namespace: Option<&str>) -> u64 {
    let mut hasher = SipHasher24::new_with_key(key);
    hasher.write(seed);
    hasher.write(namespace.unwrap_or_default().as_bytes());
    hasher.finish()
}

impl MachineId {
    /// The node id of this machine, or of a named network namespace on it.
    pub fn node(&self, namespace: Option<&str>) -> NodeId {
        node_of(b"hostint: node id", &self.0, namespace)
    }

    /// A number by which another machine is recognised.
    pub fn fingerprint(&self) -> u64 {
        hash(b"hostint: machine", &self.0, None)
    }
}
