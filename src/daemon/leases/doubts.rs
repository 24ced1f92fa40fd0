//! The source's doubts and the sink's word on them: flows whose tagged packets arrive are vouched for.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::datapath::doubts::DoubtRing;
use crate::datapath::pins::Pins;
use crate::lease::{DoubtedFlows, LeaseKeeper};
use crate::model::{AddressPair, FlowAsked, FlowKey};

/// The ring of doubts, and the flows that are in doubt.
#[derive(Default)]
pub(super) struct DoubtReader {
    ring: Option<DoubtRing>,
    flows: DoubtedFlows,
}

impl DoubtReader {
    /// Opens the ring of the source that is there now. Returns `None` if there is no ring.
    pub(super) fn open(pins: &Pins) -> Result<Option<Self>> {
        let ring = DoubtRing::open(pins).context("cannot open the ring of doubted flows")?;
        Ok(ring.map(|ring| Self {
            ring: Some(ring),
            flows: DoubtedFlows::default(),
        }))
    }

    /// Reads the ring: the sinks of doubted flows are to be asked.
    pub(super) fn raise(&mut self, keeper: &mut LeaseKeeper, now_ns: u64) -> Result<()> {
        let Some(ring) = &mut self.ring else {
            return Ok(());
        };
        let flows = &mut self.flows;
        flows.make_room();
        let drained = ring.drain(Duration::ZERO, |flow| {
            let (pair, asked) = DoubtedFlows::question(&flow);
            keeper.doubt(&pair, asked, now_ns);
            flows.add(flow);
        });
        drained.context("cannot read the ring of doubted flows")
    }

    /// Takes the flow of a pair out of those in doubt, once for each VLAN that it was seen in.
    pub(super) fn settle(&mut self, pair: &AddressPair, vouched: FlowAsked) -> Vec<FlowKey> {
        self.flows.settle(*pair, vouched)
    }
}
