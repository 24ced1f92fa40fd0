//! The nodes and ports that a record is about, and their names in it.

use crate::model::{EndRecord, HopRecord, NodeId, NodeNames, NodePort, Record};

impl Record {
    /// The same record with the names of its nodes, and of the interfaces on a path over transit hops.
    #[must_use]
    pub fn naming(mut self, names: &NodeNames) -> Self {
        let ends = self.source.iter().chain(&self.sink).map(EndRecord::node);
        let hops = self.transit.iter().map(|hop| hop.node);
        let int = self.int.iter().flat_map(|int| &int.hops);
        let int = int.filter_map(|hop| hop.node);
        let path = self.path_part.iter().flat_map(|part| &part.nodes).copied();
        let nodes = ends.chain(hops).chain(int).chain(path);
        self.names = names.of(nodes.chain(self.tagged_by()).chain(self.reporter_node));
        self.interfaces = names.of_ports(self.path_ports());
        self
    }

    /// The ports on a path over transit hops; none without such hops.
    fn path_ports(&self) -> impl Iterator<Item = NodePort> {
        let ends = [&self.source, &self.sink].into_iter().flatten();
        let ends = ends.filter(|_| !self.transit.is_empty());
        let ends = ends.filter_map(EndRecord::hop);
        let passed = ends.chain(&self.transit).flat_map(HopRecord::ports);
        let int = self.int.iter().flat_map(|int| &int.hops);
        let int = int.flat_map(|hop| {
            let ports = [hop.ingress_port, hop.egress_port];
            let at = move |port| {
                Some(NodePort {
                    node: hop.node?,
                    port: port?,
                })
            };
            ports.into_iter().filter_map(at)
        });
        let part = self.path_part.iter().flat_map(|part| [part.from, part.to]);
        passed.chain(int).chain(part)
    }

    /// The node that tagged the packets which a host dropped.
    pub fn tagged_by(&self) -> Option<NodeId> {
        let of_flow = self.host_drop.as_ref().and_then(|drop| drop.int);
        let of_sum = self.host_drop_sum.as_ref().and_then(|sum| sum.tagged_by);
        of_flow.map(|int| int.source).or(of_sum)
    }
}
