//! What INT measures on this host: the flows of its sink and its source, by which a drop is told from another.

use std::io;

use crate::datapath::abi::{flow_key, sink_flow, source_flow};
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::map_names::{SINK_FLOWS, SOURCE_FLOWS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::sink_links;
use crate::model::{DropPosition, FlowKey, HostDrop, NodeId};

/// The tables of this host's sink and source, as far as there are some.
#[derive(Default)]
pub struct MeasuredHere {
    node: Option<NodeId>,
    has_sink: bool,
    sink_flows: Option<Map<flow_key, sink_flow>>,
    source_flows: Option<Map<flow_key, source_flow>>,
}

impl MeasuredHere {
    /// # Errors
    /// If they cannot be read.
    pub fn open(pins: &Pins) -> io::Result<Self> {
        let settings = SharedSettings::read_pinned(pins)?;
        Ok(Self {
            node: settings.map(|settings| NodeId(settings.node_id)),
            has_sink: sink_links::is_attached(pins)?,
            sink_flows: Map::open(&pins.map(SINK_FLOWS))?,
            source_flows: Map::open(&pins.map(SOURCE_FLOWS))?,
        })
    }

    /// The node id of this host's sink and source.
    pub fn node(&self) -> Option<NodeId> {
        self.node
    }

    /// Where packets were dropped that `tagged_by` tagged.
    pub fn position_of_tagged(&self, own: Option<NodeId>, tagged_by: NodeId) -> DropPosition {
        if own == Some(tagged_by) {
            DropPosition::BehindTag
        } else if self.has_sink {
            DropPosition::BeforeStrip
        } else {
            DropPosition::Between
        }
    }

    /// Where the packets of a flow were dropped, in this network namespace.
    ///
    /// # Errors
    /// If a table cannot be read.
    pub fn position(&self, own: Option<NodeId>, drop: &HostDrop) -> io::Result<DropPosition> {
        if let Some(int) = drop.int {
            return Ok(self.position_of_tagged(own, int.source));
        }
        // A tunnel is measured as a whole. NAT may come behind the strip, or before the tag.
        let outer = drop.tunnel.as_ref().map(|tunnel| &tunnel.outer);
        let flows = [outer, Some(&drop.flow), drop.flow_before_nat.as_ref()];
        for flow in flows.into_iter().flatten() {
            if has(self.sink_flows.as_ref(), flow)? {
                return Ok(DropPosition::BehindStrip);
            }
            if has(self.source_flows.as_ref(), flow)? {
                return Ok(DropPosition::BeforeTag);
            }
        }
        Ok(DropPosition::Apart)
    }
}

fn has<V: crate::datapath::abi::Abi>(
    map: Option<&Map<flow_key, V>>,
    flow: &FlowKey,
) -> io::Result<bool> {
    match map {
        Some(map) => Ok(map.get(&flow_key::from(flow))?.is_some()),
        None => Ok(false),
    }
}
