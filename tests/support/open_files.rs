//! The number of files that this process may have open.

use nix::libc;

/// Raises the limit as far as it goes: most systems begin with 1024.
pub fn allow_most() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limits are valid during the calls.
    let result = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit)
    };
    assert_eq!(result, 0, "a process may use its limit");
}
