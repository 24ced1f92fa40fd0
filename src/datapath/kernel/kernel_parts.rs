//! Tries each part of the kernel that hostint uses, by loading what it is needed for.

use std::io;

use libbpf_rs::libbpf_sys;

use super::hooks::{LOOPBACK, has_tcx};
use super::load::NO_KERNEL_READS;
use super::maps;
use super::probe::{Features, has_map_type, has_program_type};
use super::run;
use super::tasks::TaskWalk;
use super::{libbpf_log, namespaces};
use crate::datapath::host::host_times;
use crate::datapath::postcards::{drops, passages, queues};
use crate::datapath::sink::bound_program;
use crate::datapath::tcp::programs as tcp;
use crate::datapath::transit::waits;
use crate::model::{KERNEL_PARTS, KernelPart, PartsFound};
use crate::os::{kernel, log};

/// Tries the parts that no single program needs, and which are replaced or left out where they are used. Those that are
/// refused are reported in the log.
pub fn of_every_role() -> PartsFound {
    found(&[KernelPart::Batches, KernelPart::TestRun])
}

/// Tries what a hop needs besides. What is refused is reported in the log.
pub fn of_hop() -> PartsFound {
    found(&[KernelPart::KernelReads])
}

/// Tries what a source needs besides. What is refused is reported in the log.
pub fn of_source() -> PartsFound {
    if Features::probe().kernel_ctx {
        return PartsFound::default();
    }
    of_hop()
}

fn found(parts: &[KernelPart]) -> PartsFound {
    let features = Features::probe();
    let mut found = PartsFound::default();
    for part in parts {
        found.tried.insert(*part);
        if let Some(why) = try_one(*part, features) {
            let why = why.unwrap_or_default();
            log::warning(format_args!("{}: {why}", part.facts().sentence()));
            found.refused.insert(*part);
        }
    }
    found
}

fn try_reads() -> io::Result<()> {
    match Features::probe().kernel_reads {
        true => Ok(()),
        false => Err(io::Error::other(NO_KERNEL_READS)),
    }
}

/// The parts that this kernel lacks or refuses, and what it said, as far as it says something.
///
/// It takes the privileges of the daemons.
pub fn missing() -> Vec<(KernelPart, Option<String>)> {
    libbpf_log::install();
    let features = Features::probe();
    use KernelPart as P;
    // Parts that are loaded together.
    let several = [
        (&[P::HostWaits][..], host_times::try_to_load()),
        (&[P::Passages], passages::try_to_load()),
        (&[P::QueueEpisodes], queues::try_to_load()),
        (&[P::OpenConnections, P::Endings], tcp::try_to_load()),
    ];
    let mut missing: Vec<(KernelPart, Option<String>)> = KERNEL_PARTS
        .iter()
        .filter_map(|row| try_one(row.part, features).map(|why| (row.part, why)))
        .collect();
    for (parts, found) in several {
        match found {
            Ok(PartsFound { refused, .. }) => {
                missing.extend(refused.iter().map(|row| (row.part, None)));
            }
            Err(err) => {
                missing.extend(parts.iter().map(|part| (*part, Some(err.to_string()))));
            }
        }
    }
    missing.sort();
    missing.dedup_by_key(|(part, _)| *part);
    if missing.iter().any(|(part, _)| *part == P::KernelTypes) {
        // All others say the same.
        missing.iter_mut().for_each(|(_, why)| *why = None);
    }
    missing
}

/// `None` if the kernel gives the part, or it is tried together with others.
fn try_one(part: KernelPart, features: Features) -> Option<Option<String>> {
    use KernelPart as P;
    let unless = |given: bool| (!given).then_some(None);
    let refused = |tried: io::Result<()>| tried.err().map(|err| Some(err.to_string()));
    match part {
        P::KernelTypes => unless(kernel::has_btf()),
        P::RingBuffers => unless(has_map_type(libbpf_sys::BPF_MAP_TYPE_RINGBUF)),
        P::Tc => unless(has_program_type(libbpf_sys::BPF_PROG_TYPE_SCHED_CLS)),
        P::Xdp => unless(has_program_type(libbpf_sys::BPF_PROG_TYPE_XDP)),
        P::Tcx => unless(has_tcx(LOOPBACK) == Some(true)),
        P::Batches => refused(maps::try_batches()),
        P::TestRun => refused(run::try_to_run()),
        P::QueueWaits => refused(waits::try_to_load()),
        P::NicStamps => refused(bound_program::try_to_look(features)),
        P::NamespaceWalk => refused(namespaces::living().map(drop)),
        P::Drops => refused(drops::try_to_load()),
        P::TaskWalk => refused(TaskWalk::load().map(drop)),
        P::Atomics => unless(features.atomics),
        P::TaiClock => unless(features.tai_clock),
        P::CoarseClock => unless(features.coarse_clock),
        P::MtuCheck => unless(features.check_mtu),
        P::XdpBuffers => unless(features.xdp_frags),
        P::ChecksumState => unless(features.kernel_ctx),
        P::KernelReads => refused(try_reads()),
        P::HostWaits
        | P::SendBufferWaits
        | P::DatagramWaits
        | P::Passages
        | P::SocketPassages
        | P::QueueEpisodes
        | P::QueueEntries
        | P::OpenConnections
        | P::Endings
        | P::Option114
        | P::AdoptedConnections => None,
    }
}
