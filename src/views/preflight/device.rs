//! An interface: its driver, its offloads, its room for INT, and the programs on its hooks.

use crate::model::preflight::{DeviceFacts, Finding, Occupant, Owner};

const XDP_BASIC: u64 = 1;
const XDP_RX_SG: u64 = 1 << 5;

/// Drivers that had native XDP before the kernel could be asked for it.
const NATIVE_XDP: [&str; 24] = [
    "atlantic",
    "bnxt_en",
    "ena",
    "fec",
    "gve",
    "hv_netvsc",
    "i40e",
    "iavf",
    "ice",
    "igb",
    "igc",
    "ixgbe",
    "ixgbevf",
    "mlx4_en",
    "mlx5_core",
    "mvneta",
    "nfp",
    "qede",
    "sfc",
    "stmmac",
    "tun",
    "veth",
    "virtio_net",
    "vmxnet3",
];

/// What a page has besides the longest packet in it: head-room, Ethernet's header and the kernel's tail.
const REST_OF_A_PAGE: u32 = 598;

/// Bytes that INT takes: over-tcp-udp, extension-udp, and superpackets in vxlan-gpe over IPv4 and over IPv6.
const ROOM: [u32; 4] = [36, 44, 88, 108];

/// One finding for each property.
pub fn judge_device(facts: &DeviceFacts) -> Vec<Finding> {
    let mut found = vec![link(facts)];
    if facts.ethernet {
        found.extend([xdp(facts)]);
        if let Some((hook, why)) = &facts.hook {
            let chosen = format!("the sink takes {hook}: {why}");
            found.push(Finding::ok("sink-hook", chosen));
        }
        found.extend([
            checksum(facts),
            merging(facts),
            segmentation(facts),
            mtu(facts),
        ]);
        found.extend(facts.head_room.map(head_room));
        if let Some(qdisc) = &facts.qdisc {
            found.push(Finding::ok(
                "qdisc",
                format!("{qdisc}; the source runs in front of it"),
            ));
        }
        found.extend(hooks(facts));
    }
    for finding in &mut found {
        finding.dev = Some(facts.name.clone());
    }
    found
}

fn on(facts: &DeviceFacts, offload: &str) -> bool {
    facts.offloads.get(offload).copied().unwrap_or(false)
}

fn link(facts: &DeviceFacts) -> Finding {
    let driver = facts.driver.as_deref().unwrap_or("none");
    if !facts.ethernet {
        return Finding::fail(
            "interface",
            format!("packets have no Ethernet header (driver {driver})"),
        )
        .advise("use the Ethernet interface below it");
    }
    if !facts.up {
        return Finding::note("interface", format!("Ethernet, driver {driver}, down"))
            .advise(format!("ip link set {} up", facts.name));
    }
    if !facts.running {
        return Finding::note(
            "interface",
            format!("Ethernet, driver {driver}, up, but no link"),
        )
        .advise("check the cable and the other end");
    }
    Finding::ok("interface", format!("Ethernet, driver {driver}, up"))
}

fn xdp(facts: &DeviceFacts) -> Finding {
    let driver = facts.driver.as_deref().unwrap_or_default();
    let (native, frags) = match facts.xdp {
        Some(flags) => (flags & XDP_BASIC != 0, flags & XDP_RX_SG != 0),
        None => (NATIVE_XDP.contains(&driver), false),
    };
    if !native {
        return Finding::note(
            "xdp",
            "no native XDP: with --hook xdp the sink runs as generic XDP in the stack, which costs more",
        )
        .advise("nothing to do: tc, which hostint sink takes where it can, is cheaper there");
    }
    let longest = facts.page_bytes - REST_OF_A_PAGE;
    if facts.mtu > longest && !frags {
        return Finding::note(
            "xdp",
            format!("native, but with an MTU of {} perhaps generic", facts.mtu),
        )
        .advise(format!(
            "an MTU of at most {longest}, or hostint sink --hook tc"
        ));
    }
    Finding::ok(
        "xdp",
        match (frags, facts.xdp) {
            (true, _) => "native, with jumbo frames",
            (false, Some(_)) => "native",
            (false, None) => "native, judging by the driver's name",
        },
    )
}

fn checksum(facts: &DeviceFacts) -> Finding {
    let received = if on(facts, "rx-checksum") {
        "offloaded"
    } else {
        "by the CPU"
    };
    let per_protocol = on(facts, "tx-checksum-ipv4") || on(facts, "tx-checksum-ipv6");
    if on(facts, "tx-checksum-ip-generic") {
        let found = format!("sent: offloaded for any protocol, received: {received}");
        Finding::ok("checksum", found)
    } else if per_protocol {
        Finding::note(
            "checksum",
            "sent: offloaded by tx-checksum-ipv4, for which the card parses headers itself: untested with INT",
        )
        .advise(format!("ethtool -K {} tx off, at the source", facts.name))
    } else {
        Finding::ok(
            "checksum",
            format!("sent: by the CPU, received: {received}"),
        )
    }
}

fn merging(facts: &DeviceFacts) -> Finding {
    let name = &facts.name;
    let word = |name: &str| if on(facts, name) { "on" } else { "off" };
    let found = format!(
        "GRO {}, LRO {}, UDP GRO forwarding {}",
        word("rx-gro"),
        word("rx-lro"),
        word("rx-udp-gro-forwarding")
    );
    if on(facts, "rx-lro") {
        return Finding::note(
            "merging",
            found + ": LRO merges packets before INT is stripped",
        )
        .advise(format!("ethtool -K {name} lro off, at the sink"));
    }
    if !on(facts, "rx-gro") {
        return Finding::note("merging", found + ": stripped packets are not merged")
            .advise(format!("ethtool -K {name} gro on, at the sink"));
    }
    Finding::ok("merging", found)
}

fn segmentation(facts: &DeviceFacts) -> Finding {
    let tso = on(facts, "tx-tcp-segmentation");
    let gso = on(facts, "tx-generic-segmentation");
    let tunnels = on(facts, "tx-udp_tnl-segmentation") && on(facts, "tx-udp_tnl-csum-segmentation");
    if !tso && !gso {
        return Finding::ok("segmentation", "off: there are no superpackets");
    }
    if tso && !tunnels {
        return Finding::note(
            "segmentation",
            "TSO, but not in tunnels: the CPU segments tagged superpackets",
        )
        .advise("nothing to do; hostint source attach --superpackets offers alternatives");
    }
    Finding::ok(
        "segmentation",
        if tso {
            "TSO, also in tunnels"
        } else {
            "by the CPU (GSO)"
        },
    )
}

fn mtu(facts: &DeviceFacts) -> Finding {
    let mtu = facts.mtu;
    if mtu < 576 + ROOM[3] {
        return Finding::note(
            "mtu",
            format!(
                "{mtu}: hardly any room for INT, which takes {} to {} bytes",
                ROOM[0], ROOM[3]
            ),
        )
        .advise("raise the MTU");
    }
    Finding::ok(
        "mtu",
        format!(
            "{mtu}, of which INT takes {} (extension-udp {}, superpackets {}, over IPv6 {}): TCP is clamped, UDP without \
             room stays untagged",
            ROOM[0], ROOM[1], ROOM[2], ROOM[3]
        ),
    )
}

/// It is no limit of what works: it costs time.
fn head_room(bytes: u32) -> Finding {
    let [.., ipv4, ipv6] = ROOM;
    let copied = match bytes {
        _ if bytes >= ipv6 => "no packet is copied for it",
        _ if bytes >= ipv4 => "packets over IPv6 are copied for it",
        _ => "their first part is copied for it",
    };
    let found = format!(
        "UDP packets have {bytes} bytes free in front of them, of which INT takes {ipv4} (over IPv6 {ipv6}): {copied}"
    );
    Finding::ok("head-room", found)
}

fn hooks(facts: &DeviceFacts) -> Vec<Finding> {
    let mut found: Vec<Finding> = facts
        .occupants
        .iter()
        .map(|at| occupant(at, facts))
        .collect();
    if facts.occupants.is_empty() {
        found.push(Finding::ok(
            "hooks",
            match facts.tcx {
                Some(false) => "free (XDP, clsact; the kernel has no tcx)",
                Some(true) => "free (XDP, tcx, clsact)",
                None => "free (XDP, clsact; tcx unknown without CAP_NET_ADMIN)",
            },
        ));
    }
    found
}

fn occupant(at: &Occupant, facts: &DeviceFacts) -> Finding {
    let dev = &facts.name;
    let sink_takes_tc = facts.hook.as_ref().is_some_and(|(hook, _)| *hook == "tc");
    let Occupant {
        hook,
        id,
        name,
        owner,
    } = at;
    let found = format!("{hook}: {name} (id {id})");
    match owner {
        Owner::Hostint => Finding::ok("hooks", format!("{found}, hostint's own")),
        Owner::Orphan { link } => Finding::fail(
            "hooks",
            format!(
                "{found}, hostint's own, but pinned in another BPF file system, or in one that was unmounted"
            ),
        )
        .advise(match link {
            Some(link) => format!("give that --bpffs, or detach it: bpftool link detach id {link}"),
            None => "give that --bpffs".to_owned(),
        }),
        Owner::Other if hook == "xdp" && sink_takes_tc => {
            Finding::note("hooks", format!("{found}, not hostint's"))
                .advise("nothing to do if it passes packets on: the sink takes tc")
        }
        Owner::Other if hook == "xdp" => {
            Finding::fail("hooks", format!("{found}, not hostint's")).advise(format!(
                "hostint sink --hook tc, or detach it: ip link set {dev} xdp off"
            ))
        }
        Owner::Other => Finding::note("hooks", format!("{found}, not hostint's"))
            .advise("nothing to do if it passes packets on: hostint runs beside it"),
    }
}
