//! All packets that pass a host between two of its interfaces, told and kept as a path that begins and ends at that host.

use serde::Serialize;

use crate::model::{
    LatencyFigures, NodeId, NodePort, PacketPods, PassagePods, PassageStart, Path, PathHop,
};

/// The places of such a path whose times are reported: to the driver behind the queue, and to the queue.
pub const SENT_PLACE: u8 = 0;
pub const QUEUED_PLACE: u8 = 2;

/// Two interfaces of a host, the low 16 bits of their indices, and where times begin.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PassageId {
    pub node: NodeId,
    pub in_port: u16,
    pub out_port: u16,
    pub start: PassageStart,
}

/// The times of all packets between two interfaces in a span.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassageFigures {
    pub node: NodeId,
    pub start: PassageStart,
    pub in_port: u16,
    pub out_port: u16,
    /// As the host named them last, with what is behind them.
    pub in_interface: Option<String>,
    pub out_interface: Option<String>,
    #[serde(flatten)]
    pub pods: PacketPods,
    #[serde(flatten)]
    pub behind: PassagePods,
    /// To the driver, with the time in the queue. `None` without packets that left.
    pub sent: Option<LatencyFigures>,
    /// To the queue. Packets that the queue dropped are in this one alone.
    pub queued: Option<LatencyFigures>,
    /// The difference of both means.
    pub mean_queue_ns: Option<i64>,
}

impl PassageId {
    /// A path that no packet with INT takes: it begins and ends at the same host.
    pub fn path(self) -> Path {
        let Self { node, .. } = self;
        Path {
            source: NodePort {
                node,
                port: match self.start {
                    PassageStart::Interface => 0,
                    PassageStart::Sender => 1,
                },
            },
            hops: vec![PathHop {
                node,
                ingress_port: self.in_port,
                egress_port: self.out_port,
            }],
            sink: NodePort {
                node,
                port: self.out_port,
            },
        }
    }

    /// What a path tells of; `None` for paths of packets with INT.
    pub fn of(path: &Path) -> Option<Self> {
        let [hop] = path.hops[..] else {
            return None;
        };
        let id = Self {
            node: hop.node,
            in_port: hop.ingress_port,
            out_port: hop.egress_port,
            start: match path.source.port {
                0 => PassageStart::Interface,
                1 => PassageStart::Sender,
                _ => return None,
            },
        };
        // Packets of the host itself have no interface by which they came, and those for it none by which they leave.
        (id.in_port != 0 && id.out_port != 0 && id.path() == *path).then_some(id)
    }
}
