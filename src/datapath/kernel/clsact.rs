//! Programs attached as clsact filters, where the kernel has no tcx (before 6.6).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder, libbpf_sys};

use super::links::program_label;
use super::load::with_warnings;
use super::pins::Pins;
use crate::os::{log, netdev, rtnetlink};

/// The priority of all filters of hostint. Filters on the same hook differ by handle.
pub const PRIORITY: u32 = 49_152;

fn qdisc_of(ifindex: u32) -> io::Result<libbpf_sys::bpf_tc_hook> {
    Ok(libbpf_sys::bpf_tc_hook {
        sz: size_of::<libbpf_sys::bpf_tc_hook>() as _,
        ifindex: i32::try_from(ifindex).map_err(io::Error::other)?,
        attach_point: libbpf_sys::BPF_TC_INGRESS | libbpf_sys::BPF_TC_EGRESS,
        ..Default::default()
    })
}

/// Adds a clsact qdisc to the interface. Returns false if the interface has one already.
pub fn make_qdisc(ifindex: u32) -> io::Result<bool> {
    let mut hook = qdisc_of(ifindex)?;
    let mut code = 0;
    // libbpf warns if there is a qdisc already.
    with_warnings(|| {
        // SAFETY: the hook is valid during the call.
        code = -unsafe { libbpf_sys::bpf_tc_hook_create(&mut hook) };
        Ok(())
    })?;
    match code {
        0 => {
            log::debug(|| format!("added a clsact qdisc to {}", netdev::label_of(ifindex)));
            Ok(true)
        }
        nix::libc::EEXIST => Ok(false),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Removes the clsact qdisc unless it carries filters of other programs.
pub fn remove_unused_qdisc(ifindex: u32) -> io::Result<()> {
    if !rtnetlink::clsact_filters(ifindex)?.is_empty() {
        return Ok(());
    }
    let mut hook = qdisc_of(ifindex)?;
    // SAFETY: the hook is valid during the call.
    match -unsafe { libbpf_sys::bpf_tc_hook_destroy(&mut hook) } {
        0 => {
            log::debug(|| format!("removed the clsact qdisc of {}", netdev::label_of(ifindex)));
            Ok(())
        }
        nix::libc::ENOENT | nix::libc::EINVAL => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// The values that name a filter in the kernel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClsactFilter {
    pub ifindex: u32,
    /// The filter is at ingress, else at egress.
    pub ingress: bool,
    pub handle: u32,
}

impl fmt::Display for ClsactFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.ingress { "ingress" } else { "egress" };
        let dev = netdev::label_of(self.ifindex);
        write!(f, "the clsact filter {} at {side} of {dev}", self.handle)
    }
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

    /// Attaches a program, and replaces the present one if there is one.
    pub fn attach(self, program: BorrowedFd<'_>) -> io::Result<()> {
        let mut filter = self.hook(program)?;
        make_qdisc(self.ifindex)?;
        filter.attach().map_err(io::Error::other)?;
        log::debug(|| format!("attached {} by {self}", program_label(program)));
        Ok(())
    }

    /// Detaches the program if one is attached.
    pub fn detach(self, pins: &Pins) -> io::Result<()> {
        self.remove(std::fs::File::open(pins.folder())?.as_fd())
    }

    /// True if a program is attached.
    pub fn is_attached(self, pins: &Pins) -> io::Result<bool> {
        self.is_there(std::fs::File::open(pins.folder())?.as_fd())
    }

    /// The same as `detach`. A filter is named without its program's descriptor, so any descriptor will do.
    pub fn remove(self, any: BorrowedFd<'_>) -> io::Result<()> {
        if !self.is_there(any)? {
            return Ok(());
        }
        let mut filter = self.hook(any)?;
        filter.detach().map_err(io::Error::other)?;
        log::debug(|| format!("removed {self}"));
        Ok(())
    }

    /// The same as `is_attached`, by any descriptor.
    pub fn is_there(self, any: BorrowedFd<'_>) -> io::Result<bool> {
        let mut filter = self.hook(any)?;
        Ok(with_warnings(|| filter.query()).is_ok())
    }
}
