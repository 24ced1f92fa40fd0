//! `--superpackets no-gso`: an interface that is sent no superpackets.

use std::io;

use crate::os::rtnetlink;

/// What an interface takes that is sent none.
const NONE: u32 = 1;

/// The interface's limit, or what it was before if it is lowered already.
pub fn before(ifindex: u32, lowered_from: u32) -> io::Result<u32> {
    match lowered_from {
        0 => rtnetlink::gso_max_segs(ifindex),
        before => Ok(before),
    }
}

/// Lets nobody send superpackets any more; established connections follow when their route changes.
pub fn lower(ifindex: u32) -> io::Result<()> {
    rtnetlink::set_gso_max_segs(ifindex, NONE)
}

/// Gives the interface its limit back, unless somebody else has changed it meanwhile.
pub fn restore(ifindex: u32, before: u32) -> io::Result<()> {
    if before == 0 || rtnetlink::gso_max_segs(ifindex)? != NONE {
        return Ok(());
    }
    rtnetlink::set_gso_max_segs(ifindex, before)
}
