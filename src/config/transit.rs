//! The settings of a transit hop.

use clap::Args;

use super::carriers::{CarrierOptions, Carriers};
use super::heading::{ESSENTIALS, LIMITS, MEASURING, REPORTS, STATUS, TRUST};
use super::http::{TRANSIT_HTTP_PORT, check_http};
use super::mark::{DscpMark, MarkOptions};
use super::mistake::{Fault, fault, missing};
use super::node_name::{IdentityOptions, IdentitySettings};
use super::receivers::check_receivers;
use super::sink_checks::check_prefixes;
use crate::model::{NodeId, Prefix};

/// Options of `hostint transit`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct TransitOptions {
    /// Interface by which packets with INT arrive or leave (required): a name, a pattern such as eth*, or default-route,
    /// for interfaces that come while the daemon runs, too; may be repeated
    #[arg(long, help_heading = ESSENTIALS, value_name = "DEV", value_delimiter = ',')]
    pub dev: Vec<String>,

    /// This host's INT node id [default: that of its other roles, else derived from /etc/machine-id]
    #[arg(long, help_heading = ESSENTIALS, value_name = "N")]
    pub node_id: Option<u32>,

    /// Push entries onto packets of sources with these addresses only; may be repeated [default: all]
    #[arg(long, help_heading = TRUST, value_name = "PREFIX", value_delimiter = ',')]
    pub allow: Vec<String>,

    #[command(flatten)]
    pub marks: MarkOptions,

    #[command(flatten)]
    pub carriers: CarrierOptions,

    /// Length of the longest IP packet with an entry [default: the interface's MTU, followed live]
    #[arg(long, help_heading = MEASURING, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(104..=65535))]
    pub mtu: Option<u32>,

    /// Report to this collector, default port 32766, which host this is and what it knows about its clock; may be repeated. On
    /// a host with a sink or source whose daemon runs, that daemon does so
    #[arg(long, help_heading = REPORTS, value_name = "HOST[:PORT]", value_delimiter = ',')]
    pub collector: Vec<String>,

    /// Report to collectors how long packets wait in the queues of these interfaces, and count these times in TCP option 114
    #[arg(long, help_heading = MEASURING, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub waits: Option<bool>,

    #[command(flatten)]
    pub identity: IdentityOptions,

    /// Remember when this many packets arrived, rounded up to a power of two: more than are in this host at once,
    /// queues included [default: 65536]
    #[arg(long, help_heading = LIMITS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub max_arrivals: Option<u32>,

    /// Serve metrics (/metrics) and health (/healthz, /readyz) by HTTP on this address, default port 13279, without
    /// authentication; 127.0.0.1 restricts it to this host [default: no HTTP]
    #[arg(long, help_heading = STATUS, value_name = "ADDR[:PORT]")]
    pub http: Option<String>,

    /// Use clsact filters even if the kernel has tcx
    #[arg(long, hide = true)]
    pub no_tcx: bool,
}

/// The interfaces of a transit hop, and the settings for them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TransitSetup {
    pub devs: Vec<String>,
    pub http: Option<String>,
    pub collectors: Vec<String>,
    /// What this host says of itself; `None`: nothing.
    pub identity: Option<IdentitySettings>,
    pub transit: TransitConfig,
}

/// A transit hop's settings, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TransitConfig {
    pub node_id: Option<NodeId>,
    /// Only packets of these sources get entries.
    pub allow: Option<Vec<Prefix>>,
    pub mark: DscpMark,
    pub extension_port: u16,
    pub carriers: Carriers,
    pub mtu: Option<u32>,
    /// A power of two.
    pub max_arrivals: Option<u32>,
    /// Packets' departures are noted, for the program that measures waits in queues.
    pub waits: bool,
    pub no_tcx: bool,
}

impl TransitOptions {
    /// Checks everything and fills in defaults.
    ///
    /// # Errors
    /// All faults.
    pub fn check(self) -> Result<TransitSetup, Vec<Fault>> {
        let mut faults = Vec::new();
        if self.dev.is_empty() {
            faults.push(missing("dev", "no interface given (try --dev eth0,eth1)"));
        }
        if self.node_id == Some(u32::MAX) {
            faults.push(fault(
                &["node-id"],
                format!("{} means that a node is unknown (try another)", u32::MAX),
            ));
        }
        let mark = self.marks.check(&mut faults);
        let extension_port = self.marks.extension_port();
        let carriers = self.carriers.check(extension_port, &mut faults);
        let allow = check_prefixes(&self.allow, &mut faults);
        check_receivers(&self.collector, None, &mut faults);
        let waits = self.waits.unwrap_or(false);
        if waits && self.collector.is_empty() && carriers.tcp_int.is_none() {
            faults.push(fault(
                &["waits"],
                "waits are reported to collectors, and there is none (try --collector 192.0.2.9)",
            ));
        }
        let identity = self.identity.check(&mut faults);
        check_http(self.http.as_deref(), TRANSIT_HTTP_PORT, &mut faults);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut devs: Vec<String> = Vec::new();
        for dev in self.dev {
            if !devs.contains(&dev) {
                devs.push(dev);
            }
        }
        Ok(TransitSetup {
            devs,
            http: self.http,
            collectors: self.collector,
            identity,
            transit: TransitConfig {
                node_id: self.node_id.map(NodeId),
                allow: (!self.allow.is_empty()).then_some(allow),
                mark,
                extension_port,
                carriers,
                mtu: self.mtu,
                max_arrivals: self.max_arrivals.map(u32::next_power_of_two),
                waits,
                no_tcx: self.no_tcx,
            },
        })
    }
}
