//! The program at the ingress of a source's interface: it changes answers so that they suit a network stack that does
//! not know of INT.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use super::kernel_half::{fixed_mtu, hook_of};
use crate::config::{DscpMark, PathItems, SourceHook};
use crate::datapath::abi::peer_object::PeerSkelBuilder;
use crate::datapath::abi::{flow_key, source_flow, source_info, source_key};
use crate::datapath::kernel::clsact::ClsactFilter;
use crate::datapath::kernel::links::{AttachedBy, Hook, Link, remove_link};
use crate::datapath::kernel::load::{load_object, pin_maps, program_fd, size_flow_table};
use crate::datapath::kernel::map_names::{SOURCE_FLOWS, SOURCE_INFO, SOURCE_MAPS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::os::netdev;

/// The role's name in pins.
pub const ROLE: &str = "source-peer";

/// The handle of this program's clsact filter, which differs from that of a source at the same ingress.
const CLSACT_HANDLE: u32 = 2;

/// The settings that are fixed when the program is loaded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PeerSettings {
    /// The most bytes that INT adds to a packet.
    pub room_ipv4: u32,
    pub room_ipv6: u32,
    /// Transit hops that may push their entries where the sink reads them.
    pub max_hops: u8,
    pub path_items: PathItems,
    /// The longest IP packet with INT, if it is not the interface's MTU.
    pub fixed_mtu: Option<u32>,
    pub tos_value: u8,
    pub tos_mask: u8,
    /// The mark of INT-MD, and whether packets with it are in INT-MX.
    pub int_dscp: Option<DscpMark>,
    pub is_mx: bool,
    /// TCP goes in options, for which the stack makes room by itself.
    pub tcp_in_options: bool,
    pub extension_port: u16,
}

/// A loaded peer program.
pub struct PeerProgram {
    program: OwnedFd,
}

fn filter_on(ifindex: u32) -> ClsactFilter {
    ClsactFilter {
        ifindex,
        ingress: true,
        handle: CLSACT_HANDLE,
    }
}

impl PeerProgram {
    /// Loads the program with these settings onto the pinned maps, or pins new ones.
    pub fn load(pins: &Pins, dev: &str, settings: &PeerSettings) -> io::Result<Self> {
        let features = Features::probe();
        let mut object = MaybeUninit::uninit();
        let mut open = PeerSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.have_check_mtu = features.check_mtu;
            constants.have_kernel_ctx = features.kernel_ctx;
            constants.have_kernel_reads = features.kernel_reads;
            constants.room_ipv4 = settings.room_ipv4;
            constants.room_ipv6 = settings.room_ipv6;
            constants.max_hops = settings.max_hops.into();
            constants.without_queue = !settings.path_items.queue;
            constants.fixed_mtu = fixed_mtu(features, dev, settings.fixed_mtu)?;
            constants.tos_value = settings.tos_value;
            constants.tos_mask = settings.tos_mask;
            constants.md_tos_value = settings.int_dscp.map_or(0, DscpMark::tos_value);
            constants.md_tos_mask = settings.int_dscp.map_or(0, DscpMark::tos_mask);
            constants.is_mx = settings.is_mx;
            constants.tcp_in_options = settings.tcp_in_options;
            constants.extension_port = settings.extension_port.to_be();
        }
        // The source's flow table is there already.
        if let Some(flows) = Map::<flow_key, source_flow>::open(&pins.map(SOURCE_FLOWS))? {
            size_flow_table(&mut open.maps.source_flows, flows.capacity())?;
        }
        pin_maps(open.open_object_mut(), pins, &SOURCE_MAPS)?;
        let skel = load_object(open)?;
        Ok(Self {
            program: program_fd(&skel.progs.source_peer)?,
        })
    }

    /// Attaches to an interface, or replaces the program that is attached there.
    pub fn attach(&self, pins: &Pins, dev: &str, no_tcx: bool) -> io::Result<AttachedBy> {
        let ifindex = netdev::index_of(dev)?;
        let path = pins.link(ROLE, dev);
        let program = self.program.as_fd();
        if !no_tcx && Link::attach_tcx(&path, program, ifindex, Hook::TcxIngress)? {
            filter_on(ifindex).detach(pins)?;
            return Ok(AttachedBy::Link);
        }
        filter_on(ifindex).attach(program)?;
        remove_link(&path)?;
        Ok(AttachedBy::Clsact)
    }
}

/// True if the peer program is attached to this interface.
pub fn is_attached(pins: &Pins, dev: &str, ifindex: u32, clsact: bool) -> io::Result<bool> {
    if clsact {
        return filter_on(ifindex).is_attached(pins);
    }
    Ok(Link::open(&pins.link(ROLE, dev))?
        .is_some_and(|link| link.state().is_ok_and(|at| at.ifindex == ifindex)))
}

/// Detaches the peer program from these interfaces, or from all if none is named. The source must still be attached:
/// its settings name the interfaces that may have filters.
pub fn detach(pins: &Pins, devs: &[String]) -> io::Result<()> {
    let wanted = |dev: &String| devs.is_empty() || devs.contains(dev);
    for (role, dev) in pins.links()? {
        if role == ROLE && wanted(&dev) {
            remove_link(&pins.link(ROLE, &dev))?;
        }
    }
    // A crash may have left a filter where a link is by now.
    let Some(info) = Map::<source_key, source_info>::open(&pins.map(SOURCE_INFO))? else {
        return Ok(());
    };
    for key in info.keys() {
        if hook_of(key.hook) == Some(SourceHook::Tc)
            && netdev::name_of(key.ifindex).is_some_and(|dev| wanted(&dev))
        {
            filter_on(key.ifindex).detach(pins)?;
        }
    }
    Ok(())
}
