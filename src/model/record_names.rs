//! The nodes that a record is about, and their names in it.

use super::{EndRecord, NodeId, NodeNames, Record};

impl Record {
    /// The same record with the names of its nodes.
    #[must_use]
    pub fn naming(mut self, names: &NodeNames) -> Self {
        let ends = self.source.iter().chain(&self.sink).map(EndRecord::node);
        let hops = self.transit.iter().map(|hop| hop.node);
        let int = self.int.iter().flat_map(|int| &int.hops);
        let int = int.filter_map(|hop| hop.node);
        let path = self.path_part.iter().flat_map(|part| &part.nodes).copied();
        let nodes = ends.chain(hops).chain(int).chain(path);
        self.names = names.of(nodes.chain(self.tagged_by()).chain(self.reporter_node));
        self
    }

    /// The node that tagged the packets which a host dropped.
    pub fn tagged_by(&self) -> Option<NodeId> {
        let of_flow = self.host_drop.as_ref().and_then(|drop| drop.int);
        let of_sum = self.host_drop_sum.as_ref().and_then(|sum| sum.tagged_by);
        of_flow.map(|int| int.source).or(of_sum)
    }
}
