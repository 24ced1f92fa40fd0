//! Netlink events: the kernel's notices that interfaces or addresses changed.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::libc;

use super::netlink_notices::Notices;

/// The changes in this network namespace.
pub struct Changes(Notices);

impl AsFd for Changes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Changes {
    pub fn listen() -> io::Result<Self> {
        let groups = libc::RTMGRP_LINK | libc::RTMGRP_IPV4_IFADDR | libc::RTMGRP_IPV6_IFADDR;
        Notices::listen(groups.cast_unsigned()).map(Self)
    }

    /// True if something changed since the last call.
    pub fn any(&self) -> io::Result<bool> {
        let mut any = false;
        self.0.take(&mut [0; 8192], |_| any = true)?;
        Ok(any)
    }
}
