//! One run of a program that is attached to no hook: what it works on is passed as its packet.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use libbpf_rs::libbpf_sys;

use super::probe::{Instruction, instruction, load_instructions};
use crate::datapath::abi::{Abi, bytes_of_all};

/// Runs the program and returns its result. There may be no more items than the program looks at.
pub fn run_on<T: Abi>(program: &OwnedFd, items: &[T]) -> io::Result<u32> {
    Ok(run(program, bytes_of_all(items), &[], 1)?.0)
}

/// Runs the program several times, and returns its result and the mean time of a run in ns.
pub fn time_run(program: &OwnedFd, times: u32) -> io::Result<(u32, u32)> {
    run(program, &[0; 64], &[], times)
}

/// Runs the program on a packet without content at an interface, and returns its result.
pub fn run_at(program: &OwnedFd, ifindex: u32) -> io::Result<u32> {
    /// The place of ifindex in struct __sk_buff of linux/bpf.h.
    const IFINDEX_AT: usize = 40;
    let mut context = [0; 192];
    context[IFINDEX_AT..IFINDEX_AT + 4].copy_from_slice(&ifindex.to_ne_bytes());
    Ok(run(program, &[0; 64], &context, 1)?.0)
}

fn run(program: &OwnedFd, data: &[u8], context: &[u8], times: u32) -> io::Result<(u32, u32)> {
    // SAFETY: plain data; all zeros means no option.
    let mut options: libbpf_sys::bpf_test_run_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of_val(&options) as _;
    options.data_in = data.as_ptr().cast();
    options.data_size_in = data.len() as u32;
    options.repeat = times as _;
    if !context.is_empty() {
        options.ctx_in = context.as_ptr().cast();
        options.ctx_size_in = context.len() as u32;
    }
    // SAFETY: descriptor, options and the data that they point to are valid during the call.
    let result = unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &mut options) };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    Ok((options.retval, options.duration))
}

/// Runs a program of two instructions, to find out whether this kernel lets programs run so.
pub fn try_to_run() -> io::Result<()> {
    const PROGRAM: [Instruction; 2] = [
        instruction(0xb7, 0x00, 0, 0), // r0 = 0
        instruction(0x95, 0x00, 0, 0), // exit
    ];
    let program = load_instructions(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS, &PROGRAM)?;
    run(&program, &[0; 64], &[], 1).map(drop)
}
