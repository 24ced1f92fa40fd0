//! The path of a packet from an INT source over transit hops to an INT sink, and the segments between its stamps.

use std::collections::BTreeSet;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::model::NodeId;

/// An interface of a node: the low 16 bits of its index, as reports name it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct NodePort {
    pub node: NodeId,
    pub port: u16,
}

/// A transit hop of a path.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct PathHop {
    pub node: NodeId,
    pub ingress_port: u16,
    pub egress_port: u16,
}

/// The nodes and ports that packets passed, in the order of the way.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Path {
    pub source: NodePort,
    pub hops: Vec<PathHop>,
    pub sink: NodePort,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SegmentKind {
    /// Within a transit hop, from its ingress to its egress stamp: one clock.
    Hop,
    /// From the stamp of a node to the stamp of the next one: two clocks.
    Wire,
    /// From a transit hop's egress stamp to the ingress stamp of its next entry: in a guest or container, or another box
    /// without INT, that gave the packet back. One clock.
    Guest,
    /// In the queue of an interface of a transit hop, or of the source, behind its egress stamp: one clock, and a part of
    /// the wire there.
    Queue,
    /// In the source's host, in the send buffer, from the application's write to TCP's departure: one clock, in front of the
    /// path.
    Buffer,
    /// In the source's host, from TCP's departure to the source's stamp: one clock, in front of the path.
    Stack,
    /// In the sink's host, from the sink to the application: one clock, behind the path.
    Read,
    /// In the application at the sink's host, from its reading of a client's request to the first packet of its answer: one
    /// clock, behind the path.
    Answer,
}

/// A part of a path, between two stamps.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Segment {
    pub kind: SegmentKind,
    pub from: NodePort,
    pub to: NodePort,
}

impl SegmentKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Hop => "hop",
            Self::Wire => "wire",
            Self::Guest => "guest",
            Self::Queue => "queue",
            Self::Buffer => "buffer",
            Self::Stack => "stack",
            Self::Read => "read",
            Self::Answer => "answer",
        }
    }

    /// True if the same clock stamps its begin and its end.
    pub fn has_one_clock(self) -> bool {
        !matches!(self, Self::Wire)
    }

    /// True if a packet may wait in a queue at its begin.
    pub fn begins_with_queue(self) -> bool {
        matches!(self, Self::Wire | Self::Guest)
    }
}

impl Path {
    /// The segments in the order of the way: a wire, and for each hop the hop and the wire behind it. Behind the last hop
    /// is its queue if the path ends there.
    pub fn segments(&self) -> Vec<Segment> {
        let mut segments = Vec::with_capacity(self.segment_count());
        let mut from = self.source;
        let mut before = None;
        let hop_kind = self.within().map_or(SegmentKind::Hop, |within| within.kind);
        for hop in &self.hops {
            let [ingress, egress] = [hop.ingress_port, hop.egress_port].map(|port| NodePort {
                node: hop.node,
                port,
            });
            let kind = match before {
                Some(node) if node == hop.node => SegmentKind::Guest,
                _ => SegmentKind::Wire,
            };
            let within = Segment {
                kind: hop_kind,
                from: ingress,
                to: egress,
            };
            let in_front = self.buffer().unwrap_or(Segment {
                kind,
                from,
                to: ingress,
            });
            segments.extend([in_front, within]);
            (from, before) = (egress, Some(hop.node));
        }
        let kind = match self.queue() {
            Some(_) => SegmentKind::Queue,
            None => SegmentKind::Wire,
        };
        segments.push(self.answer().unwrap_or(Segment {
            kind,
            from,
            to: self.sink,
        }));
        segments
    }

    /// The nodes in the order of the way.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        let hops = self.hops.iter().map(|hop| hop.node);
        std::iter::once(self.source.node)
            .chain(hops)
            .chain(std::iter::once(self.sink.node))
    }

    /// The nodes that packets pass again after others, or leave again by the same interface: packets go round, or two hosts
    /// have one id. A node that is on the path twice in a row has a guest.
    pub fn repeated_nodes(&self) -> BTreeSet<NodeId> {
        let (mut seen, mut left) = (BTreeSet::new(), BTreeSet::new());
        let mut nodes: Vec<_> = self.nodes().collect();
        nodes.dedup();
        let again = nodes.into_iter().filter(|node| !seen.insert(*node));
        let hops = self.hops.iter();
        let round = hops.filter(|hop| !left.insert((hop.node, hop.egress_port)));
        again.chain(round.map(|hop| hop.node)).collect()
    }

    /// True if the hops are some of those of another path between the same ends, and not all: the same way, on which a hop
    /// pushed no entry.
    pub fn lacks_hops_of(&self, whole: &Path) -> bool {
        let ends = |path: &Path| (path.source, path.sink);
        let mut hops = whole.hops.iter();
        self.hops.len() < whole.hops.len()
            && ends(self) == ends(whole)
            && self.hops.iter().all(|hop| hops.any(|other| other == hop))
    }

    pub fn segment_count(&self) -> usize {
        2 * self.hops.len() + 1
    }

    /// The bytes that name the path: nodes and ports in the order of the way.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12 + 8 * self.hops.len());
        let mut put = |node: NodeId, ports: &[u16]| {
            bytes.extend(node.0.to_be_bytes());
            for port in ports {
                bytes.extend(port.to_be_bytes());
            }
        };
        put(self.source.node, &[self.source.port]);
        for hop in &self.hops {
            put(hop.node, &[hop.ingress_port, hop.egress_port]);
        }
        put(self.sink.node, &[self.sink.port]);
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (source, rest) = bytes.split_first_chunk::<6>()?;
        let (hops, sink) = rest.split_last_chunk::<6>()?;
        let node =
            |bytes: &[u8; 8]| NodeId(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let end = |bytes: &[u8; 6]| NodePort {
            node: NodeId(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            port: u16::from_be_bytes([bytes[4], bytes[5]]),
        };
        let (hops, rest) = hops.as_chunks::<8>();
        (!hops.is_empty() && rest.is_empty()).then(|| Self {
            source: end(source),
            hops: hops
                .iter()
                .map(|hop| PathHop {
                    node: node(hop),
                    ingress_port: u16::from_be_bytes([hop[4], hop[5]]),
                    egress_port: u16::from_be_bytes([hop[6], hop[7]]),
                })
                .collect(),
            sink: end(sink),
        })
    }

    /// A short name of the path, the same everywhere: 64 bits of FNV-1a over [`Self::to_bytes`], in hexadecimal digits.
    pub fn hash_text(&self) -> String {
        let hash = self
            .to_bytes()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        format!("{hash:016x}")
    }
}

impl Serialize for Path {
    /// `{"path_hash": "9f1c…", "nodes": [1, 28673, 2], "repeated_nodes": []}`; the segments have the ports.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Path", 3)?;
        object.serialize_field("path_hash", &self.hash_text())?;
        object.serialize_field("nodes", &self.nodes().collect::<Vec<_>>())?;
        object.serialize_field("repeated_nodes", &self.repeated_nodes())?;
        object.end()
    }
}
