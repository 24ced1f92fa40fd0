//! Settings that are one word of a few.

use clap::ValueEnum;

/// What becomes of superpackets: GSO packets, which the kernel or the device splits behind the hook.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Superpackets {
    /// TCP is encapsulated whole as vxlan-gpe, whose header each segment repeats; UDP goes untagged
    #[default]
    Encap,
    /// UDP too: only where the receiving side strips at XDP
    EncapAll,
    /// segmented by a veth pair first, then tagged one by one: costs throughput
    Stage,
    /// the interface is told to send none (gso_max_segs 1): costs more; UDP and running flows may still send some
    NoGso,
    /// untagged, counted in segments
    Skip,
}

impl Superpackets {
    /// Its name on the command line.
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

/// Whom to be understood by.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Compat {
    /// the original Host-INT
    HostInt,
}

/// Where the sink looks at packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum SinkHook {
    /// XDP: before anything else, for network cards
    #[default]
    Xdp,
    /// TC ingress (tcx, kernel 6.6 or newer): for veth and containers, where superpackets arrive whole
    Tc,
}
