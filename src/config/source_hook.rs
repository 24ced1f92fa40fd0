//! The hook at which a source sees packets.

use clap::ValueEnum;

/// The hook at which the source sees packets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, ValueEnum)]
pub enum SourceHook {
    /// TC egress of the interface (tcx if the kernel has it, otherwise clsact)
    #[default]
    Tc,
    /// TC ingress of a veth whose peer is in a container or guest
    TcIngress,
    /// XDP on a veth whose peer is in a container or guest: extension-udp only
    Xdp,
}

impl SourceHook {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tc => "tc",
            Self::TcIngress => "tc-ingress",
            Self::Xdp => "xdp",
        }
    }
}
