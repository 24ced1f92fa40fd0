//! Pins of network namespaces that are gone: nothing finds them any more, and their maps keep the kernel's memory.

use std::fs;
use std::io;

use super::namespaces;
use super::pins::Pins;
use crate::os::log;

/// Removes the folders of pins whose network namespace is none of those that live. Returns how many there were. An id is not
/// given to a second namespace; before Linux 5.14 it may be, and the pins are that one's then.
///
/// # Errors
/// If there are pins of other hosts, and it cannot be seen which of them live.
pub fn remove(pins: &Pins) -> io::Result<usize> {
    let others = pins.of_other_hosts()?;
    if others.is_empty() {
        return Ok(0);
    }
    // Those whose folders were found before: a new one has none yet.
    let living = namespaces::living()?;
    let mut removed = 0;
    for (_, folder) in others.iter().filter(|(id, _)| !living.contains(id)) {
        log::debug(|| format!("removing the pins in {}", folder.display()));
        match fs::remove_dir_all(folder) {
            Ok(()) => removed += 1,
            // Another daemon that starts removes the same.
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => return Err(err),
        }
    }
    Ok(removed)
}
