//! The names of hosts: the daemon writes what others told and the user gave into a pinned map, `hostint status` reads it there.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr};

use libbpf_rs::MapType;

use crate::datapath::abi::Abi;
use crate::datapath::kernel::map_names::{HOST_NAMES, HOST_SETTINGS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::model::node_identity::{MOST_NAME_BYTES, printable};
use crate::model::{ClaimOrigin, NameClaim, NodeId};

/// The most names that are kept.
const MOST: u32 = 16_384;

/// A name that was not reported for this time is forgotten.
const OLD_NS: u64 = 3_600_000_000_000;

const OF_PEER: u32 = 1;
const GIVEN: u32 = 2;
const OWN: u32 = 3;

/// The node that has the name, and the origin of that.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NameKey {
    /// The address that told it; IPv4 addresses are mapped into ::ffff:0:0/96. All zeros for names that were not
    /// reported.
    address: [u8; 16],
    node: u32,
    /// One of the constants above.
    origin: u32,
}

/// A name, with zeros behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NameRecord {
    heard_ns: u64,
    instance: u64,
    name: [u8; MOST_NAME_BYTES],
}

impl Default for NameRecord {
    fn default() -> Self {
        Self {
            heard_ns: 0,
            instance: 0,
            name: [0; MOST_NAME_BYTES],
        }
    }
}

// SAFETY: integers and bytes without padding: 16 + 2 * 4.
unsafe impl Abi for NameKey {}
// SAFETY: integers and bytes without padding: 2 * 8 + 128.
unsafe impl Abi for NameRecord {}

/// The map as the daemon writes it.
pub struct NameTable(Map<NameKey, NameRecord>);

impl NameTable {
    /// Opens the map, or makes it. Returns `None` while this host has no role, or another process attaches or detaches one.
    pub fn open_or_create(pins: &Pins) -> io::Result<Option<Self>> {
        let path = pins.map(HOST_NAMES);
        if let Some(map) = Map::open(&path)? {
            return Ok(Some(Self(map)));
        }
        // A role that is detached meanwhile must not leave a pin behind.
        let Some(_changing) = pins.try_change()? else {
            return Ok(None);
        };
        if !pins.map(HOST_SETTINGS).exists() {
            return Ok(None);
        }
        Map::open_or_create(&path, MapType::Hash, MOST).map(|map| Some(Self(map)))
    }

    /// The map's id: a new one is empty.
    pub fn id(&self) -> io::Result<u32> {
        self.0.id()
    }

    /// Notes a name. An empty one is removed, and so are the host's own ones under another ID.
    ///
    /// # Errors
    /// There is no room.
    pub fn note(&self, claim: &NameClaim) -> io::Result<()> {
        let key = NameKey::of(claim);
        if key.origin == OWN {
            let is_other = |other: &NameKey| other.origin == OWN && other.node != key.node;
            self.0.remove_where(is_other)?;
        }
        if claim.name.is_empty() {
            return self.0.remove(&key).map(drop);
        }
        let mut record = NameRecord {
            heard_ns: claim.heard_ns,
            instance: claim.origin.instance().unwrap_or_default(),
            ..NameRecord::default()
        };
        for (to, from) in record.name.iter_mut().zip(claim.name.bytes()) {
            *to = from;
        }
        self.0.set(&key, &record)
    }

    /// Makes the names that the user gave these.
    pub fn give(&self, names: &BTreeMap<NodeId, String>) -> io::Result<()> {
        let is_gone = |key: &NameKey| key.origin == GIVEN && !names.contains_key(&NodeId(key.node));
        self.0.remove_where(is_gone)?;
        for (node, name) in names {
            self.note(&NameClaim {
                node: *node,
                name: name.clone(),
                origin: ClaimOrigin::Given,
                heard_ns: 0,
            })?;
        }
        Ok(())
    }

    /// Forgets the names that were not reported for long.
    pub fn forget_old(&self, now_ns: u64) -> io::Result<()> {
        self.0.sweep(|key, record| {
            key.origin == OF_PEER && now_ns.saturating_sub(record.heard_ns) > OLD_NS
        })
    }
}

/// Returns all names that are given and told on this host.
pub fn read(pins: &Pins) -> io::Result<Vec<NameClaim>> {
    let mut found = Vec::new();
    let Some(map) = Map::<NameKey, NameRecord>::open(&pins.map(HOST_NAMES))? else {
        return Ok(found);
    };
    map.for_each(|key, record| found.extend(claim_of(key, &record)))?;
    Ok(found)
}

fn claim_of(key: NameKey, record: &NameRecord) -> Option<NameClaim> {
    let instance = record.instance;
    let origin = match key.origin {
        OF_PEER => ClaimOrigin::Told {
            address: Ipv6Addr::from(key.address).to_canonical(),
            instance,
        },
        GIVEN => ClaimOrigin::Given,
        OWN => ClaimOrigin::Own { instance },
        _ => return None,
    };
    let name = record.name.split(|byte| *byte == 0).next()?;
    Some(NameClaim {
        node: NodeId(key.node),
        name: printable(&String::from_utf8_lossy(name)),
        origin,
        heard_ns: record.heard_ns,
    })
}

impl NameKey {
    fn of(claim: &NameClaim) -> Self {
        let (address, origin) = match claim.origin {
            ClaimOrigin::Told { address, .. } => (address, OF_PEER),
            ClaimOrigin::Given => (Ipv6Addr::UNSPECIFIED.into(), GIVEN),
            ClaimOrigin::Own { .. } => (Ipv6Addr::UNSPECIFIED.into(), OWN),
        };
        let address = match address {
            IpAddr::V4(v4) => v4.to_ipv6_mapped(),
            IpAddr::V6(v6) => v6,
        };
        Self {
            address: address.octets(),
            node: claim.node.0,
            origin,
        }
    }
}
