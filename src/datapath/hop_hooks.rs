//! The TC hooks at which packets are timed, held for as long as their daemon runs.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use super::clsact::{self, ClsactFilter};
use super::links::{Hook, Link};
use crate::os::log;

/// The handle of the clsact filters, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 4;

/// Attachments, which end with this value.
#[derive(Default)]
pub struct HopHooks {
    /// Programs stay attached for as long as these live.
    links: Vec<Link>,
    filters: Vec<Filters>,
}

/// The filters of an interface, at ingress and at egress.
struct Filters {
    both: [ClsactFilter; 2],
    /// This process added the qdisc that carries them.
    made_qdisc: bool,
    /// The kernel names a filter with any program.
    program: OwnedFd,
}

impl HopHooks {
    /// Attaches both programs to an interface: where packets arrive before any other program sees them, and where they
    /// leave behind all others.
    pub fn attach(
        &mut self,
        ifindex: u32,
        arrives: BorrowedFd<'_>,
        queued: BorrowedFd<'_>,
    ) -> io::Result<()> {
        match Link::create(queued, ifindex, Hook::TcxEgress) {
            Ok(link) => self.links.push(link),
            // The kernel has no tcx (before 6.6).
            Err(err) if err.raw_os_error() == Some(nix::libc::EINVAL) => {
                return self.attach_filters(ifindex, arrives, queued);
            }
            Err(err) => return Err(err),
        }
        let arrives = Link::create(arrives, ifindex, Hook::TcxIngressFirst)?;
        self.links.push(arrives);
        Ok(())
    }

    fn attach_filters(
        &mut self,
        ifindex: u32,
        arrives: BorrowedFd<'_>,
        queued: BorrowedFd<'_>,
    ) -> io::Result<()> {
        let [ingress, egress] = [true, false].map(|ingress| ClsactFilter {
            ifindex,
            ingress,
            handle: CLSACT_HANDLE,
        });
        self.filters.push(Filters {
            both: [ingress, egress],
            made_qdisc: clsact::make_qdisc(ifindex)?,
            program: queued.try_clone_to_owned()?,
        });
        egress.attach(queued)?;
        ingress.attach(arrives)
    }
}

impl Drop for HopHooks {
    fn drop(&mut self) {
        for filters in &self.filters {
            if let Err(err) = filters.remove() {
                log::debug(|| format!("a filter stays: {err}"));
            }
        }
    }
}

impl Filters {
    fn remove(&self) -> io::Result<()> {
        use std::os::fd::AsFd;

        for filter in self.both {
            filter.remove(self.program.as_fd())?;
        }
        if self.made_qdisc {
            clsact::remove_unused_qdisc(self.both[0].ifindex)?;
        }
        Ok(())
    }
}
