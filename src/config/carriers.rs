//! The kinds of INT onto which a transit hop pushes, the marks of the standard one, and the option that it fills in.

use clap::{Args, ValueEnum};

use super::heading::WIRE_FORMAT;
use super::mark::{DscpMark, IntDscpOption};
use super::mistake::{Fault, fault};
use super::option_hop::{OptionHop, OptionHopOptions};

/// The ports of VXLAN-GPE and Geneve, which say nothing else.
const GPE_PORT: u16 = 4790;
const GENEVE_PORT: u16 = 6081;

/// One kind of INT.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Carrier {
    /// over-tcp-udp and extension-udp of hostint's sources
    HostInt,
    /// vxlan-gpe of hostint's sources
    VxlanGpe,
    /// INT-MD 2.1 of any source, behind UDP or the first 20 bytes of TCP
    IntMd,
    /// INT-MD 2.1 of any source, in an option of Geneve
    Geneve,
    /// requests of TCP option 114 (TCP-INT 0.4), which are filled in
    TcpInt,
}

/// Options for the kinds of INT.
#[derive(Args, Clone, Debug, Default)]
pub struct CarrierOptions {
    /// Push entries onto these kinds of INT, and fill in TCP option 114 if tcp-int is among them; may be repeated
    /// [default: host-int,vxlan-gpe]
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "KIND", value_delimiter = ',')]
    pub carriers: Vec<Carrier>,

    #[command(flatten)]
    pub dscp: IntDscpOption,

    /// UDP destination port that marks int-md packets
    #[arg(long, help_heading = WIRE_FORMAT, value_name = "PORT")]
    pub int_port: Option<u16>,

    #[command(flatten)]
    pub option: OptionHopOptions,
}

/// The marks of INT-MD, one of which at least there is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct IntMdMarks {
    pub dscp: Option<DscpMark>,
    pub port: Option<u16>,
}

/// The kinds of INT onto which a hop pushes, and whether it fills in TCP option 114.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Carriers {
    pub host_int: bool,
    pub vxlan_gpe: bool,
    pub int_md: Option<IntMdMarks>,
    pub geneve: bool,
    pub tcp_int: Option<OptionHop>,
}

impl Carriers {
    /// Those of hostint's own sources.
    pub const OWN: Self = Self {
        host_int: true,
        vxlan_gpe: true,
        int_md: None,
        geneve: false,
        tcp_int: None,
    };

    /// Their names.
    pub fn names(self) -> Vec<&'static str> {
        [
            (self.host_int, "host-int"),
            (self.vxlan_gpe, "vxlan-gpe"),
            (self.int_md.is_some(), "int-md"),
            (self.geneve, "geneve"),
            (self.tcp_int.is_some(), "tcp-int"),
        ]
        .into_iter()
        .filter_map(|(chosen, name)| chosen.then_some(name))
        .collect()
    }
}

impl CarrierOptions {
    pub(super) fn check(&self, extension_port: u16, faults: &mut Vec<Fault>) -> Carriers {
        let chosen = |carrier| self.carriers.contains(&carrier);
        let marks = IntMdMarks {
            dscp: self.dscp.check(faults),
            port: self.int_port,
        };
        match self.int_port {
            Some(0) => faults.push(fault(&["int-port"], "INT-MD needs a port other than 0")),
            Some(port) if [extension_port, GPE_PORT, GENEVE_PORT].contains(&port) => {
                faults.push(fault(
                    &["int-port"],
                    format!("port {port} marks another kind of INT (try another)"),
                ))
            }
            _ => {}
        }
        let has_dscp = self.dscp.int_dscp.is_some();
        let is_marked = has_dscp || self.int_port.is_some();
        if chosen(Carrier::IntMd) && !is_marked {
            faults.push(fault(
                &["carriers"],
                "nothing says how int-md packets are marked (try --int-dscp 0x17 or --int-port 51966, as their source has it)",
            ));
        }
        if is_marked && !chosen(Carrier::IntMd) {
            let key = if has_dscp { "int-dscp" } else { "int-port" };
            faults.push(fault(
                &[key],
                "it marks int-md packets, onto which this hop pushes nothing (try --carriers host-int,vxlan-gpe,int-md)",
            ));
        }
        let tcp_int = self.option.check(chosen(Carrier::TcpInt), faults);
        if self.carriers.is_empty() {
            return Carriers::OWN;
        }
        Carriers {
            host_int: chosen(Carrier::HostInt),
            vxlan_gpe: chosen(Carrier::VxlanGpe),
            int_md: chosen(Carrier::IntMd).then_some(marks),
            geneve: chosen(Carrier::Geneve),
            tcp_int,
        }
    }
}
