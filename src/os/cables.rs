//! Cables between network namespaces: pairs of interfaces, their addresses, and routes over them.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::rtnetlink::request;
use super::{log, netdev};

/// Makes a pair of connected interfaces: `name` in this network namespace, and `peer` in another one.
pub fn connect(name: &str, peer: &str, peer_netns: BorrowedFd<'_>) -> io::Result<()> {
    log::debug(|| format!("netlink: adding the veth pair {name} and {peer}, which is elsewhere"));
    let mut other = LinkMessage::default();
    other.attributes = vec![
        LinkAttribute::IfName(peer.to_owned()),
        LinkAttribute::NetNsFd(peer_netns.as_raw_fd()),
    ];
    let mut link = LinkMessage::default();
    link.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
        ]),
    ];
    let made = NLM_F_CREATE | NLM_F_EXCL;
    request(RouteNetlinkMessage::NewLink(link), made).map(drop)
}

/// Gives an interface an address in a network of this prefix length.
pub fn add_address(index: u32, address: Ipv4Addr, prefix_len: u8) -> io::Result<()> {
    let dev = netdev::label_of(index);
    log::debug(|| format!("netlink: adding the address {address}/{prefix_len} to {dev}"));
    let mut message = AddressMessage::default();
    message.header.family = AddressFamily::Inet;
    message.header.prefix_len = prefix_len;
    message.header.index = index;
    let address = IpAddr::V4(address);
    message.attributes = vec![
        AddressAttribute::Local(address),
        AddressAttribute::Address(address),
    ];
    let made = NLM_F_CREATE | NLM_F_EXCL;
    request(RouteNetlinkMessage::NewAddress(message), made).map(drop)
}

/// Sends all that has no other route to this router.
pub fn add_default_route(router: Ipv4Addr) -> io::Result<()> {
    log::debug(|| format!("netlink: adding the default route by {router}"));
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![RouteAttribute::Gateway(RouteAddress::Inet(router))];
    let made = NLM_F_CREATE | NLM_F_EXCL;
    request(RouteNetlinkMessage::NewRoute(message), made).map(drop)
}
