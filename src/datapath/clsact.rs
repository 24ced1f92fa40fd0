//! Programs as clsact filters, where the kernel has no tcx (before 6.6).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder, libbpf_sys};

use super::load::with_warnings;
use super::pins::Pins;
use crate::os::rtnetlink;

/// Of all filters of hostint; those on the same hook differ by handle.
pub const PRIORITY: u32 = 49_152;

fn qdisc_of(ifindex: u32) -> io::Result<libbpf_sys::bpf_tc_hook> {
    Ok(libbpf_sys::bpf_tc_hook {
        sz: size_of::<libbpf_sys::bpf_tc_hook>() as _,
        ifindex: i32::try_from(ifindex).map_err(io::Error::other)?,
        attach_point: libbpf_sys::BPF_TC_INGRESS | libbpf_sys::BPF_TC_EGRESS,
        ..Default::default()
    })
}

/// False if the interface has its clsact qdisc already.
pub fn make_qdisc(ifindex: u32) -> io::Result<bool> {
    let mut hook = qdisc_of(ifindex)?;
    let mut code = 0;
    // libbpf warns of a qdisc that is there.
    with_warnings(|| {
        // SAFETY: the hook is valid during the call.
        code = -unsafe { libbpf_sys::bpf_tc_hook_create(&mut hook) };
        Ok(())
    })?;
    match code {
        0 => Ok(true),
        nix::libc::EEXIST => Ok(false),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Removes the clsact qdisc, unless others have filters on it.
pub fn remove_unused_qdisc(ifindex: u32) -> io::Result<()> {
    if !rtnetlink::clsact_filters(ifindex)?.is_empty() {
        return Ok(());
    }
    let mut hook = qdisc_of(ifindex)?;
    // SAFETY: the hook is valid during the call.
    match -unsafe { libbpf_sys::bpf_tc_hook_destroy(&mut hook) } {
        0 | nix::libc::ENOENT | nix::libc::EINVAL => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// A filter's name in the kernel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClsactFilter {
    pub ifindex: u32,
    /// Else at egress.
    pub ingress: bool,
    pub handle: u32,
}

impl ClsactFilter {
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
        make_qdisc(self.ifindex)?;
        filter.attach().map_err(io::Error::other)?;
        Ok(())
    }

    /// Takes the program off, if it is there.
    pub fn detach(self, pins: &Pins) -> io::Result<()> {
        if !self.is_attached(pins)? {
            return Ok(());
        }
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
