//! Programs as clsact filters, where the kernel has no tcx (before 6.6).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};

use super::load::with_warnings;
use super::pins::Pins;

/// Of all filters of hostint; those on the same hook differ by handle.
pub const PRIORITY: u32 = 49_152;

/// A filter's name in the kernel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Filter {
    pub ifindex: u32,
    /// Else at egress.
    pub ingress: bool,
    pub handle: u32,
}

impl Filter {
    fn hook(self, program: BorrowedFd<'_>) -> io::Result<TcHook> {
        let mut builder = TcHookBuilder::new(program);
        builder
            .ifindex(i32::try_from(self.ifindex).map_err(io::Error::other)?)
            .replace(true)
            .handle(self.handle)
            .priority(PRIORITY);
        Ok(builder.hook(if self.ingress { TC_INGRESS } else { TC_EGRESS }))
    }

    /// Puts a program there, in the place of the present one if there is one.
    pub fn attach(self, program: BorrowedFd<'_>) -> io::Result<()> {
        let mut filter = self.hook(program)?;
        filter.create().map_err(io::Error::other)?;
        filter.attach().map_err(io::Error::other)?;
        Ok(())
    }

    /// Takes the program off.
    pub fn detach(self, pins: &Pins) -> io::Result<()> {
        // The program's descriptor is not needed to name a filter, any will do.
        let any = std::fs::File::open(pins.folder())?;
        let mut filter = self.hook(any.as_fd())?;
        filter.detach().map_err(io::Error::other)
    }

    /// True if a program is there.
    pub fn is_attached(self, pins: &Pins) -> io::Result<bool> {
        let any = std::fs::File::open(pins.folder())?;
        let mut filter = self.hook(any.as_fd())?;
        Ok(with_warnings(|| filter.query()).is_ok())
    }
}
