//! Looks at what this host has for hostint, and changes nothing.

mod addresses;
mod subjects;

use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use nix::unistd::{AccessFlags, access};

use subjects::Subjects;
pub use subjects::{PreflightQuery, store_of};

use crate::config::EXTENSION_PORT;
use crate::datapath::host::settings_status;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::{hook_choice, hooks, kernel_parts, links};
use crate::datapath::postcards::drop_reasons::DropReasonNames;
use crate::datapath::sink::sink_programs;
use crate::datapath::source::head_room;
use crate::host::advice::surroundings;
use crate::model::REPORT_PORT;
use crate::model::preflight::{
    BpffsFacts, ClockFacts, DeviceFacts, DropsFacts, Finding, HostFacts, NetworkFacts,
    PacketFilter, Verdict, version,
};
use crate::os::privileges::Capability;
use crate::os::{
    cgroup, clock, container, ethtool, icmp, kallsyms, kernel, netdev, netns, nftables,
    plain_text::without_numbers, privileges, resolve, rtnetlink, udp_ports,
};
use crate::views::preflight::{judge_device, judge_drops, judge_host, judge_network};

/// The capabilities that loading programs of tracepoints takes.
const PROGRAMS: [Capability; 2] = [Capability::CAP_BPF, Capability::CAP_PERFMON];

/// The port of VXLAN-GPE.
const GPE_PORT: u16 = 4790;

/// Looks at the host, its network, and the interfaces that the query or the config file names.
pub fn preflight(bpffs: Option<&Path>, query: PreflightQuery<'_>) -> Result<Vec<Finding>> {
    let mut subjects = Subjects::of(query);
    let collectors = find_collectors(&mut subjects);
    // Without pins that this user may read, programs of hostint cannot be told from others.
    let pins = Pins::of_this_host(bpffs, false).ok().flatten();
    let facts = host_facts(bpffs)?;
    let mut findings = judge_host(&facts);
    findings.extend(judge_drops(&drops_facts(), &facts));
    findings.append(&mut subjects.findings);
    let (addresses, named): (Vec<_>, Vec<_>) = collectors.into_iter().unzip();
    let network = network_facts(pins.as_ref(), &addresses, &subjects.extension_ports);
    let mut named = named.into_iter();
    findings.extend(judge_network(&network).into_iter().map(|finding| {
        let of_collector = finding.check == "collector";
        let name = of_collector.then(|| named.next()).flatten();
        finding.at(name.and_then(|name| subjects.place_of(&name)))
    }));
    for dev in &subjects.devs {
        match device_facts(dev, pins.as_ref(), &facts.release) {
            Ok(device) => {
                let found = judge_device(&device).into_iter();
                findings.extend(found.map(|finding| finding.at(subjects.place_of(dev))));
            }
            Err(err) => findings.push(Finding {
                dev: Some(dev.clone()),
                place: subjects.place_of(dev),
                ..Finding::fail("interface", without_numbers(format!("{err:#}")))
                    .advise("see ip link")
            }),
        }
    }
    if subjects.devs.is_empty() {
        findings.push(
            Finding::note("interface", "none was looked at")
                .advise("give --dev DEV, or --config FILE"),
        );
    }
    Ok(findings)
}

/// Whether this host has what the roles of a file need before any of them is started. An interface that is down is a failure,
/// too.
pub fn fits(bpffs: Option<&Path>, file: &Path) -> Result<Vec<Finding>> {
    let query = PreflightQuery {
        config: Some(file),
        devs: &[],
        collectors: &[],
    };
    let mut findings = preflight(bpffs, query)?;
    // A file for a collector alone names no interface.
    findings.retain(|one| one.check != "interface" || one.dev.is_some() || one.place.is_some());
    for finding in findings.iter_mut().filter(|one| one.check == "interface") {
        let is_down = |dev: &String| {
            let index = netdev::index_of(dev).ok()?;
            Some(!rtnetlink::interface_state(index).ok()?.up)
        };
        if finding.dev.as_ref().and_then(is_down) == Some(true) {
            finding.verdict = Verdict::Fail;
        }
    }
    Ok(findings)
}

/// The collectors that have an address, each with its name; a finding reports each of the others.
fn find_collectors(subjects: &mut Subjects) -> Vec<(SocketAddr, String)> {
    let mut found = Vec::new();
    for name in subjects.collectors.clone() {
        match resolve::socket_address(&name, REPORT_PORT) {
            Ok(address) => found.push((address, name)),
            Err(err) => subjects.findings.push(
                Finding::fail("collector", format!("cannot find {name}: {err}"))
                    .advise("see getent hosts NAME")
                    .at(subjects.place_of(&name)),
            ),
        }
    }
    found
}

fn host_facts(bpffs: Option<&Path>) -> Result<HostFacts> {
    let profile_refuses_bpf = container::refuses_bpf();
    let may_load = privileges::missing(&privileges::STEADY)?.is_empty() && !profile_refuses_bpf;
    let discipline = clock::discipline()?;
    Ok(HostFacts {
        release: kernel::release()?,
        btf: kernel::has_btf(),
        missing_parts: may_load.then(kernel_parts::missing),
        programs: may_load.then(|| sink_programs::try_to_load().map_err(|err| err.to_string())),
        jit: kernel::setting("net.core.bpf_jit_enable").is_none_or(|value| value != 0),
        lockdown: kernel::lockdown(),
        unprivileged_bpf: kernel::setting("kernel.unprivileged_bpf_disabled") == Some(0),
        missing_capabilities: privileges::missing(&privileges::WANTED)?,
        surroundings: surroundings(),
        is_root: nix::unistd::geteuid().is_root(),
        profile_refuses_bpf,
        own_cgroups: cgroup::root().is_some_and(|root| !cgroup::is_root(&root)),
        bpffs: bpffs_facts(bpffs)?,
        clock: ClockFacts {
            synchronised: discipline.synchronised,
            tai_offset_s: discipline.tai_offset_s,
            estimated_error_us: discipline.estimated_error_us,
            greatest_error_us: discipline.greatest_error_us,
        },
    })
}

fn drops_facts() -> DropsFacts {
    DropsFacts {
        reasons: DropReasonNames::read().count(),
        names_places: kallsyms::are_shown(),
    }
}

fn bpffs_facts(given: Option<&Path>) -> Result<BpffsFacts> {
    let (path, refused) = match given {
        Some(path) if netns::is_bpffs(path) => (Some(path.to_owned()), None),
        // A daemon looks nowhere else, and mounts none there.
        Some(path) => {
            let refused = format!("{} is no BPF file system", path.display());
            (None, Some(refused))
        }
        None => match search_as_a_daemon()? {
            Ok(path) => (path, None),
            Err(err) => (None, Some(err.to_string())),
        },
    };
    let read_only = path.as_ref().is_some_and(|path| netns::is_read_only(path));
    // What is there already may be ours in a file system that is not.
    let writable = path.as_ref().is_some_and(|path| {
        let below = path.join("hostint");
        let place = if below.exists() { &below } else { path };
        access(place, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
    });
    const OTHERS_WRITE: u32 = 0o002;
    let open = path
        .as_ref()
        .and_then(|path| path.metadata().ok())
        .is_some_and(|found| found.mode() & OTHERS_WRITE != 0);
    Ok(BpffsFacts {
        // One that is held open has a name, too.
        path: path.map(|path| path.read_link().unwrap_or(path).display().to_string()),
        writable,
        read_only,
        refused,
        open,
        mountable: privileges::may_mount()?,
    })
}

/// Looks for the BPF file system with the capabilities that a daemon looks with: root sees more of other processes.
fn search_as_a_daemon() -> Result<std::io::Result<Option<PathBuf>>> {
    let search = std::thread::spawn(|| {
        privileges::keep_only(&privileges::BEGIN)?;
        netns::bpffs(false)
    });
    search
        .join()
        .map_err(|_| anyhow!("cannot look for the BPF file system"))
}

fn network_facts(
    pins: Option<&Pins>,
    collectors: &[SocketAddr],
    extension_ports: &[u16],
) -> NetworkFacts {
    let settings = pins.and_then(|pins| settings_status::read_host(pins).ok().flatten());
    let mut ports: Vec<u16> = collectors.iter().map(SocketAddr::port).collect();
    ports.extend(settings.iter().flat_map(|host| &host.report_ports));
    ports.push(REPORT_PORT);
    ports.sort_unstable();
    ports.dedup();
    let mut int_ports = extension_ports.to_vec();
    int_ports.extend([GPE_PORT, EXTENSION_PORT]);
    int_ports.sort_unstable();
    int_ports.dedup();
    let filters = nftables::chains();
    let bound = udp_ports::bound();
    NetworkFacts {
        filters_unknown: match &filters {
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => "there is no nft to ask",
            _ => "nft answers only root",
        },
        filters: filters.ok().map(|chains| {
            let filters = chains.into_iter().map(|chain| PacketFilter {
                chain: format!("{} {} {}", chain.family, chain.table, chain.name),
                hook: chain.hook,
                drops_by_policy: chain.drops_by_policy,
                drops: chain.drops,
            });
            filters.collect()
        }),
        legacy_tables: nftables::legacy_tables(),
        bound_ports: int_ports
            .into_iter()
            .filter(|port| bound.contains(port))
            .collect(),
        collectors: collectors
            .iter()
            .map(|collector| (*collector, icmp::source_address(collector.ip())))
            .collect(),
        report_ports: ports,
        ignores_pings: kernel::setting("net.ipv4.icmp_echo_ignore_all") == Some(1),
    }
}

fn device_facts(dev: &str, pins: Option<&Pins>, release: &str) -> Result<DeviceFacts> {
    let ifindex = netdev::index_of(dev).ok().context("no such interface")?;
    let state = rtnetlink::interface_state(ifindex)?;
    let flags = links::xdp_features(ifindex);
    let reports = flags != 0 || version(release).is_some_and(|version| version >= (6, 3));
    let (occupants, tcx) = hooks::occupants(ifindex, pins)?;
    Ok(DeviceFacts {
        name: dev.to_owned(),
        ethernet: netdev::is_ethernet(dev)?,
        up: state.up,
        running: state.running,
        mtu: netdev::mtu(dev)?,
        driver: ethtool::driver(dev)?,
        page_bytes: kernel::page_bytes(),
        xdp: reports.then_some(flags),
        hook: tcx.and_then(|_| hook_choice::preview(pins, dev).ok()),
        qdisc: state.qdisc,
        head_room: match privileges::missing(&PROGRAMS)?.is_empty() {
            true => head_room::of_udp(ifindex).ok().flatten(),
            false => None,
        },
        offloads: ethtool::features(dev)?.into_iter().collect(),
        occupants,
        tcx,
    })
}
