//! Loading of programs onto maps that may be pinned already, with libbpf's warnings in the error if it fails.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use libbpf_rs::{
    MapCore, MapHandle, OpenMapMut, OpenObject, OpenProgramMut, ProgramMut, libbpf_sys,
};

use super::libbpf_log;
use super::links::program_label;
use super::pins::{Pins, remove};
use super::probe::Features;
use crate::os::log;

/// Runs `load`. If it fails, the error ends with libbpf's last warnings.
pub fn with_warnings<T>(load: impl FnOnce() -> libbpf_rs::Result<T>) -> io::Result<T> {
    let (result, warnings) = libbpf_log::collect_warnings(load);
    result.map_err(|err| {
        let last = warnings.len().saturating_sub(3);
        let mut text = err.to_string();
        // A refusal by the verifier has the same kind, and comes with a log.
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

/// Makes each map of the object that is listed in `names` share the map pinned under its name. If none is pinned, the
/// new map is pinned there on load.
pub fn pin_maps(object: &mut OpenObject, pins: &Pins, names: &[&str]) -> io::Result<()> {
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if names.contains(&name.as_str()) {
            pin_map(&mut map, pins, &name)?;
        }
    }
    Ok(())
}

/// A pinned map of another shape, made by another version or with another size, loses its pin. Programs that use it
/// keep it until they are replaced.
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
            log::warning(format_args!("map {name} has a new size and starts empty"));
            remove(&path)?;
        }
    }
    log::debug(|| {
        format!(
            "map {name}: {} {}",
            if path.exists() {
                "shared from"
            } else {
                "to be pinned at"
            },
            path.display()
        )
    });
    map.set_pin_path(&path).map_err(io::Error::other)
}

/// Returns a descriptor of a loaded program that outlives its object.
pub fn program_fd(program: &ProgramMut<'_>) -> io::Result<OwnedFd> {
    log::debug(|| format!("loaded {}", program_label(program.as_fd())));
    program.as_fd().try_clone_to_owned()
}

/// Selects for loading the program that takes sequence numbers by atomics where the kernel has them, else its twin that
/// takes them under a lock.
pub fn choose(
    features: Features,
    with_atomics: &mut OpenProgramMut<'_>,
    with_locks: &mut OpenProgramMut<'_>,
) {
    with_atomics.set_autoload(features.atomics);
    with_locks.set_autoload(!features.atomics);
}

/// Returns a descriptor of the program that [`choose`] selected.
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

/// Runs of a program that the kernel left out, because another run went on on the CPU.
pub fn recursion_misses(program: &OwnedFd) -> io::Result<u64> {
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut len = size_of_val(&info) as u32;
    let fd = program.as_raw_fd();
    // SAFETY: the info has room for `len` bytes, and outlives the call.
    let result =
        unsafe { libbpf_sys::bpf_obj_get_info_by_fd(fd, (&raw mut info).cast(), &mut len) };
    match result {
        0 => Ok(info.recursion_misses),
        code => Err(io::Error::from_raw_os_error(-code)),
    }
}
