//! The 8-bit codes of SD-Fabric for the kernel's reasons for drops. No standard has codes of hosts: from 200 on they are
//! hostint's own.

/// The code of reasons that have none.
pub const UNKNOWN: u8 = 0;

/// Hostint's own codes.
pub const OF_HOSTS: [(u8, &str); 8] = [
    (200, "no socket"),
    (201, "socket buffer full"),
    (202, "socket backlog full"),
    (203, "socket filter"),
    (204, "packet too big"),
    (205, "ipsec policy"),
    (206, "bridge port not forwarding"),
    (207, "tcp refused"),
];

/// The code of each reason that has one; a name that ends in _ stands for all that begin so. The first that fits counts.
const CODES: [(&str, u8); 41] = [
    ("NO_SOCKET", 200),
    ("SOCKET_RCVBUFF", 201),
    ("PROTO_MEM", 201),
    ("SOCKET_BACKLOG", 202),
    ("SOCKET_FILTER", 203),
    ("NETFILTER_DROP", 80),
    ("BPF_CGROUP_EGRESS", 80),
    ("TC_INGRESS", 80),
    ("TC_EGRESS", 80),
    ("XDP", 80),
    ("IP_RPFILTER", 184),
    ("IP_INNOROUTES", 29),
    ("IP_OUTNOROUTES", 29),
    ("IP_INADDRERRORS", 29),
    ("NEIGH_", 29),
    ("IP_INHDR", 25),
    ("IP_CSUM", 31),
    ("IP_NOPROTO", 200),
    ("ICMP_CSUM", 182),
    ("TCP_CSUM", 182),
    ("UDP_CSUM", 182),
    ("SKB_CSUM", 182),
    ("CSUM_", 182),
    ("SECURITY_HOOK", 80),
    ("QDISC_", 71),
    ("FQ_", 71),
    ("CPU_BACKLOG", 71),
    ("FULL_RING", 71),
    ("QUEUE_PURGE", 71),
    ("DEV_READY", 71),
    ("PKT_TOO_BIG", 204),
    ("PKT_TOO_SMALL", 30),
    ("HDR_TRUNC", 30),
    ("XFRM_POLICY", 205),
    ("VXLAN_", 181),
    ("IP_TUNNEL_ECN", 181),
    ("TUNNEL_TXINFO", 180),
    ("BRIDGE_INGRESS_STP_STATE", 206),
    ("VLAN_", 55),
    ("UNHANDLED_PROTO", 89),
    ("TCP_", 207),
];

/// The code of a packet whose TTL ended.
const TTL_ZERO: u8 = 26;

/// The code of a packet to which no route leads.
const NO_ROUTE: u8 = 29;

/// The functions to which routes lead that lead nowhere.
const NO_ROUTES: [&str; 5] = [
    "ip_error",
    "ip_pkt_drop",
    "ip6_pkt_drop",
    "dst_discard",
    "dst_discard_out",
];

/// The functions that forward packets drop them for their headers only if the TTL ended.
const FORWARDS: [&str; 2] = ["ip_forward", "ip6_forward"];

/// The code of a reason by the kernel's name of it, and by the function that dropped the packet.
pub fn code_of(name: Option<&str>, place: Option<&str>) -> u8 {
    let Some(name) = name else {
        return UNKNOWN;
    };
    // The routes "unreachable", "prohibit" and "blackhole": the kernel gives no reason for them.
    if name == "NOT_SPECIFIED" && place.is_some_and(|place| NO_ROUTES.contains(&place)) {
        return NO_ROUTE;
    }
    if name == "IP_INHDR" && place.is_some_and(|place| FORWARDS.contains(&place)) {
        return TTL_ZERO;
    }
    let fits = |pattern: &str| match pattern.ends_with('_') {
        true => name.starts_with(pattern),
        false => name == pattern,
    };
    let found = CODES.iter().find(|(pattern, _)| fits(pattern));
    found.map_or(UNKNOWN, |(_, code)| *code)
}
