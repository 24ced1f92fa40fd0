//! Iterator programs of the kernel: a link to what they walk over, and files that each hold one walk.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libbpf_rs::libbpf_sys;

/// Links a program that walks over a map to it.
pub fn link_to_map(program: &OwnedFd, map: i32) -> io::Result<OwnedFd> {
    let mut target = libbpf_sys::bpf_iter_link_info::default();
    target.map.map_fd = map.cast_unsigned();
    create_link(program, Some(&mut target))
}

/// Links a program that walks over all of its kind.
pub fn link(program: &OwnedFd) -> io::Result<OwnedFd> {
    create_link(program, None)
}

fn create_link(
    program: &OwnedFd,
    target: Option<&mut libbpf_sys::bpf_iter_link_info>,
) -> io::Result<OwnedFd> {
    // SAFETY: plain data; all zeros means no option.
    let mut options: libbpf_sys::bpf_link_create_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of_val(&options) as _;
    if let Some(target) = target {
        options.iter_info_len = size_of_val(target) as u32;
        options.iter_info = target;
    }
    // SAFETY: the program, the options and what they point to are valid during the call.
    let fd = unsafe {
        libbpf_sys::bpf_link_create(
            program.as_raw_fd(),
            0,
            libbpf_sys::BPF_TRACE_ITER,
            &raw const options,
        )
    };
    own(fd)
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
