//! The programs on an interface's hooks, those of other tools included.

use std::io;

use libbpf_rs::libbpf_sys;

use super::clsact::PRIORITY;
use super::links::{Link, program_name, xdp_query};
use super::orphans;
use super::pins::Pins;
use crate::model::preflight::{Occupant, Owner};
use crate::os::rtnetlink;

/// Programs whose links are not pinned: the watcher of interfaces without a sink, and those that time packets.
const UNPINNED: [&str; 3] = ["sink_astray", "hop_in", "hop_queue"];

/// The beginnings of the names of programs that filters may hold: the source's, those of the transit hop, and those that
/// time packets.
const FILTER_PREFIXES: [&str; 3] = ["source_", "transit_", "hop_"];

/// The most programs on one hook that are listed; no host should have as many.
const MOST: usize = 64;

/// Returns the programs on the hooks of an interface, and whether the kernel has tcx, `None` if that is not known.
pub fn occupants(ifindex: u32, pins: Option<&Pins>) -> io::Result<(Vec<Occupant>, Option<bool>)> {
    let ours = our_programs(pins)?;
    let mut found = Vec::new();
    let mut add = |hook: &str, id: u32, name: Option<String>, known: bool| {
        found.push(Occupant {
            hook: hook.to_owned(),
            id,
            name: name.unwrap_or_else(|| "a program".to_owned()),
            owner: if known || ours.contains(&id) {
                Owner::Hostint
            } else if orphans::is_orphan(id) {
                Owner::Orphan {
                    link: orphans::link_of(id),
                }
            } else {
                Owner::Other
            },
        });
    };
    if let Some(options) = xdp_query(ifindex) {
        let ids = [options.drv_prog_id, options.skb_prog_id, options.hw_prog_id];
        for id in ids.into_iter().filter(|id| *id != 0) {
            add("xdp", id, program_name(id), false);
        }
    }
    let mut tcx = Some(true);
    for (hook, kind) in [
        ("tcx ingress", libbpf_sys::BPF_TCX_INGRESS),
        ("tcx egress", libbpf_sys::BPF_TCX_EGRESS),
    ] {
        match tcx_programs(ifindex, kind) {
            Ok(ids) => {
                for id in ids {
                    let name = program_name(id);
                    let is_ours = name.as_deref().is_some_and(|name| UNPINNED.contains(&name));
                    add(hook, id, name, is_ours);
                }
            }
            Err(err) if err.raw_os_error() == Some(nix::libc::EINVAL) => tcx = Some(false),
            Err(_) => tcx = None,
        }
    }
    for filter in rtnetlink::clsact_filters(ifindex)? {
        let Some(id) = filter.program else { continue };
        let hook = if filter.ingress {
            "clsact ingress"
        } else {
            "clsact egress"
        };
        let name = program_name(id);
        let by_hostint = is_our_filter(filter.priority, name.as_deref());
        add(hook, id, name.or(filter.name), by_hostint);
    }
    Ok((found, tcx))
}

/// No pin tells of filters. The kernel gives hostint's priority to filters of other tools that ask for none.
fn is_our_filter(priority: u16, name: Option<&str>) -> bool {
    let is_ours = |name: &str| {
        FILTER_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    u32::from(priority) == PRIORITY && name.is_some_and(is_ours)
}

/// Returns the ids of the programs behind the pinned links.
fn our_programs(pins: Option<&Pins>) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    let Some(pins) = pins else { return Ok(found) };
    for (role, dev) in pins.links()? {
        if let Some(link) = Link::open(&pins.link(&role, &dev))? {
            found.push(link.state()?.program);
        }
    }
    Ok(found)
}

/// The index of the loopback interface, in each network namespace.
pub(in crate::datapath) const LOOPBACK: u32 = 1;

/// Says whether the kernel has tcx; `None` without the privilege to ask.
pub(in crate::datapath) fn has_tcx(ifindex: u32) -> Option<bool> {
    match tcx_programs(ifindex, libbpf_sys::BPF_TCX_INGRESS) {
        Ok(_) => Some(true),
        Err(err) if err.raw_os_error() == Some(nix::libc::EINVAL) => Some(false),
        Err(_) => None,
    }
}

fn tcx_programs(ifindex: u32, kind: libbpf_sys::bpf_attach_type) -> io::Result<Vec<u32>> {
    let mut ids = [0u32; MOST];
    // SAFETY: plain data; all zeros means no option.
    let mut options: libbpf_sys::bpf_prog_query_opts = unsafe { std::mem::zeroed() };
    options.sz = size_of_val(&options) as _;
    options.prog_ids = ids.as_mut_ptr();
    options.__bindgen_anon_1.count = MOST as u32;
    let target = i32::try_from(ifindex).map_err(io::Error::other)?;
    // SAFETY: the options point to as many numbers as they say, which outlive the call.
    let result = unsafe { libbpf_sys::bpf_prog_query_opts(target, kind, &mut options) };
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result));
    }
    // SAFETY: both members of the union are the same number.
    let count = unsafe { options.__bindgen_anon_1.count } as usize;
    Ok(ids[..count.min(MOST)].to_vec())
}
