//! The sink's program that is bound to one interface, whose driver tells it when packets arrived. It is loaded only
//! where that is safe.

use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use libbpf_rs::libbpf_sys;
use libbpf_rs::skel::SkelBuilder;

use super::sink_programs;
use crate::datapath::abi::bound_object::BoundSkelBuilder;
use crate::datapath::kernel::iterator;
use crate::datapath::kernel::links::program_id;
use crate::datapath::kernel::load::{load_object, program_fd};
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

/// Loads the program for this interface onto the pinned maps.
///
/// # Errors
/// The kernel has no such programs, the driver takes none, or the kernel would crash when the interface is removed.
pub fn load(pins: &Pins, ifindex: u32, features: Features) -> io::Result<OwnedFd> {
    may_load(features)?;
    let mut object = MaybeUninit::uninit();
    let mut open = sink_programs::open_on_pins(&mut object, features, pins, &[])?;
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.nic_stamps = true;
    }
    let program = &mut open.progs.sink_nic;
    program.set_autoload(true);
    program.set_ifindex(ifindex);
    let mut flags = libbpf_sys::BPF_F_XDP_DEV_BOUND_ONLY;
    if features.xdp_frags {
        flags |= libbpf_sys::BPF_F_XDP_HAS_FRAGS;
    }
    program.set_flags(flags);
    let skel = load_object(open)?;
    let program = program_fd(&skel.progs.sink_nic)?;
    if !survives_its_interface(program.as_fd())? {
        return Err(refused(
            "this kernel would crash if the interface were removed while the program is loaded",
        ));
    }
    Ok(program)
}

/// Finds out whether this kernel could take the program, without an interface.
pub fn try_to_look(features: Features) -> io::Result<()> {
    may_load(features)?;
    let mut object = MaybeUninit::uninit();
    let open = BoundSkelBuilder::default()
        .open(&mut object)
        .map_err(io::Error::other)?;
    iterator::link(&load_object(open)?.progs.look_at_bound).map(drop)
}

fn may_load(features: Features) -> io::Result<()> {
    if !features.nic_stamps {
        return Err(refused(
            "the kernel cannot ask a driver for timestamps (6.3 or newer can)",
        ));
    }
    if features.blinding {
        return Err(refused("net.core.bpf_jit_harden is 2 (try 1)"));
    }
    Ok(())
}

/// True if the kernel would find the program when its interface is removed.
fn survives_its_interface(program: BorrowedFd<'_>) -> io::Result<bool> {
    let mut object = MaybeUninit::uninit();
    let mut open = BoundSkelBuilder::default()
        .open(&mut object)
        .map_err(io::Error::other)?;
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.program_id = program_id(program)?;
    }
    let skel = load_object(open)?;
    let link = iterator::link(&skel.progs.look_at_bound)?;
    let mut answer = iterator::begin(&link)?;
    let mut bytes = Vec::new();
    answer.read_to_end(&mut bytes)?;
    Ok(bytes == [1])
}
