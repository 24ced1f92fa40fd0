//! The source's settings, checked.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

use super::key::read_key;
use super::mark::parse_dscp;
use super::{Compat, ConfigError, DscpMark, EXTENSION_PORT, Span, Superpackets};
use crate::model::{Encapsulation, LeaseKey, NodeId};

/// Where the source looks at packets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, ValueEnum)]
pub enum SourceHook {
    /// TC egress of the interface (tcx where the kernel has it, else clsact)
    #[default]
    Tc,
    /// TC ingress of a veth whose peer is a container or guest
    TcIngress,
    /// XDP on a veth whose peer is a container or guest: extension-udp only
    Xdp,
}

impl SourceHook {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tc => "tc",
            Self::TcIngress => "tc-ingress",
            Self::Xdp => "xdp",
        }
    }
}

/// Flags of `hostint source attach`.
#[derive(Args, Clone, Debug)]
pub struct SourceOptions {
    /// Interface whose packets are tagged; repeat for several
    #[arg(long, value_name = "DEV", required = true)]
    pub dev: Vec<String>,

    /// This host's INT node id [default: the running sink's]
    #[arg(long, value_name = "N")]
    pub node_id: Option<u32>,

    /// Where to look at packets
    #[arg(long, value_name = "HOOK", default_value = "tc")]
    pub hook: SourceHook,

    /// How INT is carried: over-tcp-udp, extension-udp or vxlan-gpe [default: over-tcp-udp; with --hook xdp
    /// extension-udp]
    #[arg(long, value_name = "NAME")]
    pub encap: Option<Encapsulation>,

    /// What becomes of superpackets (GSO) [default: encap; with --compat or --hook xdp skip]
    #[arg(long, value_name = "WAY")]
    pub superpackets: Option<Superpackets>,

    /// Write what sinks of this implementation understand
    #[arg(long, value_name = "WHOM")]
    pub compat: Option<Compat>,

    /// DSCP value that marks over-tcp-udp packets
    #[arg(long, value_name = "VALUE", value_parser = parse_dscp, default_value = "0x01")]
    pub dscp_value: u8,

    /// DSCP bits that the mark consists of
    #[arg(long, value_name = "MASK", value_parser = parse_dscp, default_value = "0x01")]
    pub dscp_mask: u8,

    /// UDP destination port of extension-udp packets
    #[arg(long, value_name = "PORT", default_value_t = EXTENSION_PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub extension_port: u16,

    /// Longest IP packet with INT [default: the interface's MTU, followed live]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(104..=65535))]
    pub mtu: Option<u32>,

    /// Destinations to watch: names, addresses or prefixes, one a line, # comments
    #[arg(long, value_name = "FILE")]
    pub dest_file: Option<PathBuf>,

    /// Tag to the destinations of --dest-file whether a sink answers or not: for sinks of Host-INT
    #[arg(long = "static", requires = "dest_file")]
    pub fixed: bool,

    /// Forget flows that are idle for this time
    #[arg(long, value_name = "TIME", default_value = "2m")]
    pub idle_flow_timeout: Span,

    /// Size of the flow table [default: 65536, or as it is]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub max_flows: Option<u32>,

    /// Attach although no sink runs on this host
    #[arg(long)]
    pub force: bool,

    /// Stay and look after clock, flow table and leases, where no sink of this host does
    #[arg(long)]
    pub foreground: bool,

    /// File with the key of lease messages, as hostint sink has it
    #[arg(long, value_name = "FILE", requires = "foreground")]
    pub lease_key: Option<PathBuf>,

    /// Change nothing in what comes back: neither the MSS of TCP nor ICMP errors about tagged packets
    #[arg(long)]
    pub no_mss_clamp: bool,

    /// Use a clsact filter even where the kernel has tcx
    #[arg(long, hide = true)]
    pub no_tcx: bool,
}

/// All settings of a source, checked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SourceConfig {
    pub node_id: Option<NodeId>,
    pub hook: SourceHook,
    pub encapsulation: Encapsulation,
    pub mark: DscpMark,
    pub extension_port: u16,
    pub mtu: Option<u32>,
    pub idle_flow_timeout: Span,
    pub max_flows: Option<u32>,
    pub mss_clamp: bool,
    pub superpackets: Superpackets,
    pub compat: Option<Compat>,
    pub no_tcx: bool,
    pub lease_key: Option<LeaseKey>,
}

impl SourceOptions {
    /// What others could not read, or what the hook does not see, is not asked for.
    fn check_superpackets(
        &self,
        encapsulation: Encapsulation,
        mistakes: &mut Vec<String>,
    ) -> Superpackets {
        let encapsulates = |way| matches!(way, Superpackets::Encap | Superpackets::EncapAll);
        if self.compat.is_some()
            && (encapsulation == Encapsulation::VxlanGpe
                || self.superpackets.is_some_and(encapsulates))
        {
            mistakes.push(
                "sinks of Host-INT do not know vxlan-gpe (try --superpackets stage, no-gso or skip)"
                    .to_owned(),
            );
        }
        match (self.hook, self.superpackets) {
            (SourceHook::Tc, Some(way)) => way,
            (SourceHook::TcIngress, Some(way))
                if encapsulates(way) || way == Superpackets::Skip =>
            {
                way
            }
            (_, Some(Superpackets::Skip)) => Superpackets::Skip,
            (hook, Some(way)) => {
                mistakes.push(format!(
                    "superpackets are not handled by {} at hook {} (try --superpackets skip)",
                    way.name(),
                    hook.name()
                ));
                Superpackets::Skip
            }
            (SourceHook::Xdp, None) => Superpackets::Skip,
            (_, None) if self.compat.is_some() => Superpackets::Skip,
            (_, None) => Superpackets::Encap,
        }
    }

    /// Checks everything.
    pub fn check(&self) -> Result<SourceConfig, ConfigError> {
        let mut mistakes = Vec::new();
        let encapsulation = match (self.hook, self.encap) {
            (SourceHook::Xdp, Some(Encapsulation::OverTcpUdp)) => {
                mistakes.push(
                    "XDP cannot see whether a checksum is finished, so over-tcp-udp is not possible there \
                     (try --hook tc-ingress, or --encap extension-udp)"
                        .to_owned(),
                );
                Encapsulation::OverTcpUdp
            }
            (SourceHook::Xdp, Some(Encapsulation::VxlanGpe)) => {
                mistakes.push(
                    "XDP cannot tell superpackets, so vxlan-gpe is not possible there (try --hook tc-ingress)"
                        .to_owned(),
                );
                Encapsulation::VxlanGpe
            }
            (SourceHook::Xdp, None) => Encapsulation::ExtensionUdp,
            (_, encapsulation) => encapsulation.unwrap_or(Encapsulation::OverTcpUdp),
        };
        let superpackets = self.check_superpackets(encapsulation, &mut mistakes);
        let mark = DscpMark::new(self.dscp_value, self.dscp_mask).unwrap_or_else(|bad| {
            mistakes.push(bad.to_string());
            DscpMark::DEFAULT
        });
        if self.idle_flow_timeout.0 < Duration::from_secs(1) {
            mistakes.push(format!(
                "an idle flow timeout of {} would restart the numbering of slow flows: at least 1s",
                self.idle_flow_timeout
            ));
        }
        let lease_key = self.lease_key.as_deref().and_then(|path| {
            read_key(path)
                .map_err(|mistake| mistakes.push(mistake))
                .ok()
        });
        if !mistakes.is_empty() {
            return Err(ConfigError(mistakes));
        }
        Ok(SourceConfig {
            node_id: self.node_id.map(NodeId),
            hook: self.hook,
            encapsulation,
            mark,
            extension_port: self.extension_port,
            mtu: self.mtu,
            idle_flow_timeout: self.idle_flow_timeout,
            max_flows: self.max_flows,
            mss_clamp: !self.no_mss_clamp,
            superpackets,
            compat: self.compat,
            no_tcx: self.no_tcx,
            lease_key,
        })
    }
}
