//! The TC hooks at which packets are timed, by interface, held for as long as their daemon runs.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::datapath::kernel::clsact::{self, ClsactFilter};
use crate::datapath::kernel::links::{Hook, Link};
use crate::os::log;

/// The handle of the clsact filters, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 4;

/// Attachments, which end with this value.
pub struct PassageHooks {
    /// The program for packets that arrive, and that in front of the queue.
    arrives: OwnedFd,
    queued: OwnedFd,
    held: BTreeMap<u32, Held>,
}

/// What an interface has.
enum Held {
    /// Programs stay attached for as long as these live.
    Links([Link; 2]),
    Filters(Filters),
}

/// The filters of an interface, at ingress and at egress.
struct Filters {
    both: [ClsactFilter; 2],
    /// This process added the qdisc that carries them.
    made_qdisc: bool,
    /// The kernel names a filter with any program.
    program: OwnedFd,
}

impl PassageHooks {
    pub fn new(arrives: OwnedFd, queued: OwnedFd) -> Self {
        Self {
            arrives,
            queued,
            held: BTreeMap::new(),
        }
    }

    /// Attaches both programs to an interface: where packets arrive before any other program sees them, and where they
    /// leave behind all others. What is left of an earlier attachment goes.
    pub fn attach(&mut self, ifindex: u32) -> io::Result<()> {
        self.held.remove(&ifindex);
        let (arrives, queued) = (self.arrives.as_fd(), self.queued.as_fd());
        let held = match Link::create(queued, ifindex, Hook::TcxEgress) {
            Ok(egress) => {
                // Packets that arrive are stamped last, so that each of them is timed.
                let ingress = Link::create(arrives, ifindex, Hook::TcxIngressFirst)?;
                Held::Links([egress, ingress])
            }
            // The kernel has no tcx (before 6.6).
            Err(err) if err.raw_os_error() == Some(nix::libc::EINVAL) => {
                Held::Filters(Filters::attach(ifindex, arrives, queued)?)
            }
            Err(err) => return Err(err),
        };
        self.held.insert(ifindex, held);
        Ok(())
    }

    /// Takes both programs off an interface, which may be gone.
    pub fn detach(&mut self, ifindex: u32) {
        self.held.remove(&ifindex);
    }

    /// The interfaces that have both programs, as far as nothing else took them off.
    pub fn interfaces(&self) -> impl Iterator<Item = u32> {
        self.held.keys().copied()
    }

    pub fn has(&self, ifindex: u32) -> bool {
        self.held.contains_key(&ifindex)
    }

    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// False if one of an interface's programs was taken off.
    pub fn is_whole(&self, ifindex: u32) -> io::Result<bool> {
        match self.held.get(&ifindex) {
            None => Ok(false),
            Some(Held::Links(links)) => {
                for link in links {
                    if link.state()?.ifindex != ifindex {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Some(Held::Filters(filters)) => {
                let [ingress, egress] = filters.both;
                let program = filters.program.as_fd();
                Ok(ingress.is_there(program)? && egress.is_there(program)?)
            }
        }
    }
}

impl Filters {
    fn attach(ifindex: u32, arrives: BorrowedFd<'_>, queued: BorrowedFd<'_>) -> io::Result<Self> {
        let [ingress, egress] = [true, false].map(|ingress| ClsactFilter {
            ifindex,
            ingress,
            handle: CLSACT_HANDLE,
        });
        // What was attached goes with this value, if the rest fails.
        let filters = Self {
            both: [ingress, egress],
            made_qdisc: clsact::make_qdisc(ifindex)?,
            program: queued.try_clone_to_owned()?,
        };
        egress.attach(queued)?;
        ingress.attach(arrives)?;
        Ok(filters)
    }

    fn remove(&self) -> io::Result<()> {
        for filter in self.both {
            filter.remove(self.program.as_fd())?;
        }
        if self.made_qdisc {
            clsact::remove_unused_qdisc(self.both[0].ifindex)?;
        }
        Ok(())
    }
}

impl Drop for Filters {
    fn drop(&mut self) {
        if let Err(err) = self.remove() {
            log::debug(|| format!("a filter stays, or its interface is gone: {err}"));
        }
    }
}
