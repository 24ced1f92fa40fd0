//! Netlink notices: what the kernel says by itself to sockets that listen to groups of it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};

use super::wait;

/// Messages are padded to a multiple of this.
const ALIGNED: usize = 4;

/// A socket that listens in this network namespace.
pub(super) struct Notices(OwnedFd);

impl AsFd for Notices {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What one call of `recv` gave.
pub(super) enum Notice<'a> {
    Messages(&'a [u8]),
    /// There were more notices than the socket's buffer holds.
    Overflow,
}

impl Notices {
    /// Listens to `groups`, bits of `RTMGRP_*`.
    pub fn listen(groups: u32) -> io::Result<Self> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
            SockProtocol::NetlinkRoute,
        )?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, groups))?;
        Ok(Self(socket))
    }

    /// Hands over all notices since the last call, each as far as `buffer` holds it.
    pub fn take(&self, buffer: &mut [u8], mut take: impl FnMut(Notice<'_>)) -> io::Result<()> {
        if wait::is_quiet(self) {
            return Ok(());
        }
        loop {
            match recv(self.0.as_raw_fd(), buffer, MsgFlags::empty()) {
                Ok(len) => take(Notice::Messages(&buffer[..len])),
                Err(Errno::ENOBUFS) => take(Notice::Overflow),
                Err(Errno::EAGAIN) => return Ok(()),
                Err(Errno::EINTR) => {}
                Err(err) => return Err(err.into()),
            }
        }
    }
}

/// Hands over the messages of a notice; `None` stands for what cannot be read, and for all behind it.
pub(super) fn read_messages(mut bytes: &[u8], mut take: impl FnMut(Option<RouteNetlinkMessage>)) {
    while !bytes.is_empty() {
        let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes) else {
            take(None);
            return;
        };
        let len = (message.header.length as usize).next_multiple_of(ALIGNED);
        if let NetlinkPayload::InnerMessage(inner) = message.payload {
            take(Some(inner));
        }
        bytes = bytes.get(len.max(ALIGNED)..).unwrap_or_default();
    }
}
