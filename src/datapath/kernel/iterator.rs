//! Iterator programs of the kernel: a link to what they walk over, and files that each hold one walk.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::{ProgramMut, libbpf_sys};

use super::load::refused;

/// Links a program that walks over all of its kind.
pub fn link(program: &ProgramMut<'_>) -> io::Result<OwnedFd> {
    // SAFETY: the program is valid during the call; no options.
    let linked = own(unsafe {
        libbpf_sys::bpf_link_create(
            program.as_fd().as_raw_fd(),
            0,
            libbpf_sys::BPF_TRACE_ITER,
            std::ptr::null(),
        )
    });
    linked.map_err(|err| refused(program, &err))
}

/// Begins a walk: reading the file runs the program.
pub fn begin(link: &OwnedFd) -> io::Result<File> {
    // SAFETY: no pointers.
    let fd = own(unsafe { libbpf_sys::bpf_iter_create(link.as_raw_fd()) })?;
    Ok(fd.into())
}

fn own(fd: i32) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::from_raw_os_error(-fd));
    }
    // SAFETY: the descriptor is new, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
