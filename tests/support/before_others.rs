//! What hosts do in time they cannot do while others have the processors: tests of that, and their hosts, come first.

use std::panic::resume_unwind;
use std::thread;

use nix::libc;

/// Runs a test on a thread that gets a processor before all others, and so do the programs that it starts.
pub fn before_others(test: impl FnOnce() + Send) {
    const FIRST: libc::c_int = -20;
    let run = || {
        // SAFETY: no pointers; 0 is this thread alone. Who is not root runs like others.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, FIRST) };
        test();
    };
    if let Err(failure) = thread::scope(|scope| scope.spawn(run).join()) {
        resume_unwind(failure);
    }
}
