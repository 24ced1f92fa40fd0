//! The settings of a transit hop.

use clap::Args;

use super::heading::{ESSENTIALS, LIMITS, MEASURING, STATUS, TRUST, WIRE_FORMAT};
use super::http::{TRANSIT_HTTP_PORT, check_http};
use super::mark::{check_mark, parse_dscp};
use super::mistake::{Fault, fault, missing};
use super::sink_checks::check_prefixes;
use super::{DscpMark, EXTENSION_PORT};
use crate::model::{NodeId, Prefix};

/// Options of `hostint transit`, which are also keys of its table in the config file.
#[derive(Args, Clone, Debug, Default)]
pub struct TransitOptions {
    /// Interface by which packets with INT arrive or leave (required); may be repeated
    #[arg(long, help_heading = ESSENTIALS, value_name = "DEV", value_delimiter = ',')]
    pub dev: Vec<String>,

    /// This host's INT node id [default: that of its sink or source]
    #[arg(long, help_heading = ESSENTIALS, value_name = "N")]
    pub node_id: Option<u32>,

    /// Push entries onto packets of sources with these addresses only; may be repeated [default: all]
    #[arg(long, help_heading = TRUST, value_name = "PREFIX", value_delimiter = ',')]
    pub allow: Vec<String>,

    /// DSCP value that marks over-tcp-udp packets [default: 0x01]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "VALUE", value_parser = parse_dscp)]
    pub dscp_value: Option<u8>,

    /// DSCP bits that belong to the mark [default: 0x01]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "MASK", value_parser = parse_dscp)]
    pub dscp_mask: Option<u8>,

    /// UDP destination port of extension-udp packets [default: 33122]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub extension_port: Option<u16>,

    /// Length of the longest IP packet with an entry [default: the interface's MTU, followed live]
    #[arg(long, help_heading = MEASURING, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(104..=65535))]
    pub mtu: Option<u32>,

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
    pub mtu: Option<u32>,
    /// A power of two.
    pub max_arrivals: Option<u32>,
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
        let mark = check_mark(self.dscp_value, self.dscp_mask, &mut faults);
        let allow = check_prefixes(&self.allow, &mut faults);
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
            transit: TransitConfig {
                node_id: self.node_id.map(NodeId),
                allow: (!self.allow.is_empty()).then_some(allow),
                mark,
                extension_port: self.extension_port.unwrap_or(EXTENSION_PORT),
                mtu: self.mtu,
                max_arrivals: self.max_arrivals.map(u32::next_power_of_two),
                no_tcx: self.no_tcx,
            },
        })
    }
}
