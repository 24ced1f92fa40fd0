//! Loading programs onto maps that may be pinned already, and what libbpf has to say when that fails.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Mutex;

use libbpf_rs::{
    MapCore, MapHandle, OpenMapMut, OpenObject, OpenProgramMut, PrintLevel, ProgramMut, get_print,
    set_print,
};

use super::pins::{Pins, remove};
use super::probe::Features;
use crate::os::log;

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn keep_warning(_: PrintLevel, text: String) {
    if let Ok(mut warnings) = WARNINGS.lock() {
        warnings.push(text.trim_end().to_owned());
    }
}

/// Runs `load`; if it fails, the error ends with libbpf's last words.
pub fn with_warnings<T>(load: impl FnOnce() -> libbpf_rs::Result<T>) -> io::Result<T> {
    let before = get_print();
    set_print(Some((PrintLevel::Warn, keep_warning)));
    let result = load();
    set_print(before);
    let warnings = WARNINGS.lock().map(|mut all| std::mem::take(&mut *all));
    result.map_err(|err| {
        let warnings = warnings.unwrap_or_default();
        let last = warnings.len().saturating_sub(3);
        let mut text = err.to_string();
        // The verifier's refusal has the same kind, and a log.
        let refused = warnings.iter().any(|text| text.contains("PROG LOAD LOG"));
        let denied = err.kind() == libbpf_rs::ErrorKind::PermissionDenied && !refused;
        for warning in warnings[last..].iter().filter(|_| !denied) {
            text.push_str("; ");
            text.push_str(warning.lines().last().unwrap_or_default());
        }
        io::Error::new(
            if denied {
                io::ErrorKind::PermissionDenied
            } else {
                io::ErrorKind::Other
            },
            text,
        )
    })
}

/// Lets each map of the object that is one of `names` be the one that is pinned under its name, or be pinned there when
/// it is made.
pub fn pin_maps(object: &mut OpenObject, pins: &Pins, names: &[&str]) -> io::Result<()> {
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if names.contains(&name.as_str()) {
            pin_map(&mut map, pins, &name)?;
        }
    }
    Ok(())
}

/// A pinned map of another shape, which another version made or which has another size, is given up: programs that use
/// it keep it until they are replaced.
fn pin_map(map: &mut OpenMapMut<'_>, pins: &Pins, name: &str) -> io::Result<()> {
    let path = pins.map(name);
    if path.exists() {
        let same = MapHandle::from_pinned_path(&path).is_ok_and(|pinned| {
            pinned.map_type() == map.map_type()
                && pinned.key_size() == map.key_size()
                && pinned.value_size() == map.value_size()
                && pinned.max_entries() == map.max_entries()
        });
        if !same {
            log::warning(format_args!(
                "map {name} has another size now and starts empty"
            ));
            remove(&path)?;
        }
    }
    map.set_pin_path(&path).map_err(io::Error::other)
}

/// A descriptor of a loaded program that lives on when its object is closed.
pub fn program_fd(program: &ProgramMut<'_>) -> io::Result<OwnedFd> {
    program.as_fd().try_clone_to_owned()
}

/// Loads the program that takes numbers by atomics where the kernel has them, else its twin that takes locks.
pub fn choose(
    features: Features,
    with_atomics: &mut OpenProgramMut<'_>,
    with_locks: &mut OpenProgramMut<'_>,
) {
    with_atomics.set_autoload(features.atomics);
    with_locks.set_autoload(!features.atomics);
}

/// A descriptor of the one of the two that [`choose`] chose.
pub fn chosen_fd(
    features: Features,
    with_atomics: &ProgramMut<'_>,
    with_locks: &ProgramMut<'_>,
) -> io::Result<OwnedFd> {
    program_fd(if features.atomics {
        with_atomics
    } else {
        with_locks
    })
}
