//! Netlink events: the kernel's notices that interfaces or addresses changed.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, socket,
};

/// The changes in this network namespace.
pub struct Changes(OwnedFd);

impl Changes {
    pub fn listen() -> io::Result<Self> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
            SockProtocol::NetlinkRoute,
        )?;
        let groups = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
        bind(
            socket.as_raw_fd(),
            &NetlinkAddr::new(0, groups.cast_unsigned()),
        )?;
        Ok(Self(socket))
    }

    /// True if something changed since the last call.
    pub fn any(&self) -> io::Result<bool> {
        let mut buffer = [0; 8192];
        let mut any = false;
        loop {
            match recv(self.0.as_raw_fd(), &mut buffer, MsgFlags::empty()) {
                Ok(_) => any = true,
                // There were more changes than the socket's buffer holds.
                Err(Errno::ENOBUFS) => any = true,
                Err(Errno::EAGAIN) => return Ok(any),
                Err(Errno::EINTR) => {}
                Err(err) => return Err(err.into()),
            }
        }
    }
}
