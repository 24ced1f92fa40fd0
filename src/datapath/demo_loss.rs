//! The program by which the router of a demo loses packets: loaded, attached for a while, and its count read.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use crate::datapath::abi::demo_object::DemoSkelBuilder;
use crate::datapath::kernel::clsact::ClsactFilter;
use crate::datapath::kernel::links::{Hook, Link};
use crate::datapath::kernel::load::{program_fd, with_warnings};
use crate::datapath::kernel::maps::Map;

/// The handle of the filter, where the kernel has no tcx.
const CLSACT_HANDLE: u32 = 5;

/// The program, loaded.
pub struct DemoLoss {
    program: OwnedFd,
    dropped: Map<u32, u64>,
}

/// Packets are lost until this ends.
#[must_use]
pub struct PacketLoss<'a> {
    held: LossHook,
    loss: &'a DemoLoss,
}

enum LossHook {
    Link(Link),
    Filter(ClsactFilter),
}

impl DemoLoss {
    /// Loads the program, which loses every n-th packet to each of these ports of UDP and TCP.
    ///
    /// # Errors
    /// Of kind `PermissionDenied`: this process may load no BPF program at all, as this one asks for nothing special.
    pub fn load([udp_port, tcp_port]: [u16; 2], drop_every: u32) -> io::Result<Self> {
        let mut object = MaybeUninit::uninit();
        let mut open = DemoSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.demo_udp_port = udp_port.to_be();
            constants.demo_tcp_port = tcp_port.to_be();
            constants.demo_drop_every = drop_every;
        }
        let skel = with_warnings(|| open.load())?;
        Ok(Self {
            program: program_fd(&skel.progs.demo_loss)?,
            dropped: Map::of(&skel.maps.demo_dropped)?,
        })
    }

    /// Loses packets that leave by an interface of the caller's network namespace, until the result ends.
    pub fn begin(&self, ifindex: u32) -> io::Result<PacketLoss<'_>> {
        let program = self.program.as_fd();
        let held = match Link::create(program, ifindex, Hook::TcxEgress) {
            Ok(link) => LossHook::Link(link),
            // The kernel has no tcx (before 6.6).
            Err(err) if err.raw_os_error() == Some(nix::libc::EINVAL) => {
                let filter = ClsactFilter {
                    ifindex,
                    ingress: false,
                    handle: CLSACT_HANDLE,
                };
                filter.attach(program)?;
                LossHook::Filter(filter)
            }
            Err(err) => return Err(err),
        };
        Ok(PacketLoss { held, loss: self })
    }

    /// Returns how many packets were lost.
    pub fn dropped(&self) -> io::Result<u64> {
        Ok(self.dropped.get(&0)?.unwrap_or_default())
    }
}

impl PacketLoss<'_> {
    /// Loses no more packets. The caller is in the network namespace in which that began.
    pub fn end(self) -> io::Result<()> {
        match self.held {
            LossHook::Link(link) => link.detach(),
            LossHook::Filter(filter) => filter.remove(self.loss.program.as_fd()),
        }
    }
}
