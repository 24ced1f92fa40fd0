//! The kinds of causes.

use serde::{Deserialize, Serialize};

/// Where a cause lies.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// The last link to a host, or its card.
    HostIn,
    /// The first link of a host, or its card.
    HostOut,
    /// A host itself drops what comes in, or what it sends, or makes it wait.
    HostDropsIn,
    HostDropsOut,
    HostQueue,
    /// A host that neither sends nor reports.
    Gone,
    /// A host, hosts with the same label, or a pair, that no other host reaches, or only hosts on the same side.
    Unreached,
    /// Hosts with the same label, such as a rack, from others, and to others.
    LabelIn,
    LabelOut,
    /// From hosts with one value of a label to hosts with another one.
    Between,
    /// A host that forwards.
    Hop,
    /// A class of traffic: everywhere, to a host, from a host.
    Class,
    ClassIn,
    ClassOut,
    Pair,
    /// All packets, or those between any two racks.
    Everywhere,
    /// Packets are beyond a limit that a user set, as is usual for them.
    BeyondLimit,
    /// A host's clock.
    Clock,
    /// A host that does not report.
    Silent,
    /// A host whose packets are not measured as usual.
    Coverage,
    /// The collector loses reports.
    Collector,
    /// Applications of a host read late, or answer late, or receivers there limit their senders.
    ReadsLate,
    AnswersLate,
    Receiver,
    Restarted,
}

/// Whose side a cause is on.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CauseSide {
    Network,
    Host,
    Application,
    Measurement,
    Event,
}

impl CauseSide {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Host => "host",
            Self::Application => "application",
            Self::Measurement => "measurement",
            Self::Event => "event",
        }
    }
}

impl CauseKind {
    /// All kinds, with their names in JSON.
    pub const EACH: [(Self, &'static str); 25] = [
        (Self::HostIn, "host-in"),
        (Self::HostOut, "host-out"),
        (Self::HostDropsIn, "host-drops-in"),
        (Self::HostDropsOut, "host-drops-out"),
        (Self::HostQueue, "host-queue"),
        (Self::Gone, "gone"),
        (Self::Unreached, "unreached"),
        (Self::LabelIn, "label-in"),
        (Self::LabelOut, "label-out"),
        (Self::Between, "between"),
        (Self::Hop, "hop"),
        (Self::Class, "class"),
        (Self::ClassIn, "class-in"),
        (Self::ClassOut, "class-out"),
        (Self::Pair, "pair"),
        (Self::Everywhere, "everywhere"),
        (Self::BeyondLimit, "beyond-limit"),
        (Self::Clock, "clock"),
        (Self::Silent, "silent"),
        (Self::Coverage, "coverage"),
        (Self::Collector, "collector"),
        (Self::ReadsLate, "reads-late"),
        (Self::AnswersLate, "answers-late"),
        (Self::Receiver, "receiver"),
        (Self::Restarted, "restarted"),
    ];

    pub fn name(self) -> &'static str {
        let found = Self::EACH.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, name)| name)
    }

    pub fn side(self) -> CauseSide {
        match self {
            Self::HostDropsIn | Self::HostDropsOut | Self::HostQueue | Self::Gone => {
                CauseSide::Host
            }
            Self::Clock | Self::Silent | Self::Coverage | Self::Collector => CauseSide::Measurement,
            Self::ReadsLate | Self::AnswersLate | Self::Receiver => CauseSide::Application,
            Self::Restarted => CauseSide::Event,
            _ => CauseSide::Network,
        }
    }
}
