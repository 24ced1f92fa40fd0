//! Preflight: facts about a host, and findings, before anything is attached.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::Serialize;

use crate::model::{KernelPart, Surroundings};

/// The schema of a `Preflight` as JSON.
pub const PREFLIGHT_SCHEMA: &str = "hostint.doctor/1";

/// The verdict of a finding.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ok,
    /// It works, with the limits that the finding names, or it cannot be known.
    Note,
    /// It does not work.
    Fail,
}

/// The place in the config file that a finding is about.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct FilePlace {
    pub line: usize,
    pub table: String,
    pub key: String,
}

/// One line of the list.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Finding {
    pub check: &'static str,
    /// The interface that the finding is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dev: Option<String>,
    #[serde(flatten)]
    pub place: Option<FilePlace>,
    pub verdict: Verdict,
    pub found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    pub fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            check,
            dev: None,
            place: None,
            verdict: Verdict::Ok,
            found: found.into(),
            advice: None,
        }
    }

    pub fn note(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Note,
            ..Self::ok(check, found)
        }
    }

    pub fn fail(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Fail,
            ..Self::ok(check, found)
        }
    }

    /// The same finding with its place.
    #[must_use]
    pub fn at(self, place: Option<FilePlace>) -> Self {
        Self { place, ..self }
    }

    /// The same finding with advice.
    pub fn advise(self, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..self
        }
    }
}

/// The whole list.
#[derive(Clone, Debug, Serialize)]
pub struct Preflight {
    pub schema: &'static str,
    /// No finding is a failure.
    pub ready: bool,
    pub notes: usize,
    pub failures: usize,
    pub findings: Vec<Finding>,
}

impl Preflight {
    pub fn new(findings: Vec<Finding>) -> Self {
        let count = |verdict| findings.iter().filter(|one| one.verdict == verdict).count();
        let failures = count(Verdict::Fail);
        Self {
            schema: PREFLIGHT_SCHEMA,
            ready: failures == 0,
            notes: count(Verdict::Note),
            failures,
            findings,
        }
    }
}

/// The facts about the host.
#[derive(Clone, Debug, Default)]
pub struct HostFacts {
    /// The kernel's release as uname prints it: 6.18.44-generic.
    pub release: String,
    pub btf: bool,
    /// The parts that the kernel lacks or refuses, and what it said; `None` if they could not be tried.
    pub missing_parts: Option<Vec<(KernelPart, Option<String>)>>,
    /// Why the sink's programs do not load; `None` if loading could not be tried.
    pub programs: Option<Result<(), String>>,
    pub jit: bool,
    /// `none`, `integrity` or `confidentiality`; `None` if the kernel has no lockdown.
    pub lockdown: Option<String>,
    /// Users without capabilities may load programs: kernel.unprivileged_bpf_disabled is 0.
    pub unprivileged_bpf: bool,
    /// Capabilities that hostint needs and this process lacks.
    pub missing_capabilities: Vec<String>,
    pub surroundings: Surroundings,
    pub is_root: bool,
    /// A seccomp profile refuses bpf(2).
    pub profile_refuses_bpf: bool,
    /// The control groups that it sees are those of its container alone.
    pub own_cgroups: bool,
    pub bpffs: BpffsFacts,
    pub clock: ClockFacts,
}

/// The facts about drops that postcards tell.
#[derive(Clone, Debug, Default)]
pub struct DropsFacts {
    /// The number of reasons for drops that the kernel has.
    pub reasons: usize,
    /// The kernel shows the addresses of its functions to this process.
    pub names_places: bool,
}

/// The file system for pins.
#[derive(Clone, Debug, Default)]
pub struct BpffsFacts {
    /// `None` if it is not mounted.
    pub path: Option<String>,
    pub writable: bool,
    /// It is mounted read-only.
    pub read_only: bool,
    /// Why none was found, if the search was refused.
    pub refused: Option<String>,
    /// Every user may write to it.
    pub open: bool,
    /// This process may mount one.
    pub mountable: bool,
}

/// The clock that stamps packets.
#[derive(Clone, Debug, Default)]
pub struct ClockFacts {
    pub synchronised: bool,
    /// TAI minus UTC; 0 if the kernel was not told.
    pub tai_offset_s: i32,
    /// The clock's error, as the kernel was told: estimated, and greatest.
    pub estimated_error_us: u64,
    pub greatest_error_us: u64,
}

/// Major and minor number of a release.
pub fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The facts about an interface.
#[derive(Clone, Debug, Default)]
pub struct DeviceFacts {
    pub name: String,
    pub ethernet: bool,
    pub up: bool,
    /// The link is connected, by cable or otherwise.
    pub running: bool,
    pub mtu: u32,
    pub driver: Option<String>,
    /// Of memory: drivers have one for each packet of XDP.
    pub page_bytes: u32,
    /// The driver's XDP features, as `enum netdev_xdp_act`; `None` if the kernel cannot say (before 6.3).
    pub xdp: Option<u64>,
    pub qdisc: Option<String>,
    /// The bytes that the kernel leaves free in front of packets of UDP sockets; `None` if that is not known.
    pub head_room: Option<u32>,
    /// Offloads by the kernel's names, and whether each is on.
    pub offloads: BTreeMap<String, bool>,
    /// The hook that the sink takes with --hook auto, and the reason; `None` if that is not known.
    pub hook: Option<(&'static str, String)>,
    /// Programs on the hooks.
    pub occupants: Vec<Occupant>,
    /// `None` if the kernel could not be asked.
    pub tcx: Option<bool>,
}

/// A program on a hook.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Occupant {
    /// `xdp`, `tcx ingress`, `clsact egress`, …
    pub hook: String,
    pub id: u32,
    pub name: String,
    pub owner: Owner,
}

/// The tool that a program on a hook belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Owner {
    /// It is hostint's, and a pin tells of it.
    Hostint,
    /// It is hostint's, and no pin tells of it: its BPF file system was unmounted, or is another one. `link` is the id
    /// of its link.
    Orphan {
        link: Option<u32>,
    },
    Other,
}

/// The facts about the network.
#[derive(Clone, Debug, Default)]
pub struct NetworkFacts {
    /// `None` if they could not be read; `filters_unknown` says why.
    pub filters: Option<Vec<PacketFilter>>,
    pub filters_unknown: &'static str,
    /// Tables of the older iptables that are in use.
    pub legacy_tables: Vec<String>,
    /// Ports of tagged packets that a socket of this host is bound to.
    pub bound_ports: Vec<u16>,
    /// The collectors, each with this host's address on the route to it; `None` if there is no route.
    pub collectors: Vec<(SocketAddr, Option<std::net::IpAddr>)>,
    pub report_ports: Vec<u16>,
    /// The host ignores echo requests: `net.ipv4.icmp_echo_ignore_all`.
    pub ignores_pings: bool,
}

/// A chain of nftables (or of iptables on top of it) that packets of this host pass.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PacketFilter {
    /// `inet filter input`
    pub chain: String,
    /// `input`, `output`, `ingress`, …
    pub hook: String,
    /// The policy drops packets that no rule accepts.
    pub drops_by_policy: bool,
    /// Rules that drop or reject packets, in the chain and in chains that it jumps to.
    pub drops: usize,
}
