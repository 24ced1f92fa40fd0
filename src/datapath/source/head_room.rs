//! The room that the kernel leaves in front of packets of UDP sockets, which INT takes if it is enough.

use std::io;
use std::mem::MaybeUninit;

use libbpf_rs::skel::SkelBuilder;

use crate::datapath::abi::head_room_object::HeadRoomSkelBuilder;
use crate::datapath::kernel::load::{load_object, program_fd};
use crate::datapath::kernel::probe::Features;
use crate::datapath::kernel::run::run_at;

/// The bytes of Ethernet's header, which is there before a source sees the packet.
const ETHERNET: u32 = 14;
/// The kernel reserves multiples of this, rounded up and never less than one.
const STEP: u32 = 16;

/// Returns the bytes that are free in front of a packet of a UDP socket when it leaves by this interface, or `None` if the
/// kernel does not show that.
pub fn of_udp(ifindex: u32) -> io::Result<Option<u32>> {
    let mut object = MaybeUninit::uninit();
    let mut open = HeadRoomSkelBuilder::default()
        .open(&mut object)
        .map_err(io::Error::other)?;
    if let Some(rodata) = open.maps.rodata_data.as_deref_mut() {
        let features = Features::probe();
        rodata.have_kernel_ctx = features.kernel_ctx;
        rodata.have_kernel_reads = features.kernel_reads;
    }
    let skel = load_object(open)?;
    let program = program_fd(&skel.progs.head_room)?;
    let asked = run_at(&program, ifindex)?;
    Ok((asked > 0).then(|| left_of(asked)))
}

/// As the kernel computes it: LL_RESERVED_SPACE(), less Ethernet's header.
fn left_of(asked: u32) -> u32 {
    (asked & !(STEP - 1)) + STEP - ETHERNET
}
