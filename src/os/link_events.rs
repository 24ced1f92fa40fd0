//! Link events: the kernel's notices that interfaces came, changed or went, one by one.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use nix::libc;

use super::netlink_notices::{Notice, Notices, read_messages};

/// An interface of this network namespace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SeenLink {
    pub index: u32,
    pub name: String,
    /// The kernel's number for the namespace of the other end, if that is another one: of a container behind a veth.
    pub peer_netns: Option<i32>,
    /// The interface on which this one is stacked, as a VLAN is on its card.
    pub lower: Option<u32>,
    /// The bridge or bond that this one is a port of.
    pub master: Option<u32>,
}

impl SeenLink {
    pub(super) fn of(link: &LinkMessage) -> Option<Self> {
        let mut name = None;
        let mut peer_netns = None;
        let mut master = None;
        let mut lower = None;
        let mut is_pair = false;
        for attribute in &link.attributes {
            match attribute {
                LinkAttribute::IfName(text) => name = Some(text.clone()),
                LinkAttribute::LinkNetNsId(number) => peer_netns = Some(*number),
                LinkAttribute::Controller(index) => master = Some(*index),
                LinkAttribute::Link(index) => lower = Some(*index),
                LinkAttribute::LinkInfo(about) => {
                    is_pair = about.contains(&LinkInfo::Kind(InfoKind::Veth));
                }
                _ => {}
            }
        }
        Some(Self {
            index: link.header.index,
            name: name?,
            peer_netns,
            // That of a veth is its other end.
            lower: lower.filter(|index| !is_pair && peer_netns.is_none() && *index != 0),
            master: master.filter(|index| *index != 0),
        })
    }
}

/// One change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LinkEvent {
    /// The interface came, or changed.
    Here(SeenLink),
    /// The interface with this index went: it was deleted, or moved to another namespace.
    Gone(u32),
    /// There were more changes than were reported.
    Missed,
}

/// The events in this network namespace.
pub struct LinkEvents(Notices);

impl AsFd for LinkEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl LinkEvents {
    pub fn listen() -> io::Result<Self> {
        Notices::listen(libc::RTMGRP_LINK.cast_unsigned()).map(Self)
    }

    /// Hands over the changes since the last call.
    pub fn take(&self, mut take: impl FnMut(LinkEvent)) -> io::Result<()> {
        let mut buffer = vec![0; 64 << 10];
        self.0.take(&mut buffer, |notice| match notice {
            Notice::Messages(messages) => read_messages(messages, |message| match message {
                Some(message) => {
                    event_of(&message).map(&mut take);
                }
                None => take(LinkEvent::Missed),
            }),
            Notice::Overflow => take(LinkEvent::Missed),
        })
    }
}

/// Returns `None` for what bridges tell of their ports: a port that leaves one is still there.
fn event_of(message: &RouteNetlinkMessage) -> Option<LinkEvent> {
    let is_whole = |link: &LinkMessage| link.header.interface_family != AddressFamily::Bridge;
    match message {
        RouteNetlinkMessage::NewLink(link) if is_whole(link) => {
            SeenLink::of(link).map(LinkEvent::Here)
        }
        RouteNetlinkMessage::DelLink(link) if is_whole(link) => {
            Some(LinkEvent::Gone(link.header.index))
        }
        _ => None,
    }
}
