//! One run of a program that is attached to no hook: the items that it works on are passed as its packet.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use libbpf_rs::libbpf_sys;

use super::abi::{Abi, bytes_of_all};

/// Runs the program and returns its result. There may be no more items than the program looks at.
pub fn run_on<T: Abi>(program: &OwnedFd, items: &[T]) -> io::Result<u32> {
    let data = bytes_of_all(items);
    // SAFETY: plain data; all zeros means no option.
    let mut options: libbpf_sys::bpf_test_run_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of_val(&options) as _;
    options.data_in = data.as_ptr().cast();
    options.data_size_in = data.len() as u32;
    // SAFETY: descriptor, options and the data that they point to are valid during the call.
    let result = unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &mut options) };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok(options.retval)
}
