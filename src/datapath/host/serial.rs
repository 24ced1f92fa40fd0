//! Numbers by which flows notice that what their records remember of a table may be wrong.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{Ordering, fence};

use crate::datapath::kernel::maps::Map;

/// Programs advance it by 1, some of them between two system calls of this one perhaps, and none of their numbers may
/// come again.
const STEP: u32 = 65_536;

/// The serial of a table: a flow's record has that of the time when the flow looked into the table.
pub struct Serial(Map<u32, u32>);

impl Serial {
    pub fn of(map: Map<u32, u32>) -> Self {
        Self(map)
    }

    pub(in crate::datapath) fn share(&self) -> Self {
        Self(self.0.share())
    }

    pub(in crate::datapath) fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }

    /// Says that the table was changed: the next packet of each flow finds out what that means for it.
    pub fn advance(&self) -> io::Result<()> {
        let before = self.0.get(&0)?.unwrap_or_default();
        fence(Ordering::SeqCst);
        self.0.set(&0, &before.wrapping_add(STEP))
    }
}
