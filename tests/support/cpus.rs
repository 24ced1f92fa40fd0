//! The CPUs that a test may use.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The CPUs that this process may use.
pub fn cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).expect("every process has them");
    let is_allowed = |cpu: &usize| allowed.is_set(*cpu).is_ok_and(|is| is);
    (0..CpuSet::count()).filter(is_allowed).collect()
}

/// This thread runs on that CPU from now on.
pub fn stay_on(cpu: usize) {
    let mut only = CpuSet::new();
    only.set(cpu).expect("a CPU's number");
    sched_setaffinity(Pid::from_raw(0), &only).expect("the CPU is allowed");
}
