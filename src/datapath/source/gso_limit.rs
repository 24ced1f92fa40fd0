//! `--superpackets no-gso`: the limit that keeps the kernel from sending superpackets to an interface.

use std::io;

use crate::os::rtnetlink;

/// The most segments in one packet where superpackets are off.
const ONE_SEGMENT: u32 = 1;

/// Returns the interface's own limit: the present one, or `lowered_from` if hostint lowered it already.
pub fn before(ifindex: u32, lowered_from: u32) -> io::Result<u32> {
    match lowered_from {
        0 => rtnetlink::gso_max_segs(ifindex),
        before => Ok(before),
    }
}

/// Keeps new connections from sending superpackets. Established ones follow when their route changes.
pub fn lower(ifindex: u32) -> io::Result<()> {
    rtnetlink::set_gso_max_segs(ifindex, ONE_SEGMENT)
}

/// Gives the interface its limit back, unless another program has changed it meanwhile.
pub fn restore(ifindex: u32, before: u32) -> io::Result<()> {
    if before == 0 || rtnetlink::gso_max_segs(ifindex)? != ONE_SEGMENT {
        return Ok(());
    }
    rtnetlink::set_gso_max_segs(ifindex, before)
}
