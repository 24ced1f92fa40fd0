//! What packets wait in the hosts at both ends of their way, which programs of their own measure for as long as they are
//! open.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use libbpf_rs::Link as TracepointLink;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};

use crate::config::SinkConfig;
use crate::datapath::abi::host_times_object::{HostTimesSkelBuilder, OpenHostTimesSkel};
use crate::datapath::abi::{flow_key, sink_flow};
use crate::datapath::kernel::hooks::{LOOPBACK, has_tcx};
use crate::datapath::kernel::links::{Hook, Link};
use crate::datapath::kernel::load::{attach, load_object, pin_maps, program_fd, without_refused};
use crate::datapath::kernel::map_names::{CROSSINGS, HOST_SETTINGS, SINK_FLOWS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::probe::Features;
use crate::datapath::transit::waits::WaitTable;
use crate::model::{KernelPart, KernelParts, NodeId, PartsFound, PathTotals};
use crate::os::{netdev, netns};

/// The programs, attached, and their counts.
pub struct HostTimes {
    table: WaitTable,
    arrives: OwnedFd,
    /// The program for packets that come, behind the sink of each interface.
    interfaces: BTreeMap<u32, Link>,
    /// The other programs see packets for as long as these live.
    _links: Vec<TracepointLink>,
    found: PartsFound,
}

/// The programs that can be left out, and without whom.
const OPTIONAL: [(&str, KernelPart); 3] = [
    ("host_written", KernelPart::SendBufferWaits),
    ("host_queued", KernelPart::DatagramWaits),
    ("host_received", KernelPart::DatagramWaits),
];

/// Loads the programs of these parts, and no others.
pub fn choose_programs(open: &mut OpenHostTimesSkel<'_>, parts: KernelParts) {
    let writes = parts.contains(KernelPart::SendBufferWaits);
    if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
        constants.follows_writes = writes;
    }
    open.progs.host_written.set_autoload(writes);
    for of_datagrams in [&mut open.progs.host_queued, &mut open.progs.host_received] {
        of_datagrams.set_autoload(parts.contains(KernelPart::DatagramWaits));
    }
}

/// All that is asked of the kernel.
pub fn parts() -> KernelParts {
    let optional = OPTIONAL.iter().map(|(_, part)| *part);
    optional.chain([KernelPart::HostWaits]).collect()
}

/// Loads the programs onto maps of their own and releases them, to find out what this kernel gives.
///
/// # Errors
/// If it gives nothing of it.
pub fn try_to_load() -> io::Result<PartsFound> {
    require_tcx()?;
    let tried = parts();
    let ((), refused) = without_refused(&OPTIONAL, |refused| {
        let mut object = MaybeUninit::uninit();
        let mut open = HostTimesSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        choose_programs(&mut open, tried.without(refused));
        for map in [
            &mut open.maps.sink_flows,
            &mut open.maps.sink_fine_slots,
            &mut open.maps.sink_fine_free,
        ] {
            map.set_max_entries(1).map_err(io::Error::other)?;
        }
        load_object(open).map(drop)
    })?;
    Ok(PartsFound { tried, refused })
}

/// All is left alone where packets that arrive could not be seen.
fn require_tcx() -> io::Result<()> {
    match has_tcx(LOOPBACK) {
        Some(false) => Err(without_tcx(io::Error::from_raw_os_error(nix::libc::EINVAL))),
        _ => Ok(()),
    }
}

/// Says what an error at the interfaces means where the kernel has no tcx, or refuses it.
fn without_tcx(err: io::Error) -> io::Error {
    match err.raw_os_error() {
        Some(nix::libc::EINVAL | nix::libc::EPERM) => io::Error::new(
            io::ErrorKind::Unsupported,
            format!("packets that arrive are seen by tcx, which came with Linux 6.6: {err}"),
        ),
        _ => err,
    }
}

impl HostTimes {
    /// Attaches the programs for packets that leave, and that are read, beside a sink with this configuration.
    ///
    /// # Errors
    /// If the kernel has no such tracepoints, does not describe their types, or refuses a program.
    pub fn attach(pins: &Pins, config: &SinkConfig) -> io::Result<Self> {
        require_tcx()?;
        let (mut times, refused) = without_refused(&OPTIONAL, |refused| {
            Self::attach_parts(pins, config, parts().without(refused))
        })?;
        times.found = PartsFound {
            tried: parts(),
            refused,
        };
        Ok(times)
    }

    fn attach_parts(pins: &Pins, config: &SinkConfig, parts: KernelParts) -> io::Result<Self> {
        let flows = Map::<flow_key, sink_flow>::open(&pins.map(SINK_FLOWS))?
            .ok_or_else(|| io::Error::other("no sink is attached"))?;
        let mut object = MaybeUninit::uninit();
        let mut open = HostTimesSkelBuilder::default()
            .open(&mut object)
            .map_err(io::Error::other)?;
        if let Some(constants) = open.maps.rodata_data.as_deref_mut() {
            constants.have_tai_clock = Features::probe().tai_clock;
            constants.tos_value = config.mark.tos_value();
            constants.tos_mask = config.mark.tos_mask();
            constants.extension_port = config.extension_port.to_be();
            constants.host_netns = netns::inode()?;
        }
        choose_programs(&mut open, parts);
        open.maps
            .sink_flows
            .reuse_fd(flows.fd())
            .map_err(io::Error::other)?;
        // They come with the table of flows, and nothing uses them here.
        for unused in [
            &mut open.maps.sink_fine_slots,
            &mut open.maps.sink_fine_free,
        ] {
            unused.set_max_entries(1).map_err(io::Error::other)?;
        }
        pin_maps(open.open_object_mut(), pins, &[HOST_SETTINGS, CROSSINGS])?;
        let skel = load_object(open)?;
        let mut programs = vec![&skel.progs.host_sent, &skel.progs.host_copied];
        if parts.contains(KernelPart::SendBufferWaits) {
            programs.push(&skel.progs.host_written);
        }
        if parts.contains(KernelPart::DatagramWaits) {
            programs.extend([&skel.progs.host_queued, &skel.progs.host_received]);
        }
        let links = programs
            .into_iter()
            .map(attach)
            .collect::<io::Result<_>>()?;
        Ok(Self {
            table: WaitTable::new(Map::of(&skel.maps.transit_waits)?),
            arrives: program_fd(&skel.progs.host_in)?,
            interfaces: BTreeMap::new(),
            _links: links,
            found: PartsFound::default(),
        })
    }

    /// What the kernel gives of all this.
    pub fn found(&self) -> PartsFound {
        self.found
    }

    /// Sees the packets that come by these interfaces of the sink, and by no others.
    ///
    /// # Errors
    /// If the kernel has no tcx (before 6.6), or refuses it.
    pub fn follow(&mut self, devs: &[String]) -> io::Result<()> {
        let there = devs.iter().filter_map(|dev| netdev::index_of(dev).ok());
        let wanted: Vec<u32> = there.collect();
        self.interfaces.retain(|ifindex, link| {
            let alive = link.state().is_ok_and(|at| at.ifindex == *ifindex);
            alive && wanted.contains(ifindex)
        });
        for ifindex in wanted {
            if !self.interfaces.contains_key(&ifindex) {
                let link = Link::create(self.arrives.as_fd(), ifindex, Hook::TcxIngress)
                    .map_err(without_tcx)?;
                self.interfaces.insert(ifindex, link);
            }
        }
        Ok(())
    }

    /// Returns the totals of what had packets since the last call, or shortly before. The waits are those in this node.
    pub fn news(&mut self, node: NodeId, now_ns: u64) -> io::Result<Vec<PathTotals>> {
        self.table.news(node, now_ns)
    }
}
