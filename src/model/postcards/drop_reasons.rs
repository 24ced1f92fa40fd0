//! The names of drop reason codes. No standard defines them, so each domain has its own list; those of hosts are in each.

use std::collections::BTreeMap;

use crate::model::drop_codes::OF_HOSTS;

/// Names of drop reason codes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DropReasons(BTreeMap<u8, String>);

/// Codes that both lists below share.
const COMMON: [(u8, &str); 13] = [
    (0, "unknown"),
    (10, "outer source mac zero"),
    (11, "outer source mac multicast"),
    (12, "outer destination mac zero"),
    (13, "outer ethernet miss"),
    (14, "source mac zero"),
    (15, "source mac multicast"),
    (16, "destination mac zero"),
    (25, "outer ip version invalid"),
    (26, "outer ip ttl zero"),
    (27, "outer ip source multicast"),
    (28, "outer ip source loopback"),
    (29, "outer ip routing miss"),
];

/// The codes of p4lang/switch, drop_reason_codes.h.
const P4LANG_SWITCH: [(u8, &str); 16] = [
    (30, "ip version invalid"),
    (31, "ip ttl zero"),
    (32, "ip source multicast"),
    (33, "ip source loopback"),
    (40, "port vlan mapping miss"),
    (41, "stp state learning"),
    (42, "stp state blocking"),
    (43, "same interface"),
    (44, "multicast snooping enabled"),
    (50, "mtu check fail"),
    (51, "traffic manager"),
    (60, "acl deny"),
    (61, "routed acl deny"),
    (62, "urpf check fail"),
    (63, "ip source guard miss"),
    (64, "interface"),
];

/// The codes of int-host-reporter: those of later switches, and from 180 on those of its Calico data path.
const INT_HOST_REPORTER: [(u8, &str); 11] = [
    (30, "ip header length invalid"),
    (31, "ip checksum invalid"),
    (55, "port vlan mapping miss"),
    (71, "traffic manager"),
    (80, "acl deny"),
    (89, "bridging miss"),
    (180, "encapsulation failed"),
    (181, "decapsulation failed"),
    (182, "checksum failed"),
    (183, "ip options"),
    (184, "unauthorised source"),
];

/// Codes that hosts have and SD-Fabric's switches do not.
const BESIDE_SD_FABRIC: [(u8, &str); 4] = [
    (180, "encapsulation failed"),
    (181, "decapsulation failed"),
    (182, "checksum failed"),
    (184, "unauthorised source"),
];

/// The codes of SD-Fabric's switches.
const SD_FABRIC: [(u8, &str); 19] = [
    (26, "ip ttl zero"),
    (29, "ip routing miss"),
    (30, "ip header length invalid"),
    (31, "ip checksum invalid"),
    (55, "ingress port vlan mapping miss"),
    (71, "traffic manager"),
    (80, "acl deny"),
    (89, "bridging miss"),
    (128, "next id miss"),
    (129, "mpls miss"),
    (130, "egress next miss"),
    (131, "mpls ttl zero"),
    (132, "upf downlink pdr miss"),
    (133, "upf uplink pdr miss"),
    (134, "upf far miss"),
    (150, "upf uplink recirculation deny"),
    (160, "ingress qos meter"),
    (170, "ipv4 route drops"),
    (171, "ipv6 route drops"),
];

impl DropReasons {
    /// The built-in lists; the first is the default.
    pub const PROFILES: [&str; 3] = ["int-host-reporter", "p4lang-switch", "sd-fabric"];

    /// The built-in list with this name.
    pub fn profile(name: &str) -> Option<Self> {
        let beside: &[(u8, &str)] = match name {
            "sd-fabric" => &BESIDE_SD_FABRIC,
            _ => &[],
        };
        let own: &[(u8, &str)] = match name {
            "int-host-reporter" => &INT_HOST_REPORTER,
            "p4lang-switch" => &P4LANG_SWITCH,
            "sd-fabric" => &SD_FABRIC,
            _ => return None,
        };
        let names = COMMON.iter().chain(own).chain(beside).chain(&OF_HOSTS);
        Some(Self::from_iter(
            names.map(|(code, name)| (*code, (*name).to_owned())),
        ))
    }

    /// The default list.
    pub fn usual() -> Self {
        Self::profile(Self::PROFILES[0]).unwrap_or_default()
    }

    pub fn name(&self, code: u8) -> Option<&str> {
        self.0.get(&code).map(String::as_str)
    }
}

impl FromIterator<(u8, String)> for DropReasons {
    fn from_iter<T: IntoIterator<Item = (u8, String)>>(names: T) -> Self {
        Self(names.into_iter().collect())
    }
}
