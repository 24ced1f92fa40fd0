//! The sink's programs as the running kernel takes them.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{OpenObject, libbpf_sys};

use super::fine_slots::FINE_CHUNK;
use crate::config::SinkHook;
use crate::datapath::abi::sink_object::{OpenSinkSkel, SinkProgs, SinkSkelBuilder};
use crate::datapath::kernel::load::{choose, chosen_fd, load_object, size_flow_table};
use crate::datapath::kernel::map_names::SINK_SETTINGS;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;

/// The programs of the hooks. The verifier takes about 70 ms for each, so one is loaded only when it is needed.
pub(in crate::datapath) struct HookPrograms {
    xdp: OnceLock<OwnedFd>,
    tc: OnceLock<OwnedFd>,
    features: Features,
}

impl HookPrograms {
    /// Takes those that were loaded for these hooks.
    pub fn of(
        programs: &SinkProgs<'_>,
        features: Features,
        hooks: &[SinkHook],
    ) -> io::Result<Self> {
        let found = Self {
            xdp: OnceLock::new(),
            tc: OnceLock::new(),
            features,
        };
        for hook in hooks {
            let _ = found.slot(*hook).set(fd_of(programs, features, *hook)?);
        }
        Ok(found)
    }

    fn slot(&self, hook: SinkHook) -> &OnceLock<OwnedFd> {
        match hook {
            SinkHook::Xdp => &self.xdp,
            SinkHook::Tc => &self.tc,
        }
    }

    /// Returns the program of a hook, which is loaded now unless that was done before.
    pub fn get(&self, pins: &Pins, hook: SinkHook) -> io::Result<BorrowedFd<'_>> {
        let slot = self.slot(hook);
        if let Some(program) = slot.get() {
            return Ok(program.as_fd());
        }
        let mut object = MaybeUninit::uninit();
        let open = open_on_pins(&mut object, self.features, pins, &[hook])?;
        let skel = load_object(open)?;
        let program = fd_of(&skel.progs, self.features, hook)?;
        Ok(slot.get_or_init(|| program).as_fd())
    }
}

/// The program that sweeps flows.
pub(in crate::datapath) fn sweep_fd(
    programs: &SinkProgs<'_>,
    features: Features,
) -> io::Result<OwnedFd> {
    chosen_fd(features, &programs.sink_sweep, &programs.sink_sweep_locked)
}

fn fd_of(programs: &SinkProgs<'_>, features: Features, hook: SinkHook) -> io::Result<OwnedFd> {
    match hook {
        SinkHook::Xdp => chosen_fd(features, &programs.sink, &programs.sink_locked),
        SinkHook::Tc => chosen_fd(features, &programs.sink_tc, &programs.sink_tc_locked),
    }
}

/// Opens the programs of these hooks and sets their constants; the caller pins their maps and loads them.
pub(in crate::datapath) fn open<'a>(
    object: &'a mut MaybeUninit<OpenObject>,
    features: Features,
    hooks: &[SinkHook],
) -> io::Result<OpenSinkSkel<'a>> {
    let mut open = SinkSkelBuilder::default()
        .open(object)
        .map_err(io::Error::other)?;
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.have_tai_clock = features.tai_clock;
        constants.have_check_mtu = features.check_mtu;
        constants.have_kernel_ctx = features.kernel_ctx;
        constants.have_kernel_reads = features.kernel_reads;
        constants.have_xdp_frags = features.xdp_frags;
        constants.have_coarse_clock = features.coarse_clock;
        constants.have_home_cpus = features.atomics && features.home_cpus;
        constants.software_version = software_version();
    }
    let programs = &mut open.progs;
    choose(
        features,
        &mut programs.sink_sweep,
        &mut programs.sink_sweep_locked,
    );
    programs.sink.set_autoload(false);
    programs.sink_tc.set_autoload(false);
    for hook in hooks {
        let (with_atomics, with_locks) = match hook {
            SinkHook::Xdp => (&mut programs.sink, &mut programs.sink_locked),
            SinkHook::Tc => (&mut programs.sink_tc, &mut programs.sink_tc_locked),
        };
        choose(features, with_atomics, with_locks);
    }
    if features.xdp_frags {
        programs.sink.set_flags(libbpf_sys::BPF_F_XDP_HAS_FRAGS);
    }
    Ok(open)
}

/// Opens the programs of these hooks, and none beside them, onto the maps that are pinned.
pub(in crate::datapath) fn open_on_pins<'a>(
    object: &'a mut MaybeUninit<OpenObject>,
    features: Features,
    pins: &Pins,
    hooks: &[SinkHook],
) -> io::Result<OpenSinkSkel<'a>> {
    if !pins.map(SINK_SETTINGS).exists() {
        return Err(io::Error::other(
            "the sink's maps are no longer pinned, as it was detached meanwhile",
        ));
    }
    let mut open = open(object, features, hooks)?;
    open.progs.sink_sweep.set_autoload(false);
    open.progs.sink_sweep_locked.set_autoload(false);
    for mut map in open.open_object_mut().maps_mut() {
        let path = pins.map(&map.name().to_string_lossy());
        if path.exists() {
            map.reuse_pinned_map(&path).map_err(io::Error::other)?;
        }
    }
    Ok(open)
}

/// Loads the programs onto maps of their own and releases them, to find out whether this kernel takes them.
pub fn try_to_load() -> io::Result<()> {
    let mut object = MaybeUninit::uninit();
    let hooks = [SinkHook::Xdp, SinkHook::Tc];
    let mut open = open(&mut object, Features::probe(), &hooks)?;
    size_tables(&mut open, 1, 1)?;
    load_object(open)?;
    Ok(())
}

/// Sets the number of flows, and of those that can have fine slots.
pub(in crate::datapath) fn size_tables(
    open: &mut OpenSinkSkel<'_>,
    flows: u32,
    fine_flows: u32,
) -> io::Result<()> {
    size_flow_table(&mut open.maps.sink_flows, flows)?;
    let chunks = fine_flows.div_ceil(FINE_CHUNK);
    let sized = open.maps.sink_fine_slots.set_max_entries(chunks);
    let sized = sized.and_then(|()| open.maps.sink_fine_free.set_max_entries(fine_flows));
    sized.map_err(io::Error::other)
}

/// The major and the minor version, as lease answers state them.
fn software_version() -> u16 {
    let part = |text: &str| text.parse::<u8>().unwrap_or_default();
    u16::from_be_bytes([
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
    ])
}
