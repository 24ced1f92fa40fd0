//! Whether hostint is switched off on this host, which outlives daemons and reboots.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};

use super::kept_files;
use crate::os::clock;
use crate::views::moment::moment;

/// The file that is there while hostint is off, with the time since when.
fn file() -> PathBuf {
    kept_files::path("off")
}

/// The time since when hostint is off, in ns since the Unix epoch; `None` while it is not.
pub fn since_ns() -> Option<u64> {
    let file = file();
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return None,
        // It is there: off is the safe answer.
        Err(_) => String::new(),
    };
    let written = || {
        fs::metadata(&file)
            .ok()?
            .modified()
            .ok()?
            .duration_since(UNIX_EPOCH)
            .ok()
    };
    let since_ns = text.trim().parse().ok();
    Some(since_ns.unwrap_or_else(|| written().map_or(0, |time| time.as_nanos() as u64)))
}

/// Switches hostint off. Returns false if it was off.
///
/// # Errors
/// If that cannot be kept.
pub fn set() -> Result<bool> {
    if since_ns().is_some() {
        return Ok(false);
    }
    let file = file();
    kept_files::write(&file, &format!("{}\n", clock::realtime_ns()))
        .with_context(|| format!("cannot keep hostint off: cannot write {}", file.display()))?;
    Ok(true)
}

/// Ends that. Returns false if it was not off.
///
/// # Errors
/// If the file cannot be removed.
pub fn end() -> Result<bool> {
    let file = file();
    match fs::remove_file(&file) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => {
            removed.with_context(|| format!("cannot remove {}", file.display()))?;
            Ok(true)
        }
    }
}

/// What people read while it is off.
pub fn said(since_ns: u64) -> String {
    format!(
        "hostint is off on this host since {} (try hostint on)",
        moment(since_ns)
    )
}

/// # Errors
/// If hostint is off: no role may begin then.
pub fn refuse() -> Result<()> {
    if let Some(since_ns) = since_ns() {
        bail!("{}", said(since_ns));
    }
    Ok(())
}
