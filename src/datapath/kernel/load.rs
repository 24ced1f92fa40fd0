//! Loading of programs onto maps that may be pinned already, with libbpf's warnings in the error if it fails.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use libbpf_rs::skel::OpenSkel;
use libbpf_rs::{
    Link, MapCore, MapHandle, OpenMapMut, OpenObject, OpenProgramMut, ProgramMut, libbpf_sys,
};

use super::libbpf_log;
use super::links::program_label;
use super::map_names::WATCH_MAPS;
use super::pins::{Pins, remove};
use super::probe::Features;
use crate::model::{KernelPart, KernelParts};
use crate::os::log;

/// What the kernel did not take, and why.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// The program; `None` if it was a map, or something else that all programs of the object need.
    program: Option<String>,
    text: String,
}

/// Loads an object of programs.
///
/// # Errors
/// A [`Refusal`] that names the program or the map, its type, and what the kernel or libbpf said.
pub fn load_object<'o, O: OpenSkel<'o>>(open: O) -> io::Result<O::Output> {
    let sections: BTreeMap<String, String> = open
        .open_object()
        .progs()
        .map(|program| {
            let text = |text: &OsStr| text.to_string_lossy().trim_start_matches('?').to_owned();
            (text(program.name()), text(program.section()))
        })
        .collect();
    refusal_of(&sections, || open.load())
}

/// Attaches a program where its type says, for as long as the link lives.
pub fn attach(program: &ProgramMut<'_>) -> io::Result<Link> {
    refusal_of(&section_of(program), || program.attach())
}

/// Attaches a program to the cgroup of this folder, for as long as the link lives.
pub fn attach_to_cgroup(program: &ProgramMut<'_>, folder: &Path) -> io::Result<Link> {
    let cgroup = File::open(folder)?;
    refusal_of(&section_of(program), || {
        program.attach_cgroup(cgroup.as_raw_fd())
    })
}

fn section_of(program: &ProgramMut<'_>) -> BTreeMap<String, String> {
    let text = |text: &OsStr| text.to_string_lossy().into_owned();
    BTreeMap::from([(text(program.name()), text(program.section()))])
}

/// Runs `call`. If it fails, the error ends with libbpf's last warnings.
pub fn with_warnings<T>(call: impl FnOnce() -> libbpf_rs::Result<T>) -> io::Result<T> {
    refusal_of(&BTreeMap::new(), call)
}

fn refusal_of<T>(
    sections: &BTreeMap<String, String>,
    call: impl FnOnce() -> libbpf_rs::Result<T>,
) -> io::Result<T> {
    let (result, warnings) = libbpf_log::collect_warnings(call);
    result.map_err(|err| {
        // A refusal by the verifier has the same kind, and comes with a log.
        let by_verifier = warnings.iter().any(|text| text.contains("PROG LOAD LOG"));
        let denied = err.kind() == libbpf_rs::ErrorKind::PermissionDenied && !by_verifier;
        let named = warnings.iter().rev().find_map(|line| failed_part(line));
        let program = match named {
            Some(("prog", name)) => Some(name.to_owned()),
            _ => None,
        };
        let known = known_reason(&warnings);
        let why = known.map_or_else(|| err.to_string(), str::to_owned);
        let mut text = match (named, program.as_ref().and_then(|name| sections.get(name))) {
            (Some((_, name)), Some(section)) => {
                format!("the kernel refuses the program {name} of type {section}: {why}")
            }
            (Some(("map", name)), _) => format!("the kernel refuses the map {name}: {why}"),
            _ => why,
        };
        if let Some(said) = said_by_verifier(&warnings).filter(|_| known.is_none()) {
            text.push_str("; the verifier says: ");
            text.push_str(said);
        }
        let is_clear = denied || by_verifier || known.is_some();
        let last = warnings.len().saturating_sub(3);
        for warning in warnings[last..].iter().filter(|_| !is_clear) {
            text.push_str("; ");
            text.push_str(warning.lines().last().unwrap_or_default());
        }
        let kind = match denied {
            true => io::ErrorKind::PermissionDenied,
            false => io::ErrorKind::Other,
        };
        io::Error::new(kind, Refusal { program, text })
    })
}

/// What a kernel means that does not give bpf_probe_read_kernel.
pub const NO_KERNEL_READS: &str = "programs may not read the kernel's memory, which takes CAP_PERFMON and another lockdown \
                                   than confidentiality (try lockdown=integrity at boot)";

/// Says in other words what these warnings mean, where they have a cause that a host's operator can change.
fn known_reason(warnings: &[String]) -> Option<&'static str> {
    let says = |words: &str| warnings.iter().any(|text| text.contains(words));
    if says("failed to find valid kernel BTF") {
        return Some(
            "the kernel does not describe its types in /sys/kernel/btf/vmlinux, by which programs find what they read (try \
             a kernel with CONFIG_DEBUG_INFO_BTF=y)",
        );
    }
    if says("failed to find kernel BTF type ID") {
        return Some("the kernel has no such place");
    }
    let reads = ["unknown func ", "cannot use helper "];
    let may_not_read = reads
        .iter()
        .any(|words| says(&format!("{words}bpf_probe_read")));
    may_not_read.then_some(NO_KERNEL_READS)
}

/// The last line of the verifier's log that tells why it refuses a program.
fn said_by_verifier(warnings: &[String]) -> Option<&str> {
    let log = warnings
        .iter()
        .find(|text| text.contains("PROG LOAD LOG"))?;
    let is_reason = |line: &&str| !line.starts_with("processed ") && !line.starts_with("-- ");
    log.lines().map(str::trim).rfind(is_reason)
}

/// The error of a program that the kernel took, and does not let run where it belongs.
pub fn refused(program: &ProgramMut<'_>, err: &io::Error) -> io::Error {
    let name = program.name().to_string_lossy().into_owned();
    let section = program.section().to_string_lossy();
    let text = format!("the kernel does not let the program {name} of type {section} run: {err}");
    io::Error::new(
        err.kind(),
        Refusal {
            program: Some(name),
            text,
        },
    )
}

/// Reads the kind and the name out of one of libbpf's warnings: `libbpf: prog 'see_drop': failed to load: -EPERM`.
fn failed_part(warning: &str) -> Option<(&str, &str)> {
    let (kind, rest) = warning.trim_start_matches("libbpf: ").split_once(" '")?;
    let (name, what) = rest.split_once("': ")?;
    (["prog", "map"].contains(&kind) && what.starts_with("failed to")).then_some((kind, name))
}

/// True if the kernel refused something, or has no such thing: a role can do without it.
pub fn is_refusal(err: &io::Error) -> bool {
    err.kind() == io::ErrorKind::Unsupported || refusal(err).is_some()
}

fn refusal(err: &io::Error) -> Option<&Refusal> {
    err.get_ref()?.downcast_ref()
}

/// Calls `load`, and calls it again without the optional programs that the kernel refused, which are reported in the
/// log.
///
/// # Errors
/// The kernel refuses something that is not optional.
pub fn without_refused<T>(
    optional: &[(&str, KernelPart)],
    mut load: impl FnMut(KernelParts) -> io::Result<T>,
) -> io::Result<(T, KernelParts)> {
    let mut refused = KernelParts::default();
    loop {
        let err = match load(refused) {
            Ok(loaded) => return Ok((loaded, refused)),
            Err(err) => err,
        };
        let program = refusal(&err).and_then(|refusal| refusal.program.as_deref());
        let part = optional.iter().find(|(name, _)| Some(*name) == program);
        match part {
            Some((_, part)) if refused.insert(*part) => {
                log::warning(format_args!("{}: {err}", part.facts().sentence()));
            }
            _ => return Err(err),
        }
    }
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
/// keep it until they are replaced. One whose entries only take their memory at another time
/// stays, with all that is in it, and so does a watchlist, which may have any size.
fn pin_map(map: &mut OpenMapMut<'_>, pins: &Pins, name: &str) -> io::Result<()> {
    let path = pins.map(name);
    if path.exists() {
        if WATCH_MAPS.contains(&name) {
            let pinned = MapHandle::from_pinned_path(&path).map_err(io::Error::other)?;
            map.set_max_entries(pinned.max_entries())
                .map_err(io::Error::other)?;
        }
        match flags_of_same_shape(map, &path) {
            Some(flags) => map.set_map_flags(flags).map_err(io::Error::other)?,
            None => {
                log::warning(format_args!("map {name} has a new size and starts empty"));
                remove(&path)?;
            }
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

/// The flows of the largest table that takes memory for flows that there are.
const GROWING_FLOWS: u32 = 65_536;

/// Gives a table of flows this many entries. It takes their memory as they come, but for a larger table, which takes it
/// at once: the kernel then packs them more closely, and a packet of a million flows finds its own sooner.
pub fn size_flow_table(map: &mut OpenMapMut<'_>, flows: u32) -> io::Result<()> {
    let flags = map.map_flags();
    let flags = match flows > GROWING_FLOWS {
        true => flags & !libbpf_sys::BPF_F_NO_PREALLOC,
        false => flags | libbpf_sys::BPF_F_NO_PREALLOC,
    };
    let sized = map
        .set_map_flags(flags)
        .and_then(|()| map.set_max_entries(flows));
    sized.map_err(io::Error::other)
}

/// Returns the flags of the pinned map if this one can share it: libbpf refuses a map of other flags.
fn flags_of_same_shape(map: &OpenMapMut<'_>, path: &Path) -> Option<u32> {
    let pinned = MapHandle::from_pinned_path(path).ok()?;
    let same = pinned.map_type() == map.map_type()
        && pinned.key_size() == map.key_size()
        && pinned.value_size() == map.value_size()
        && pinned.max_entries() == map.max_entries();
    let flags = pinned.info().ok()?.info.map_flags;
    let differ = flags ^ map.map_flags();
    (same && differ & !libbpf_sys::BPF_F_NO_PREALLOC == 0).then_some(flags)
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
