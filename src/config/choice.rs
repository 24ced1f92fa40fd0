//! Settings that take one of a few words.

use clap::ValueEnum;

/// The handling of superpackets: GSO packets, which the kernel or the device segments after the hook.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Superpackets {
    /// TCP superpackets are sent whole in vxlan-gpe, whose header each segment repeats; UDP superpackets stay untagged
    #[default]
    Encap,
    /// UDP superpackets in vxlan-gpe too: only if the receiving side strips at XDP (--hook xdp)
    EncapAll,
    /// superpackets are segmented by a veth pair first, then tagged one by one: costs throughput
    Stage,
    /// the interface is made to send none (gso_max_segs 1): costs more CPU; UDP and existing flows may still send some
    NoGso,
    /// superpackets stay untagged and are counted in segments
    Skip,
}

impl Superpackets {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encap => "encap",
            Self::EncapAll => "encap-all",
            Self::Stage => "stage",
            Self::NoGso => "no-gso",
            Self::Skip => "skip",
        }
    }
}

/// The other implementation that must understand hostint.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Compat {
    /// the original Host-INT
    HostInt,
}

/// The choice of the hook at which the sink sees packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum HookChoice {
    /// tc on veth and other software interfaces, and where the driver has no native XDP; XDP on network cards
    #[default]
    Auto,
    /// XDP: before everything else, for network cards
    Xdp,
    /// TC ingress (tcx, kernel 6.6 or newer): for veth and containers, where superpackets arrive whole
    Tc,
}

/// The hook at which the sink sees an interface's packets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SinkHook {
    Xdp,
    Tc,
}

impl From<SinkHook> for HookChoice {
    fn from(hook: SinkHook) -> Self {
        match hook {
            SinkHook::Xdp => Self::Xdp,
            SinkHook::Tc => Self::Tc,
        }
    }
}
