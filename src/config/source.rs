//! The source's settings, checked.

use clap::Args;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::choice::{Compat, Superpackets};
use super::clock_error::ClockErrorOption;
use super::duration::TimeSpan;
use super::heading::{ESSENTIALS, LIMITS, REPORTS, TAGGING, TRUST, WIRE_FORMAT};
use super::int_mode::IntModeOptions;
use super::key::check_key;
use super::mark::{DscpMark, IntDscpOption, MarkOptions};
use super::mistake::{Fault, missing};
use super::node_name::{IdentityOptions, IdentitySettings};
use super::path_items::{PathItemOptions, PathItems};
use super::receivers::check_receivers;
use super::source_encapsulation::SourceEncapsulation;
use super::source_hook::SourceHook;
use super::source_room::{hops_room, room};
use crate::model::{CpuBudget, LeaseKey, NodeId};

/// Options of `hostint source attach`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct SourceOptions {
    /// Interface whose outgoing packets are tagged (required): a name, a pattern such as eth*, or default-route, for
    /// interfaces that come while the daemon runs, too; may be repeated
    #[arg(long, help_heading = ESSENTIALS, value_name = "DEV", value_delimiter = ',')]
    pub dev: Vec<String>,

    /// This host's INT node id [default: that of its other roles, else derived from /etc/machine-id]
    #[arg(long, help_heading = ESSENTIALS, value_name = "N")]
    pub node_id: Option<u32>,

    /// Hook at which the source sees packets [default: tc]
    #[arg(long, help_heading = TAGGING, value_name = "HOOK")]
    pub hook: Option<SourceHook>,

    /// How packets carry INT: options (of TCP and UDP), tunnel (vxlan-gpe, or extension-udp where only that passes),
    /// over-tcp-udp, extension-udp, vxlan-gpe, int-md (needs --int-dscp), or ioam (over IPv6, else as tunnel) [default: options;
    /// with --max-hops or --superpackets tunnel, with --hook xdp extension-udp, with --compat over-tcp-udp]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "NAME")]
    pub encap: Option<SourceEncapsulation>,

    /// How superpackets (GSO) are handled [default: encap; with --compat or --hook xdp skip]
    #[arg(long, help_heading = TAGGING, value_name = "WAY")]
    pub superpackets: Option<Superpackets>,

    /// Restrict INT to the forms that sinks of this implementation understand
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "WHOM")]
    pub compat: Option<Compat>,

    #[command(flatten)]
    pub marks: MarkOptions,

    #[command(flatten)]
    pub int_dscp: IntDscpOption,

    #[command(flatten)]
    pub mode: IntModeOptions,

    /// Length of the longest IP packet with INT [default: the interface's MTU, followed live]
    #[arg(long, help_heading = TAGGING, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(104..=65535))]
    pub mtu: Option<u32>,

    /// Number of INT transit hops that may push their entries, 0 to 8, where the sink reads them; packets leave room for
    /// them [default: 0; with --encap ioam 4 routers]
    #[arg(long, help_heading = TAGGING, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=8))]
    pub max_hops: Option<u8>,

    #[command(flatten)]
    pub items: PathItemOptions,

    /// File of destinations to watch: one name, address or prefix per line; # begins a comment
    #[arg(long, help_heading = ESSENTIALS, value_name = "FILE")]
    pub dest_file: Option<PathBuf>,

    /// Tag packets to the destinations of --dest-file even if no sink answers; takes --compat or --encap
    #[arg(long = "static", help_heading = TAGGING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub fixed: Option<bool>,

    /// Forget flows that have been idle for this time [default: 2m]
    #[arg(long, help_heading = LIMITS, value_name = "TIME")]
    pub idle_flow_timeout: Option<TimeSpan>,

    /// CPU time that hostint may take, of that of all CPUs, such as 2% or 0.5%, or off: when more would be spent, a share of
    /// the flows is measured [default: 2%]
    #[arg(long, help_heading = LIMITS, value_name = "PERCENT")]
    pub budget: Option<CpuBudget>,

    /// Number of flows that the flow table holds [default: 65536, or unchanged]
    #[arg(long, help_heading = LIMITS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub max_flows: Option<u32>,

    /// Report to this collector, default port 32766, which host this is and what it tagged; may be repeated. On a host with a
    /// sink the sink's daemon reports to its own collectors; needs --foreground
    #[arg(long, help_heading = REPORTS, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub collector: Vec<String>,

    #[command(flatten)]
    pub identity: IdentityOptions,

    #[command(flatten)]
    pub clock: ClockErrorOption,

    /// Attach even if no sink runs on this host
    #[arg(long, help_heading = TAGGING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub force: Option<bool>,

    /// File with the key of lease messages, as for hostint sink; needs --foreground
    #[arg(long, help_heading = TRUST, value_name = "FILE")]
    pub lease_key: Option<PathBuf>,

    /// Leave incoming packets unchanged: neither clamp the MSS of TCP nor translate ICMP errors about tagged packets
    #[arg(long, help_heading = TAGGING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_mss_clamp: Option<bool>,

    /// Use a clsact filter even if the kernel has tcx
    #[arg(long, hide = true)]
    pub no_tcx: bool,
}

/// The interfaces of a source, and the settings for them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SourceSetup {
    pub devs: Vec<String>,
    pub dest_file: Option<PathBuf>,
    /// Packets to the destinations of that file are tagged whether or not a sink answers.
    pub fixed: bool,
    pub force: bool,
    /// Those that the source's daemon tells which host this is.
    pub collectors: Vec<String>,
    /// What this host says of itself; `None`: nothing.
    pub identity: Option<IdentitySettings>,
    /// The error of this host's clock in ns, as its operator states it.
    pub clock_error_ns: Option<NonZeroU32>,
    /// Held by the host's daemon.
    pub budget: CpuBudget,
    pub source: SourceConfig,
}

/// A source's settings, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SourceConfig {
    pub node_id: Option<NodeId>,
    pub hook: SourceHook,
    pub encapsulation: SourceEncapsulation,
    pub mark: DscpMark,
    pub extension_port: u16,
    /// The mark of int-md packets; there are none without it.
    pub int_dscp: Option<DscpMark>,
    /// Packets in int-md are in mode mx, and of their numbers the multiples of 2 to the power of this are reported.
    pub mx_sample: Option<u8>,
    pub mtu: Option<u32>,
    pub idle_flow_timeout: TimeSpan,
    pub max_flows: Option<u32>,
    pub mss_clamp: bool,
    /// Transit hops that may push their entries where the sink reads them.
    pub max_hops: u8,
    pub path_items: PathItems,
    pub superpackets: Superpackets,
    pub compat: Option<Compat>,
    pub no_tcx: bool,
    pub lease_key: Option<LeaseKey>,
}

impl SourceOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<SourceSetup, Vec<Fault>> {
        let mut faults = Vec::new();
        if self.dev.is_empty() {
            faults.push(missing("dev", "no interface given (try --dev eth0)"));
        }
        let hook = self.hook.unwrap_or_default();
        let encapsulation = self.check_encapsulation(hook, &mut faults);
        let superpackets = self.check_superpackets(hook, encapsulation, &mut faults);
        let mark = self.marks.check(&mut faults);
        let int_dscp = self.check_int_dscp(encapsulation, &mut faults);
        let idle_flow_timeout = self.check_idle(&mut faults);
        let max_hops = self.check_hops(encapsulation, &mut faults);
        let mx_sample = self.mode.check(encapsulation, max_hops, &mut faults);
        let fixed = self.fixed.unwrap_or(false);
        let path_items = self
            .items
            .check(encapsulation, (max_hops, fixed), &mut faults);
        let room = room(encapsulation, superpackets) + hops_room(max_hops, path_items);
        self.check_mtu(room, &mut faults);
        if fixed {
            self.check_static(encapsulation, &mut faults);
        }
        let lease_key = check_key(self.lease_key.as_deref(), &mut faults);
        check_receivers(&self.collector, None, &mut faults);
        let identity = self.identity.check(&mut faults);
        let clock_error_ns = self.clock.check(&mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(SourceSetup {
            devs: distinct(self.dev),
            dest_file: self.dest_file,
            fixed,
            force: self.force.unwrap_or(false),
            collectors: self.collector,
            identity,
            clock_error_ns,
            budget: self.budget.unwrap_or_default(),
            source: SourceConfig {
                node_id: self.node_id.map(NodeId),
                hook,
                encapsulation,
                mark,
                extension_port: self.marks.extension_port(),
                int_dscp,
                mx_sample,
                mtu: self.mtu,
                idle_flow_timeout,
                max_flows: self.max_flows,
                mss_clamp: !self.no_mss_clamp.unwrap_or(false),
                max_hops,
                path_items,
                superpackets,
                compat: self.compat,
                no_tcx: self.no_tcx,
                lease_key,
            },
        })
    }
}

/// The shortest idle flow timeout: flows slower than this would restart their numbering all the time.
pub(super) const SHORTEST_IDLE: Duration = Duration::from_secs(1);

/// Each interface once.
fn distinct(given: Vec<String>) -> Vec<String> {
    let mut devs: Vec<String> = Vec::new();
    for dev in given {
        if !devs.contains(&dev) {
            devs.push(dev);
        }
    }
    devs
}
