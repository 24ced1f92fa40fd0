//! The kernel's information about a loaded program.

use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::libbpf_sys;

pub fn of(program: &impl AsFd) -> libbpf_sys::bpf_prog_info {
    // SAFETY: plain data; all zeros is a valid value.
    let mut info: libbpf_sys::bpf_prog_info = unsafe { std::mem::zeroed() };
    let mut len = size_of_val(&info) as u32;
    let fd = program.as_fd().as_raw_fd();
    // SAFETY: info is valid for len bytes.
    let result = unsafe { libbpf_sys::bpf_prog_get_info_by_fd(fd, &mut info, &mut len) };
    assert_eq!(result, 0, "the program is loaded");
    info
}
