//! The sink's programs as the running kernel takes them.

use std::io;
use std::mem::MaybeUninit;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{OpenObject, libbpf_sys};

use super::abi::sink_object::{OpenSinkSkel, SinkSkelBuilder};
use super::load::{choose, with_warnings};
use super::probe::Features;

/// Opens the programs and sets their constants; the caller pins their maps and loads them.
pub(super) fn open(
    object: &mut MaybeUninit<OpenObject>,
    features: Features,
) -> io::Result<OpenSinkSkel<'_>> {
    let mut open = SinkSkelBuilder::default()
        .open(object)
        .map_err(io::Error::other)?;
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.have_tai_clock = features.tai_clock;
        constants.have_check_mtu = features.check_mtu;
        constants.have_kernel_ctx = features.kernel_ctx;
        constants.have_xdp_frags = features.xdp_frags;
        constants.have_coarse_clock = features.coarse_clock;
        constants.have_home_cpus = features.atomics && features.home_cpus;
        constants.software_version = software_version();
    }
    let programs = &mut open.progs;
    choose(features, &mut programs.sink, &mut programs.sink_locked);
    choose(
        features,
        &mut programs.sink_tc,
        &mut programs.sink_tc_locked,
    );
    if features.xdp_frags {
        programs.sink.set_flags(libbpf_sys::BPF_F_XDP_HAS_FRAGS);
    }
    Ok(open)
}

/// Loads the programs onto maps of their own and releases them, to find out whether this kernel takes them.
pub fn try_to_load() -> io::Result<()> {
    let mut object = MaybeUninit::uninit();
    let mut open = open(&mut object, Features::probe())?;
    open.maps
        .sink_flows
        .set_max_entries(1)
        .map_err(io::Error::other)?;
    size_fine_slots(&mut open, 1)?;
    with_warnings(|| open.load())?;
    Ok(())
}

/// Sets the number of flows that can have fine slots.
pub(super) fn size_fine_slots(open: &mut OpenSinkSkel<'_>, flows: u32) -> io::Result<()> {
    let (slots, free) = (
        &mut open.maps.sink_fine_slots,
        &mut open.maps.sink_fine_free,
    );
    for map in [slots, free] {
        map.set_max_entries(flows).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The major and the minor version, as lease answers state them.
fn software_version() -> u16 {
    let part = |text: &str| text.parse::<u8>().unwrap_or_default();
    u16::from_be_bytes([
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
    ])
}
