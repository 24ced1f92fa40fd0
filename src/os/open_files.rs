//! The number of files that this process may have open.

use std::io;

use nix::errno::Errno;
use nix::libc;

/// What a daemon takes at least: each program and map of the kernel is a file, and so is each client.
const LEAST: u64 = 128;
/// What is asked for where the limit is lower, and may be raised.
const WANTED: u64 = 1024;

/// Raises the limit, if it is lower than a daemon needs and may be raised.
///
/// # Errors
/// If it stays too low.
pub fn require() -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call fills in the limit.
    Errno::result(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    if limit.rlim_cur >= LEAST {
        return Ok(());
    }
    limit.rlim_cur = limit.rlim_max.min(WANTED);
    if limit.rlim_cur < LEAST {
        let most = limit.rlim_max;
        return Err(io::Error::other(format!(
            "this process may have {most} files open, and needs {LEAST} (try ulimit -n {WANTED}, or LimitNOFILE={WANTED} in \
             the service)"
        )));
    }
    // SAFETY: the call reads the limit.
    Errno::result(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) })?;
    Ok(())
}
