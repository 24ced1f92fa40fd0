//! The time that a step of the work on a packet takes on this machine.

use std::io;
use std::mem::MaybeUninit;

use libbpf_rs::skel::SkelBuilder;

use crate::datapath::abi::step_object::StepSkelBuilder;
use crate::datapath::kernel::load::{load_object, program_fd};
use crate::datapath::kernel::run::time_run;

/// Something else may run on the CPU meanwhile: the quickest round counts.
const ROUNDS: u32 = 8;
const RUNS: u32 = 16;

/// Measures it, at least 1 ns. It takes a millisecond, and 8 MiB in that time.
///
/// # Errors
/// If the kernel takes no such program, or does not run it.
pub fn measure() -> io::Result<u32> {
    let mut object = MaybeUninit::uninit();
    let open = StepSkelBuilder::default()
        .open(&mut object)
        .map_err(io::Error::other)?;
    let skel = load_object(open)?;
    let program = program_fd(&skel.progs.step)?;
    let mut best = u32::MAX;
    for _ in 0..ROUNDS {
        let (steps, run_ns) = time_run(&program, RUNS)?;
        best = best.min(run_ns / steps.max(1));
    }
    Ok(best.max(1))
}
