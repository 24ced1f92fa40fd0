//! What network cards do with packets that have hop-by-hop options.

use std::io;

use crate::os::{ethtool, netdev};

/// True if whoever cuts superpackets of this interface copies hop-by-hop options into each segment: the kernel does, and
/// what stands behind a veth. A network card that cuts TCP over IPv6 by itself may do it wrongly.
pub(in crate::datapath) fn copy_options(dev: &str) -> bool {
    let mut behind = netdev::hardware_behind(dev).into_iter();
    !behind.any(|device| ethtool::feature(&device, ethtool::CUTS_TCP6).unwrap_or(true))
}

/// # Errors
/// A network card behind the interface may finish checksums in the wrong place: it expects them right behind IPv6's fixed
/// header.
pub(in crate::datapath) fn check_sums(dev: &str) -> io::Result<()> {
    let mut behind = netdev::hardware_behind(dev).into_iter();
    let sums = |device: &String| ethtool::feature(device, ethtool::SUMS_IPV6).unwrap_or(true);
    match behind.find(sums) {
        Some(device) => Err(io::Error::other(format!(
            "{device} may finish checksums behind hop-by-hop options in the wrong place \
             (try ethtool -K {device} tx-checksum-ipv6 off, or another --encap)"
        ))),
        None => Ok(()),
    }
}
