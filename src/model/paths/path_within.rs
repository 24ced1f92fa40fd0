//! What hosts tell apart from paths: queues of interfaces, and what is in the hosts at the ends of the way. Each is
//! reported and kept as a path of its own, which no packet with INT takes.

use crate::model::{NodeId, NodePort, PassageId, Path, PathHop, Segment, SegmentKind};

/// The place of the queue in the path that [`Path::to_queue`] makes.
pub const QUEUE_PLACE: u8 = 3;

/// The place of the send buffers in [`Path::to_queue`] of the source's own queue.
pub const BUFFER_PLACE: u8 = 1;

/// The place of the application's answers in [`Path::to_application`].
pub const ANSWER_PLACE: u8 = 3;

/// The place of what is within a host at an end of the way: the stack in [`Path::to_queue`] of the source's own queue, and
/// what is between sink and application in [`Path::to_application`].
pub const WITHIN_PLACE: u8 = 2;

impl Path {
    /// The path of a source's packets as far as the queue of a transit hop's interface, as the hop tells it. Where they
    /// left the source and came in is not reported.
    pub fn to_queue(source: NodeId, queue: NodePort) -> Self {
        Self {
            source: NodePort {
                node: source,
                port: 0,
            },
            hops: vec![PathHop {
                node: queue.node,
                ingress_port: 0,
                egress_port: queue.port,
            }],
            sink: queue,
        }
    }

    /// The path of a source's packets from the interface of the sink to the application, which has none.
    pub fn to_application(source: NodeId, sink: NodePort) -> Self {
        let application = NodePort {
            node: sink.node,
            port: 0,
        };
        Self {
            source: NodePort {
                node: source,
                port: 0,
            },
            hops: vec![PathHop {
                node: sink.node,
                ingress_port: sink.port,
                egress_port: application.port,
            }],
            sink: application,
        }
    }

    /// What the path is within a host at an end of the way, if it is that.
    pub fn within(&self) -> Option<Segment> {
        let [hop] = self.hops[..] else {
            return None;
        };
        let kind = match (hop.ingress_port, hop.egress_port) {
            (0, 1..) if self.source.node == hop.node && self.queue().is_some() => {
                SegmentKind::Stack
            }
            (1.., 0) if self.sink.node == hop.node && self.sink.port == 0 => SegmentKind::Read,
            _ => return None,
        };
        let [from, to] = [hop.ingress_port, hop.egress_port].map(|port| NodePort {
            node: hop.node,
            port,
        });
        Some(Segment { kind, from, to })
    }

    /// The send buffers of the source's host, if the path ends at its own queue.
    pub fn buffer(&self) -> Option<Segment> {
        let stack = self.within().filter(|one| one.kind == SegmentKind::Stack)?;
        Some(Segment {
            kind: SegmentKind::Buffer,
            ..stack
        })
    }

    /// The application behind the sink's host, if the path ends there.
    pub fn answer(&self) -> Option<Segment> {
        let read = self.within().filter(|one| one.kind == SegmentKind::Read)?;
        Some(Segment {
            kind: SegmentKind::Answer,
            ..read
        })
    }

    /// True for what hosts report apart from paths: no packet with INT names its way so.
    pub fn is_part(&self) -> bool {
        self.queue().is_some() || self.within().is_some()
    }

    /// True for what a host tells of packets between its interfaces: no packet with INT takes such a path.
    pub fn is_passage(&self) -> bool {
        PassageId::of(self).is_some()
    }

    /// The queue at which the path ends, if it does.
    pub fn queue(&self) -> Option<NodePort> {
        let hop = self.hops.last()?;
        let left = NodePort {
            node: hop.node,
            port: hop.egress_port,
        };
        (left == self.sink && left.port != 0).then_some(left)
    }

    /// The queue behind the hop with this number, from 0.
    pub fn queue_behind(&self, hop: usize) -> Option<Segment> {
        let hop = self.hops.get(hop)?;
        let at = NodePort {
            node: hop.node,
            port: hop.egress_port,
        };
        Some(Segment {
            kind: SegmentKind::Queue,
            from: at,
            to: at,
        })
    }
}
