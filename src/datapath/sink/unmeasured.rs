//! The sink's counts of packets that it stripped without measuring them, by flow and source node.

use std::io;

use crate::datapath::abi::{bytes_of_all, flow_key, read_from, unmeasured_counts, unmeasured_key};
use crate::datapath::kernel::map_names::{SINK_UNMEASURED, SINK_UNMEASURED_NODES};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::model::{FlowKey, NodeId, Volume};

type Flow = [u32; 10];

/// Packets of a source node that were not measured for one reason, in one flow or in all flows without an entry.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UnmeasuredKey {
    flow: Flow,
    node: u32,
    reason: u32,
}

impl UnmeasuredKey {
    /// `None`: one of the flows that found no room.
    pub fn flow(&self) -> Option<FlowKey> {
        let key = read_from::<flow_key>(bytes_of_all(&self.flow));
        key.filter(|_| self.flow != Flow::default())
            .map(|key| FlowKey::from(&key))
    }

    pub fn source(&self) -> NodeId {
        NodeId(self.node)
    }

    /// The number of the sink's counter.
    pub fn reason(&self) -> u8 {
        u8::try_from(self.reason).unwrap_or(u8::MAX)
    }
}

impl From<unmeasured_key> for UnmeasuredKey {
    fn from(key: unmeasured_key) -> Self {
        Self {
            flow: key.flow,
            node: key.source_node,
            reason: key.reason,
        }
    }
}

/// The tables of a sink.
pub struct UnmeasuredTables {
    flows: Map<unmeasured_key, unmeasured_counts>,
    nodes: Map<unmeasured_key, unmeasured_counts>,
}

impl UnmeasuredTables {
    pub fn of(
        flows: Map<unmeasured_key, unmeasured_counts>,
        nodes: Map<unmeasured_key, unmeasured_counts>,
    ) -> Self {
        Self { flows, nodes }
    }

    /// Returns `None` if this host has no sink.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        let flows = Map::open(&pins.map(SINK_UNMEASURED))?;
        let nodes = Map::open(&pins.map(SINK_UNMEASURED_NODES))?;
        Ok(flows.zip(nodes).map(|(flows, nodes)| Self { flows, nodes }))
    }

    /// A number that other tables do not have.
    pub fn id(&self) -> io::Result<u32> {
        self.flows.id()
    }

    /// Calls `visit` with the packets of each entry.
    pub fn for_each(&self, mut visit: impl FnMut(UnmeasuredKey, Volume)) -> io::Result<()> {
        for map in [&self.flows, &self.nodes] {
            map.for_each(|key, of| visit(key.into(), Volume::of(of.packets, of.bytes)))?;
        }
        Ok(())
    }

    /// True if there is hardly room for more, where one table has this number of entries.
    pub fn is_nearly_full(&self, entries: usize) -> bool {
        let room = self.flows.capacity().min(self.nodes.capacity());
        entries > room as usize / 4 * 3
    }

    pub fn remove(&self, key: &UnmeasuredKey) -> io::Result<()> {
        let map = match key.flow() {
            Some(_) => &self.flows,
            None => &self.nodes,
        };
        let key = unmeasured_key {
            flow: key.flow,
            source_node: key.node,
            reason: key.reason,
        };
        map.remove(&key).map(drop)
    }
}
