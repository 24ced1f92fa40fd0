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

/// How many programs of this name the kernel has.
pub fn loaded(name: &str) -> usize {
    let all = libbpf_rs::query::ProgInfoIter::default();
    all.filter(|info| info.name == name).count()
}

/// The program's instructions as the verifier left them, with all functions that it calls, eight bytes each.
pub fn instructions(program: &impl AsFd) -> Vec<[u8; 8]> {
    let size = of(program).xlated_prog_len;
    let mut found = vec![[0; 8]; size as usize / 8];
    // SAFETY: plain data; all zeros is a valid value.
    let mut info: libbpf_sys::bpf_prog_info = unsafe { std::mem::zeroed() };
    info.xlated_prog_len = size;
    info.xlated_prog_insns = found.as_mut_ptr() as u64;
    let mut len = size_of_val(&info) as u32;
    let fd = program.as_fd().as_raw_fd();
    // SAFETY: info is valid for len bytes, and found for as many as it says.
    let result = unsafe { libbpf_sys::bpf_prog_get_info_by_fd(fd, &mut info, &mut len) };
    assert_eq!(result, 0, "the program is loaded");
    assert_eq!(info.xlated_prog_len, size, "they are all there");
    found
}
