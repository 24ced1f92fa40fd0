//! Route events: the kernel's notices that routes, or the links that they use, changed.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteMessage, RouteType,
};
use nix::libc;

use super::netlink_notices::{Notice, Notices, read_messages};

/// Groups without a name of the old kind: 1 << (RTNLGRP_... - 1) of RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE and
/// RTNLGRP_NEXTHOP.
const RULES4: u32 = 1 << 7;
const RULES6: u32 = 1 << 18;
const NEXT_HOPS: u32 = 1 << 31;

/// One change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RouteEvent {
    /// Routes to this prefix were added, changed or removed.
    Prefix(IpAddr, u8),
    Link(LinkNow),
    /// Rules or next hops changed, or more than was reported.
    Anything,
}

/// What decides whether packets leave by a link, and how long they may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LinkNow {
    pub index: u32,
    pub runs: bool,
    pub mtu: u32,
}

/// The events in this network namespace.
pub struct RouteEvents(Notices);

impl AsFd for RouteEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl RouteEvents {
    pub fn listen() -> io::Result<Self> {
        let named = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_ROUTE | libc::RTMGRP_IPV6_ROUTE;
        let groups = named.cast_unsigned() | RULES4 | RULES6 | NEXT_HOPS;
        Notices::listen(groups).map(Self)
    }

    /// Hands over the changes since the last call.
    pub fn take(&self, mut take: impl FnMut(RouteEvent)) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        self.0.take(&mut buffer, |notice| match notice {
            Notice::Messages(messages) => read_messages(messages, |message| match message {
                Some(message) => {
                    event_of(message).map(&mut take);
                }
                None => take(RouteEvent::Anything),
            }),
            Notice::Overflow => take(RouteEvent::Anything),
        })
    }
}

fn event_of(message: RouteNetlinkMessage) -> Option<RouteEvent> {
    match message {
        RouteNetlinkMessage::NewRoute(route) | RouteNetlinkMessage::DelRoute(route) => {
            prefix_of(&route)
        }
        RouteNetlinkMessage::NewLink(link) => Some(RouteEvent::Link(link_now(&link, true))),
        RouteNetlinkMessage::DelLink(link) => Some(RouteEvent::Link(link_now(&link, false))),
        _ => Some(RouteEvent::Anything),
    }
}

/// Returns `None` if packets to other hosts do not take the route, or it is only remembered for one of them.
fn prefix_of(route: &RouteMessage) -> Option<RouteEvent> {
    let header = &route.header;
    let is_own = matches!(
        header.kind,
        RouteType::Local | RouteType::Broadcast | RouteType::Anycast | RouteType::Multicast
    );
    if is_own || header.flags.contains(RouteFlags::Cloned) {
        return None;
    }
    let dest = route
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            RouteAttribute::Destination(RouteAddress::Inet(addr)) => Some(IpAddr::V4(*addr)),
            RouteAttribute::Destination(RouteAddress::Inet6(addr)) => Some(IpAddr::V6(*addr)),
            _ => None,
        });
    let unspecified = match header.address_family {
        netlink_packet_route::AddressFamily::Inet => IpAddr::V4([0; 4].into()),
        _ => IpAddr::V6([0; 16].into()),
    };
    let len = header.destination_prefix_length;
    Some(RouteEvent::Prefix(dest.unwrap_or(unspecified), len))
}

fn link_now(link: &LinkMessage, exists: bool) -> LinkNow {
    let mtu = link
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            LinkAttribute::Mtu(mtu) => Some(*mtu),
            _ => None,
        });
    LinkNow {
        index: link.header.index,
        runs: exists
            && link
                .header
                .flags
                .contains(LinkFlags::Up | LinkFlags::LowerUp),
        mtu: mtu.unwrap_or_default(),
    }
}
